"""Spaces: list, make, look, rename, delete, import, download, versions."""

from datetime import datetime
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Path, Query, Request, Response
from pydantic import BaseModel, ConfigDict, Field

from igc import igb
from spaces import tables
from spaces.errors import Reason, Refused
from spaces.ids import new_id
from spaces.opened import read_igb
from spaces.parts import Parts, parts
from spaces.templates import TEMPLATES, build
from spaces.wire import ID_FORM

router = APIRouter(prefix="/api/spaces")

SpaceId = Annotated[str, Path(pattern=f"^{ID_FORM.pattern}$")]
Server = Annotated[Parts, Depends(parts)]


class NewSpace(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid")
    name: str = Field(min_length=1, max_length=200)
    template: str = Field("empty", max_length=64)


class Renamed(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid")
    name: str = Field(min_length=1, max_length=200)


def utc(time: datetime) -> str:
    return time.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def shown(row: tables.Space) -> dict[str, Any]:
    return {"id": row.id, "name": row.name, "created": utc(row.created), "changed": utc(row.changed)}


def hexed(digest: bytes | None) -> str | None:
    return None if digest is None else digest.hex()


def shown_version(row: tables.Version) -> dict[str, Any]:
    return {
        "number": row.number,
        "message": row.message,
        "author": row.author,
        "created": utc(row.created),
        "file": row.file.hex(),
        "sem": row.sem.hex(),
        "patch": hexed(row.patch),
        "dotbin": hexed(row.dotbin),
    }


@router.get("")
def spaces(server: Server) -> list[dict[str, Any]]:
    return [shown(row) for row in server.store.spaces()]


@router.post("", status_code=201)
def make(server: Server, body: NewSpace) -> dict[str, Any]:
    template = TEMPLATES.get(body.template)
    if template is None:
        raise Refused(Reason.INVALID, "template", "body.template", " or ".join(TEMPLATES), body.template)
    data = igb.write(build(template, server.catalogue))
    return shown(server.store.add_space(new_id(), body.name, data))


@router.post("/import", status_code=201)
async def import_space(
    server: Server, request: Request, name: Annotated[str, Query(min_length=1, max_length=200)]
) -> dict[str, Any]:
    """A Space from a file; its bytes are read as hostile ones and come back equal. `guards.BodyLimit` counts them."""
    data = bytearray()
    async for chunk in request.stream():
        data += chunk
    return await server.in_thread(lambda: shown(add_imported(server, name, bytes(data))))


def add_imported(server: Parts, name: str, data: bytes) -> tables.Space:
    read_igb(data, "body")
    return server.store.add_space(new_id(), name, data)


@router.get("/{space}")
def look(server: Server, space: SpaceId) -> dict[str, Any]:
    return shown(server.store.space(space))


@router.patch("/{space}")
async def rename(server: Server, space: SpaceId, body: Renamed) -> dict[str, Any]:
    row = await server.in_thread(lambda: server.store.rename_space(space, body.name))
    server.spaces.renamed(space, body.name)
    return shown(row)


@router.delete("/{space}", status_code=204)
async def delete(server: Server, space: SpaceId) -> None:
    await server.in_thread(lambda: server.store.delete_space(space))
    await server.spaces.deleted(space)


@router.get("/{space}/graph.igb")
async def graph(server: Server, space: SpaceId) -> Response:
    """The Room as it stands, exact bytes."""
    found = await server.spaces.get(space)
    data = await server.in_thread(lambda: igb.write(found.room.graph))
    headers = {"content-disposition": f'attachment; filename="{space}.igb"', "cache-control": "no-store"}
    return Response(data, media_type="application/octet-stream", headers=headers)


@router.get("/{space}/versions")
def versions(server: Server, space: SpaceId) -> list[dict[str, Any]]:
    return [shown_version(row) for row in server.store.versions(space)]
