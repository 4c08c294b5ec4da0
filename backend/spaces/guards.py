"""What stands before every request: Host allow-list, security headers, size of the body. Plain ASGI wrappers."""

import re

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from dots import codec
from spaces.errors import Reason, Refused
from spaces.settings import Settings

JSON_LIMIT = 64 << 10
IMPORT_LIMIT = codec.MAX_SIZE + 8  # a file's magic stands before its item
WITH_FILE = re.compile(r"/api/spaces/(import|[^/]+/versions)")  # paths whose body is a graph


# No script but our own files, no frame, no form, no other host. `self` covers the socket; inline styles are React's.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; "
    "font-src 'self'; connect-src 'self'; worker-src 'self'; manifest-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}


class HostGuard:
    """A name that is not ours is refused before anything else: a rebound DNS name reaches nothing."""

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self.app = app
        self.hosts = settings.hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        given = Headers(scope=scope).getlist("host")
        if len(given) == 1 and given[0].lower() in self.hosts:
            await self.app(scope, receive, send)
            return
        if scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": Reason.WRONG_HOST.value.close})
            return
        body = b"This server does not answer under that host name.\n"
        headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"content-length", str(len(body)).encode())]
        await send({"type": "http.response.start", "status": Reason.WRONG_HOST.value.http, "headers": headers})
        await send({"type": "http.response.body", "body": body})


class SecurityHeaders:
    """Sets the security headers on every response."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_with(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(HEADERS)
            await send(message)

        await self.app(scope, receive, send_with if scope["type"] == "http" else send)


class BodyLimit:
    """Counts what arrives; a body over its limit is refused without being kept."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        limit = IMPORT_LIMIT if WITH_FILE.fullmatch(scope["path"]) else JSON_LIMIT
        taken = 0

        async def receive_counted() -> Message:
            nonlocal taken
            message = await receive()
            taken += len(message.get("body", b""))
            if taken > limit:
                raise Refused(Reason.TOO_LARGE, "size", "body", f"at most {limit} bytes", f"{taken} and more")
            return message

        await self.app(scope, receive_counted, send)
