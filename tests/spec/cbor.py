"""CBOR that says what it is told, right or wrong: for vectors, so it uses no codec of the project."""

from collections.abc import Mapping


class Raw(bytes):
    """An item already in bytes."""


HALF = Raw(b"\xf9\x3e\x00")  # 1.5


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
