"""Who is asking: the start token, the signed cookie it buys, and bearer tokens of programs. Compares in constant time.

The key that signs cookies lives in the data directory, so a cookie survives a restart; the start token does not.
"""

import hashlib
import hmac
import os
import secrets
import time
from dataclasses import dataclass
from pathlib import Path

from starlette.requests import HTTPConnection

from spaces.errors import Reason, Refused
from spaces.settings import Settings
from spaces.store import Store

COOKIE_SECONDS = 30 * 86400
SAFE_METHODS = frozenset(("GET", "HEAD", "OPTIONS"))


@dataclass(frozen=True, slots=True)
class Caller:
    name: str
    bearer: bool  # a program with a token; a browser has the cookie


def signing_key(data: Path) -> bytes:
    """The key of this data directory, made once, readable by its owner only."""
    path = data / "cookie.key"
    if not path.exists():
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(secrets.token_bytes(32))
    return path.read_bytes()


def equal(a: str, b: str) -> bool:
    return hmac.compare_digest(a.encode("utf-8", "surrogatepass"), b.encode("utf-8", "surrogatepass"))


class Auth:
    """Decides who calls; owns the signing key."""

    def __init__(self, settings: Settings, store: Store) -> None:
        self.settings = settings
        self.store = store
        self.key = signing_key(settings.data)
        self.cookie = f"spaces_{settings.port}"  # browsers share cookies between ports of a host

    def opens(self, token: str) -> bool:
        return equal(token, self.settings.token)

    def sign(self, expires: int) -> str:
        body = f"{self.cookie}.{expires}"
        return f"{expires}.{hmac.new(self.key, body.encode(), hashlib.sha256).hexdigest()}"

    def issue(self) -> str:
        """A cookie's value."""
        return self.sign(int(time.time()) + COOKIE_SECONDS)

    def holds(self, cookie: str) -> bool:
        expires, _, _ = cookie.partition(".")
        if not expires.isascii() or not expires.isdigit() or len(expires) > 12:
            return False
        return equal(cookie, self.sign(int(expires))) and time.time() < int(expires)

    def caller(self, connection: HTTPConnection) -> Caller:
        """Who asks.

        Raises Refused without a valid cookie or bearer.
        """
        header = connection.headers.get("authorization", "")
        if header:
            scheme, _, token = header.partition(" ")
            name = self.settings.user if self.opens(token) else self.store.token_name(token)
            if scheme.lower() != "bearer" or name is None:
                raise Refused(Reason.UNAUTHENTICATED, "token", "header authorization", "a bearer token", "another one")
            return Caller(name, bearer=True)
        if self.holds(connection.cookies.get(self.cookie, "")):
            return Caller(self.settings.user, bearer=False)
        raise Refused(
            Reason.UNAUTHENTICATED,
            "cookie",
            "cookie",
            "a session",
            "none",
            "Open the address that the server printed when it started.",
        )

    def request_caller(self, connection: HTTPConnection, method: str) -> Caller:
        """Who makes a REST request; one that changes something must come from our own pages."""
        caller = self.caller(connection)
        if caller.bearer or method in SAFE_METHODS:
            return caller
        origin = connection.headers.get("origin")
        site = connection.headers.get("sec-fetch-site")
        own = origin in self.settings.origins if origin is not None else site == "same-origin"
        if not own:
            raise Refused(
                Reason.FORBIDDEN, "origin", "header origin", "this server's own origin", origin or site or "none"
            )
        return caller

    def socket_caller(self, connection: HTTPConnection) -> Caller:
        """Who opens a socket: a cookie with our exact Origin, or a bearer without any."""
        origin = connection.headers.get("origin")
        caller = self.caller(connection)
        if caller.bearer and origin is not None:
            raise Refused(Reason.FORBIDDEN, "origin", "header origin", "none beside a bearer", origin)
        if not caller.bearer and origin not in self.settings.origins:
            raise Refused(Reason.FORBIDDEN, "origin", "header origin", "this server's own origin", origin or "none")
        return caller
