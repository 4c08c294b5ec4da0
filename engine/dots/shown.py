"""Values as events show them: whole up to 64 KiB, then the beginning. The slots keep them whole."""

import json
from typing import Any, Final

from dots import codec
from dots.spec import Values

MOST: Final = 64 * 1024  # bytes of a value in an event


def cut(text: str) -> tuple[str, bool]:
    """The beginning of a text, whole characters, and whether something is missing."""
    data = text.encode()
    if len(data) <= MOST:
        return text, False
    return data[:MOST].decode("utf-8", "ignore"), True


def shown(values: Values) -> tuple[dict[str, Any], bool]:
    """Values for an event; one that is too long becomes the beginning of its text or its JSON."""
    told = {name: _one(value) for name, value in values.items()}
    return {name: value for name, (value, _) in told.items()}, any(was_cut for _, was_cut in told.values())


def _one(value: Any) -> tuple[Any, bool]:
    if isinstance(value, str):
        return cut(value)
    if len(codec.encode(value)) <= MOST:
        return value, False
    return cut(json.dumps(value, ensure_ascii=False, default=bytes.hex))
