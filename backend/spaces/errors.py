"""What the server refuses, and how a refusal becomes an HTTP status or a close code. Both tables stand only here.

SpacesError
├── Refused           a request that is not served; carries a Refusal and a Reason
├── DataTaken         another server holds this data directory
├── DataUnusable      it cannot be made, read or written, or its database is none
└── PortTaken         the port that was asked for is in use
"""

from dataclasses import asdict, dataclass
from enum import Enum
from typing import NamedTuple


class Status(NamedTuple):
    http: int
    close: int  # WebSocket close code, where the refusal ends the connection


class Reason(Enum):
    """Why a request is refused."""

    MALFORMED = Status(400, 4400)
    UNAUTHENTICATED = Status(401, 4401)
    FORBIDDEN = Status(403, 4403)
    NOT_FOUND = Status(404, 4404)
    CONFLICT = Status(409, 4409)
    TOO_LARGE = Status(413, 1009)
    WRONG_HOST = Status(421, 4421)
    INVALID = Status(422, 4422)
    BUSY = Status(429, 1013)
    INTERNAL = Status(500, 1011)
    UNAVAILABLE = Status(503, 1013)


@dataclass(frozen=True, slots=True)
class Refusal:
    """A user's mistake as a value: what stands where, what was expected, what came."""

    code: str
    where: str
    expected: str
    got: str
    hint: str = ""

    def json(self) -> dict[str, str]:
        return asdict(self)


class SpacesError(Exception):
    """Base of this package's exceptions."""


class Refused(SpacesError):
    def __init__(self, reason: Reason, code: str, where: str, expected: str, got: str, hint: str = "") -> None:
        super().__init__(f"{code} at {where}: expected {expected}, got {got}")
        self.reason = reason
        self.refusal = Refusal(code, where, expected, got, hint)


class DataTaken(SpacesError):
    """Another server holds this data directory; the message names it."""


class DataUnusable(SpacesError):
    """A data directory that cannot be made, read or written, or whose database is none; the message says why."""


class PortTaken(SpacesError):
    """The port that was asked for is in use."""
