"""Graphs as bytes, right or wrong: a small one with sections changed, and graphs that show one thing each."""

from collections.abc import Mapping

from tests.spec.case import Case, Parts
from tests.spec.cbor import head, item

A, B, C, D = "000000000a", "000000000b", "000000000c", "000000000d"
DROP = object()  # in place of a section: there is none
IGB = b"\x89IGB\r\n\x1a\n"
STRINGS = ["t.a", "p", "o", "i"]
NODES: list[object] = [[A, 0, 1, {1: 5}, {}], [B, 0, 1, {}, {}]]
SMALL: dict[int, object] = {
    0: [1, 0],
    3: STRINGS,
    4: NODES,
    5: [[0, 2, 1, 3, 0]],
}


def changed(base: Mapping[int, object], changes: Mapping[int, object]) -> dict[int, object]:
    return {key: value for key, value in {**base, **changes}.items() if value is not DROP}


def igb_file(changes: Mapping[int, object]) -> bytes:
    return IGB + item(changed(SMALL, changes))


def valid(name: str, changes: Mapping[int, object]) -> Case:
    return {"name": name, "hex": igb_file(changes).hex(), "verdict": "accept"}


def invalid(name: str, changes: Mapping[int, object], code: str, path: str) -> Case:
    return {"name": name, "hex": igb_file(changes).hex(), "verdict": "invalid", "code": code, "path": path}


def one(node: object, strings: list[str] | None = None) -> dict[int, object]:
    """A graph of one node and no edge."""
    return {3: ["t.a"] if strings is None else strings, 4: [node], 5: []}


def with_param(value: object) -> dict[int, object]:
    return one([A, 0, 1, {1: value}, {}], ["t.a", "p"])


def linked(*edges: object, nodes: int = 3) -> dict[int, object]:
    return {3: ["t.a", "o", "i"], 4: [[n, 0, 1, {}, {}] for n in (A, B, C, D)[:nodes]], 5: list(edges)}


def crowd(count: int, last: str | None = None) -> Parts:
    """A file of so many nodes and no edge, their ids counting up from 0; `last` is the id of one more."""
    size = count + (last is not None)
    start = IGB + b"\xa4" + item(0) + item([1, 0]) + item(3) + item(["t.a"]) + item(4) + head(4, size)
    end = (b"" if last is None else item([last, 0, 1, {}, {}])) + item(5) + item([])
    return [(start.hex(), 1), ("856a", count, "0001a0a0"), (end.hex(), 1)]
