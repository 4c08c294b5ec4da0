"""Writes the vectors of `docs/formats.md`: `codec igb patch apply slots` as JSON. Pytest and vitest run them.

    python tests/spec/make.py           write them
    python tests/spec/make.py --check   say whether the files are what this script gives (exit 1 if not)

A case is `{name, hex | parts, verdict, code, offset | path}`, written here by hand: verdicts are what the page demands,
not what a reader answered. `parts` is for long data: `[[hex, times], ...]`, where `[hex, times, hex]` stands around an
id that counts up from 0. Graphs and ops to apply are in either form. A reader's path may go on after it.
Nothing here uses a codec of the project: `item` writes what it is told, right or wrong.
"""

import json
import sys
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path

HERE = Path(__file__).parent
Case = dict[str, object]


class Raw(bytes):
    """An item already in bytes."""


HALF = Raw(b"\xf9\x3e\x00")


class Pairs(list[tuple[object, object]]):
    """A map in just this order."""


def head(major: int, argument: int) -> bytes:
    if argument < 24:
        return bytes([major << 5 | argument])
    info = next(n for n in range(4) if argument < 1 << (8 << n))
    return bytes([major << 5 | 24 + info]) + argument.to_bytes(1 << info, "big")


def item(value: object) -> bytes:
    """Plain CBOR; maps sort by the bytes of their keys unless they are Pairs."""
    if isinstance(value, Raw):
        return bytes(value)
    if value is None or isinstance(value, bool):
        return {None: b"\xf6", False: b"\xf4", True: b"\xf5"}[value]
    if isinstance(value, int):
        return head(0, value) if value >= 0 else head(1, -1 - value)
    if isinstance(value, str):
        return head(3, len(value.encode())) + value.encode()
    if isinstance(value, bytes):
        return head(2, len(value)) + value
    if isinstance(value, Pairs):
        return head(5, len(value)) + b"".join(item(key) + item(entry) for key, entry in value)
    if isinstance(value, Mapping):
        return item(Pairs(sorted(value.items(), key=lambda pair: item(pair[0]))))
    assert isinstance(value, list | tuple)
    return head(4, len(value)) + b"".join(map(item, value))


# Codec ---------------------------------------------------------------------------------------------------------------


def good(name: str, hexes: str) -> Case:
    return {"name": name, "hex": hexes.replace(" ", ""), "verdict": "accept"}


def malformed(name: str, hexes: str, code: str, offset: int = 0) -> Case:
    return {"name": name, "hex": hexes.replace(" ", ""), "verdict": "malformed", "code": code, "offset": offset}


def codec() -> list[Case]:
    return [
        good("zero", "00"),
        good("23 in the head", "17"),
        good("24 in one byte", "1818"),
        good("255 in one byte", "18ff"),
        good("256 in two bytes", "190100"),
        good("65535 in two bytes", "19ffff"),
        good("65536 in four bytes", "1a00010000"),
        good("2^32-1 in four bytes", "1affffffff"),
        good("2^32 in eight bytes", "1b0000000100000000"),
        good("2^53-1", "1b001fffffffffffff"),
        good("-1", "20"),
        good("-24 in the head", "37"),
        good("-25 in one byte", "3818"),
        good("-(2^53-1)", "3b001ffffffffffffe"),
        good("null", "f6"),
        good("false", "f4"),
        good("true", "f5"),
        good("half 1.5", "f93e00"),
        good("half, smallest subnormal", "f90001"),
        good("half, largest that is not integral", "f963ff"),
        good("single 0.1 as f32 keeps", "fa3dcccccd"),
        good("single, smallest subnormal", "fa00000001"),
        good("single 3.4028234663852886e38", "fa7f7fffff"),
        good("single 2^53", "fa5a000000"),
        good("single 2^-25 is less than any half", "fa33000000"),
        good("single 2^-33", "fa2f000000"),
        good("double 0.1", "fb3fb999999999999a"),
        good("double, smallest subnormal", "fb0000000000000001"),
        good("double 1.7976931348623157e308", "fb7fefffffffffffff"),
        good("double 2^53+2 is not an int", "fb4340000000000001"),
        good("negative half -0.5", "f9b800"),
        good("empty text", "60"),
        good("text with a byte order mark", "63efbbbf"),
        good("text U+0000", "6100"),
        good("text U+10FFFF", "64f48fbfbf"),
        good("text U+D7FF", "63ed9fbf"),
        good("empty bytes", "40"),
        good("24 bytes", "5818" + "00" * 24),
        good("bytes that are no UTF-8", "41ff"),
        good("empty array", "80"),
        good("array of 24", "9818" + "00" * 24),
        good("empty map", "a0"),
        good("map with int keys", "a2 00 00 1818 00"),
        good("map with text keys, shorter first", "a2 6162 00 626161 00"),
        good("map whose key is empty text", "a1 60 00"),
        good("map keys sort by bytes, not by UTF-16", "a2 63efbd9e 00 64f09f9880 00"),
        good("map keys __proto__ and constructor", "a2 695f5f70726f746f5f5f 00 6b636f6e7374727563746f72 00"),
        good("32 arrays", "81" * 31 + "80"),
        good("31 arrays and a scalar inside the last", "81" * 32 + "00"),
        good("31 arrays and a map", "81" * 31 + "a10000"),
        long("200000 items", [("9a00030d3f", 1), ("00", 199_999)], verdict="accept"),
        malformed("no bytes", "", "empty"),
        malformed("two items", "0000", "trailing", 1),
        malformed("bytes after a container", "8000", "trailing", 1),
        malformed("23 in one byte", "1817", "not_shortest"),
        malformed("255 in two bytes", "1900ff", "not_shortest"),
        malformed("65535 in four bytes", "1a0000ffff", "not_shortest"),
        malformed("2^32-1 in eight bytes", "1b00000000ffffffff", "not_shortest"),
        malformed("-24 in one byte", "3817", "not_shortest"),
        malformed("text length in one byte too many", "7801 61", "not_shortest"),
        malformed("bytes length in one byte too many", "5801 61", "not_shortest"),
        malformed("array length in one byte too many", "980100", "not_shortest"),
        malformed("map length in one byte too many", "b8010000", "not_shortest"),
        malformed("2^53", "1b0020000000000000", "int_range"),
        malformed("2^64-1", "1bffffffffffffffff", "int_range"),
        malformed("-(2^53)", "3b001fffffffffffff", "int_range"),
        malformed("-(2^64)", "3bffffffffffffffff", "int_range"),
        malformed("head of two bytes cut off", "19", "truncated"),
        malformed("head of two bytes cut in the middle", "1901", "truncated"),
        malformed("head of eight bytes cut off", "1b00000000000000", "truncated"),
        malformed("float cut off", "f93e", "truncated"),
        malformed("text longer than the data", "6261", "truncated"),
        malformed("bytes longer than the data", "4261", "truncated"),
        malformed("text of 2^64-1 bytes", "7bffffffffffffffff", "truncated"),
        malformed("array longer than the data", "8200", "truncated"),
        malformed("array of 2^64-1", "9bffffffffffffffff", "truncated"),
        malformed("map longer than the data", "a200 0001", "truncated"),
        malformed("map of 2^63 pairs", "bb8000000000000000", "truncated"),
        malformed("the last item of an array is missing", "82 6161", "truncated", 3),
        malformed("the last value of a map is missing", "a1 6161", "truncated", 3),
        malformed("the last key of a map is missing", "a2 6161 6162", "truncated", 5),
        malformed("additional information 28", "1c", "reserved"),
        malformed("additional information 29 of text", "7d", "reserved"),
        malformed("additional information 30 of a simple value", "fe", "reserved"),
        malformed("additional information 28 of a tag", "dc", "reserved"),
        malformed("int of additional information 31", "1f", "indefinite"),
        malformed("text of indefinite length", "7f6161ff", "indefinite"),
        malformed("bytes of indefinite length", "5f4161ff", "indefinite"),
        malformed("array of indefinite length", "9fff", "indefinite"),
        malformed("map of indefinite length", "bfff", "indefinite"),
        malformed("tag of additional information 31", "df", "indefinite"),
        malformed("break alone", "ff", "indefinite"),
        malformed("tag 0", "c0 6161", "tag"),
        malformed("bignum", "c240", "tag"),
        malformed("tag in one byte, not the shortest", "d80000", "tag"),
        malformed("self-described", "d9d9f700", "tag"),
        malformed("tag whose head is cut off", "d9", "tag"),
        malformed("undefined", "f7", "simple"),
        malformed("simple 0", "e0", "simple"),
        malformed("simple 19", "f3", "simple"),
        malformed("simple 255", "f8ff", "simple"),
        malformed("simple in one byte, cut off", "f8", "simple"),
        malformed("half NaN", "f97e00", "float_not_finite"),
        malformed("half infinity", "f97c00", "float_not_finite"),
        malformed("single -infinity", "faff800000", "float_not_finite"),
        malformed("double NaN with a payload", "fb7ff8000000000001", "float_not_finite"),
        malformed("half 1.0 is an int", "f93c00", "float_form"),
        malformed("half 0.0 is an int", "f90000", "float_form"),
        malformed("half -0.0 is the int 0", "f98000", "float_form"),
        malformed("single 2^24 is an int", "fa4b800000", "float_form"),
        malformed("double 2^53-1 is an int", "fb433fffffffffffff", "float_form"),
        malformed("double -(2^53-1) is an int", "fbc33fffffffffffff", "float_form"),
        malformed("single 1.5 fits a half", "fa3fc00000", "float_form"),
        malformed("double 1.5 fits a half", "fb3ff8000000000000", "float_form"),
        malformed("double of a single", "fb3fb99999a0000000", "float_form"),
        malformed("double 2^53 fits a single", "fb4340000000000000", "float_form"),
        malformed("text of a lone continuation byte", "6180", "utf8"),
        malformed("text cut in a character", "61c3", "utf8"),
        malformed("text in an overlong form", "62c080", "utf8"),
        malformed("text with a high surrogate", "63eda080", "utf8"),
        malformed("text with a surrogate pair", "66eda0bdedb880", "utf8"),
        malformed("text beyond U+10FFFF", "64f4908080", "utf8"),
        malformed("text with a bad byte late", "81 63 6161ff", "utf8", 1),
        malformed("keys out of order", "a2 01 00 00 00", "key_order", 3),
        malformed("text keys out of order", "a2 6162 00 6161 00", "key_order", 4),
        malformed("text keys sorted as text, not as bytes", "a2 626161 00 6162 00", "key_order", 5),
        malformed("text keys in the order of UTF-16", "a2 64f09f9880 00 63efbd9e 00", "key_order", 7),
        malformed("int keys, longer head first", "a2 1818 00 00 00", "key_order", 4),
        malformed("an int key twice", "a2 00 00 00 00", "key_duplicate", 3),
        malformed("a text key twice", "a2 6161 00 6161 01", "key_duplicate", 4),
        malformed("the empty text key twice", "a2 60 00 60 01", "key_duplicate", 3),
        malformed("a negative key", "a1 20 00", "key_type", 1),
        malformed("a bytes key", "a1 4161 00", "key_type", 1),
        malformed("an array key", "a1 80 00", "key_type", 1),
        malformed("a null key", "a1 f6 00", "key_type", 1),
        malformed("a float key", "a1 f93e00 00", "key_type", 1),
        malformed("a text key after an int key", "a2 00 00 6161 00", "key_type", 3),
        malformed("an int key after a text key", "a2 6161 00 00 00", "key_type", 4),
        malformed("a tagged key", "a1 c000 00", "key_type", 1),
        malformed("an int key not in its shortest form", "a1 1800 00", "not_shortest", 1),
        malformed("a key of additional information 28", "a1 1c 00", "reserved", 1),
        malformed("33 arrays", "81" * 32 + "80", "depth", 32),
        malformed("32 arrays and a map", "81" * 32 + "a0", "depth", 32),
        malformed("1000 arrays", "81" * 999 + "80", "depth", 32),
        long(
            "200001 items", [("9a00030d40", 1), ("00", 200_000)], verdict="malformed", code="items", offset=5 + 199_999
        ),
        long(
            "200001 items, nulls",
            [("9a00030d40", 1), ("f6", 200_000)],
            verdict="malformed",
            code="items",
            offset=5 + 199_999,
        ),
        long(
            "200001 items, floats",
            [("9a00030d40", 1), ("f93e00", 200_000)],
            verdict="malformed",
            code="items",
            offset=5 + 3 * 199_999,
        ),
        long("16 MiB", [("5a00fffffb", 1), ("00" * 4096, 4095), ("00" * 4091, 1)], verdict="accept"),
        long(
            "16 MiB and a byte",
            [("5a00fffffc", 1), ("00" * 4096, 4095), ("00" * 4092, 1)],
            verdict="malformed",
            code="size",
            offset=0,
        ),
        malformed("depth before length", "81" * 32 + "9bffffffffffffffff", "depth", 32),
        long(
            "keys are items",
            [("9a0001046b", 1), ("a10000", 66_667)],
            verdict="malformed",
            code="items",
            offset=5 + 3 * 66_666 + 1,
        ),
    ]


Parts = list[tuple[str, int] | tuple[str, int, str]]


def long(name: str, parts: Parts, **verdict: object) -> Case:
    """A case whose data repeats."""
    return {"name": name, "parts": [list(part) for part in parts], **verdict}


# .igb ----------------------------------------------------------------------------------------------------------------

A, B, C, D = "000000000a", "000000000b", "000000000c", "000000000d"
DROP = object()
IGB = b"\x89IGB\r\n\x1a\n"
IGP = b"\x89IGP\r\n\x1a\n"
STRINGS = ["t.a", "p", "o", "i"]
SMALL: dict[int, object] = {
    0: [1, 0],
    3: STRINGS,
    4: [[A, 0, 1, {1: 5}, {}], [B, 0, 1, {}, {}]],
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


def bytes_case(name: str, data: bytes, verdict: str, **rest: object) -> Case:
    return {"name": name, "hex": data.hex(), "verdict": verdict, **rest}


def one(node: object, strings: list[str] | None = None) -> dict[int, object]:
    """A graph of one node and no edge."""
    return {3: ["t.a"] if strings is None else strings, 4: [node], 5: []}


def flagged(flags: object) -> dict[int, object]:
    return one([A, 0, 1, {}, flags])


def with_param(value: object) -> dict[int, object]:
    return one([A, 0, 1, {1: value}, {}], ["t.a", "p"])


def named(component: str) -> dict[int, object]:
    return one([A, 0, 1, {}, {}], [component])


def ported(name: str) -> dict[int, object]:
    return {3: ["t.a", name], 4: [[A, 0, 1, {}, {}], [B, 0, 1, {}, {}]], 5: [[0, 1, 1, 1, 0]]}


def linked(*edges: object, nodes: int = 3) -> dict[int, object]:
    return {3: ["t.a", "o", "i"], 4: [[n, 0, 1, {}, {}] for n in (A, B, C, D)[:nodes]], 5: list(edges)}


def twice(first: int, second: int) -> dict[int, object]:
    """Two nodes of one id; the edge that stands first has the name that sorts first when it is from the later node."""
    names = ["a", "b"] if first > second else ["b", "a"]
    rows = [[A, 0, 1, {}, {}], [A, 0, 1, {}, {}], [B, 0, 1, {}, {}]]
    return {3: ["t.a", names[0], "i", names[1]], 4: rows, 5: [[first, 1, 2, 2, 0], [second, 3, 2, 2, 1]]}


def crowd(count: int, last: str | None = None) -> Parts:
    """A file of so many nodes and no edge, their ids counting up from 0; `last` is the id of one more."""
    size = count + (last is not None)
    start = IGB + b"\xa4" + item(0) + item([1, 0]) + item(3) + item(["t.a"]) + item(4) + head(4, size)
    end = (b"" if last is None else item([last, 0, 1, {}, {}])) + item(5) + item([])
    return [(start.hex(), 1), ("856a", count, "0001a0a0"), (end.hex(), 1)]


def igb() -> list[Case]:
    small = item(SMALL)
    return [
        valid("the small graph", {}),
        valid("no nodes", {3: [], 4: [], 5: []}),
        valid("a higher minor", {0: [1, 7]}),
        valid("settings", {6: {"seed": 1, "": None}}),
        valid(
            "every flag at its highest",
            flagged({"disabled": True, "steps": 1_000_000, "kv": 16_777_216, "seconds": 86_400}),
        ),
        valid("every flag at its lowest", flagged({"steps": 1, "kv": 1, "seconds": 1})),
        valid("version 65535", one([A, 0, 65_535, {}, {}])),
        valid("a component's name of 64 bytes", named("a." + "b" * 62)),
        long("20000 nodes", crowd(20_000), verdict="accept"),
        valid("a component's name of three parts", named("a.b_1.c0")),
        valid("a port's name of 64 bytes", ported("é" * 32)),
        valid("a port's name of other scripts", ported("问题")),
        valid("two inputs of one node", linked([0, 1, 2, 2, 0], [1, 1, 2, 2, 1])),
        valid("slot 255", linked([0, 1, 1, 2, 255], nodes=2)),
        valid(
            "params first used in the order of their names",
            {
                3: ["t.a", "b", "a", "c"],
                4: [[A, 0, 1, {1: 0}, {}], [B, 0, 1, {1: 1, 2: 2, 3: 3}, {}]],
                5: [],
            },
        ),
        valid("a component and a param may share a string", one([A, 0, 1, {0: 1}, {}])),
        valid("positions at their limits", {64: {A: [1_000_000, -1_000_000], B: [0, 0]}}),
        valid("labels of 1 and 200 bytes", {65: {A: "x", B: "é" * 100}}),
        valid("a note", {66: {C: [1_000_000, -1_000_000, 1, 1_000_000, "x" * 20_000]}}),
        valid("a note with the id of a node, without text", {66: {A: [0, 0, 1, 1, ""]}}),
        valid("groups", {67: {C: ["", [A, B]], D: ["y" * 200, [B]]}}),
        valid("conflicts", {68: [None]}),
        valid("an unknown ancillary section", {69: {"any": [HALF, None]}, 2**53 - 1: 0}),
        valid("a secret by name", with_param({"secret": "A" + "_" * 63})),
        valid("a secret deep inside", with_param([{"key": {"secret": "TOKEN_1"}}])),
        valid("a param named secret", one([A, 0, 1, {1: 1}, {}], ["t.a", "secret"])),
        valid("the word secret as a value", with_param({"word": "secret"})),
        valid("an int key where secret could be", with_param({1: "secret"})),
        bytes_case("no bytes", b"", "invalid", code="magic", path="file"),
        bytes_case("the magic of a patch", IGP + small, "invalid", code="magic", path="file"),
        bytes_case("the magic cut off", IGB[:7], "invalid", code="magic", path="file"),
        bytes_case("line ends changed", b"\x89IGB\n\x1a\n" + small, "invalid", code="magic", path="file"),
        bytes_case("magic alone", IGB, "malformed", code="empty", offset=8),
        bytes_case(
            "offsets count from the file's first byte",
            IGB + small + b"\x00",
            "malformed",
            code="trailing",
            offset=8 + len(small),
        ),
        bytes_case("a section twice", IGB + b"\xa2\x00\x00\x00\x00", "malformed", code="key_duplicate", offset=11),
        bytes_case("not a map", IGB + item([1]), "invalid", code="section", path="file"),
        bytes_case("text keys", IGB + item({"a": 1}), "invalid", code="section", path="file"),
        bytes_case("an empty map", IGB + b"\xa0", "invalid", code="key", path="0"),
        invalid("major 2", {0: [2, 0]}, "version", "format"),
        invalid("major 0", {0: [0, 0]}, "version", "format"),
        invalid("format of three", {0: [1, 0, 0]}, "version", "format"),
        invalid("format is two bytes", {0: b"\x01\x00"}, "version", "format"),
        invalid("minor is not integral", {0: [1, HALF]}, "version", "format"),
        invalid("format is no array", {0: 1}, "version", "format"),
        invalid("major is a boolean", {0: [True, 0]}, "version", "format"),
        invalid("minor is a boolean", {0: [1, False]}, "version", "format"),
        invalid(
            "minor is a float beyond the ints", {0: [1, Raw(bytes.fromhex("fb7e37e43c8800759c"))]}, "version", "format"
        ),
        invalid("minor below zero", {0: [1, -1]}, "version", "format"),
        invalid("version before unknown keys", {0: [2, 0], 7: 0}, "version", "format"),
        invalid("unknown key 2", {2: 0}, "key", "2"),
        invalid("unknown key 7", {7: 0}, "key", "7"),
        invalid("unknown key 63", {63: 0}, "key", "63"),
        invalid("unknown before missing", {3: DROP, 63: 0}, "key", "63"),
        invalid("no format", {0: DROP}, "key", "0"),
        invalid("no string table", {3: DROP}, "key", "3"),
        invalid("no nodes section", {4: DROP}, "key", "4"),
        invalid("no edges section", {5: DROP}, "key", "5"),
        invalid("a required feature", {1: ["x"]}, "feature", "features[0]"),
        invalid("two required features", {1: ["x", "y"]}, "feature", "features[0]"),
        invalid("features before sections", {1: ["x"], 4: 0}, "feature", "features[0]"),
        invalid("empty features", {1: []}, "section", "features"),
        invalid("features are no array", {1: {}}, "section", "features"),
        invalid("features are a map with keys", {1: {"x": 0}}, "section", "features"),
        invalid("a feature that is no text", {1: [1]}, "section", "features"),
        invalid("features not sorted", {1: ["y", "x"]}, "section", "features"),
        invalid("a feature twice", {1: ["x", "x"]}, "section", "features"),
        invalid("the string table is no array", {3: {}}, "section", "strings"),
        invalid("a string that is no text", {3: ["t.a", "p", "o", b"i"]}, "section", "strings[3]"),
        invalid("nodes are no array", {4: {}}, "section", "nodes"),
        invalid("a node that is no array", {4: [0]}, "section", "nodes[0]"),
        invalid("a node of four", {4: [[A, 0, 1, {}]]}, "section", "nodes[0]"),
        invalid("an id that is no text", one([1, 0, 1, {}, {}]), "section", "nodes[0].id"),
        invalid("an id that is a number of ten digits", one([1_234_567_890, 0, 1, {}, {}]), "section", "nodes[0].id"),
        invalid("an id of 9 characters", one([A[1:], 0, 1, {}, {}]), "section", "nodes[0].id"),
        invalid("an id of 11 characters", one(["0" + A, 0, 1, {}, {}]), "section", "nodes[0].id"),
        invalid("an id with i", one(["000000000i", 0, 1, {}, {}]), "section", "nodes[0].id"),
        invalid("an id in upper case", one(["000000000A", 0, 1, {}, {}]), "section", "nodes[0].id"),
        invalid("an id with a line end", one([A + "\n", 0, 1, {}, {}]), "section", "nodes[0].id"),
        invalid("a component index outside the table", one([A, 1, 1, {}, {}]), "section", "nodes[0].component"),
        invalid("a component index below zero", one([A, -1, 1, {}, {}]), "section", "nodes[0].component"),
        invalid("a component as text", one([A, "t.a", 1, {}, {}]), "section", "nodes[0].component"),
        invalid("a component index as text", one([A, "0", 1, {}, {}]), "section", "nodes[0].component"),
        invalid("a component index that is a boolean", one([A, False, 1, {}, {}]), "section", "nodes[0].component"),
        invalid("a component's name without a dot", named("ta"), "section", "nodes[0].component"),
        invalid("a component's name of 65 bytes", named("a." + "b" * 63), "section", "nodes[0].component"),
        invalid("a component's name with an empty part", named("a..b"), "section", "nodes[0].component"),
        invalid("a component's name in upper case", named("a.B"), "section", "nodes[0].component"),
        invalid("a component's part that begins with a digit", named("a.1"), "section", "nodes[0].component"),
        invalid("a component's name with a line end", named("a.b\n"), "section", "nodes[0].component"),
        invalid("version 0", one([A, 0, 0, {}, {}]), "section", "nodes[0].version"),
        invalid("version 65536", one([A, 0, 65_536, {}, {}]), "section", "nodes[0].version"),
        invalid("version true", one([A, 0, True, {}, {}]), "section", "nodes[0].version"),
        invalid("version as text", one([A, 0, "1", {}, {}]), "section", "nodes[0].version"),
        invalid("params are an array", one([A, 0, 1, [], {}]), "section", "nodes[0].params"),
        invalid("params with text keys", one([A, 0, 1, {"p": 1}, {}]), "section", "nodes[0].params"),
        invalid("a param index as text", one([A, 0, 1, {"1": 1}, {}], ["t.a", "p"]), "section", "nodes[0].params"),
        invalid("a param index outside the table", one([A, 0, 1, {1: 1}, {}]), "section", "nodes[0].params"),
        invalid(
            "a param's name with a space", one([A, 0, 1, {1: 1}, {}], ["t.a", "a b"]), "section", "nodes[0].params"
        ),
        invalid("flags are an array", flagged([]), "section", "nodes[0].flags"),
        invalid("flags with int keys", flagged({1: True}), "section", "nodes[0].flags"),
        invalid("an unknown flag", flagged({"fast": True}), "section", "nodes[0].flags.fast"),
        invalid("an unknown flag of a number", flagged({"fast": 1}), "section", "nodes[0].flags.fast"),
        invalid("disabled false", flagged({"disabled": False}), "section", "nodes[0].flags.disabled"),
        invalid("disabled 1", flagged({"disabled": 1}), "section", "nodes[0].flags.disabled"),
        invalid("steps 0", flagged({"steps": 0}), "section", "nodes[0].flags.steps"),
        invalid("steps above the highest", flagged({"steps": 1_000_001}), "section", "nodes[0].flags.steps"),
        invalid("steps true", flagged({"steps": True}), "section", "nodes[0].flags.steps"),
        invalid("kv above the highest", flagged({"kv": 16_777_217}), "section", "nodes[0].flags.kv"),
        invalid("kv 0", flagged({"kv": 0}), "section", "nodes[0].flags.kv"),
        invalid("seconds above the highest", flagged({"seconds": 86_401}), "section", "nodes[0].flags.seconds"),
        invalid("seconds 1.5", flagged({"seconds": HALF}), "section", "nodes[0].flags.seconds"),
        long(
            "20001 nodes",
            [
                (
                    (
                        IGB + b"\xa4" + item(0) + item([1, 0]) + item(3) + item(["t.a"]) + item(4) + b"\x99\x4e\x21"
                    ).hex(),
                    1,
                ),
                (item([A, 0, 1, {}, {}]).hex(), 20_001),
                ((item(5) + item([])).hex(), 1),
            ],
            verdict="invalid",
            code="section",
            path="nodes",
        ),
        invalid("edges are no array", {5: {}}, "section", "edges"),
        invalid("an edge that is no array", linked(0), "section", "edges[0]"),
        invalid("an edge of four", linked([0, 1, 1, 2]), "section", "edges[0]"),
        invalid("an edge from a node outside", linked([3, 1, 1, 2, 0]), "section", "edges[0].source"),
        invalid("an edge from node -1", linked([-1, 1, 1, 2, 0]), "section", "edges[0].source"),
        invalid("an edge to a node outside", linked([0, 1, 3, 2, 0]), "section", "edges[0].target"),
        invalid("an edge to node -1", linked([0, 1, -1, 2, 0]), "section", "edges[0].target"),
        invalid("an edge to an id", linked([0, 1, B, 2, 0]), "section", "edges[0].target"),
        invalid("an output outside the table", linked([0, 3, 1, 2, 0]), "section", "edges[0].output"),
        invalid("an input outside the table", linked([0, 1, 1, 3, 0]), "section", "edges[0].input"),
        invalid("slot 256", linked([0, 1, 1, 2, 256]), "section", "edges[0].slot"),
        invalid("slot -1", linked([0, 1, 1, 2, -1]), "section", "edges[0].slot"),
        invalid("slot true", linked([0, 1, 1, 2, True]), "section", "edges[0].slot"),
        invalid(
            "an output's name that is empty",
            {**linked([0, 1, 1, 2, 0]), 3: ["t.a", "", "i"]},
            "section",
            "edges[0].output",
        ),
        invalid(
            "an input's name with a brace",
            {**linked([0, 1, 1, 2, 0]), 3: ["t.a", "o", "{i"]},
            "section",
            "edges[0].input",
        ),
        *(
            invalid(f"a port's name with U+{ord(c):04X}", ported(f"a{c}b"), "section", "edges[0].output")
            for c in "\x00\t\n \x1f\x7f\x85\x9f\xa0\u1680\u2003\u2028\u2029\u202f\u205f\u3000{}"
        ),
        invalid("a port's name of 65 bytes", ported("a" * 65), "section", "edges[0].output"),
        invalid("a port's name of 33 characters and 66 bytes", ported("é" * 33), "section", "edges[0].output"),
        valid("a port's name with a byte order mark", ported("a\ufeffb")),
        valid("a port's name with a zero width space", ported("a\u200bb")),
        valid("a port's name of marks and signs", ported("-$.[0]\"'\\")),
        invalid("empty settings", {6: {}}, "section", "settings"),
        invalid("settings with int keys", {6: {1: 1}}, "section", "settings"),
        invalid("settings are an array", {6: [1]}, "section", "settings"),
        invalid("empty positions", {64: {}}, "section", "positions"),
        invalid("positions with int keys", {64: {0: [0, 0]}}, "section", "positions"),
        invalid("a position of three", {64: {A: [0, 0, 0]}}, "section", f"positions.{A}"),
        invalid("a position that is no array", {64: {A: 0}}, "section", f"positions.{A}"),
        invalid("x beyond the limit", {64: {A: [1_000_001, 0]}}, "section", f"positions.{A}"),
        invalid("y beyond the limit", {64: {A: [0, -1_000_001]}}, "section", f"positions.{A}"),
        invalid("x below the limit", {64: {A: [-1_000_001, 0]}}, "section", f"positions.{A}"),
        invalid("y above the limit", {64: {A: [0, 1_000_001]}}, "section", f"positions.{A}"),
        invalid("x is not integral", {64: {A: [HALF, 0]}}, "section", f"positions.{A}"),
        invalid("empty labels", {65: {}}, "section", "labels"),
        invalid("labels are an array", {65: [1]}, "section", "labels"),
        invalid("an empty label", {65: {A: ""}}, "section", f"labels.{A}"),
        invalid("a label of 201 bytes", {65: {A: "é" * 100 + "x"}}, "section", f"labels.{A}"),
        invalid("a label that is no text", {65: {A: 1}}, "section", f"labels.{A}"),
        invalid("empty notes", {66: {}}, "section", "notes"),
        invalid("notes are an array", {66: [1]}, "section", "notes"),
        invalid("a note whose id is none", {66: {"note": [0, 0, 1, 1, ""]}}, "section", "notes.note"),
        invalid("a note of four", {66: {C: [0, 0, 1, 1]}}, "section", f"notes.{C}"),
        invalid("a note of six", {66: {C: [0, 0, 1, 1, "", 0]}}, "section", f"notes.{C}"),
        invalid("a note that is no array", {66: {C: 0}}, "section", f"notes.{C}"),
        invalid("a note's x beyond the limit", {66: {C: [1_000_001, 0, 1, 1, ""]}}, "section", f"notes.{C}"),
        invalid("a note's y beyond the limit", {66: {C: [0, -1_000_001, 1, 1, ""]}}, "section", f"notes.{C}"),
        invalid("a note's x below the limit", {66: {C: [-1_000_001, 0, 1, 1, ""]}}, "section", f"notes.{C}"),
        invalid("a note's y above the limit", {66: {C: [0, 1_000_001, 1, 1, ""]}}, "section", f"notes.{C}"),
        invalid("a note without width", {66: {C: [0, 0, 0, 1, ""]}}, "section", f"notes.{C}"),
        invalid("a note without height", {66: {C: [0, 0, 1, 0, ""]}}, "section", f"notes.{C}"),
        invalid("a note too wide", {66: {C: [0, 0, 1_000_001, 1, ""]}}, "section", f"notes.{C}"),
        invalid("a note too high", {66: {C: [0, 0, 1, 1_000_001, ""]}}, "section", f"notes.{C}"),
        invalid("a note's text of 20001 bytes", {66: {C: [0, 0, 1, 1, "x" * 20_001]}}, "section", f"notes.{C}"),
        invalid("a note whose text is none", {66: {C: [0, 0, 1, 1, None]}}, "section", f"notes.{C}"),
        invalid("empty groups", {67: {}}, "section", "groups"),
        invalid("groups are an array", {67: [1]}, "section", "groups"),
        invalid("a group whose id is none", {67: {"group": ["", [A]]}}, "section", "groups.group"),
        invalid("a group of three", {67: {C: ["", [A], 0]}}, "section", f"groups.{C}"),
        invalid("a group without members", {67: {C: ["", []]}}, "section", f"groups.{C}"),
        invalid("members not sorted", {67: {C: ["", [B, A]]}}, "section", f"groups.{C}"),
        invalid("a member twice", {67: {C: ["", [A, A]]}}, "section", f"groups.{C}"),
        invalid("a member that is no text", {67: {C: ["", [1]]}}, "section", f"groups.{C}"),
        invalid("members are no array", {67: {C: ["", A]}}, "section", f"groups.{C}"),
        invalid("members are a map", {67: {C: ["", {A: 0}]}}, "section", f"groups.{C}"),
        invalid("a group's label of 201 bytes", {67: {C: ["y" * 201, [A]]}}, "section", f"groups.{C}"),
        invalid("a group's label that is no text", {67: {C: [1, [A]]}}, "section", f"groups.{C}"),
        invalid("empty conflicts", {68: []}, "section", "conflicts"),
        invalid("conflicts are a map", {68: {}}, "section", "conflicts"),
        invalid("sections in key order", {5: 0, 64: 0}, "section", "edges"),
        invalid("a string not used", {3: [*STRINGS, "x"]}, "string_table", "strings[4]"),
        invalid("a string twice", {3: [*STRINGS, "p"]}, "string_table", "strings[4]"),
        invalid(
            "a string twice, both used",
            {
                3: ["t.a", "p", "p"],
                4: [[A, 0, 1, {1: 5, 2: 5}, {}]],
                5: [],
            },
            "string_table",
            "strings[2]",
        ),
        invalid(
            "strings not in order of first use",
            {
                3: ["t.a", "o", "p", "i"],
                4: [[A, 0, 1, {2: 5}, {}], [B, 0, 1, {}, {}]],
                5: [[0, 1, 1, 3, 0]],
            },
            "string_table",
            "strings[1]",
        ),
        invalid(
            "an input before its output",
            {
                3: ["t.a", "p", "i", "o"],
                5: [[0, 3, 1, 2, 0]],
            },
            "string_table",
            "strings[2]",
        ),
        invalid(
            "param names first used in another order",
            {
                3: ["t.a", "b", "a"],
                4: [[A, 0, 1, {1: 0, 2: 0}, {}]],
                5: [],
            },
            "string_table",
            "strings[1]",
        ),
        valid(
            "param names sort by UTF-8, not by UTF-16",
            {
                3: ["t.a", "\uff5e", "\U0001f600"],
                4: [[A, 0, 1, {1: 0, 2: 0}, {}]],
                5: [],
            },
        ),
        invalid(
            "string table before order",
            {
                3: ["t.a", "x"],
                4: [[B, 0, 1, {}, {}], [A, 0, 1, {}, {}]],
                5: [],
            },
            "string_table",
            "strings[1]",
        ),
        invalid(
            "nodes not sorted", {3: ["t.a"], 4: [[B, 0, 1, {}, {}], [A, 0, 1, {}, {}]], 5: []}, "order", "nodes[1]"
        ),
        invalid("edges not sorted by source", linked([1, 1, 2, 2, 0], [0, 1, 2, 2, 1]), "order", "edges[1]"),
        invalid("edges not sorted by target", linked([0, 1, 2, 2, 0], [0, 1, 1, 2, 0]), "order", "edges[1]"),
        invalid("edges not sorted by slot", linked([0, 1, 1, 2, 1], [0, 1, 1, 2, 0]), "order", "edges[1]"),
        invalid(
            "edges not sorted by output",
            {
                **linked([0, 1, 1, 2, 0], [0, 3, 1, 2, 1]),
                3: ["t.a", "o", "i", "b"],
            },
            "order",
            "edges[1]",
        ),
        invalid(
            "edges not sorted by input",
            {
                **linked([0, 1, 1, 2, 0], [0, 1, 1, 3, 0]),
                3: ["t.a", "o", "i", "b"],
            },
            "order",
            "edges[1]",
        ),
        valid(
            "edges sort by each of their parts",
            {
                3: ["t.a", "o", "i", "j", "p"],
                4: [[n, 0, 1, {}, {}] for n in (A, B, C)],
                5: [
                    [0, 1, 1, 2, 0],
                    [0, 1, 1, 2, 1],
                    [0, 1, 1, 3, 0],
                    [0, 1, 2, 2, 0],
                    [0, 4, 1, 2, 2],
                    [1, 1, 2, 2, 1],
                ],
            },
        ),
        valid(
            "edges sort by names, not by indexes",
            {
                **linked([0, 1, 2, 2, 0], [1, 3, 2, 2, 1], [1, 1, 2, 2, 2]),
                3: ["t.a", "o", "i", "b"],
            },
        ),
        valid(
            "edges sort by UTF-8, not by UTF-16",
            {
                **linked([0, 1, 1, 2, 0], [0, 3, 1, 2, 1]),
                3: ["t.a", "\uff5e", "i", "\U0001f600"],
            },
        ),
        invalid(
            "a node twice", {3: ["t.a"], 4: [[A, 0, 1, {}, {}], [A, 0, 1, {}, {}]], 5: []}, "duplicate", "nodes[1]"
        ),
        invalid("an edge twice", linked([0, 1, 1, 2, 0], [0, 1, 1, 2, 0]), "duplicate", "edges[1]"),
        invalid("two edges at one input slot", linked([0, 1, 2, 2, 0], [1, 1, 2, 2, 0]), "duplicate", "edges[1]"),
        invalid(
            "an input slot taken ahead of an edge that stands twice",
            linked([0, 1, 2, 2, 0], [1, 1, 2, 2, 0], [1, 1, 2, 2, 0]),
            "duplicate",
            "edges[1]",
        ),
        invalid("edges sort by the node's place: order, though an id stands twice", twice(1, 0), "order", "edges[1]"),
        invalid("edges sort by the node's place: the id that stands twice", twice(0, 1), "duplicate", "nodes[1]"),
        invalid(
            "order before duplicate",
            {
                3: ["t.a"],
                4: [[B, 0, 1, {}, {}], [B, 0, 1, {}, {}], [A, 0, 1, {}, {}]],
                5: [],
            },
            "order",
            "nodes[2]",
        ),
        invalid("a position of no node", {64: {C: [0, 0]}}, "dangling", f"positions.{C}"),
        invalid("a label of no node", {65: {C: "x"}}, "dangling", f"labels.{C}"),
        invalid("a group of no node", {67: {D: ["", [A, C]]}}, "dangling", f"groups.{D}"),
        invalid("a position whose id is none", {64: {"x": [0, 0]}}, "dangling", "positions.x"),
        invalid("an edge to itself", linked([0, 1, 0, 2, 0]), "cycle", "edges"),
        invalid("a cycle of two", linked([0, 1, 1, 2, 0], [1, 1, 0, 2, 0]), "cycle", "edges"),
        invalid("a cycle behind a node", linked([0, 1, 1, 2, 0], [1, 1, 2, 2, 0], [2, 1, 1, 2, 1]), "cycle", "edges"),
        valid("a diamond", linked([0, 1, 1, 2, 0], [0, 1, 2, 2, 0], [1, 1, 3, 2, 0], [2, 1, 3, 2, 1], nodes=4)),
        invalid("dangling before cycle", {**linked([0, 1, 0, 2, 0]), 64: {D: [0, 0]}}, "dangling", f"positions.{D}"),
        invalid("a secret in the open", with_param({"secret": "sk-live"}), "secret", "nodes[0].params.p"),
        invalid("a secret that is no text", with_param({"secret": 1}), "secret", "nodes[0].params.p"),
        invalid("a secret's name in an array", with_param({"secret": ["A"]}), "secret", "nodes[0].params.p"),
        invalid("a secret's name of 65 bytes", with_param({"secret": "A" * 65}), "secret", "nodes[0].params.p"),
        invalid("a secret's name that is empty", with_param({"secret": ""}), "secret", "nodes[0].params.p"),
        invalid("a secret's name with a line end", with_param({"secret": "A\n"}), "secret", "nodes[0].params.p"),
        invalid("a secret and more", with_param({"secret": "A", "x": 1}), "secret", "nodes[0].params.p"),
        invalid("a secret in a list in a map", with_param({"a": [{"secret": "a"}]}), "secret", "nodes[0].params.p"),
        invalid("a secret under an int key", with_param({1: {"secret": "a"}}), "secret", "nodes[0].params.p"),
        valid("a setting named secret", {6: {"secret": "x"}}),
        invalid("a secret in the settings", {6: {"key": {"secret": "a"}}}, "secret", "settings.key"),
        invalid("cycle before secret", {**linked([0, 1, 0, 2, 0]), 6: {"key": {"secret": "a"}}}, "cycle", "edges"),
    ]


# .patch --------------------------------------------------------------------------------------------------------------

ZERO, ONE = bytes(32), b"\x01" * 32
EMPTY: dict[int, object] = {0: [1, 0], 1: [ZERO, ONE], 2: [ONE, ZERO], 3: []}
NODE = ["t.a", 1, {}, {}]


def patch_file(changes: Mapping[int, object]) -> bytes:
    return IGP + item(changed(EMPTY, changes))


def patch_good(name: str, *ops: object) -> Case:
    return bytes_case(name, patch_file({3: list(ops)}), "accept")


def patch_bad(name: str, ops: list[object], code: str, path: str) -> Case:
    return bytes_case(name, patch_file({3: ops}), "invalid", code=code, path=path)


def patch_header(name: str, changes: Mapping[int, object], code: str, path: str) -> Case:
    return bytes_case(name, patch_file(changes), "invalid", code=code, path=path)


def link(kind: str, *key: object) -> list[object]:
    return [kind, list(key)]


def bad_op(name: str, op: object) -> Case:
    return patch_bad(name, [op], "section", "ops[0]")


def patch() -> list[Case]:
    ab = (A, "o", B, "i", 0)
    return [
        patch_good("no ops"),
        patch_good(
            "every kind in its phase",
            link("edge-", *ab),
            ["node-", [A], NODE],
            ["node+", [B], ["t.a", 1, {"p": None}, {"disabled": True}]],
            ["retype", [C], [["t.a", 1]], [["t.b", 1]]],
            ["set", [C, "p"], [], [None]],
            ["flag", [C, "steps"], [1], []],
            ["graph", ["seed"], [1], [2]],
            link("edge+", A, "o", B, "i", 1),
            ["move", [A], [[0, 0]], []],
            ["label", [A], [], ["x"]],
            ["note", [A], [], [[0, 0, 1, 1, ""]]],
            ["group", [A], [["", [A]]], [["", [A, B]]]],
            ["extra", [68], [], [[1]]],
            ["extra", [69], [None], []],
        ),
        patch_good("two sets of one node", ["set", [C, "a"], [1], []], ["set", [C, "b"], [1], []]),
        patch_good(
            "keys sort by their encoding: shorter names first", ["set", [C, "b"], [1], []], ["set", [C, "aa"], [1], []]
        ),
        patch_good("a move beside a new node", ["node+", [A], NODE], ["move", [A], [], [[1, 1]]]),
        patch_good("true to 1", ["set", [C, "a"], [True], [1]]),
        patch_good("null to nothing", ["set", [C, "a"], [None], []]),
        patch_good("a setting named secret", ["graph", ["secret"], [], ["x"]]),
        patch_good("a higher minor is read") | {"hex": patch_file({0: [1, 3]}).hex()},
        bytes_case("no bytes", b"", "invalid", code="magic", path="file"),
        bytes_case("the magic of a graph", IGB + item(EMPTY), "invalid", code="magic", path="file"),
        bytes_case("a unified diff", b"--- a/x\n+++ b/x\n", "invalid", code="magic", path="file"),
        bytes_case("magic alone", IGP, "malformed", code="empty", offset=8),
        bytes_case("not a map", IGP + b"\x80", "invalid", code="section", path="file"),
        patch_header("major 2", {0: [2, 0]}, "version", "format"),
        patch_header("unknown key 4", {4: 0}, "key", "4"),
        patch_header("unknown key 64", {64: 0}, "key", "64"),
        patch_header("no format", {0: DROP}, "key", "0"),
        patch_header("no base", {1: DROP}, "key", "1"),
        patch_header("no target", {2: DROP}, "key", "2"),
        patch_header("no ops section", {3: DROP}, "key", "3"),
        patch_header("base is no array", {1: ZERO}, "section", "base"),
        patch_header("base of one hash", {1: [ZERO]}, "section", "base"),
        patch_header("base of three hashes", {1: [ZERO, ZERO, ZERO]}, "section", "base"),
        patch_header("a base hash of 31 bytes", {1: [ZERO[1:], ZERO]}, "section", "base"),
        patch_header("a second base hash of 33 bytes", {1: [ZERO, ZERO + b"0"]}, "section", "base"),
        patch_header("a base hash as text", {1: ["0" * 32, ZERO]}, "section", "base"),
        patch_header("target is no array", {2: 0}, "section", "target"),
        patch_header("a target hash of 20 bytes", {2: [ZERO, ZERO[:20]]}, "section", "target"),
        patch_header("ops are a map", {3: {}}, "section", "ops"),
        bad_op("an op that is no array", 0),
        bad_op("an empty op", []),
        bad_op("an op that is null", None),
        bad_op("an unknown kind", ["rename", [A], [], ["x"]]),
        bad_op("a kind that is no text", [1, [A], [], ["x"]]),
        bad_op("an edge op of three", ["edge+", list(ab), 0]),
        bad_op("an edge of four", ["edge+", list(ab[:4])]),
        bad_op("an edge of six", ["edge+", [*ab, 0]]),
        bad_op("an edge that is no array", ["edge+", 0]),
        bad_op("an edge from no id", link("edge+", "a", "o", B, "i", 0)),
        bad_op("an edge to no id", link("edge+", A, "o", "b", "i", 0)),
        bad_op("an edge from a bad output", link("edge+", A, "", B, "i", 0)),
        bad_op("an edge to a bad input", link("edge+", A, "o", B, "a b", 0)),
        bad_op("an edge at slot 256", link("edge-", A, "o", B, "i", 256)),
        bad_op("an edge at slot -1", link("edge-", A, "o", B, "i", -1)),
        bad_op("a node op of four", ["node+", [A], NODE, 0]),
        bad_op("a node op of two ids", ["node+", [A, B], NODE]),
        bad_op("a node op whose id is none", ["node+", ["a"], NODE]),
        bad_op("a node op whose key is no array", ["node+", A, NODE]),
        bad_op("a node of three", ["node+", [A], NODE[:3]]),
        bad_op("a node of five", ["node+", [A], [*NODE, 0]]),
        bad_op("a node that is no array", ["node+", [A], 0]),
        bad_op("a node whose flags are an array", ["node+", [A], ["t.a", 1, {}, []]]),
        bad_op("a node of a bad component", ["node+", [A], ["ta", 1, {}, {}]]),
        bad_op("a node whose component is no text", ["node+", [A], [1, 1, {}, {}]]),
        bad_op("a node whose component is an array", ["node+", [A], [["t.a"], 1, {}, {}]]),
        bad_op("a node whose params are an array", ["node+", [A], ["t.a", 1, [], {}]]),
        bad_op("a node of version 0", ["node+", [A], ["t.a", 0, {}, {}]]),
        bad_op("a node of version 65536", ["node+", [A], ["t.a", 65_536, {}, {}]]),
        bad_op("a node whose params have int keys", ["node+", [A], ["t.a", 1, {1: 1}, {}]]),
        bad_op("a node whose param has a bad name", ["node+", [A], ["t.a", 1, {"a b": 1}, {}]]),
        bad_op("a node with an unknown flag", ["node-", [A], ["t.a", 1, {}, {"x": True}]]),
        bad_op("retype from nothing", ["retype", [A], [], [["t.a", 1]]]),
        bad_op("retype to nothing", ["retype", [A], [["t.a", 1]], []]),
        bad_op("retype of one", ["retype", [A], [["t.a", 1]], [["t.b"]]]),
        bad_op("retype of three", ["retype", [A], [["t.a", 1]], [["t.b", 1, 0]]]),
        bad_op("retype to a number", ["retype", [A], [["t.a", 1]], [0]]),
        bad_op("retype to a bad component", ["retype", [A], [["t.a", 1]], [["t", 1]]]),
        bad_op("retype to version 0", ["retype", [A], [["t.a", 1]], [["t.a", 0]]]),
        bad_op("retype whose id is none", ["retype", ["a"], [["t.a", 1]], [["t.b", 1]]]),
        bad_op("a set of three", ["set", [A, "p"], []]),
        bad_op("a set of five", ["set", [A, "p"], [], [1], 0]),
        bad_op("a set without a param", ["set", [A], [], [1]]),
        bad_op("a set whose id is none", ["set", ["a", "p"], [], [1]]),
        bad_op("a set of a bad param", ["set", [A, "{p}"], [], [1]]),
        bad_op("a set of a param that is no text", ["set", [A, 1], [], [1]]),
        bad_op("a set of a param that is an array", ["set", [A, []], [], [1]]),
        bad_op("a set to null, not in an array", ["set", [A, "p"], [1], None]),
        bad_op("a set whose key is text", ["set", A, [], [1]]),
        bad_op("a set of two values", ["set", [A, "p"], [], [1, 2]]),
        bad_op("a set from two values", ["set", [A, "p"], [1, 2], []]),
        bad_op("a set whose new is no array", ["set", [A, "p"], [], 1]),
        bad_op("a set whose old is no array", ["set", [A, "p"], None, [1]]),
        bad_op("a set to the same", ["set", [A, "p"], [[1]], [[1]]]),
        bad_op("a set from nothing to nothing", ["set", [A, "p"], [], []]),
        bad_op("a flag without a name", ["flag", [A], [], [True]]),
        bad_op("an unknown flag", ["flag", [A, "fast"], [], [True]]),
        bad_op("an unknown flag of a number", ["flag", [A, "fast"], [], [1]]),
        bad_op("a flag whose name is no text", ["flag", [A, 1], [], [True]]),
        bad_op("a flag whose name is an array", ["flag", [A, []], [], [True]]),
        bad_op("disabled false", ["flag", [A, "disabled"], [True], [False]]),
        bad_op("steps 0", ["flag", [A, "steps"], [], [0]]),
        bad_op("a bad old flag", ["flag", [A, "steps"], [0], []]),
        bad_op("a graph key that is no text", ["graph", [1], [], [1]]),
        bad_op("a graph key of two", ["graph", ["a", "b"], [], [1]]),
        bad_op("a move of three", ["move", [A], [], [[0, 0, 0]]]),
        bad_op("a move beyond the limit", ["move", [A], [], [[0, 1_000_001]]]),
        bad_op("a move whose id is none", ["move", ["x"], [], [[0, 0]]]),
        bad_op("an empty label", ["label", [A], [], [""]]),
        bad_op("a label of 201 bytes", ["label", [A], [], ["x" * 201]]),
        bad_op("a note without width", ["note", [A], [], [[0, 0, 0, 1, ""]]]),
        bad_op("a note whose id is none", ["note", ["x"], [], [[0, 0, 1, 1, ""]]]),
        bad_op("a group without members", ["group", [A], [], [["", []]]]),
        bad_op("a group whose id is none", ["group", ["x"], [], [["", [A]]]]),
        bad_op("an extra of section 67", ["extra", [67], [], [1]]),
        bad_op("an extra of a section as text", ["extra", ["68"], [], [[1]]]),
        bad_op("an extra of empty conflicts", ["extra", [68], [], [[]]]),
        bad_op("an extra of conflicts that are no array", ["extra", [68], [], [1]]),
        patch_bad("phases out of order", [["set", [C, "p"], [], [1]], ["node+", [A], NODE]], "order", "ops[1]"),
        patch_bad("edges come in before sets", [link("edge+", *ab), ["set", [C, "p"], [], [1]]], "order", "ops[1]"),
        patch_bad("ids out of order", [["node+", [B], NODE], ["node+", [A], NODE]], "order", "ops[1]"),
        patch_bad("a key twice", [["set", [C, "p"], [], [1]], ["set", [C, "p"], [1], [2]]], "order", "ops[1]"),
        patch_bad("keys sorted as text", [["set", [C, "aa"], [1], []], ["set", [C, "b"], [1], []]], "order", "ops[1]"),
        patch_bad("shapes before order", [["node+", [B], NODE], ["node+", [A], NODE], 0], "section", "ops[2]"),
        patch_bad("a set beside a new node", [["node+", [A], NODE], ["set", [A, "p"], [], [1]]], "duplicate", "ops[1]"),
        patch_bad(
            "a flag beside a new node", [["node+", [A], NODE], ["flag", [A, "steps"], [], [1]]], "duplicate", "ops[1]"
        ),
        patch_bad(
            "a set beside a deleted node", [["node-", [A], NODE], ["set", [A, "p"], [1], []]], "duplicate", "ops[1]"
        ),
        patch_bad(
            "a retype beside a new node",
            [["node+", [A], NODE], ["retype", [A], [["t.a", 1]], [["t.b", 1]]]],
            "duplicate",
            "ops[1]",
        ),
        patch_bad(
            "a node deleted and made", [["node-", [A], NODE], ["node+", [A], ["t.b", 1, {}, {}]]], "duplicate", "ops[1]"
        ),
        patch_bad("an edge deleted and made", [link("edge-", *ab), link("edge+", *ab)], "duplicate", "ops[1]"),
        patch_bad(
            "order before duplicate", [link("edge-", *ab), link("edge+", *ab), ["node+", [A], NODE]], "order", "ops[2]"
        ),
        patch_bad("a raw secret in a set", [["set", [A, "p"], [], [{"secret": "x"}]]], "secret", "ops[0]"),
        patch_bad("a raw secret in an old value", [["set", [A, "p"], [{"secret": "x"}], []]], "secret", "ops[0]"),
        patch_bad(
            "a raw secret in a new node", [["node+", [A], ["t.a", 1, {"p": [{"secret": 1}]}, {}]]], "secret", "ops[0]"
        ),
        patch_bad(
            "a raw secret in a deleted node",
            [["node-", [A], ["t.a", 1, {"p": {"secret": "a"}}, {}]]],
            "secret",
            "ops[0]",
        ),
        patch_bad("a raw secret in the settings", [["graph", ["k"], [], [{"secret": ""}]]], "secret", "ops[0]"),
        patch_good("a param named secret", ["node+", [A], ["t.a", 1, {"secret": 1}, {}]]),
        patch_good("a secret by name", ["set", [A, "p"], [], [{"secret": "X"}]]),
        patch_good("what looks like a secret in an ancillary section", ["extra", [70], [], [{"secret": 1}]]),
    ]


# Apply ---------------------------------------------------------------------------------------------------------------

LAST = "zzzzzzzzzz"
GROUPED = {64: {A: [1, 2]}, 65: {A: "x"}, 67: {D: ["g", [A, B]]}}


def applies(name: str, before: Mapping[int, object], ops: list[object], after: Mapping[int, object] | str) -> Case:
    case: Case = {"name": name, "graph": igb_file(before).hex(), "ops": item(ops).hex()}
    return case | ({"code": after} if isinstance(after, str) else {"result": igb_file(after).hex()})


def fills(name: str, value: Parts, head_of_value: bytes, verdict: str) -> Case:
    """A set of a long value, in the small graph."""
    op = head(4, 1) + head(4, 4) + item("set") + item([A, "p"]) + item([5]) + head(4, 1) + head_of_value
    return {"name": name, "graph": igb_file({}).hex(), "ops": [[op.hex(), 1], *map(list, value)], "code": verdict}


def compares(name: str, there: object, old: object) -> Case:
    """A set that takes one value for another."""
    return applies(name, with_param(there), [["set", [A, "p"], [old], [None]]], "stale")


def hashes_of(changes: Mapping[int, object]) -> list[bytes]:
    sections = changed(SMALL, changes)
    semantic = {key: value for key, value in sections.items() if key < 64}
    return [sha256(item(semantic)).digest(), sha256(igb_file(changes)).digest()]


def stored(
    name: str,
    before: Mapping[int, object],
    ops: list[object],
    after: Mapping[int, object],
    code: str | None = None,
    base: list[bytes] | None = None,
    target: list[bytes] | None = None,
) -> Case:
    file = {1: base or hashes_of(before), 2: target or hashes_of(after), 3: ops}
    case: Case = {"name": name, "graph": igb_file(before).hex(), "patch": patch_file(file).hex()}
    return case | ({"code": code} if code else {"result": igb_file(after).hex()})


def apply() -> list[Case]:
    cut = {3: ["t.a", "p"], 5: []}
    edge = [A, "o", B, "i", 0]
    third = [C, 0, 1, {}, {}]
    nodes: list[object] = SMALL[4]  # type: ignore[assignment]
    first = ["t.a", 1, {"p": 5}, {}]
    moved = {64: {A: [3, 4]}}
    return [
        applies("no ops", {}, [], {}),
        applies("an edge goes", {}, [["edge-", edge]], cut),
        applies("an edge comes", cut, [["edge+", edge]], {}),
        applies("a node comes", {}, [["node+", [C], NODE]], {4: [*nodes, third]}),
        applies("a node goes with its edge", {}, [["edge-", edge], ["node-", [B], NODE]], {**cut, 4: nodes[:1]}),
        applies(
            "a node goes with all that names it",
            {**GROUPED},
            [
                ["edge-", edge],
                ["node-", [A], first],
                ["move", [A], [[1, 2]], []],
                ["label", [A], ["x"], []],
                ["group", [D], [["g", [A, B]]], [["g", [B]]]],
            ],
            {3: ["t.a"], 4: [[B, 0, 1, {}, {}]], 5: [], 67: {D: ["g", [B]]}},
        ),
        applies("a param set", {}, [["set", [A, "p"], [5], [6]]], {4: [[A, 0, 1, {1: 6}, {}], nodes[1]]}),
        applies(
            "a param goes",
            {},
            [["set", [A, "p"], [5], []]],
            {
                3: ["t.a", "o", "i"],
                4: [[A, 0, 1, {}, {}], [B, 0, 1, {}, {}]],
                5: [[0, 1, 1, 2, 0]],
            },
        ),
        applies("a param to null", {}, [["set", [A, "p"], [5], [None]]], {4: [[A, 0, 1, {1: None}, {}], nodes[1]]}),
        applies(
            "retype",
            {},
            [["retype", [A], [["t.a", 1]], [["s.a", 2]]]],
            {
                3: ["s.a", "p", "t.a", "o", "i"],
                4: [[A, 0, 2, {1: 5}, {}], [B, 2, 1, {}, {}]],
                5: [[0, 3, 1, 4, 0]],
            },
        ),
        applies(
            "a flag", {}, [["flag", [B, "disabled"], [], [True]]], {4: [nodes[0], [B, 0, 1, {}, {"disabled": True}]]}
        ),
        applies("a setting", {}, [["graph", ["seed"], [], [1]]], {6: {"seed": 1}}),
        applies("the last setting goes", {6: {"seed": 1}}, [["graph", ["seed"], [1], []]], {}),
        applies("a move", {}, [["move", [A], [], [[3, 4]]]], moved),
        applies("a label", {}, [["label", [A], [], ["x"]]], {65: {A: "x"}}),
        applies("a note", {}, [["note", [A], [], [[0, 0, 1, 1, "x"]]]], {66: {A: [0, 0, 1, 1, "x"]}}),
        applies("a note goes", {66: {A: [0, 0, 1, 1, "x"]}}, [["note", [A], [[0, 0, 1, 1, "x"]], []]], {}),
        applies("a group", {}, [["group", [D], [], [["g", [A]]]]], {67: {D: ["g", [A]]}}),
        applies("an unknown section", {}, [["extra", [70], [], [{"any": 1}]]], {70: {"any": 1}}),
        applies(
            "ops in the order they stand",
            {},
            [
                ["set", [A, "p"], [5], [6]],
                ["set", [A, "p"], [6], [7]],
            ],
            {4: [[A, 0, 1, {1: 7}, {}], nodes[1]]},
        ),
        applies(
            "a new edge before the old one goes",
            {4: [*nodes, third]},
            [
                ["edge+", [C, "o", B, "i", 0]],
                ["edge-", edge],
            ],
            {4: [*nodes, third], 5: [[2, 2, 1, 3, 0]]},
        ),
        applies(
            "an edge before its node",
            cut,
            [["edge+", [A, "o", C, "i", 0]], ["node+", [C], NODE]],
            {
                4: [*nodes, third],
                5: [[0, 2, 2, 3, 0]],
            },
        ),
        applies(
            "a node again after it went",
            {},
            [
                ["edge-", edge],
                ["node-", [B], NODE],
                ["node+", [B], NODE],
                ["edge+", edge],
            ],
            {},
        ),
        applies("an edge that is not there", {}, [["edge-", [A, "o", B, "i", 1]]], "stale"),
        applies("an edge that is there", {}, [["edge+", edge]], "duplicate"),
        applies("an edge that is there, and goes", {}, [["edge+", edge], ["edge-", edge]], "duplicate"),
        applies("an input slot that is taken", {4: [*nodes, third]}, [["edge+", [C, "o", B, "i", 0]]], "duplicate"),
        applies("an edge from no node", {}, [["edge+", [C, "o", B, "i", 1]]], "dangling"),
        applies("an edge to no node", {}, [["edge+", [A, "o", C, "i", 0]]], "dangling"),
        applies("an edge to itself", {}, [["edge+", [A, "o", A, "i", 0]]], "cycle"),
        applies("an edge that closes a cycle", {}, [["edge+", [B, "o", A, "i", 0]]], "cycle"),
        applies("a node that is there", {}, [["node+", [A], NODE]], "duplicate"),
        applies("a node that is not there goes", {}, [["node-", [C], NODE]], "dangling"),
        applies("a node goes with another value", {}, [["edge-", edge], ["node-", [A], NODE]], "stale"),
        applies("a node goes and leaves its edge", {}, [["node-", [B], NODE]], "dangling"),
        applies("a node goes and leaves its position", GROUPED, [["edge-", edge], ["node-", [A], first]], "dangling"),
        applies(
            "a node goes and leaves its group",
            {67: {D: ["g", [B]]}},
            [["edge-", edge], ["node-", [B], NODE]],
            "dangling",
        ),
        applies("a set of no node", {}, [["set", [C, "p"], [], [1]]], "dangling"),
        applies("a set before its node", {}, [["set", [C, "p"], [], [1]], ["node+", [C], NODE]], "dangling"),
        applies("a set of another value", {}, [["set", [A, "p"], [6], [7]]], "stale"),
        applies("a set of a value as if there were none", {}, [["set", [A, "p"], [], [7]]], "stale"),
        applies("a set of none as if there were null", {}, [["set", [B, "p"], [None], [7]]], "stale"),
        compares("an array as if it were text", ["a"], "a"),
        compares("bytes as if they were an array", b"a", [97]),
        compares("bytes as if they were others", b"a", b"b"),
        compares("bytes as if they were longer", b"a", b"ab"),
        compares("a map as if its value were another", {"x": 1}, {"x": 2}),
        compares("a map as if its key were another", {"x": 1}, {"y": 1}),
        compares("a map as if it had more", {"x": 1}, {"x": 1, "y": 2}),
        compares("a map as if it had less", {"x": 1, "y": 2}, {"x": 1}),
        compares("text as if it were a map", "a", {}),
        compares("an empty map as if it were an empty array", {}, []),
        applies(
            "a set of a map with bytes in an array",
            with_param({"x": [b"a", HALF]}),
            [["set", [A, "p"], [{"x": [b"a", HALF]}], [1]]],
            with_param(1),
        ),
        applies(
            "a set of 1 as if it were true",
            {4: [[A, 0, 1, {1: 1}, {}], nodes[1]]},
            [["set", [A, "p"], [True], [0]]],
            "stale",
        ),
        applies("retype of no node", {}, [["retype", [C], [["t.a", 1]], [["t.b", 1]]]], "dangling"),
        applies("retype of another version", {}, [["retype", [A], [["t.a", 2]], [["t.b", 1]]]], "stale"),
        applies("a flag of no node", {}, [["flag", [C, "steps"], [], [1]]], "dangling"),
        applies("a flag of another value", {}, [["flag", [A, "steps"], [2], [1]]], "stale"),
        applies("a setting of another value", {}, [["graph", ["seed"], [2], [1]]], "stale"),
        applies("a move of no node", {}, [["move", [C], [], [[0, 0]]]], "dangling"),
        applies("a move from elsewhere", moved, [["move", [A], [[0, 0]], [[1, 1]]]], "stale"),
        applies("a label of no node", {}, [["label", [C], [], ["x"]]], "dangling"),
        applies("a label of another text", {65: {A: "x"}}, [["label", [A], ["y"], ["z"]]], "stale"),
        applies("a note of another text", {}, [["note", [A], [[0, 0, 1, 1, ""]], []]], "stale"),
        applies("a group of no node", {}, [["group", [D], [], [["g", [C]]]]], "dangling"),
        applies("a group of another label", {}, [["group", [D], [["g", [A]]], []]], "stale"),
        applies("a section of another value", {}, [["extra", [70], [1], [2]]], "stale"),
        applies("an op of a bad shape", {}, [["set", [A, "p"], [5], [5]]], "section"),
        applies("an op with a raw secret", {}, [["set", [A, "p"], [5], [{"secret": "x"}]]], "secret"),
        applies("one bad op spoils all", {}, [["set", [A, "p"], [5], [6]], ["edge+", edge]], "duplicate"),
        {
            "name": "a node more than 19999",
            "graph": [list(part) for part in crowd(19_999)],
            "ops": item([["node+", [LAST], NODE]]).hex(),
            "result": [list(part) for part in crowd(19_999, LAST)],
        },
        {
            "name": "a node more than 20000",
            "graph": [list(part) for part in crowd(20_000)],
            "ops": item([["node+", [LAST], NODE]]).hex(),
            "code": "section",
        },
        fills(
            "a text that fills more than a file",
            [("78" * 4096, 4095), ("78" * 4068, 1)],
            head(3, 2**24 - 28),
            "section",
        ),
        fills("items that fill more than a file", [("00", 199_990)], head(4, 199_990), "section"),
        stored("a stored patch", {}, [["move", [A], [], [[3, 4]]]], moved),
        stored("a stored patch of nothing", {}, [], {}),
        stored("another base", {}, [["move", [A], [], [[3, 4]]]], moved, "base", base=hashes_of(moved)),
        stored(
            "a base with another sem", {}, [["move", [A], [], [[3, 4]]]], moved, "base", base=[ONE, hashes_of({})[1]]
        ),
        stored(
            "a base with another file", {}, [["move", [A], [], [[3, 4]]]], moved, "base", base=[hashes_of({})[0], ONE]
        ),
        stored("another target", {}, [["move", [A], [], [[3, 4]]]], moved, "target", target=hashes_of({})),
        stored(
            "a target with another sem",
            {},
            [["move", [A], [], [[3, 4]]]],
            moved,
            "target",
            target=[ONE, hashes_of(moved)[1]],
        ),
        stored("base before ops", {}, [["move", [A], [[0, 0]], [[3, 4]]]], moved, "base", base=[ONE, ONE]),
        stored("ops before target", {}, [["move", [A], [[0, 0]], [[3, 4]]]], moved, "stale", target=[ONE, ONE]),
    ]


# Slots of a template -------------------------------------------------------------------------------------------------

SLOTS: list[tuple[str, list[str]]] = [
    ("", []),
    ("plain", []),
    ("{a}", ["a"]),
    ("{a} and {b} and {a}", ["a", "b"]),
    ("{b}{a}", ["b", "a"]),
    ("{{a}}", []),
    ("{{{a}}}", ["a"]),
    ("{{{{a}}}}", []),
    ("{}", []),
    ("{ a }", []),
    ("{a b}", []),
    ("{a\n}", []),
    ("{a", []),
    ("a}", []),
    ("{a{b}", ["b"]),
    ("{a}}", ["a"]),
    ("{{a}", []),
    ("{a}{{b}}{c}", ["a", "c"]),
    ("{问题}", ["问题"]),
    ("{\U0001f600}", ["\U0001f600"]),
    ("{" + "a" * 64 + "}", ["a" * 64]),
    ("{" + "a" * 65 + "}", []),
    ("{" + "é" * 32 + "}", ["é" * 32]),
    ("{" + "é" * 33 + "}", []),
    ("{a\u3000}", []),
    ("{a\ufeff}", ["a\ufeff"]),
    ("{a\x85}", []),
    ('{"json": 1}', []),
    ('{"json":1}', ['"json":1']),
    ("{__proto__}", ["__proto__"]),
    ("{1}{0}", ["1", "0"]),
]


def slots() -> list[Case]:
    return [{"name": f"template {at}", "template": text, "slots": names} for at, (text, names) in enumerate(SLOTS)]


FILES = {"codec": codec, "igb": igb, "patch": patch, "apply": apply, "slots": slots}


def rendered(name: str) -> str:
    cases = FILES[name]()
    names = [case["name"] for case in cases]
    assert len(set(names)) == len(names), (
        f"{name}: each case has its own name: {sorted(n for n in names if names.count(n) > 1)}"
    )
    return "[\n" + ",\n".join(json.dumps(case, ensure_ascii=True) for case in cases) + "\n]\n"


def main(arguments: list[str]) -> int:
    wrong = []
    for name in FILES:
        path = HERE / f"{name}.json"
        text = rendered(name)
        if path.exists() and path.read_text("utf-8") == text:
            continue
        wrong.append(path.name)
        if "--check" not in arguments:
            path.write_text(text, "utf-8")
    print(f"{'differs' if '--check' in arguments else 'written'}: {', '.join(wrong) or 'nothing'}", file=sys.stderr)
    return 1 if wrong and "--check" in arguments else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
