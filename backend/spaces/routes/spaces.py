"""Spaces: list, make, look, rename, delete, import, download."""

import asyncio
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Request, Response
from pydantic import BaseModel, ConfigDict, Field

from dots.shape import ID
from igc import igb
from spaces import tables
from spaces.errors import Reason, Refused
from spaces.graphs import read_igb
from spaces.ids import new_id
from spaces.parts import Parts, Server
from spaces.templates import TEMPLATES, Language, build

router = APIRouter(prefix="/api/spaces")

SpaceId = Annotated[str, Path(pattern=f"^{ID.pattern}$")]


class NewSpace(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid")
    name: str = Field(min_length=1, max_length=200)
    template: str = Field("empty", max_length=64)
    language: Language = "en"  # of the names that the template gives its nodes


class Renamed(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid")
    name: str = Field(min_length=1, max_length=200)


def shown(row: tables.Space) -> dict[str, Any]:
    return {"id": row.id, "name": row.name, "created": tables.iso(row.created), "changed": tables.iso(row.changed)}


@router.get("")
def spaces(server: Server) -> list[dict[str, Any]]:
    return [shown(row) for row in server.store.spaces()]


@router.post("", status_code=201)
def make(server: Server, body: NewSpace) -> dict[str, Any]:
    template = TEMPLATES.get(body.template)
    if template is None:
        raise Refused(Reason.INVALID, "template", "body.template", " or ".join(TEMPLATES), body.template)
    data = igb.write(build(template, server.catalogue, body.language))
    return shown(server.store.add_space(new_id(), body.name, data))


@router.post("/import", status_code=201)
async def import_space(
    server: Server, request: Request, name: Annotated[str, Query(min_length=1, max_length=200)]
) -> dict[str, Any]:
    """A Space from a file; its bytes are read as hostile ones and come back equal. `guards.BodyLimit` counts them."""
    data = bytearray()
    async for chunk in request.stream():
        data += chunk
    return shown(await asyncio.to_thread(add_imported, server, name, bytes(data)))


def add_imported(server: Parts, name: str, data: bytes) -> tables.Space:
    read_igb(data, "body")
    return server.store.add_space(new_id(), name, data)


@router.get("/{space}")
def look(server: Server, space: SpaceId) -> dict[str, Any]:
    return shown(server.store.space(space))


@router.patch("/{space}")
async def rename(server: Server, space: SpaceId, body: Renamed) -> dict[str, Any]:
    row = await asyncio.to_thread(server.store.rename_space, space, body.name)
    server.spaces.renamed(space, body.name)
    return shown(row)


@router.delete("/{space}", status_code=204)
async def delete(server: Server, space: SpaceId) -> None:
    await asyncio.to_thread(server.store.delete_space, space)
    await server.spaces.deleted(space)


@router.get("/{space}/graph.igb")
async def graph(server: Server, space: SpaceId) -> Response:
    """The Room as it stands, exact bytes."""
    found = await server.spaces.get(space)
    data = await asyncio.to_thread(igb.write, found.room.graph)
    headers = {"content-disposition": f'attachment; filename="{space}.igb"', "cache-control": "no-store"}
    return Response(data, media_type="application/octet-stream", headers=headers)
