"""Versions from outside of an open editor: a file with the version it was made from, or how a save stands."""

import asyncio
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from starlette.responses import JSONResponse

from spaces.errors import Reason
from spaces.parts import Server
from spaces.routes.spaces import SpaceId
from spaces.routes.versions import shown
from spaces.stale import Standing

router = APIRouter(prefix="/api/spaces/{space}")

Base = Annotated[int | None, Query(ge=1, le=2**53 - 1)]


@router.post("/versions")
async def push(
    server: Server,
    request: Request,
    space: SpaceId,
    base: Base = None,
    message: Annotated[str, Query(max_length=10_000)] = "",
) -> JSONResponse:
    """A version from a file. 201 with it; 200 when the newest has these bytes; 409 with both diffs and the merge."""
    data = bytearray()
    async for chunk in request.stream():
        data += chunk
    caller = await asyncio.to_thread(server.auth.request_caller, request, request.method)
    found = await server.spaces.get(space)
    before = found.versions.newest
    answer = await found.take_file(bytes(data), base, message, caller.name)
    if isinstance(answer, Standing):
        body = stale(answer, base) | await asyncio.to_thread(answer.json)
        return JSONResponse(body, Reason.CONFLICT.value.http, {"cache-control": "no-store"})
    version, refused = answer
    made = before is None or version.number != before.number
    return JSONResponse(shown(version) | {"refused": refused}, 201 if made else 200, {"cache-control": "no-store"})


@router.get("/standing")
async def standing(server: Server, space: SpaceId, base: Base = None) -> dict[str, Any]:
    """What a save over the socket that was refused as stale would have met: the Room is ours."""
    found = await server.spaces.get(space)
    answer = await found.versions.standing(found.room.graph, base)
    return await asyncio.to_thread(answer.json)


def stale(answer: Standing, base: int | None) -> dict[str, str]:
    expected = f"the newest version, {answer.newest}"
    got = "none" if base is None else str(base)
    return {
        "code": "stale",
        "where": "base",
        "expected": expected,
        "got": got,
        "hint": "Look at the merge, then push it.",
    }
