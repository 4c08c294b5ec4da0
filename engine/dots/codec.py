"""The codec `igb-cbor/1` (docs/formats.md §1): one byte string per value, and nothing else is read.

Every file and frame goes through here. It knows no format, and it never repairs what it reads.
"""

import struct
from collections.abc import Mapping
from math import isfinite
from typing import Final, TypeAlias

Value: TypeAlias = "bool | int | float | str | bytes | list[Value] | dict[str, Value] | dict[int, Value] | None"

MAX_SIZE: Final = 16 * 1024 * 1024
MAX_DEPTH: Final = 32
MAX_ITEMS: Final = 200_000
MAX_INT: Final = 2**53 - 1

UINT, NINT, BYTES, TEXT, ARRAY, MAP, TAG, SIMPLE = range(8)
UNITS: Final = {BYTES: "bytes", TEXT: "bytes of text", ARRAY: "entries", MAP: "pairs"}
CONSTANTS: Final = {20: False, 21: True, 22: None}
FLOATS: Final = {25: ">e", 26: ">f", 27: ">d"}
ONE_BYTE: Final = [bytes([n]) for n in range(256)]


class Malformed(ValueError):
    """The bytes break the profile; `offset` is where the broken item begins."""

    def __init__(self, code: str, offset: int, expected: str, got: str) -> None:
        super().__init__(f"{code} at byte {offset}: expected {expected}, got {got}")
        self.code = code
        self.offset = offset
        self.expected = expected
        self.got = got


class Unencodable(ValueError):
    """A value that has no encoding; `path` is where it stands."""

    def __init__(self, path: str, expected: str, got: str) -> None:
        super().__init__(f"{path or 'value'}: expected {expected}, got {got}")
        self.path = path
        self.expected = expected
        self.got = got


def decode(data: bytes) -> Value:
    """The one value that these bytes encode; raises Malformed."""
    if len(data) > MAX_SIZE:
        raise Malformed("size", 0, f"at most {MAX_SIZE} bytes", f"{len(data)}")
    if not data:
        raise Malformed("empty", 0, "one data item", "no bytes")
    reader = _Reader(data)
    value = reader.item(0)
    if reader.at != len(data):
        raise Malformed("trailing", reader.at, "the end", f"{len(data) - reader.at} bytes more")
    return value


class _Reader:
    __slots__ = ("at", "data", "end", "items")

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.end = len(data)
        self.at = 0
        self.items = 0

    def item(self, depth: int) -> Value:
        """Read one item; recursion is bounded by MAX_DEPTH."""
        start = self.at
        major, argument = self.head(start)
        if major in (ARRAY, MAP) and depth >= MAX_DEPTH:
            raise Malformed("depth", start, f"at most {MAX_DEPTH} levels", "one more")
        self.items += 1
        if self.items > MAX_ITEMS:
            raise Malformed("items", start, f"at most {MAX_ITEMS} items", "one more")
        if major == UINT:
            return argument
        if major == NINT:
            return -1 - argument
        if major == SIMPLE:
            return CONSTANTS[argument] if argument in CONSTANTS else self.float(start, argument)
        left = self.end - self.at
        if argument > (left // 2 if major == MAP else left):
            raise Malformed("truncated", start, f"{argument} {UNITS[major]}", f"{left} bytes left")
        if major == ARRAY:
            return [self.item(depth + 1) for _ in range(argument)]
        if major == MAP:
            return self.map(argument, depth + 1)
        body = self.data[self.at : self.at + argument]
        self.at += argument
        return body if major == BYTES else self.text(start, body)

    def head(self, start: int) -> tuple[int, int]:
        """The major type and the argument: a number, a length, or the additional information of a simple value."""
        if start >= self.end:
            raise Malformed("truncated", start, "a data item", "the end")
        major, info = self.data[start] >> 5, self.data[start] & 31
        if info == 31:
            raise Malformed("indefinite", start, "a definite length", "additional information 31")
        if info > 27:
            raise Malformed("reserved", start, "additional information 0 to 27", f"{info}")
        if major == TAG:
            raise Malformed("tag", start, "no tag", f"byte {self.data[start]:02x}")
        if major == SIMPLE and info not in CONSTANTS and info not in FLOATS:
            raise Malformed("simple", start, "null, false, true or a float", f"byte {self.data[start]:02x}")
        width = 0 if info < 24 else 1 << (info - 24)
        self.at = start + 1 + width
        if self.at > self.end:
            raise Malformed("truncated", start, f"{width} bytes of a head", f"{self.end - start - 1}")
        if major == SIMPLE or not width:
            return major, info
        argument = int.from_bytes(self.data[start + 1 : self.at], "big")
        if argument < (24 if width == 1 else 1 << (width * 4)):
            raise Malformed("not_shortest", start, "the shortest head", f"{width} bytes for {argument}")
        if major <= NINT and argument > MAX_INT - major:
            raise Malformed("int_range", start, f"at most {MAX_INT}", f"{argument + major}")
        return major, argument

    def float(self, start: int, info: int) -> float:
        raw = self.data[start + 1 : self.at]
        value: float = struct.unpack(FLOATS[info], raw)[0]
        if not isfinite(value):
            raise Malformed("float_not_finite", start, "a finite number", repr(value))
        if self.data[start : self.at] != _number(value):
            raise Malformed(
                "float_form", start, f"{_number(value).hex()} for {value!r}", self.data[start : self.at].hex()
            )
        return value

    def text(self, start: int, body: bytes) -> str:
        try:
            return body.decode("utf-8")
        except UnicodeDecodeError as error:
            raise Malformed(
                "utf8", start, "strict UTF-8", f"{error.reason} at byte {error.start} of the text"
            ) from error

    def map(self, count: int, depth: int) -> Value:
        found: dict[str | int, Value] = {}
        last = b""
        kind = -1
        for _ in range(count):
            start = self.at
            major = self.data[start] >> 5 if start < self.end else kind
            if start < self.end and (major not in (UINT, TEXT) or kind not in (-1, major)):
                raise Malformed("key_type", start, "keys all unsigned ints or all text", f"byte {self.data[start]:02x}")
            kind = major
            key = self.item(depth)
            encoded = self.data[start : self.at]
            if encoded == last:
                raise Malformed("key_duplicate", start, "each key once", f"{key!r} again")
            if encoded < last:
                raise Malformed("key_order", start, "keys in bytewise order of their encodings", f"{key!r}")
            last = encoded
            assert isinstance(key, str | int)
            found[key] = self.item(depth)
        return found  # type: ignore[return-value]  # all keys are of one kind


def encode(value: object) -> bytes:
    """The one encoding of a value; raises Unencodable."""
    out: list[bytes] = []
    _Writer(out).item(value, "", 0)
    data = b"".join(out)
    if len(data) > MAX_SIZE:
        raise Unencodable("", f"at most {MAX_SIZE} bytes", f"{len(data)}")
    return data


def same(a: object, b: object) -> bool:
    """Equality of values as bytes see it: 1 and 1.0 are one, 1 and True are not."""
    return encode(a) == encode(b)


class _Writer:
    __slots__ = ("items", "out")

    def __init__(self, out: list[bytes]) -> None:
        self.out = out
        self.items = 0

    def item(self, value: object, path: str, depth: int) -> None:
        self.items += 1
        if self.items > MAX_ITEMS:
            raise Unencodable(path, f"at most {MAX_ITEMS} items", "one more")
        if value is None or isinstance(value, bool):
            self.out.append(b"\xf6" if value is None else b"\xf5" if value else b"\xf4")
        elif isinstance(value, str):
            self.out.append(_text(value, path))
        elif isinstance(value, int):
            self.out.append(_whole(value, path))
        elif isinstance(value, float):
            self.out.append(_finite(value, path))
        elif isinstance(value, bytes):
            self.out += (_head(BYTES, len(value)), value)
        elif isinstance(value, list | tuple | Mapping):
            self.container(value, path, depth + 1)
        else:
            raise Unencodable(path, "null, bool, int, float, text, bytes, array or map", type(value).__name__)

    def container(
        self, value: list[object] | tuple[object, ...] | Mapping[object, object], path: str, depth: int
    ) -> None:
        if depth > MAX_DEPTH:
            raise Unencodable(path, f"at most {MAX_DEPTH} levels", "one more")
        if isinstance(value, Mapping):
            self.map(value, path, depth)
            return
        self.out.append(_head(ARRAY, len(value)))
        for place, entry in enumerate(value):
            self.item(entry, f"{path}[{place}]", depth)

    def map(self, value: Mapping[object, object], path: str, depth: int) -> None:
        entries: list[tuple[bytes, str, object]] = []
        kinds = set()
        for key, entry in value.items():
            if isinstance(key, str):
                encoded = _text(key, path)
            elif isinstance(key, int) and not isinstance(key, bool) and 0 <= key <= MAX_INT:
                encoded = _head(UINT, key)
            else:
                raise Unencodable(path, "keys all unsigned ints or all text", f"the key {key!r}")
            kinds.add(isinstance(key, str))
            entries.append((encoded, f"{path}.{key}" if path else str(key), entry))
        if len(kinds) > 1:
            raise Unencodable(path, "keys all unsigned ints or all text", "both")
        entries.sort(key=lambda entry: entry[0])
        self.out.append(_head(MAP, len(entries)))
        for encoded, where, entry in entries:
            self.items += 1
            self.out.append(encoded)
            self.item(entry, where, depth)


def _head(major: int, argument: int) -> bytes:
    kind = major << 5
    if argument < 24:
        return ONE_BYTE[kind | argument]
    for info, width in ((24, 1), (25, 2), (26, 4)):
        if argument < 1 << (8 * width):
            return ONE_BYTE[kind | info] + argument.to_bytes(width, "big")
    return ONE_BYTE[kind | 27] + argument.to_bytes(8, "big")


def _whole(value: int, path: str) -> bytes:
    if abs(value) > MAX_INT:
        raise Unencodable(path, f"an int within ±{MAX_INT}", f"one of {value.bit_length()} bits")
    return _head(UINT, value) if value >= 0 else _head(NINT, -1 - value)


def _finite(value: float, path: str) -> bytes:
    if not isfinite(value):
        raise Unencodable(path, "a finite number", repr(value))
    return _number(value)


def _text(value: str, path: str) -> bytes:
    try:
        body = value.encode("utf-8")
    except UnicodeEncodeError as error:
        raise Unencodable(path, "text without lone surrogates", f"U+{ord(value[error.start]):04X}") from error
    return _head(TEXT, len(body)) + body


def _number(value: float) -> bytes:
    """A finite float in its shortest form; an integral one within the range of ints is an int."""
    if value.is_integer() and abs(value) <= MAX_INT:
        whole = int(value)
        return _head(UINT, whole) if whole >= 0 else _head(NINT, -1 - whole)
    for info, form in ((25, ">e"), (26, ">f")):
        try:
            body = struct.pack(form, value)
        except OverflowError:
            continue  # beyond this width
        if struct.unpack(form, body)[0] == value:
            return ONE_BYTE[SIMPLE << 5 | info] + body
    return b"\xfb" + struct.pack(">d", value)
