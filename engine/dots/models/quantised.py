"""The fast executor: packed weights, working memory, and the compiled pass over them.

Called by one thread at a time: it owns its working memory, and Numba's simplest threading layer is not safe for more.
"""

import time
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from dots.models.compiling import counted
from dots.models.device import Batch, Tell, quietly
from dots.models.gguf import Tensor
from dots.models.isa import Isa, physical_cores
from dots.models.kernels import Shape, build
from dots.models.llama import Config, Weights, rope_angles
from dots.models.packing import BLOCK, ROWS, Packed, fits, pack
from dots.models.quant import dequantise
from dots.models.softmax import SPAN
from dots.models.threads import ThreadChoice

Floats = NDArray[np.float32]

PACKED, KERNELS = 0.1, 15  # the share of a first start that packing takes, and how many kernels are compiled then


def can_run(c: Config, weights: Weights) -> bool:
    """Whether the model's matrices fall into whole tiles and blocks."""
    matrices = [
        *(t for w in weights.layers for t in (w.attn_q, w.attn_k, w.attn_v, w.attn_output)),
        *(t for w in weights.layers for t in (w.ffn_gate, w.ffn_up, w.ffn_down)),
        weights.output,
    ]
    return c.head_dim % ROWS == 0 and all(map(fits, matrices))


class QuantisedExecutor:
    def __init__(self, config: Config, weights: Weights, isa: Isa, tell: Tell = quietly) -> None:
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
        self._matrices: list[Packed] = []
        for tensors in stacked:
            self._matrices.append(pack(tensors))
            tell(PACKED * len(self._matrices) / len(stacked))
        self._norms = (
            np.stack([w.attn_norm.floats() for w in layers]),
            np.stack([w.ffn_norm.floats() for w in layers]),
            weights.output_norm.floats(),
        )
        qkv, out, gate_up, down, head = (m.bits for m in self._matrices)
        self._forward = build(isa, Shape(c.heads, c.kv_heads, c.head_dim, (qkv, out, gate_up, down, head)))
        self._work: tuple[NDArray[Any], ...] = ()
        self._logits: Floats = np.empty((8, self._embedding.shape[0]), np.float32)
        with counted(lambda kernels: tell(PACKED + (1 - PACKED) * min(1.0, kernels / KERNELS))):
            self._warm_up()

    def _warm_up(self) -> None:
        """Compile now, or load what was compiled before, so that no request pays for it."""
        most = min(physical_cores(), numba.config.NUMBA_NUM_THREADS)  # type: ignore[attr-defined]
        self._threads = ThreadChoice(most)
        row = np.zeros(self.geometry.kv_bytes, np.uint8)
        zero = np.zeros(1, np.int32)
        self.forward(Batch(zero, zero, zero, np.array([row.ctypes.data], np.uint64), zero))
        self._threads = ThreadChoice(most)  # forget what compiling took

    def forward(self, batch: Batch) -> Floats:
        n, m = len(batch.tokens), len(batch.want)
        threads = self._threads.choose(n)
        numba.set_num_threads(threads)
        start = time.perf_counter()
        work, logits = self._memory(n, m)
        angles = rope_angles(self.config, batch.positions)
        x = dequantise(self._embedding.data[batch.tokens], self._embedding.format)
        self._forward(
            *((p.weights, p.scales) for p in self._matrices),
            self._norms,
            np.float32(self.config.epsilon),
            x,
            batch.rows[batch.sequence].astype(np.int64),
            batch.positions.astype(np.int64),
            np.ascontiguousarray(angles.real),
            np.ascontiguousarray(angles.imag),
            batch.want,
            work,
            logits,
        )
        self._threads.took(n, threads, time.perf_counter() - start)
        return logits[:, : self.config.vocab]

    def _memory(self, n: int, m: int) -> tuple[tuple[NDArray[Any], ...], Floats]:
        """Views of working memory for n tokens and logits for m; it grows and never shrinks."""
        c = self.config
        if not self._work or len(self._work[0]) < n:
            self._work = working_memory(c, max(64, 1 << (n - 1).bit_length()))
        if len(self._logits) < m:
            self._logits = np.empty((m, self._embedding.shape[0]), np.float32)
        units = n * c.kv_heads
        y, mixed, h, scratch, scores, state, *rest = self._work
        views = (y[:n], mixed[:n], h[:n], scratch, scores[:units], state[:units], *rest)
        return views, self._logits[:m]


def working_memory(c: Config, n: int) -> tuple[NDArray[Any], ...]:
    """In the order that the compiled pass takes it apart."""
    q = c.heads * c.head_dim
    group = c.heads // c.kv_heads
    wide = max(c.width, q)

    def floats(*shape: int) -> Floats:
        return np.empty(shape, np.float32)

    return (
        floats(n, q + 2 * c.kv_heads * c.head_dim),
        floats(n, q),
        floats(n, 2 * c.hidden),
        floats(n, max(wide, c.hidden)),
        floats(n * c.kv_heads, group * SPAN),
        floats(n * c.kv_heads, 2 * group),
        np.empty((n, wide), np.int8),
        floats(n, wide // BLOCK),
        floats(n, wide // BLOCK),
        np.empty((n, c.hidden), np.int8),
        floats(n, c.hidden // BLOCK),
        floats(n, c.hidden // BLOCK),
        floats(n, c.width),
    )
