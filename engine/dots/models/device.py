"""The seam between the runtime and a device: one forward over a batch. Two executors stand behind it.

The runtime owns every byte of the KV cache and hands out addresses; an executor reads and writes rows
`[token][layer][K|V][kv_head][dim]` at `address + token * geometry.kv_bytes` and keeps nothing between calls.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Tell = Callable[[float], None]
"""Hears how far long work is, from 0 to 1; never less than before."""


def quietly(share: float) -> None:
    """For who does not ask how far it is."""


@dataclass(frozen=True, slots=True)
class Geometry:
    layers: int
    kv_heads: int
    head_dim: int
    vocab: int
    context: int  # longest sequence, tokens
    kv_bytes: int  # one token's row, all layers, K and V


@dataclass(frozen=True, slots=True)
class Batch:
    """n tokens of s sequences; the tokens of one sequence are consecutive and ascending in position."""

    tokens: NDArray[np.int32]  # (n,)
    positions: NDArray[np.int32]  # (n,) place in its sequence
    sequence: NDArray[np.int32]  # (n,) index into `rows`
    rows: NDArray[np.uint64]  # (s,) address of each sequence's KV row 0
    want: NDArray[np.int32]  # (m,) tokens whose logits are wanted, ascending
    shared: NDArray[np.uint64] | None = None  # (s,) address of KV row 0 of rows in common with others
    border: NDArray[np.int32] | None = None  # (s,) how many first rows lie there, not at `rows`; a multiple of 64


class Executor(Protocol):
    name: str  # such as numpy-f32, numba-avx512vnni, numba-avx2
    geometry: Geometry

    def forward(self, batch: Batch) -> NDArray[np.float32]:
        """Logits (m, vocab); writes the KV rows of all n tokens. The array is valid until the next call."""
        ...
