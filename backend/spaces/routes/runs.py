"""Runs of a Space, newest first. Their events go by the socket: `resume` reads a run of any age whose events stay."""

from typing import Any

from fastapi import APIRouter

from spaces import tables
from spaces.parts import Server
from spaces.routes.spaces import SpaceId
from spaces.store import PastRun

router = APIRouter(prefix="/api/spaces/{space}/runs")


def shown(run: PastRun) -> dict[str, Any]:
    row = run.row
    return {
        "id": row.id,
        "status": row.status,
        "reason": row.reason,
        "started": tables.iso(row.started),
        "seconds": None if row.ended is None else round((row.ended - row.started).total_seconds(), 3),
        "version": run.version,
        "sem": row.sem.hex(),
        "replays": run.replays,
    }


@router.get("")
def runs(server: Server, space: SpaceId) -> list[dict[str, Any]]:
    return [shown(run) for run in server.store.runs(space)]
