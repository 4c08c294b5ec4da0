"""Versions of a Space: list, rename, restore. Saving goes by the socket, where it is of the Room as of a push."""

import asyncio
from dataclasses import asdict
from typing import Annotated, Any

from fastapi import APIRouter, Path, Request
from pydantic import BaseModel, ConfigDict, Field

from spaces import tables
from spaces.parts import Server
from spaces.routes.spaces import SpaceId
from spaces.versions import version_frame

router = APIRouter(prefix="/api/spaces/{space}/versions")

Number = Annotated[int, Path(ge=1, le=2**53 - 1)]
Message = Annotated[str, Field(max_length=10_000)]


class Renamed(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid")
    message: Message


class Restored(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid")
    message: Message | None = None  # of the new version; None: one that names the restored


def shown(row: tables.Version) -> dict[str, Any]:
    """A version as the socket tells it; JSON has hashes as hex."""
    facts = asdict(version_frame(row))
    return {name: fact.hex() if isinstance(fact, bytes) else fact for name, fact in facts.items()}


@router.get("")
def versions(server: Server, space: SpaceId) -> list[dict[str, Any]]:
    return [shown(row) for row in server.store.versions(space)]


@router.patch("/{number}")
async def rename(server: Server, space: SpaceId, number: Number, body: Renamed) -> dict[str, Any]:
    found = await server.spaces.get(space)
    return shown(await found.rename_version(number, body.message))


@router.post("/{number}/restore")
async def restore(server: Server, request: Request, space: SpaceId, number: Number, body: Restored) -> dict[str, Any]:
    """The newest version after it: its file is that of the restored one, byte for byte."""
    caller = await asyncio.to_thread(server.auth.request_caller, request, request.method)
    found = await server.spaces.get(space)
    message = f"Restore v{number}" if body.message is None else body.message
    return shown(await found.restore(number, message, caller.name))
