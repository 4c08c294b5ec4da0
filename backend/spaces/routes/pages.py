"""Pages and their files: what `vite build` made, behind the cookie; the way in with the printed token."""

from pathlib import Path

from fastapi import APIRouter, Request, Response
from starlette.responses import FileResponse, PlainTextResponse, RedirectResponse

from spaces.auth import COOKIE_SECONDS
from spaces.errors import Reason, Refused
from spaces.parts import Parts, Server

router = APIRouter()

SIGN_IN = """Not signed in.

Open the address that the server printed when it started; it looks like
  http://127.0.0.1:8000/?token=...
"""
NOT_BUILT = """The editor is not built: there is no %s.

Run `make run` in the project's folder, or `npm --prefix frontend run build`.
"""


def page(server: Parts, request: Request) -> Response:
    """The editor's one page, for whoever is signed in."""
    try:
        server.auth.caller(request)
    except Refused as error:
        return PlainTextResponse(SIGN_IN, error.reason.value.http, {"cache-control": "no-store"})
    index = server.settings.dist / "index.html"
    if not index.is_file():
        return PlainTextResponse(NOT_BUILT % "frontend/dist/index.html", 503, {"cache-control": "no-store"})
    return FileResponse(index, headers={"cache-control": "no-cache"})


@router.get("/")
def home(server: Server, request: Request) -> Response:
    """The list of Spaces; with a token, the way in."""
    token = request.query_params.get("token")
    if token is None:
        return page(server, request)
    if not server.auth.opens(token):
        return PlainTextResponse(SIGN_IN, Reason.UNAUTHENTICATED.value.http, {"cache-control": "no-store"})
    answer = RedirectResponse("/", 303, {"cache-control": "no-store"})
    answer.set_cookie(
        server.auth.cookie, server.auth.issue(), max_age=COOKIE_SECONDS, httponly=True, samesite="strict", path="/"
    )
    return answer


@router.get("/spaces/{space}")
def space(server: Server, request: Request, space: str) -> Response:
    """An open Space; the page finds out by itself whether it exists."""
    return page(server, request)


@router.get("/{path:path}")
def static(server: Server, request: Request, path: str) -> Response:
    """A built file. Names under assets/ carry a hash of their content."""
    root = server.settings.dist
    parts = path.split("/")
    plain = len(path.encode()) <= 200 and path.isprintable() and not any(part in ("", ".", "..") for part in parts)
    if not plain or parts[0] == "api" or not (found := root.joinpath(*parts)).is_file():
        raise Refused(Reason.NOT_FOUND, "not_found", "path", "a page, a file or a route", repr(path[:80]))
    return FileResponse(found, headers={"cache-control": caching(Path(path))})


def caching(path: Path) -> str:
    return "public, max-age=31536000, immutable" if path.parts[0] == "assets" else "no-cache"
