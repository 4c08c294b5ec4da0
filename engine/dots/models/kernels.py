"""The compiled forward pass on quantised blocks. `build` makes one for an instruction set and a model's shape.

The loops that matter are in `tile.py` and `softmax.py`; here is what walks over tokens, tiles and layers. Sums have one
fixed order, so a token's result is bitwise the same alone, in a batch and in chunks. Two rules for callers: one thread
at a time (Numba's simplest threading layer allows no more), and every address is the caller's responsibility.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import prange

from dots.models.compiling import compiled, parallel
from dots.models.isa import Isa
from dots.models.packing import BLOCK, ROWS
from dots.models.softmax import LEAST, SPAN, mix_rows, online_softmax, score_rows, to_halves
from dots.models.tile import add_squares, dot_tile, quantise_block, silu_product

SERIAL = 4  # up to so many tokens a parallel region costs more than it saves


@dataclass(frozen=True, slots=True)
class Shape:
    """What is fixed when the kernels are compiled."""

    heads: int
    kv_heads: int
    head_dim: int
    bits: tuple[int, int, int, int, int]  # of qkv, attention output, gate and up, down, and the head


@compiled
def quantise(x: Any, q: Any, s: Any, su: Any) -> None:
    for j in range(len(x) // BLOCK):
        at = BLOCK * j
        quantise_block(x.ctypes.data + 4 * at, q.ctypes.data + at, s.ctypes.data + 4 * j, su.ctypes.data + 4 * j)


@compiled
def norm_quantise(x: Any, gain: Any, epsilon: Any, scratch: Any, q: Any, s: Any, su: Any) -> None:
    """One token's RMS norm, quantised."""
    n = len(x)
    scale = np.float32(1) / np.sqrt(add_squares(x.ctypes.data, n) / np.float32(n) + epsilon)
    for i in range(n):
        scratch[i] = x[i] * scale * gain[i]
    quantise(scratch[:n], q, s, su)


@compiled
def gate_quantise(h: Any, scratch: Any, q: Any, s: Any, su: Any) -> None:
    """One token's silu(gate) * up, quantised; h holds gate and up side by side."""
    n = len(h) // 2
    for i in range(0, n, 16):
        gate = h.ctypes.data + 4 * i
        silu_product(gate, gate + 4 * n, scratch.ctypes.data + 4 * i)
    quantise(scratch[:n], q, s, su)


@parallel
def quantise_all(x: Any, q: Any, s: Any, su: Any) -> None:
    if len(x) <= SERIAL:
        for t in range(len(x)):
            quantise(x[t], q[t], s[t], su[t])
    else:
        for t in prange(len(x)):
            quantise(x[t], q[t], s[t], su[t])


@parallel
def norm_quantise_all(x: Any, gain: Any, epsilon: Any, scratch: Any, q: Any, s: Any, su: Any) -> None:
    if len(x) <= SERIAL:
        for t in range(len(x)):
            norm_quantise(x[t], gain, epsilon, scratch[t], q[t], s[t], su[t])
    else:
        for t in prange(len(x)):
            norm_quantise(x[t], gain, epsilon, scratch[t], q[t], s[t], su[t])


@parallel
def gate_quantise_all(h: Any, scratch: Any, q: Any, s: Any, su: Any) -> None:
    if len(h) <= SERIAL:
        for t in range(len(h)):
            gate_quantise(h[t], scratch[t], q[t], s[t], su[t])
    else:
        for t in prange(len(h)):
            gate_quantise(h[t], scratch[t], q[t], s[t], su[t])


def build_matmul(isa: Isa, bits: int) -> Callable[..., None]:
    tile_1, tile_4, tile_8 = (dot_tile(isa, bits, tokens) for tokens in (1, 4, 8))

    def matmul(weights: Any, scales: Any, q: Any, s: Any, su: Any, y: Any, add: Any) -> None:
        """y (+)= packed matrix times quantised tokens; tiles of rows are shared out, each walks over the tokens."""
        tiles, blocks = weights.shape[0], weights.shape[1]
        n = len(y)
        q_step, s_step, y_step = q.shape[1], 4 * s.shape[1], 4 * y.shape[1]
        t_q, t_s, t_su = q.ctypes.data, s.ctypes.data, su.ctypes.data
        for r in prange(tiles):
            w = weights.ctypes.data + r * weights.strides[0]
            d = scales.ctypes.data + r * scales.strides[0]
            out = y.ctypes.data + 4 * ROWS * r
            t = 0
            while t + 8 <= n:
                tile_8(t, w, d, t_q, q_step, t_s, t_su, s_step, out, y_step, blocks, add)
                t += 8
            while t + 4 <= n:
                tile_4(t, w, d, t_q, q_step, t_s, t_su, s_step, out, y_step, blocks, add)
                t += 4
            while t < n:
                tile_1(t, w, d, t_q, q_step, t_s, t_su, s_step, out, y_step, blocks, add)
                t += 1

    return parallel(matmul, isa, bits)


def build_rotate(shape: Shape) -> Callable[..., None]:
    heads, kv_heads, dim = shape.heads, shape.kv_heads, shape.head_dim
    scale = np.float32(1 / np.sqrt(dim))

    def rotate_store(y: Any, cos: Any, sin: Any, row: Any) -> None:
        """One token: turn q (scaled for the softmax) and k in place, then write k and v to its KV row of this layer."""
        for h in range(heads + kv_heads):
            factor = scale if h < heads else np.float32(1)
            for i in range(dim // 2):
                at = h * dim + 2 * i
                a, b = y[at] * factor, y[at + 1] * factor
                y[at] = a * cos[i] - b * sin[i]
                y[at + 1] = a * sin[i] + b * cos[i]
        for i in range(0, 2 * kv_heads * dim, 16):  # k and v lie side by side, here and there
            to_halves(y.ctypes.data + 4 * (heads * dim + i), row + 2 * i)

    return compiled(rotate_store, shape)


def build_attention(shape: Shape) -> Callable[..., None]:
    heads, kv_heads, dim = shape.heads, shape.kv_heads, shape.head_dim
    group = heads // kv_heads
    least = np.float32(LEAST)
    score, mix, softmax = score_rows(group, dim), mix_rows(group, dim), online_softmax(dim)

    def attend(q: Any, keys: Any, step: Any, rows: Any, scores: Any, state: Any, out: Any) -> None:
        """One token's heads of one kv head over `rows` rows, SPAN at a time from position zero."""
        values = keys + 2 * kv_heads * dim
        out[:] = np.float32(0)
        for g in range(group):
            state[2 * g], state[2 * g + 1] = least, np.float32(0)
        for start in range(0, rows, SPAN):
            count = min(SPAN, rows - start)
            if count < SPAN:
                scores[:] = least
            score(q, keys + start * step, step, count, scores.ctypes.data)
            for g in range(group):
                at = scores.ctypes.data + 4 * SPAN * g
                softmax(at, state.ctypes.data + 8 * g, out.ctypes.data + 4 * dim * g)
            mix(scores.ctypes.data, values + start * step, step, count, out.ctypes.data)
        for g in range(group):
            total = state[2 * g + 1]
            for i in range(g * dim, (g + 1) * dim):
                out[i] /= total

    attend_one = compiled(attend, shape)

    def attention(y: Any, rows: Any, positions: Any, layer: Any, step: Any, scores: Any, state: Any, out: Any) -> None:
        width = group * dim
        for u in prange(len(y) * kv_heads):
            t, h = u // kv_heads, u % kv_heads
            q = y.ctypes.data + t * y.strides[0] + 4 * h * width
            keys = rows[t] + layer + 2 * h * dim
            attend_one(q, keys, step, positions[t] + 1, scores[u], state[u], out[t, h * width : (h + 1) * width])

    return parallel(attention, shape)


def build(isa: Isa, shape: Shape) -> Callable[..., None]:
    """The whole pass, embeddings to logits, in one compiled function."""
    matmul_qkv, matmul_out, matmul_gate_up, matmul_down, matmul_head = (build_matmul(isa, b) for b in shape.bits)
    rotate_store, attention = build_rotate(shape), build_attention(shape)
    row_bytes = 2 * 2 * shape.kv_heads * shape.head_dim  # of one layer: K and V in half precision

    def forward(
        qkv: Any, out: Any, gate_up: Any, down: Any, head: Any, norms: Any, epsilon: Any,
        x: Any, rows: Any, positions: Any, cos: Any, sin: Any, want: Any, work: Any, logits: Any,
    ) -> None:  # fmt: skip
        y, mixed, h, scratch, scores, state, q_width, s_width, su_width, q_hidden, s_hidden, su_hidden, last = work
        attn_norm, ffn_norm, output_norm = norms
        n = len(x)
        step = len(attn_norm) * row_bytes
        for i in range(len(attn_norm)):
            norm_quantise_all(x, attn_norm[i], epsilon, scratch, q_width, s_width, su_width)
            matmul_qkv(qkv[0][i], qkv[1][i], q_width, s_width, su_width, y, 0)
            for t in range(n):
                rotate_store(y[t], cos[t], sin[t], rows[t] + positions[t] * step + i * row_bytes)
            attention(y, rows, positions, i * row_bytes, step, scores, state, mixed)
            quantise_all(mixed, q_width, s_width, su_width)
            matmul_out(out[0][i], out[1][i], q_width, s_width, su_width, x, 1)
            norm_quantise_all(x, ffn_norm[i], epsilon, scratch, q_width, s_width, su_width)
            matmul_gate_up(gate_up[0][i], gate_up[1][i], q_width, s_width, su_width, h, 0)
            gate_quantise_all(h, scratch, q_hidden, s_hidden, su_hidden)
            matmul_down(down[0][i], down[1][i], q_hidden, s_hidden, su_hidden, x, 1)
        m = len(want)
        for t in range(m):
            last[t] = x[want[t]]
        norm_quantise_all(last[:m], output_norm, epsilon, scratch, q_width, s_width, su_width)
        matmul_head(head[0][0], head[1][0], q_width, s_width, su_width, logits, 0)

    return compiled(forward, isa, shape)
