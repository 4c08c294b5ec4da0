"""Values of the codec as text that people read and write: JSON, and what JSON lacks.

`h'00ff'` stands for bytes, map keys may be unsigned ints, and a number with a point or an exponent is a float.
Control, bidirectional and other invisible characters are always escaped, so a line shows what it holds.
"""

import json
import re
from typing import Final

from dots import codec
from dots.codec import Malformed, Unencodable, Value
from dots.shape import Invalid, shown

TOKEN: Final = re.compile(
    r"""\s*(?:(?P<text>"(?:[^"\\]|\\.)*")|(?P<bytes>h'[0-9a-f]*')|(?P<word>null|true|false)
    |(?P<float>-?[0-9]+(?:\.[0-9]+)?[eE][-+]?[0-9]+|-?[0-9]+\.[0-9]+)|(?P<int>-?[0-9]+)|(?P<mark>[][{},:]))""",
    re.VERBOSE,
)
WORDS: Final[dict[str, Value]] = {"null": None, "true": True, "false": False}


def show(value: Value) -> str:
    """One line."""
    if isinstance(value, bytes):
        return f"h'{value.hex()}'"
    if isinstance(value, list):
        return f"[{', '.join(map(show, value))}]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{show(key)}: {show(entry)}" for key, entry in value.items()) + "}"
    return quoted(value) if isinstance(value, str) else json.dumps(value)


def quoted(text: str) -> str:
    """A JSON text whose every character can be seen."""
    return "".join(c if c.isprintable() else json.dumps(c)[1:-1] for c in json.dumps(text, ensure_ascii=False))


def parse(text: str, path: str) -> Value:
    """The value that the whole of a text stands for; raises Invalid."""
    reader = _Reader(text, path)
    value = reader.value(0)
    reader.end()
    try:
        return codec.decode(codec.encode(value))
    except (Malformed, Unencodable) as error:
        raise Invalid("text", path, error.expected, error.got) from error


class _Reader:
    def __init__(self, text: str, path: str) -> None:
        self.text = text
        self.path = path
        self.at = 0

    def fail(self, expected: str) -> Invalid:
        return Invalid(
            "text", self.path, expected, shown(self.text[self.at :].strip()) if self.text[self.at :] else "the end"
        )

    def next(self, expected: str) -> tuple[str, str]:
        match = TOKEN.match(self.text, self.at)
        if match is None or match.lastgroup is None:
            raise self.fail(expected)
        self.at = match.end()
        return match.lastgroup, match[match.lastgroup]

    def end(self) -> None:
        if self.text[self.at :].strip():
            raise self.fail("the end of the line")

    def value(self, depth: int) -> Value:
        if depth > codec.MAX_DEPTH:
            raise self.fail(f"at most {codec.MAX_DEPTH} levels")
        start = self.at
        kind, token = self.next("a value")
        if token == "[":
            return self.array(depth + 1)
        if token == "{":
            return self.map(depth + 1)
        if kind == "mark":
            self.at = start
            raise self.fail("a value")
        return self.scalar(kind, token, start)

    def scalar(self, kind: str, token: str, start: int) -> Value:
        if kind == "word":
            return WORDS[token]
        try:
            if kind == "bytes":
                return bytes.fromhex(token[2:-1])
            if kind == "text":
                return str(json.loads(token))
            return float(token) if kind == "float" else int(token)
        except ValueError as error:
            self.at = start
            raise self.fail("a value") from error

    def array(self, depth: int) -> Value:
        found: list[Value] = []
        if self.closed("]"):
            return found
        while True:
            found.append(self.value(depth))
            if self.closed("]"):
                return found
            self.mark(",")

    def map(self, depth: int) -> Value:
        found: dict[str | int, Value] = {}
        if self.closed("}"):
            return {}
        while True:
            key = self.value(depth)
            if not isinstance(key, str | int) or isinstance(key, bool) or key in found:
                raise self.fail("a key, text or unsigned, each once, before this")
            self.mark(":")
            found[key] = self.value(depth)
            if self.closed("}"):
                return found  # type: ignore[return-value]  # the codec refuses keys of both kinds
            self.mark(",")

    def closed(self, mark: str) -> bool:
        match = TOKEN.match(self.text, self.at)
        if match is None or match["mark"] != mark:
            return False
        self.at = match.end()
        return True

    def mark(self, mark: str) -> None:
        start = self.at
        if self.next(f"'{mark}'")[1] != mark:
            self.at = start
            raise self.fail(f"'{mark}'")
