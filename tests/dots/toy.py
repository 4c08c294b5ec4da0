"""A small deterministic model for the runtime's tests: it computes, through real KV rows, and forgives nothing.

The next token depends on every byte of every row of its sequence, read back from memory: a wrong address, a stale row
or a moved row changes the text. A row must read as zeros before it is first written.
"""

import ctypes
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from dots.models.device import Batch, Geometry
from dots.request import ModelRequest

VOCAB = 64
END = 0
PIECES = [b"", *(bytes([c]) for c in b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.")]
ROW = 5000  # bytes; rows straddle pages
GEOMETRY = Geometry(layers=1, kv_heads=1, head_dim=625, vocab=VOCAB, context=4096, kv_bytes=ROW)
WORDS = ROW // 8

Choose = Callable[[int, int], int]
"""The token after a position, from the hash of the rows and the position."""


def any_letter(hashed: int, position: int) -> int:
    return 1 + hashed % (VOCAB - 1)


def letters(text: str) -> list[int]:
    return [1 + ord(c) % (VOCAB - 1) for c in text]


def spoken(pieces: Sequence[bytes], prompt: int, say: Sequence[int]) -> Choose:
    """Say these tokens after a prompt of this length, whatever the rows hold; then letters."""
    return lambda hashed, position: (
        say[position - prompt + 1] if 0 <= position - prompt + 1 < len(say) else any_letter(hashed, position)
    )


class Dirty(AssertionError):
    """A fresh row was not zero."""


@dataclass
class ToyExecutor:
    choose: Choose = any_letter
    before: Callable[[Batch], None] = lambda batch: None  # a test's chance to fail or to look
    name: str = "toy"
    geometry: Geometry = GEOMETRY
    batches: list[int] = field(default_factory=list)  # tokens of every forward

    def forward(self, batch: Batch) -> NDArray[np.float32]:
        self.before(batch)
        self.batches.append(len(batch.tokens))
        hashes = [self.row(batch, n) for n in range(len(batch.tokens))]
        logits = np.zeros((len(batch.want), VOCAB), np.float32)
        for row, n in enumerate(batch.want):
            logits[row, self.choose(hashes[n], int(batch.positions[n]))] = 1.0
        return logits

    def row(self, batch: Batch, n: int) -> int:
        token, position = int(batch.tokens[n]), int(batch.positions[n])
        address = int(batch.rows[batch.sequence[n]])
        rows = view(address, position + 1)
        if rows[position].any():
            raise Dirty(f"position {position} at {address:#x}")
        rows[position] = np.arange(WORDS, dtype=np.uint64) * np.uint64(2654435761) + np.uint64(
            token * 4096 + position + 1
        )
        return crc32(rows.tobytes())


def view(address: int, rows: int) -> NDArray[np.uint64]:
    words = (ctypes.c_uint64 * (rows * WORDS)).from_address(address)
    return np.frombuffer(words, np.uint64).reshape(rows, WORDS)


@dataclass
class ToyTokenizer:
    pieces: Sequence[bytes] = field(default_factory=lambda: PIECES)


@dataclass
class ToyModel:
    executor: ToyExecutor = field(default_factory=ToyExecutor)
    tokenizer: ToyTokenizer = field(default_factory=ToyTokenizer)
    name: str = "toy"
    digest: str = "00" * 32
    end_tokens: frozenset[int] = frozenset({END})

    def prompt_tokens(self, request: ModelRequest) -> list[int]:
        texts = [m.text for m in request.messages] if request.messages is not None else [request.text or ""]
        return letters("\n".join(texts))


def tokens_of(prompt: Sequence[int], steps: int, choose: Choose = any_letter) -> list[int]:
    """What the model says after a prompt, computed apart from the runtime."""
    known, said = list(prompt), []
    rows = np.zeros((len(prompt) + steps, WORDS), np.uint64)
    for position in range(len(prompt) + steps - 1):
        token = known[position]
        rows[position] = np.arange(WORDS, dtype=np.uint64) * np.uint64(2654435761) + np.uint64(
            token * 4096 + position + 1
        )
        if position >= len(prompt) - 1:
            said.append(choose(crc32(rows[: position + 1].tobytes()), position))
            known.append(said[-1])
    return said


def text_of(tokens: Sequence[int], pieces: Sequence[bytes] = PIECES) -> str:
    return b"".join(pieces[t] for t in tokens).decode("utf-8", "replace")
