"""Values as events show them: whole up to 64 KiB each, then the beginning. The slots keep them whole.

An event always has an encoding and fits a frame, whatever a component made.
"""

import json
from collections.abc import Mapping
from typing import Any, Final

from dots import codec
from dots.errors import Failure

MOST: Final = 64 * 1024  # bytes of a value
MOST_TOGETHER: Final = 768 * 1024  # bytes of all values of an event; a frame to a browser holds 1 MiB
MOST_STRUCTURED: Final = 128 * 1024  # bytes of those that are no text: each may be a data item of its own
MOST_WORDS: Final = 4096  # characters of a message


def cut(text: str, most: int = MOST) -> tuple[str, bool]:
    """The beginning of a text, whole characters, and whether something is missing."""
    data = text.encode()
    if len(data) <= most:
        return text, False
    return data[:most].decode("utf-8", "ignore"), True


def said(text: str) -> str:
    """A message of ours or of a component: short, and with an encoding."""
    return text[:MOST_WORDS].encode("utf-8", "backslashreplace").decode()


def facts(failure: Failure) -> dict[str, Any]:
    """A failure in an event, a frame or a report."""
    words = {"where": said(failure.where), "expected": said(failure.expected), "got": said(failure.got)}
    return {"code": int(failure.code), "name": failure.code.name, **words}


def excerpts(values: Mapping[str, Any]) -> tuple[dict[str, Any], bool]:
    """Values for an event, and whether one is cut: a long one becomes the beginning of its text or of its JSON."""
    told: dict[str, Any] = {}
    left, structured, any_cut = MOST_TOGETHER, MOST_STRUCTURED, False
    for name, value in values.items():
        text = value if isinstance(value, str) else None
        size = None if text is not None else _size(value)
        if size is not None and size <= min(MOST, structured, left):
            told[name], was_cut = value, False
            structured -= size
            left -= size
        else:
            told[name], was_cut = cut(_beginning(value) if text is None else text, min(MOST, left))
            was_cut = was_cut or text is None
            left -= len(told[name].encode())
        any_cut = any_cut or was_cut
    return told, any_cut


def weight(value: object, most: int) -> int:
    """At least one for each item and each character, counted until it exceeds `most`: cheap whatever the value."""
    total, stack = 0, [value]
    while stack and total <= most:
        one = stack.pop()
        total += 1 + (len(one) if isinstance(one, str | bytes) else 0)
        if isinstance(one, Mapping):
            stack += [*one.keys(), *one.values()]
        elif isinstance(one, list | tuple):
            stack += one
    return total


def _beginning(value: object) -> str:
    """The beginning of a value's JSON, without writing the rest."""
    parts: list[str] = []
    size = 0
    for part in json.JSONEncoder(ensure_ascii=False, default=bytes.hex).iterencode(value):
        parts.append(part)
        size += len(part)
        if size > MOST:
            break
    return "".join(parts)


def _size(value: object) -> int | None:
    """Bytes of a value's encoding; None when that is much, or nested too deep to stand inside an event."""
    if weight(value, MOST) > MOST:
        return None
    try:
        return len(codec.encode([[[[[[value]]]]]])) - 6
    except codec.Unencodable:
        return None
