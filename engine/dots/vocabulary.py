"""What both sides of a matcher's channel agree on: its bounds, which tokens are text, and a vocabulary's bytes.

`dots.grammar` writes and `dots.matcher` reads; neither imports the other, so that the host loads no grammar library
and the matcher no array library.
"""

from collections.abc import Sequence
from typing import Final

MEMORY: Final = 1 << 30  # bytes of a matcher's address space
PACKET: Final = 1 << 17  # bytes of the longest packet


def is_text(piece: bytes) -> bool:
    """Whether a grammar may allow a token; 0xFF, which is in no text, is the library's mark of special tokens."""
    return bool(piece) and b"\xff" not in piece


def packed(pieces: Sequence[bytes], ends: Sequence[int]) -> bytes:
    """A vocabulary for the process: the number of end tokens, them, then each token's length and bytes."""
    numbers = [len(ends), *ends]
    head = b"".join(n.to_bytes(4, "little") for n in numbers)
    return head + b"".join(len(piece).to_bytes(4, "little") + piece for piece in pieces)


def unpacked(data: bytes) -> tuple[list[bytes], list[int]]:
    def number(at: int) -> int:
        return int.from_bytes(data[at : at + 4], "little")

    count = number(0)
    ends = [number(4 + 4 * n) for n in range(count)]
    pieces, at = [], 4 + 4 * count
    while at < len(data):
        size = number(at)
        pieces.append(data[at + 4 : at + 4 + size])
        at += 4 + size
    return pieces, ends
