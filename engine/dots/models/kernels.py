"""The steps of a pass on quantised blocks: each does a thread's part, `part` of `parts`, for tokens that it is given.

The loops that matter are in `tile.py` and `softmax.py`; here is what walks over tokens and tiles. Sums have one fixed
order, so a token's result is bitwise the same alone, in a batch, in chunks and on any number of threads.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from dots.models.compiling import compiled
from dots.models.isa import Isa
from dots.models.layout import SPAN, Form, Shape
from dots.models.packing import BLOCK, ROWS
from dots.models.softmax import (
    LEAST,
    begin_mix,
    finish_mix,
    mix_rows,
    online_softmax,
    score_rows,
    spread_rows,
    to_halves,
)
from dots.models.tile import dot_tile, gate_block, norm_block, norm_scale, quantise_block


@compiled
def share(count: Any, part: Any, parts: Any) -> Any:
    """Where a thread's part of some things begins and ends."""
    return count * part // parts, count * (part + 1) // parts


@compiled
def turns(count: Any, part: Any, parts: Any) -> Any:
    """How many of some things a thread takes that takes every so many of them, from its own number on."""
    return (count - part + parts - 1) // parts


@compiled
def blocks_of(token: Any, blocks: Any, first: Any, last: Any) -> Any:
    """The part of a token's blocks that falls into first..last, where all tokens' blocks are counted in a row."""
    return max(0, first - token * blocks), min(blocks, last - token * blocks)


@compiled
def quantise(x: Any, q: Any, s: Any, su: Any, part: Any, parts: Any) -> None:
    """Tokens to 8 bits. Blocks are shared out, so that one token alone keeps every thread busy; so they are below."""
    blocks = x.shape[1] // BLOCK
    first, last = share(len(x) * blocks, part, parts)
    for t in range(first // blocks, -(-last // blocks)):
        xs, qs, ss, sus = x[t].ctypes.data, q[t].ctypes.data, s[t].ctypes.data, su[t].ctypes.data
        start, stop = blocks_of(t, blocks, first, last)
        for j in range(start, stop):
            quantise_block(xs + 4 * BLOCK * j, qs + BLOCK * j, ss + 4 * j, sus + 8 * j)


@compiled
def norm_quantise(x: Any, gain: Any, epsilon: Any, q: Any, s: Any, su: Any, part: Any, parts: Any) -> None:
    """Tokens' RMS norms, quantised."""
    columns = x.shape[1]
    blocks = columns // BLOCK
    first, last = share(len(x) * blocks, part, parts)
    for t in range(first // blocks, -(-last // blocks)):
        xs, qs, ss, sus = x[t].ctypes.data, q[t].ctypes.data, s[t].ctypes.data, su[t].ctypes.data
        scale = norm_scale(xs, columns, epsilon)
        start, stop = blocks_of(t, blocks, first, last)
        for j in range(start, stop):
            at = 4 * BLOCK * j
            norm_block(xs + at, gain.ctypes.data + at, scale, qs + BLOCK * j, ss + 4 * j, sus + 8 * j)


@compiled
def gate_quantise(h: Any, q: Any, s: Any, su: Any, part: Any, parts: Any) -> None:
    """Tokens' silu(gate) * up, quantised; h holds gate and up side by side."""
    columns = h.shape[1] // 2
    blocks = columns // BLOCK
    first, last = share(len(h) * blocks, part, parts)
    for t in range(first // blocks, -(-last // blocks)):
        gate, qs, ss, sus = h[t].ctypes.data, q[t].ctypes.data, s[t].ctypes.data, su[t].ctypes.data
        start, stop = blocks_of(t, blocks, first, last)
        for j in range(start, stop):
            at = gate + 4 * BLOCK * j
            gate_block(at, at + 4 * columns, qs + BLOCK * j, ss + 4 * j, sus + 8 * j)


def build_matmul(isa: Isa, form: Form) -> Callable[..., None]:
    tile_1, tile_4, tile_8 = (dot_tile(isa, form, tokens) for tokens in (1, 4, 8))
    block, scale = 64 * form.bits, 32 * form.scales  # bytes of a tile's block, and of its scales

    def matmul(weights: Any, scales: Any, layer: Any, q: Any, s: Any, su: Any, y: Any, add: Any,
               part: Any, parts: Any) -> None:  # fmt: skip
        """y (+)= a layer of packed matrices, by their addresses, times quantised tokens; a thread takes some tiles."""
        n, blocks = s.shape
        q_step, s_step, y_step = q.shape[1], 4 * blocks, 4 * y.shape[1]
        t_q, t_s, t_su = q.ctypes.data, s.ctypes.data, su.ctypes.data
        tiles = y.shape[1] // ROWS
        first, last = share(tiles, part, parts)
        for r in range(first, last):
            at = (layer * tiles + r) * blocks
            w, d, out = weights + at * block, scales + at * scale, y.ctypes.data + 4 * ROWS * r
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

    return compiled(matmul)


def build_rotate(shape: Shape) -> Callable[..., None]:
    heads, kv_heads, dim = shape.heads, shape.kv_heads, shape.head_dim
    scale = np.float32(1 / np.sqrt(dim))

    def rotate_store(y: Any, cos: Any, sin: Any, rows: Any, positions: Any, layer: Any, step: Any,
                     part: Any, parts: Any) -> None:  # fmt: skip
        """Turn q (scaled for the softmax) and k in place, then write k and v to the token's KV row of this layer."""
        for turn in range(turns(len(y), part, parts)):
            t = part + turn * parts
            for h in range(heads + kv_heads):
                factor = scale if h < heads else np.float32(1)
                for i in range(dim // 2):
                    at = h * dim + 2 * i
                    a, b = y[t, at] * factor, y[t, at + 1] * factor
                    y[t, at] = a * cos[t, i] - b * sin[t, i]
                    y[t, at + 1] = a * sin[t, i] + b * cos[t, i]
            row = rows[t] + positions[t] * step + layer
            for i in range(0, 2 * kv_heads * dim, 16):  # k and v lie side by side, here and there
                to_halves(y[t].ctypes.data + 4 * (heads * dim + i), row + 2 * i)

    return compiled(rotate_store)


def build_attend(group: int, dim: int, behind: int) -> Callable[..., None]:
    spread, score, mix = spread_rows(dim, behind), score_rows(group, dim), mix_rows(group, dim)
    begin, softmax, finish = begin_mix(group, dim), online_softmax(dim), finish_mix(group, dim)

    def attend(q: Any, positions: Any, own: Any, shared: Any, border: Any, step: Any, space: Any, state: Any,
               out: Any) -> None:  # fmt: skip
        """Tokens of one sequence, their heads of one kv head. A span's rows are made ready once for all of them; those
        before `border` are shared ones."""
        keys, values, scores = space
        for t in range(len(q)):
            begin(state[t].ctypes.data, out[t].ctypes.data)
        rows = positions[len(q) - 1] + 1
        for start in range(0, rows, SPAN):
            first = (shared if start < border else own) + start * step
            spread(first, step, min(SPAN, rows - start), keys.ctypes.data, values.ctypes.data)
            for t in range(len(q)):
                seen = min(SPAN, positions[t] + 1 - start)
                if seen < SPAN:
                    for i in range(group * SPAN):
                        scores[i] = np.float32(LEAST)
                if seen > 0:
                    score(q[t].ctypes.data, keys.ctypes.data, seen, scores.ctypes.data)
                    for g in range(group):
                        at = scores.ctypes.data + 4 * SPAN * g
                        softmax(at, state[t].ctypes.data + 8 * g, out[t].ctypes.data + 4 * dim * g)
                    mix(scores.ctypes.data, values.ctypes.data, seen, out[t].ctypes.data)
        for t in range(len(q)):
            finish(state[t].ctypes.data, out[t].ctypes.data)

    return compiled(attend)


def build_attention(shape: Shape) -> Callable[..., None]:
    kv_heads, dim = shape.kv_heads, shape.head_dim
    group = shape.heads // kv_heads
    width = group * dim
    attend = build_attend(group, dim, 2 * kv_heads * dim)

    def attention(y: Any, where: Any, layer: Any, step: Any, space: Any, state: Any, out: Any, first: Any, last: Any,
                  part: Any, parts: Any) -> None:  # fmt: skip
        """Tokens first to last. Neighbours that continue one sequence belong together; a thread takes every so many of
        their kv heads."""
        rows, shared, border, positions = where
        turn = 0
        while first < last:
            end = first + 1
            while end < last and rows[end] == rows[first]:
                end += 1
            for h in range(kv_heads):
                if turn % parts == part:
                    at, columns, places = layer + 2 * h * dim, h * width, 2 * group * h
                    attend(
                        y[first:end, columns : columns + width], positions[first:end], rows[first] + at,
                        shared[first] + at, border[first], step, space,
                        state[first:end, places : places + 2 * group], out[first:end, columns : columns + width],
                    )  # fmt: skip
                turn += 1
            first = end

    return compiled(attention)
