"""A case of a vector file: `{name, hex | parts, verdict, code, offset | path}`, and its data as bytes.

`parts` is for long data: `[[hex, times], ...]`, where `[hex, times, hex]` stands around an id that counts up from 0.
Graphs and ops to apply are in either form. A reader's path may go on after the one that is given.
"""

from typing import Any

ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"  # of ids
Case = dict[str, object]
Parts = list[tuple[str, int] | tuple[str, int, str]]


def bytes_case(name: str, data: bytes, verdict: str, **rest: object) -> Case:
    return {"name": name, "hex": data.hex(), "verdict": verdict, **rest}


def long(name: str, parts: Parts, **verdict: object) -> Case:
    """A case whose data repeats."""
    return {"name": name, "parts": [list(part) for part in parts], **verdict}


def counted(n: int) -> bytes:
    """The id at a place of a crowd."""
    return "".join(ALPHABET[n >> 5 * place & 31] for place in reversed(range(10))).encode()


def data_of(data: str | list[Any]) -> bytes:
    if isinstance(data, str):
        return bytes.fromhex(data)
    found = []
    for before, times, *after in data:
        if after:
            found += [bytes.fromhex(before) + counted(n) + bytes.fromhex(after[0]) for n in range(times)]
        else:
            found.append(bytes.fromhex(before) * times)
    return b"".join(found)


def file_of(case: dict[str, Any]) -> bytes:
    return data_of(case["parts"] if "parts" in case else case["hex"])
