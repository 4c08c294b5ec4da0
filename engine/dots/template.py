"""Placeholders of a template param (docs/formats.md §4): the ports they make and the text they give."""

from collections.abc import Iterator

Piece = tuple[str, bool]
"""Text and whether it is a placeholder's name."""


def is_port_name(name: str) -> bool:
    """1 to 64 bytes of UTF-8 without control characters, white space or braces."""
    if not 1 <= len(name.encode("utf-8", "surrogatepass")) <= 64:
        return False
    return not any(c in "{}" or c.isspace() or ord(c) < 0x20 or 0x7F <= ord(c) < 0xA0 for c in name)


def pieces(template: str) -> Iterator[Piece]:
    """Split a template into literal text and placeholder names, left to right."""
    literal: list[str] = []
    at = 0
    while at < len(template):
        if template.startswith("{{", at) or template.startswith("}}", at):
            literal.append(template[at])
            at += 2
            continue
        end = template.find("}", at) if template[at] == "{" else -1
        if end > 0 and is_port_name(template[at + 1 : end]):
            if literal:
                yield "".join(literal), False
                literal.clear()
            yield template[at + 1 : end], True
            at = end + 1
            continue
        literal.append(template[at])
        at += 1
    if literal:
        yield "".join(literal), False


def slots(template: str) -> tuple[str, ...]:
    """Names of the placeholders in order of first appearance."""
    return tuple(dict.fromkeys(text for text, is_slot in pieces(template) if is_slot))
