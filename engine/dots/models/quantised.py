"""The fast executor: packed weights, working memory, and the compiled pass over them.

Called by one thread at a time: it owns its working memory.
"""

import time
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dots.models.crew import CREW
from dots.models.device import Batch, Tell, quietly
from dots.models.digest import Digest
from dots.models.gguf import Tensor
from dots.models.image import load_pass
from dots.models.isa import Isa, threads_allowed
from dots.models.layout import BARRIER, MATRICES, NORMS, ORDER, ROOM, SPAN, Shape
from dots.models.llama import Config, Weights, rope_angles
from dots.models.packed import packed_matrices
from dots.models.packing import BLOCK, ROWS, fits
from dots.models.quant import dequantise
from dots.models.threads import ThreadChoice

Floats = NDArray[np.float32]

PACKED = 0.2  # the share of a first start that packing takes; the rest is compiling


def can_run(c: Config, weights: Weights) -> bool:
    """Whether the model's matrices fall into whole tiles and blocks."""
    matrices = [
        *(t for w in weights.layers for t in (w.attn_q, w.attn_k, w.attn_v, w.attn_output)),
        *(t for w in weights.layers for t in (w.ffn_gate, w.ffn_up, w.ffn_down)),
        weights.output,
    ]
    return c.head_dim % ROWS == 0 and all(map(fits, matrices))


class QuantisedExecutor:
    def __init__(
        self, config: Config, weights: Weights, isa: Isa, tell: Tell = quietly, digest: Digest | None = None
    ) -> None:
        c, layers = config, weights.layers
        self.name = f"numba-{isa}"
        self.config = c
        self.geometry = c.geometry(kv_itemsize=2)
        self._embedding = weights.embedding
        self._embedding.require_finite()  # its rows are translated when they are looked up
        stacked: list[list[list[Tensor]]] = [
            [[w.attn_q, w.attn_k, w.attn_v] for w in layers],
            [[w.attn_output] for w in layers],
            [[w.ffn_gate, w.ffn_up] for w in layers],
            [[w.ffn_down] for w in layers],
            [[weights.output]],
        ]
        self._matrices = packed_matrices(stacked, digest, lambda share: tell(PACKED * share))
        self._norms = (
            np.stack([w.attn_norm.floats() for w in layers]),
            np.stack([w.ffn_norm.floats() for w in layers]),
            weights.output_norm.floats(),
        )
        shape = Shape(c.heads, c.kv_heads, c.head_dim, tuple(m.form for m in self._matrices))
        self._pass = load_pass(isa, shape, lambda share: tell(PACKED + (1 - PACKED) * share))
        self._most = threads_allowed()
        self._threads = ThreadChoice(self._most)
        self._barrier = np.zeros(2 * BARRIER, np.uint8)  # a whole one begins at a multiple of its size
        self._order = np.zeros((), ORDER)
        self._fill_in_model()
        self._address = self._order.ctypes.data
        self._cos = self._sin = np.empty((0, c.head_dim // 2), np.float32)
        self._capacity = self._wanted = 0
        self._memory(ROOM, 8)

    def _fill_in_model(self) -> None:
        for name, matrix in zip(MATRICES, self._matrices, strict=True):
            self._point({name: matrix.weights, f"{name}_scales": matrix.scales})
        self._point(dict(zip(NORMS, self._norms, strict=True)))
        c = self.config
        self._order["epsilon"], self._order["layers"] = c.epsilon, c.layers
        self._order["width"], self._order["hidden"] = c.width, c.hidden
        self._order["vocab"] = self._embedding.shape[0]
        self._order["barrier"] = -(-self._barrier.ctypes.data // BARRIER) * BARRIER

    def _point(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """The order keeps addresses only; somebody else keeps the arrays."""
        for name, array in arrays.items():
            self._order[name] = array.ctypes.data

    def forward(self, batch: Batch) -> Floats:
        """What is not in the pass is kept short: after a pass nothing of Python is in the cores' caches."""
        n, m = len(batch.tokens), len(batch.want)
        threads = self._threads.choose(n)
        start = time.perf_counter()
        self._memory(n + m, m)
        self._turns_to(int(batch.positions.max()))
        work, sequence = self._work, batch.sequence
        work["x"][:n] = dequantise(self._embedding.data[batch.tokens], self._embedding.format)
        self._cos.take(batch.positions, axis=0, out=work["cos"][:n])
        self._sin.take(batch.positions, axis=0, out=work["sin"][:n])
        work["want"][:m] = batch.want
        rows = batch.rows[sequence]
        tokens: dict[str, NDArray[Any]] = {
            "positions": batch.positions,
            "rows": rows,
            "shared": rows if batch.shared is None else batch.shared[sequence],
            "border": self._nothing[:n] if batch.border is None else batch.border[sequence],
        }
        for name, values in tokens.items():
            work[name][:n] = values
            if m < n:
                work[name][n : n + m] = values[batch.want]
        self._order["n"], self._order["m"] = n, m
        CREW.run(self._pass, self._address, threads)
        self._threads.took(n, threads, time.perf_counter() - start, time.process_time())
        return self._logits[:m, : self.config.vocab]

    def _turns_to(self, position: int) -> None:
        """Cosines and sines up to a position; they are kept."""
        if position >= len(self._cos):
            angles = rope_angles(self.config, np.arange(1 << position.bit_length(), dtype=np.int32))
            self._cos, self._sin = np.ascontiguousarray(angles.real), np.ascontiguousarray(angles.imag)

    def _memory(self, n: int, m: int) -> None:
        """Working memory for n tokens and logits for m; it grows and never shrinks."""
        if n > self._capacity:
            self._capacity = max(ROOM, 1 << (n - 1).bit_length())
            self._work = working_memory(self.config, self._capacity, self._most)
            self._nothing = np.zeros(self._capacity, np.int64)
            self._point(self._work)
        if m > self._wanted:
            self._wanted = m
            self._logits: Floats = np.empty((m, self._embedding.shape[0]), np.float32)
            self._point({"logits": self._logits})


def working_memory(c: Config, n: int, threads: int) -> dict[str, NDArray[Any]]:
    """What a pass over n tokens is given and what it writes between its steps, by its name in an ORDER."""
    q = c.heads * c.head_dim
    group = c.heads // c.kv_heads
    widest = max(c.width, q, c.hidden)

    def floats(*shape: int) -> Floats:
        return np.empty(shape, np.float32)

    return {
        **{name: np.empty(n, np.int64) for name in ("positions", "rows", "shared", "border")},
        "cos": floats(n, c.head_dim // 2),
        "sin": floats(n, c.head_dim // 2),
        "want": np.empty(n, np.int32),
        "x": floats(n, c.width),
        "y": floats(n, q + 2 * c.kv_heads * c.head_dim),
        "mixed": floats(n, q),
        "h": floats(n, 2 * c.hidden),
        "scores": floats(threads, group * SPAN),
        "state": floats(n, 2 * c.heads),
        "keys": floats(threads, SPAN * c.head_dim),
        "values": floats(threads, SPAN * c.head_dim),
        "q": np.empty((n, widest), np.int8),
        "s": floats(n, widest // BLOCK),
        "su": floats(n, widest // BLOCK, 2),
    }
