"""Hostile bytes: a seeded stream of mutants of a corpus. It knows bytes and CBOR values, and no reader."""

import random
import struct
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from dots import codec

NUMBERS = (
    0,
    1,
    2,
    23,
    24,
    31,
    32,
    63,
    64,
    67,
    68,
    69,
    127,
    128,
    255,
    256,
    65_535,
    65_536,
    2**31,
    2**32,
    2**53 - 1,
    2**53,
)
HEADS = bytes(range(0x60, 0xC0)) + bytes(range(0xE0, 0x100))
LEAVES: tuple[object, ...] = (
    *(None, False, True, 0, 1, -1, 255, 256, 2**31, 2**53 - 1, 1 - 2**53, 0.5, -1.5, 1e300, 5e-324, 0.1),
    *(
        b"",
        b"\xff",
        bytes(32),
        "",
        "x",
        "secret",
        "é",
        "\u202e",
        "\x00",
        "\ufeff",
        "0" * 10,
        "a.b",
        "{x}",
        "\U0010ffff",
    ),
    *([], [[]], {}, {"secret": "KEY"}, {"secret": 1}, {0: 0}, {"a": None}, ["0000000000"]),
)

Mutation = Callable[[random.Random, bytes, Sequence[bytes]], bytes]


def flipped(r: random.Random, data: bytes, _: Sequence[bytes]) -> bytes:
    at = r.randrange(len(data))
    return data[:at] + bytes([data[at] ^ 1 << r.randrange(8)]) + data[at + 1 :]


def stepped(r: random.Random, data: bytes, _: Sequence[bytes]) -> bytes:
    at = r.randrange(len(data))
    return data[:at] + bytes([(data[at] + r.choice((-1, 1))) % 256]) + data[at + 1 :]


def overwritten(r: random.Random, data: bytes, _: Sequence[bytes]) -> bytes:
    at = r.randrange(len(data))
    return data[:at] + bytes([r.choice(HEADS) if r.random() < 0.7 else r.randrange(256)]) + data[at + 1 :]


def numbered(r: random.Random, data: bytes, _: Sequence[bytes]) -> bytes:
    """A number of some width, as lengths and counts are written."""
    form = r.choice(("B", ">H", ">I", ">Q", "<I", "<Q"))
    new = struct.pack(form, r.choice(NUMBERS) % (1 << 8 * struct.calcsize(form)))
    at = r.randrange(len(data))
    return data[:at] + new + data[at + len(new) :]


def inserted(r: random.Random, data: bytes, _: Sequence[bytes]) -> bytes:
    at = r.randrange(len(data) + 1)
    return data[:at] + r.randbytes(r.choice((1, 1, 1, 2, 4, 9))) + data[at:]


def removed(r: random.Random, data: bytes, _: Sequence[bytes]) -> bytes:
    at = r.randrange(len(data))
    return data[:at] + data[at + r.choice((1, 1, 1, 2, 4, 10)) :]


def cut(r: random.Random, data: bytes, _: Sequence[bytes]) -> bytes:
    return data[: r.randrange(len(data))]


def repeated(r: random.Random, data: bytes, _: Sequence[bytes]) -> bytes:
    at = r.randrange(len(data))
    part = data[at : at + r.randrange(1, 40)]
    return data[:at] + part * r.choice((2, 2, 3, 50)) + data[at + len(part) :]


def spliced(r: random.Random, data: bytes, corpus: Sequence[bytes]) -> bytes:
    other = r.choice(corpus)
    start = r.randrange(len(other) + 1)
    at = r.randrange(len(data) + 1)
    return data[:at] + other[start : start + r.choice((1, 4, 16, 64, len(other)))] + data[at + r.choice((0, 4, 16)) :]


BYTES: tuple[Mutation, ...] = (flipped, stepped, overwritten, numbered, inserted, removed, cut, repeated, spliced)


def mutants(corpus: Sequence[bytes], seed: int, magic: int | None = None) -> Iterator[bytes]:
    """Endless. With `magic`, so many bytes stand before one CBOR item, and half of the mutants alter its value."""
    r = random.Random(seed)
    while True:
        data = r.choice(corpus)
        if magic is not None and r.random() < 0.5:
            data = revalued(r, data, magic)
        else:
            for _ in range(r.choice((1, 1, 1, 2, 3, 8))):
                data = r.choice(BYTES)(r, data, corpus) if data else r.randbytes(3)
        yield data


def revalued(r: random.Random, data: bytes, magic: int) -> bytes:
    """The same item with a part of its value changed, written canonically: it reaches the checks behind the codec."""
    value: Any = codec.decode(data[magic:])
    for _ in range(r.choice((1, 1, 2, 3))):
        value = altered(r, value)
    try:
        return data[:magic] + codec.encode(value)
    except codec.Unencodable:
        return data[:-1]


def altered(r: random.Random, value: Any) -> Any:
    if isinstance(value, list) and value and r.random() < 0.85:
        return altered_list(r, value)
    if isinstance(value, dict) and value and r.random() < 0.9:
        return altered_map(r, value)
    if type(value) is int and r.random() < 0.7:
        return max(-codec.MAX_INT, min(codec.MAX_INT, value + r.choice((-1, 1, 1, 2, 60, -60, 10**6))))
    if isinstance(value, str) and value and r.random() < 0.7:
        at = r.randrange(len(value))
        return (
            value[:at]
            + r.choice(("", "a", "0", "z", " ", ".", "{", "é", "\x7f", value))
            + value[at + r.choice((0, 1)) :]
        )
    return r.choice(LEAVES)


def altered_list(r: random.Random, value: list[Any]) -> list[Any]:
    at, other = r.randrange(len(value)), r.randrange(len(value))
    new = list(value)
    match r.randrange(10):
        case 0:
            new.insert(other, value[at])
        case 1:
            del new[at]
        case 2:
            new[at], new[other] = new[other], new[at]
        case 3:
            new.append(r.choice(LEAVES))
        case _:
            new[at] = altered(r, value[at])
    return new


def altered_map(r: random.Random, value: dict[Any, Any]) -> dict[Any, Any]:
    key = r.choice(list(value))
    new = dict(value)
    match r.randrange(10):
        case 0:
            del new[key]
        case 1:
            added = (
                r.choice((1, 2, 6, 63, 64, 65, 66, 67, 68, 69, 99))
                if type(key) is int
                else r.choice(("a", "secret", "é"))
            )
            new[added] = r.choice((r.choice(LEAVES), value[key]))
        case 2:
            other = altered(r, key)
            new[other if type(other) is type(key) else r.choice((0, "a"))] = new.pop(key)
        case _:
            new[key] = altered(r, value[key])
    return new
