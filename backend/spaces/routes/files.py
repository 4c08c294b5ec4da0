"""Stored files by hash: `.igb`, `.patch`, `.dotbin`. A hash names its bytes for ever."""

from typing import Annotated

from fastapi import APIRouter, Path, Response

from spaces.parts import Server

router = APIRouter(prefix="/api/files")


@router.get("/{digest}")
def file(server: Server, digest: Annotated[str, Path(pattern="^[0-9a-f]{64}$")]) -> Response:
    row = server.store.file(bytes.fromhex(digest))
    headers = {
        "content-disposition": f'attachment; filename="{digest[:16]}.{row.kind}"',
        "cache-control": "private, max-age=31536000, immutable",
    }
    return Response(row.content, media_type="application/octet-stream", headers=headers)
