"""Frames of an open Space (docs/wire.md), defined once; `frontend/src/wire/frames.ts` is generated from here.

Reading trusts nothing: the codec bounds depth and size, `typed` checks every field, and a frame that fails is a
Refused that says where, what was expected and what came. Nothing here knows a Room or a connection.
"""

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal, get_args

from dots import codec, shape
from spaces.errors import Reason, Refused
from spaces.typed import Bounds, Form, Mismatch, plain, read, shown

PROTOCOL = 1
FRAME_LIMIT = 1 << 20  # bytes of one message
PART_SIZE = 256 << 10
TRANSFER_LIMIT = (16 << 20) + 8  # the largest file, magic included; also what the open transfers of one connection hold

Id = Annotated[str, Form(shape.ID, "an id (10 characters, Crockford base 32)")]
Count = Annotated[int, Bounds(0, codec.MAX_INT)]
Value = Any
Values = dict[str, Any]
Hash = Annotated[bytes, Bounds(32, 32)]
PushId = tuple[Id, Count]
Op = list[Any]
Key = Annotated[list[Value], "an op's key: [kind, ...key]"]


@dataclass(frozen=True, slots=True)
class Member:
    client: Id
    name: str


@dataclass(frozen=True, slots=True)
class SpaceInfo:
    id: Id
    name: str


@dataclass(frozen=True, slots=True)
class Version:
    number: int
    message: str
    author: str
    created: str  # ISO 8601, UTC
    file: Hash
    sem: Hash
    patch: Hash | None
    dotbin: Hash | None


@dataclass(frozen=True, slots=True)
class Diagnostic:
    code: str
    where: str
    node: Id | None
    field: str | None
    expected: str
    got: str
    hint: str


# From the client


@dataclass(frozen=True, slots=True)
class Hello:
    type: ClassVar[str] = "hello"
    protocol: Literal[1]
    client: Id
    resume: Annotated[dict[Id, Count], Bounds(0, 64)] | None = None


@dataclass(frozen=True, slots=True)
class Push:
    type: ClassVar[str] = "push"
    id: PushId
    base_seq: Count
    ops: Annotated[list[Op], Bounds(1, 20_000)]


@dataclass(frozen=True, slots=True)
class Save:
    type: ClassVar[str] = "save"
    id: PushId
    seq: Count
    base_version: Count | None
    message: Annotated[str, Bounds(0, 10_000)]


@dataclass(frozen=True, slots=True)
class Run:
    type: ClassVar[str] = "run"
    run: Id
    igb: bytes | None = None
    transfer: Id | None = None
    version: Count | None = None
    inputs: Annotated[Values, Bounds(0, 1000)] | None = None
    targets: Annotated[list[Id], Bounds(0, 20_000)] | None = None


@dataclass(frozen=True, slots=True)
class Cancel:
    type: ClassVar[str] = "cancel"
    run: Id


@dataclass(frozen=True, slots=True)
class Resume:
    type: ClassVar[str] = "resume"
    run: Id
    after_seq: Count


@dataclass(frozen=True, slots=True)
class Presence:
    type: ClassVar[str] = "presence"
    data: Values


@dataclass(frozen=True, slots=True)
class Part:
    """Goes both ways, ahead of the frame that names its transfer."""

    type: ClassVar[str] = "part"
    transfer: Id
    offset: Count
    total: Annotated[int, Bounds(1, TRANSFER_LIMIT)]
    bytes: Annotated[bytes, Bounds(1, PART_SIZE)]


# From the server


@dataclass(frozen=True, slots=True)
class Welcome:
    type: ClassVar[str] = "welcome"
    space: SpaceInfo
    seq: Count
    igb: bytes | None
    transfer: Id | None
    version: Version | None
    members: list[Member]
    runs: list[Id]


@dataclass(frozen=True, slots=True)
class Ack:
    type: ClassVar[str] = "ack"
    id: PushId
    seq: Count


@dataclass(frozen=True, slots=True)
class Patched:
    type: ClassVar[str] = "patched"
    seq: Count
    ops: list[Op]
    author: Id
    overtaken: list[tuple[Key, str]]  # [kind, *key] and who wrote it last


@dataclass(frozen=True, slots=True)
class Refusal:
    type: ClassVar[str] = "refused"
    id: PushId | Id | None
    code: str
    where: str
    expected: str
    got: str


@dataclass(frozen=True, slots=True)
class Diagnosed:
    type: ClassVar[str] = "diagnosed"
    seq: Count
    diagnostics: list[Diagnostic]


@dataclass(frozen=True, slots=True)
class Saved:
    type: ClassVar[str] = "saved"
    id: PushId
    version: Version


@dataclass(frozen=True, slots=True)
class Event:
    type: ClassVar[str] = "event"
    run: Id
    seq: Count
    first: Count  # stands for the numbers from here to `seq`: more than one when a long backlog was folded
    node: Id | None
    kind: str
    data: Values
    time: float


@dataclass(frozen=True, slots=True)
class Present:
    type: ClassVar[str] = "presence"
    client: Id
    name: str
    data: Values


ClientFrame = Hello | Push | Save | Run | Cancel | Resume | Presence | Part
ServerFrame = Welcome | Ack | Patched | Refusal | Diagnosed | Saved | Event | Present | Part

CLIENT_FRAMES: tuple[type[ClientFrame], ...] = get_args(ClientFrame)
SERVER_FRAMES: tuple[type[ServerFrame], ...] = get_args(ServerFrame)
BY_TYPE: dict[str, type[ClientFrame]] = {kind.type: kind for kind in CLIENT_FRAMES}

FrameId = tuple[str, int] | str | None
"""What an answer names: the id of a push or save, of a run, else nothing."""


class BadFrame(Refused):
    """A frame that could not be read; `frame_id` is what its answer names, where that much was readable."""

    frame_id: FrameId = None


def frame_id(frame: ClientFrame) -> FrameId:
    if isinstance(frame, Push | Save):
        return frame.id
    return frame.run if isinstance(frame, Run | Cancel | Resume) else None


def readable_id(kind: type[ClientFrame], value: dict[str, Any]) -> FrameId:
    """The same of a frame that could not be read."""
    field = "id" if kind in (Push, Save) else "run" if kind in (Run, Cancel, Resume) else None
    try:
        found: FrameId = field and read(PushId if field == "id" else Id, value.get(field), "id")
    except Mismatch:
        return None
    return found


def decode(data: bytes) -> ClientFrame:
    """A client's frame.

    Raises Refused with the place that is wrong.
    """
    if len(data) > FRAME_LIMIT:
        raise Refused(Reason.TOO_LARGE, "size", "frame", f"at most {FRAME_LIMIT} bytes", str(len(data)))
    try:
        value: Any = codec.decode(data)
    except codec.Malformed as error:
        raise Refused(Reason.MALFORMED, error.code, f"byte {error.offset}", error.expected, error.got) from error
    if not isinstance(value, dict) or not isinstance(value.get("type"), str):
        raise Refused(Reason.MALFORMED, "frame", "frame", "a map with a text type", shown(value))
    kind = BY_TYPE.get(value["type"])
    if kind is None:
        raise Refused(Reason.MALFORMED, "frame", "frame.type", " or ".join(BY_TYPE), shown(value["type"]))
    try:
        frame: ClientFrame = read(kind, {k: v for k, v in value.items() if k != "type"}, kind.type)
    except Mismatch as error:
        bad = BadFrame(Reason.MALFORMED, "field", error.where, error.expected, error.got)
        bad.frame_id = readable_id(kind, value)
        raise bad from error
    return frame


def encode(frame: ServerFrame) -> bytes:
    return codec.encode(plain(frame))
