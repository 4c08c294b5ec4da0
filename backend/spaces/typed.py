"""Reads a decoded value as an annotated type, strictly: the one check between a hostile frame and a typed one.

Types are those of `wire.py`: int, float, str, bytes, bool, Any, Literal, list[X], tuple[A, B], dict[str, X], X | None,
dataclasses (closed: an unknown field is refused) and Annotated with the rules below. Nothing is converted.
"""

import dataclasses
import re
from dataclasses import dataclass
from functools import cache
from types import NoneType, UnionType
from typing import Annotated, Any, ClassVar, Literal, Union, get_args, get_origin, get_type_hints

NAMES = {int: "int", float: "float", str: "text", bytes: "bytes", bool: "bool", list: "array", dict: "map"}


class Mismatch(ValueError):
    """A value that is not of its type."""

    def __init__(self, where: str, expected: str, got: str) -> None:
        super().__init__(f"{where}: expected {expected}, got {got}")
        self.where, self.expected, self.got = where, expected, got


@dataclass(frozen=True, slots=True)
class Form:
    """A text that matches a pattern as a whole."""

    pattern: re.Pattern[str]
    name: str

    def check(self, value: Any, where: str) -> None:
        if self.pattern.fullmatch(value) is None:
            raise Mismatch(where, self.name, shown(value))


@dataclass(frozen=True, slots=True)
class Bounds:
    """Bounds of a number, or of the length of a text, bytes, array or map."""

    least: int
    most: int

    def check(self, value: Any, where: str) -> None:
        size = value if isinstance(value, int | float) else len(value)
        if not self.least <= size <= self.most:
            raise Mismatch(where, f"{self.least} to {self.most}", str(size))


def shown(value: Any) -> str:
    """A value for an error message: its kind, and its text when that is short."""
    if value is None or isinstance(value, bool):
        return "null" if value is None else str(value).lower()
    if isinstance(value, int | float):
        return str(value)
    if isinstance(value, str) and len(value) <= 40:
        return repr(value)
    return f"{NAMES.get(type(value), type(value).__name__)} of {len(value)}"


@cache
def fields(kind: type) -> dict[str, tuple[Any, bool]]:
    """A record's fields: name to type and whether it must be there."""
    hints = get_type_hints(kind, include_extras=True)
    return {f.name: (hints[f.name], f.default is dataclasses.MISSING) for f in dataclasses.fields(kind)}


def read(kind: Any, value: Any, where: str) -> Any:
    """The value as `kind`.

    Raises Mismatch with the place.
    """
    if kind is Any:
        return value
    if dataclasses.is_dataclass(kind) and isinstance(kind, type):
        return read_record(kind, value, where)
    origin = get_origin(kind)
    if origin is None:
        return read_scalar(kind, value, where)
    return READERS[origin](get_args(kind), value, where)


def read_scalar(kind: type, value: Any, where: str) -> Any:
    if type(value) is not kind and not (kind is float and type(value) is int):
        raise Mismatch(where, NAMES.get(kind, kind.__name__), shown(value))
    return value


def read_record(kind: type, value: Any, where: str) -> Any:
    if not isinstance(value, dict):
        raise Mismatch(where, "map", shown(value))
    known = fields(kind)
    for name in value:
        if name not in known:
            raise Mismatch(
                f"{where}.{name}" if isinstance(name, str) else where, f"one of {', '.join(known)}", shown(name)
            )
    for name, (_, required) in known.items():
        if required and name not in value:
            raise Mismatch(f"{where}.{name}", "a value", "nothing")
    return kind(**{name: read(known[name][0], item, f"{where}.{name}") for name, item in value.items()})


def read_annotated(args: tuple[Any, ...], value: Any, where: str) -> Any:
    found = read(args[0], value, where)
    for rule in args[1:]:
        rule.check(found, where)
    return found


def read_maybe(args: tuple[Any, ...], value: Any, where: str) -> Any:
    if value is None:
        return None
    (kind,) = (arg for arg in args if arg is not NoneType)
    return read(kind, value, where)


def read_literal(args: tuple[Any, ...], value: Any, where: str) -> Any:
    if not any(type(value) is type(arg) and value == arg for arg in args):
        raise Mismatch(where, " or ".join(shown(arg) for arg in args), shown(value))
    return value


def read_list(args: tuple[Any, ...], value: Any, where: str) -> Any:
    if not isinstance(value, list):
        raise Mismatch(where, "array", shown(value))
    return [read(args[0], item, f"{where}[{i}]") for i, item in enumerate(value)]


def read_tuple(args: tuple[Any, ...], value: Any, where: str) -> Any:
    if not isinstance(value, list) or len(value) != len(args):
        raise Mismatch(where, f"array of {len(args)}", shown(value))
    return tuple(read(kind, item, f"{where}[{i}]") for i, (kind, item) in enumerate(zip(args, value, strict=True)))


def read_map(args: tuple[Any, ...], value: Any, where: str) -> Any:
    if not isinstance(value, dict):
        raise Mismatch(where, "map", shown(value))
    return {read(args[0], name, where): read(args[1], item, f"{where}.{name}") for name, item in value.items()}


READERS: dict[Any, Any] = {
    Annotated: read_annotated,
    Union: read_maybe,
    UnionType: read_maybe,
    Literal: read_literal,
    list: read_list,
    tuple: read_tuple,
    dict: read_map,
}


def plain(value: Any) -> Any:
    """A typed value as maps, arrays and scalars; a record's class variables name its type."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        tag = {"type": getattr(value, "type")} if is_tagged(type(value)) else {}  # noqa: B009  # mypy knows no `type`
        return tag | {f.name: plain(getattr(value, f.name)) for f in dataclasses.fields(value)}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {name: plain(item) for name, item in value.items()}
    return value


@cache
def is_tagged(kind: type) -> bool:
    return get_origin(get_type_hints(kind).get("type")) is ClassVar
