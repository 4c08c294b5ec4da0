"""Forms that every reader of a structure asks for: kinds, ranges, names. A value that has another form is `Invalid`.

Readers of files and of frames share it; it knows no format.
"""

import re
from collections.abc import Mapping
from typing import Final

from dots.codec import Value
from dots.template import is_port_name

ID: Final = re.compile(r"[0-9abcdefghjkmnpqrstvwxyz]{10}")
COMPONENT: Final = re.compile(r"[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)+")
SECRET: Final = re.compile(r"[A-Z][A-Z0-9_]{0,63}")
LIMITS: Final = {"steps": 1_000_000, "kv": 16_777_216, "seconds": 86_400}  # the highest; kv in KiB
MAX_COMPONENT: Final = 64
MAX_VERSION: Final = 65_535


class Invalid(ValueError):
    """The bytes are fine, the structure is not; `path` says where."""

    def __init__(self, code: str, path: str, expected: str, got: str) -> None:
        super().__init__(f"{code} at {path}: expected {expected}, got {got}")
        self.code = code
        self.path = path
        self.expected = expected
        self.got = got


def section(path: str, expected: str, got: object) -> Invalid:
    """The error for a value of another form."""
    return Invalid("section", path, expected, shown(got))


def shown(value: object) -> str:
    """A value in a message: short, and without control characters."""
    if isinstance(value, list | tuple | Mapping) and len(value) > 8:
        return f"{'a map' if isinstance(value, Mapping) else 'an array'} of {len(value)}"
    if isinstance(value, str | bytes):
        value = value[:80]
    line = ascii(value) if isinstance(value, str) and not value.isprintable() else repr(value)
    return line if len(line) <= 80 else line[:77] + "..."


def array(value: Value, path: str, count: int | None = None) -> list[Value]:
    if not isinstance(value, list) or (count is not None and len(value) != count):
        raise section(path, "an array" if count is None else f"an array of {count}", value)
    return value


def text_map(value: Value, path: str) -> dict[str, Value]:
    if not isinstance(value, dict) or not all(isinstance(key, str) for key in value):
        raise section(path, "a map with text keys", value)
    return value  # type: ignore[return-value]  # every key has just been looked at


def uint_map(value: Value, path: str) -> dict[int, Value]:
    if not isinstance(value, dict) or not all(isinstance(key, int) for key in value):
        raise section(path, "a map with unsigned keys", value)
    return value  # type: ignore[return-value]  # every key has just been looked at


def integer(value: Value, path: str, low: int, high: int) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
        raise section(path, f"an int from {low} to {high}", value)
    return value


def text(value: Value, path: str, low: int = 0, high: int | None = None) -> str:
    """Text of so many bytes of UTF-8."""
    if not isinstance(value, str):
        raise section(path, "text", value)
    if not low <= len(value.encode()) or (high is not None and len(value.encode()) > high):
        raise section(path, f"text of {low} to {high} bytes", f"{len(value.encode())} bytes")
    return value


def node_id(value: Value, path: str) -> str:
    if not isinstance(value, str) or not ID.fullmatch(value):
        raise section(path, "an id: 10 characters of 0-9 and a-z without i, l, o, u", value)
    return value


def component(value: Value, path: str) -> str:
    if not isinstance(value, str) or len(value) > MAX_COMPONENT or not COMPONENT.fullmatch(value):
        raise section(path, f"a component's name of at most {MAX_COMPONENT} bytes", value)
    return value


def port(value: Value, path: str) -> str:
    if not isinstance(value, str) or not is_port_name(value):
        raise section(path, "a name of 1 to 64 bytes without white space, control characters and braces", value)
    return value


def digest(value: Value, path: str) -> bytes:
    if not isinstance(value, bytes) or len(value) != 32:
        raise section(path, "a SHA-256 of 32 bytes", value)
    return value


def distinct(old: Value, new: Value, path: str) -> None:
    if identical(old, new):
        raise section(path, "old and new to differ", old)


def identical(a: Value, b: Value) -> bool:
    """Equality of decoded values as bytes see it, without a copy of either; 1 and True are two values."""
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(identical, a, b))
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(identical(value, b[key]) for key, value in a.items())  # type: ignore[index]
    return type(a) is type(b) and a == b


def no_raw_secret(value: Value, path: str) -> None:
    """A map with the key `secret` is a reference by name and nothing else; the codec has bounded the depth."""
    if isinstance(value, list):
        for entry in value:
            no_raw_secret(entry, path)
    if not isinstance(value, Mapping):
        return
    if "secret" in value:
        name = value["secret"]  # type: ignore[index]  # a map that has this key has text keys
        if len(value) != 1 or not isinstance(name, str) or not SECRET.fullmatch(name):
            raise Invalid("secret", path, 'exactly {"secret": NAME}', "another map with the key secret")
    for entry in value.values():
        no_raw_secret(entry, path)
