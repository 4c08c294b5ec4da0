"""The application: makes the parts, puts the guards around the routes, opens and closes everything in order."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import Depends, FastAPI, Request, WebSocket
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.responses import JSONResponse

from dots.components import catalogue as load_catalogue
from igc import igb
from spaces import socket
from spaces.auth import Auth
from spaces.engine import Engine, StartEngine, packaged
from spaces.errors import Reason, Refusal, Refused
from spaces.guards import HEADERS, BodyLimit, HostGuard, SecurityHeaders
from spaces.ids import new_id
from spaces.open_spaces import OpenSpaces
from spaces.parts import Parts
from spaces.routes import catalogue, files, pages, pushes, runs, versions
from spaces.routes import spaces as space_routes
from spaces.runs import STOPPED, Runs
from spaces.settings import Settings
from spaces.store import Store
from spaces.templates import FIRST, TEMPLATES, build


def make_parts(settings: Settings, start_engine: StartEngine | None) -> Parts:
    """The parts of a server; the data directory must be taken (`store.take`) before."""
    store = Store(settings.database)
    store.end_orphaned_runs(STOPPED)
    components = load_catalogue()
    engine = Engine(start_engine or packaged(settings))
    started = Runs(engine, store, lambda space: spaces.wake(space))
    spaces = OpenSpaces(store, started, components)
    return Parts(settings, store, Auth(settings, store), engine, started, spaces, components)


def welcome_newcomers(parts: Parts) -> None:
    """The first start opens a Space that runs."""
    if not parts.store.spaces():
        template = TEMPLATES[FIRST]
        parts.store.add_space(new_id(), template.label[0], igb.write(build(template, parts.catalogue)))


@asynccontextmanager
async def lifespan(app: FastAPI) -> AsyncIterator[None]:
    parts: Parts = app.state.parts
    welcome_newcomers(parts)
    parts.engine.open()
    yield
    parts.spaces.close()
    await parts.runs.close()
    await parts.engine.close()
    parts.store.close()


def answer(reason: Reason, refusal: Refusal) -> JSONResponse:
    return JSONResponse(refusal.json(), reason.value.http, {"cache-control": "no-store"})


def on_refused(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, Refused)
    return answer(error.reason, error.refusal)


def on_invalid(request: Request, error: Exception) -> JSONResponse:
    """A body or a path that does not have its form; what came is not repeated."""
    assert isinstance(error, RequestValidationError)
    first = error.errors()[0]
    where = ".".join(str(part) for part in first["loc"])
    return answer(Reason.INVALID, Refusal("field", where, first["msg"], first["type"]))


def on_http(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)
    if isinstance(error.__cause__, Refused):  # FastAPI wraps what a guard raised while it read the body
        return answer(error.__cause__.reason, error.__cause__.refusal)
    refusal = Refusal("http", request.url.path[:80], "a known route and method", f"{request.method}: {error.detail}")
    return JSONResponse(refusal.json(), error.status_code, {"cache-control": "no-store"})


def on_failure(request: Request, error: Exception) -> JSONResponse:
    """Answered outside of the guards, so their headers are set here."""
    failed = answer(Reason.INTERNAL, Refusal("internal", "server", "an answer", "an internal error"))
    failed.headers.update(HEADERS)
    return failed


async def identify(request: Request) -> None:
    """Every route under /api wants a caller."""
    parts: Parts = request.app.state.parts
    await asyncio.to_thread(parts.auth.request_caller, request, request.method)


def create_app(settings: Settings, start_engine: StartEngine | None = None) -> FastAPI:
    """The application. Tests give an engine of their own."""
    guards = [Middleware(SecurityHeaders), Middleware(HostGuard, settings), Middleware(BodyLimit)]
    app = FastAPI(title="Spaces", docs_url=None, redoc_url=None, openapi_url=None, lifespan=lifespan, middleware=guards)
    app.state.parts = make_parts(settings, start_engine)
    app.add_exception_handler(Refused, on_refused)
    app.add_exception_handler(RequestValidationError, on_invalid)
    app.add_exception_handler(HTTPException, on_http)
    app.add_exception_handler(Exception, on_failure)

    @app.websocket("/ws/spaces/{space}")
    async def open_space(websocket: WebSocket, space: str) -> None:
        parts: Parts = app.state.parts
        await socket.serve(websocket, parts.auth, parts.spaces, space)

    for routes in (space_routes, versions, pushes, runs, files, catalogue):
        app.include_router(routes.router, dependencies=[Depends(identify)])
    app.include_router(pages.router)  # last: it takes every other path
    return app
