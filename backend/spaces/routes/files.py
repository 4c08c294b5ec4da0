"""Stored files by hash: `.igb`, `.patch`, `.dotbin`. A hash names its bytes for ever."""

from typing import Annotated
from urllib.parse import quote

from fastapi import APIRouter, Path, Query, Response

from spaces.parts import Server

router = APIRouter(prefix="/api/files")

# What the saved file is to be called, without its ending. A browser keeps path separators out of it by itself.
Name = Annotated[str | None, Query(min_length=1, max_length=120)]


@router.get("/{digest}")
def file(server: Server, digest: Annotated[str, Path(pattern="^[0-9a-f]{64}$")], name: Name = None) -> Response:
    row = server.store.file(bytes.fromhex(digest))
    plain = f"{digest[:16]}.{row.kind}"
    named = "" if name is None else f"; filename*=UTF-8''{quote(name, safe='')}.{row.kind}"
    headers = {
        "content-disposition": f'attachment; filename="{plain}"{named}',
        "cache-control": "private, max-age=31536000, immutable",
    }
    return Response(row.content, media_type="application/octet-stream", headers=headers)
