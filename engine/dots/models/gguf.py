"""Reads the directory of a GGUF model file: metadata and where each tensor lies. Tensors stay in the mapped file.

The file is hostile until proven otherwise: every count is checked against the bytes left before anything is made
from it, and what does not fit is refused with its offset. Nothing here interprets the model.
"""

import math
import mmap
import struct
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from dots.errors import Code, Failure, Refused
from dots.models.quant import FORMATS, Bytes, Floats, Format, dequantise, first_broken_row, format_name

MAX_KEYS = 4096
MAX_TENSORS = 65_536
MAX_NAME = 256
MAX_TEXT = 16 << 20
MAX_ITEMS = 1 << 24  # of one array
MAX_QUICK, MAX_SHORT = 1 << 19, 32  # texts of an array that is read in one go, and their mean bytes with the length
MAX_DIMENSIONS = 4
MAX_VALUES = 1 << 40  # of one tensor

STRING, ARRAY = 8, 9
SCALARS: dict[int, str] = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}

Scalar = int | float | bool | str
SEPARATOR = bytes(8)


@dataclass(frozen=True, slots=True)
class Texts:
    """Many texts, of which most starts need only how many they are."""

    joined: bytes  # valid UTF-8, with separators between
    count: int

    def __len__(self) -> int:
        return self.count

    def split(self) -> list[str]:
        return str(self.joined, "utf-8").split(str(SEPARATOR, "utf-8"))


Value = Scalar | list[str] | Texts | NDArray[np.generic]


class MalformedModel(Refused):
    """The file is not what it claims to be; `offset` is where that shows."""

    def __init__(self, offset: int, expected: str, got: str) -> None:
        super().__init__(Failure(Code.INVALID_VALUE, f"model file, byte {offset}", expected, got))
        self.offset = offset


@dataclass(frozen=True, slots=True)
class Tensor:
    name: str
    shape: tuple[int, ...]  # row-major, so the last is the length of a row
    format: Format
    data: Bytes  # (rows, bytes a row), a read-only view of the file

    def floats(self) -> Floats:
        self.require_finite()
        return dequantise(self.data, self.format).reshape(self.shape)

    def require_finite(self) -> None:
        """One scale that is not a number would make every text of the model noise."""
        row = first_broken_row(self.data, self.format)
        if row is not None:
            got = f"infinity or NaN in row {row} of {len(self.data)}"
            raise Refused(Failure(Code.INVALID_VALUE, f"model file, {self.name}", "finite numbers", got))


@dataclass(frozen=True, slots=True)
class ModelFile:
    metadata: dict[str, Value]
    tensors: dict[str, Tensor]

    def integer(self, key: str, default: int | None = None) -> int:
        value = self.metadata.get(key, default)
        if isinstance(value, bool) or not isinstance(value, int):
            raise self._mistyped(key, "an integer", value)
        return value

    def number(self, key: str, default: float | None = None) -> float:
        value = self.metadata.get(key, default)
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise self._mistyped(key, "a number", value)
        return float(value)

    def flag(self, key: str, default: bool) -> bool:
        value = self.metadata.get(key, default)
        if not isinstance(value, bool):
            raise self._mistyped(key, "a boolean", value)
        return value

    def text(self, key: str, default: str | None = None) -> str:
        value = self.metadata.get(key, default)
        if not isinstance(value, str):
            raise self._mistyped(key, "text", value)
        return value

    def texts(self, key: str) -> list[str]:
        value = self._texts(key)
        return value.split() if isinstance(value, Texts) else value

    def count_texts(self, key: str) -> int:
        return len(self._texts(key))

    def _texts(self, key: str) -> list[str] | Texts:
        value = self.metadata.get(key)
        if not isinstance(value, list | Texts):
            raise self._mistyped(key, "an array of text", value)
        return value

    def integers(self, key: str) -> list[int]:
        value = self.metadata.get(key)
        if not isinstance(value, np.ndarray) or value.dtype.kind not in "iu":
            raise self._mistyped(key, "an array of integers", value)
        found: list[int] = value.tolist()
        return found

    @staticmethod
    def _mistyped(key: str, expected: str, got: object) -> Refused:
        shown = "nothing" if got is None else "list" if isinstance(got, Texts) else type(got).__name__
        return Refused(Failure(Code.INVALID_VALUE, f"model file, {key}", expected, shown))


def is_text(raw: bytes) -> bool:
    try:
        raw.decode()
    except UnicodeDecodeError:
        return False
    return True


class Reader:
    """A cursor over the file; each method takes one thing or refuses."""

    def __init__(self, buffer: mmap.mmap | bytes) -> None:
        self.buffer = buffer
        self.end = len(buffer)
        self.at = 0

    def refuse(self, expected: str, got: object) -> MalformedModel:
        return MalformedModel(self.at, expected, str(got))

    def scalar(self, code: str) -> int | float | bool:
        size = struct.calcsize("<" + code)
        if size > self.end - self.at:
            raise self.refuse(f"{size} bytes", f"{self.end - self.at} left")
        value: int | float | bool = struct.unpack_from("<" + code, self.buffer, self.at)[0]
        self.at += size
        return value

    def count(self, code: str, limit: int, what: str, least_bytes: int) -> int:
        """A count of things that take at least `least_bytes` each."""
        start = self.at
        n = int(self.scalar(code))
        most = min(limit, (self.end - self.at) // least_bytes)
        if n > most:
            raise MalformedModel(start, f"at most {most} {what}", str(n))
        return n

    def text(self, limit: int) -> str:
        n = self.count("Q", limit, "bytes of text", 1)
        try:
            value = str(self.buffer[self.at : self.at + n], "utf-8")
        except UnicodeDecodeError as e:
            raise self.refuse("UTF-8 text", e.reason) from None
        self.at += n
        return value

    def value(self, kind: int) -> Value:
        if kind == STRING:
            return self.text(MAX_TEXT)
        if kind == ARRAY:
            return self.array()
        if kind not in SCALARS:
            raise self.refuse("a known value type", kind)
        return self.scalar(SCALARS[kind])

    def array(self) -> list[str] | Texts | NDArray[np.generic]:
        kind = int(self.scalar("I"))
        if kind == STRING:
            n = self.count("Q", MAX_ITEMS, "texts", 8)
            return self.plain_texts(n) or [self.text(MAX_TEXT) for _ in range(n)]
        if kind not in SCALARS:
            raise self.refuse("an array of numbers or text", f"an array of type {kind}")
        dtype = np.dtype("<" + SCALARS[kind]) if kind != 7 else np.dtype("u1")
        n = self.count("Q", MAX_ITEMS, "items", dtype.itemsize)
        items = np.frombuffer(self.buffer, dtype, n, self.at).copy()
        self.at += n * dtype.itemsize
        return items

    def plain_texts(self, n: int) -> Texts | None:
        """n texts in one go; None, and nothing is read, where they are not all short and plain: a vocabulary's tens of
        thousands, one by one, take half of a start.

        A length below 256 is a byte and seven zeros, and plain text holds no zero: so these show where a text begins.
        It is a guess only, until each text ends where the next begins.
        """
        if not 0 < n <= MAX_QUICK:
            return None
        window = np.frombuffer(self.buffer, np.uint8, min(n * MAX_SHORT, self.end - self.at), self.at)
        zero = window == 0
        seven = zero[1:-6]
        for i in range(2, 8):
            seven = seven & zero[i : len(zero) - 7 + i]
        starts = np.flatnonzero(seven)[:n]
        ends = starts + 8 + window[starts]
        if len(starts) < n or starts[0] or (starts[1:] != ends[:-1]).any() or ends[-1] > len(window):
            return None
        raw = window[: ends[-1]].copy()
        raw[starts] = 0
        joined = raw[8:].tobytes()
        if np.count_nonzero(zero[: len(raw)]) != 7 * n or not is_text(joined):  # a zero would look like a separator
            return None
        self.at += len(raw)
        return Texts(joined, n)

    def metadata(self, n: int) -> dict[str, Value]:
        found: dict[str, Value] = {}
        for _ in range(n):
            start = self.at
            key = self.text(MAX_NAME)
            if key in found:
                raise MalformedModel(start, "each key once", repr(key))
            found[key] = self.value(int(self.scalar("I")))
        return found


@dataclass(frozen=True, slots=True)
class Entry:
    """A line of the tensor directory; offsets count from the start of the data."""

    at: int  # of the line itself
    name: str
    shape: tuple[int, ...]
    format: Format
    offset: int


def read_entry(r: Reader) -> Entry:
    start = r.at
    name = r.text(MAX_NAME)
    dimensions = int(r.scalar("I"))
    if not 1 <= dimensions <= MAX_DIMENSIONS:
        raise MalformedModel(start, f"1 to {MAX_DIMENSIONS} dimensions for {name!r}", str(dimensions))
    shape = tuple(int(r.scalar("Q")) for _ in range(dimensions))[::-1]
    values = 1
    for n in shape:
        values *= n
        if not 1 <= values <= MAX_VALUES:
            raise MalformedModel(start, f"1 to {MAX_VALUES} values for {name!r}", f"shape {shape}")
    code = int(r.scalar("I"))
    if code not in FORMATS:
        known = ", ".join(f.name for f in FORMATS.values())
        raise MalformedModel(start, f"{name!r} in one of {known}", format_name(code))
    if shape[-1] % FORMATS[code].values:
        raise MalformedModel(start, f"rows of {name!r} in blocks of {FORMATS[code].values}", f"rows of {shape[-1]}")
    return Entry(start, name, shape, FORMATS[code], int(r.scalar("Q")))


def parse(buffer: mmap.mmap | bytes) -> ModelFile:
    r = Reader(buffer)
    if bytes(buffer[:4]) != b"GGUF":
        raise r.refuse("a GGUF file", bytes(buffer[:4]).hex() or "nothing")
    r.at = 4
    version = int(r.scalar("I"))
    if version not in (2, 3):
        raise r.refuse("GGUF version 2 or 3", version)
    tensors = r.count("Q", MAX_TENSORS, "tensors", 32)
    metadata = r.metadata(r.count("Q", MAX_KEYS, "keys", 13))
    entries = [read_entry(r) for _ in range(tensors)]
    alignment = metadata.get("general.alignment", 32)
    if not isinstance(alignment, int) or not 8 <= alignment <= 65_536 or alignment & (alignment - 1):
        raise r.refuse("an alignment that is a power of two from 8 to 65536", alignment)
    start = -(-r.at // alignment) * alignment
    placed: dict[str, Tensor] = {}
    for entry in entries:
        if entry.name in placed:
            raise MalformedModel(entry.at, "each tensor once", repr(entry.name))
        placed[entry.name] = place(buffer, start, entry, alignment)
    return ModelFile(metadata, placed)


def place(buffer: mmap.mmap | bytes, start: int, entry: Entry, alignment: int) -> Tensor:
    row = entry.shape[-1] // entry.format.values * entry.format.bytes
    rows = math.prod(entry.shape[:-1])
    left = len(buffer) - start
    if entry.offset % alignment or entry.offset > left or row * rows > left - entry.offset:
        got = f"{row * rows} bytes at {entry.offset} of {max(left, 0)}"
        raise MalformedModel(entry.at, f"{entry.name!r} aligned to {alignment} and inside the file", got)
    data = np.frombuffer(buffer, np.uint8, row * rows, start + entry.offset).reshape(rows, row)
    return Tensor(entry.name, entry.shape, entry.format, data)


def map_file(path: Path) -> mmap.mmap:
    """The mapping lives as long as a tensor's view of it does."""
    with path.open("rb") as file:
        if path.stat().st_size == 0:
            raise MalformedModel(0, "a GGUF file", "an empty file")
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)


def open_model(path: Path) -> ModelFile:
    return parse(map_file(path))
