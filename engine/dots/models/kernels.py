"""The compiled forward pass on quantised blocks. `build` makes one for an instruction set and a model's shape.

The loops that matter are in `tile.py` and `softmax.py`; here is what walks over tokens, tiles and layers. Every thread
runs the whole pass and does its own part of it, and they meet where one needs what another made. Sums have one fixed
order, so a token's result is bitwise the same alone, in a batch, in chunks and on any number of threads.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numba import from_dtype
from numba.core import types

from dots.models.barrier import meet
from dots.models.compiling import array_at, compiled
from dots.models.isa import Isa
from dots.models.layout import ORDER, ROOM, SPAN, Form, Shape
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

WHOLE = 8  # tokens of a whole tile
FEW = 2  # tokens whose norms and gates are quicker to make twice than to share

floats, sums, vector, longs, ints, steps, orders = (
    array_at(*what)
    for what in (
        (types.float32, 2),
        (types.float32, 3),
        (types.float32, 1),
        (types.int64, 1),
        (types.int32, 1),
        (types.int8, 2),
        (from_dtype(ORDER), 1),
    )
)


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


@compiled
def gather(rows: Any, want: Any, base: Any, part: Any, parts: Any) -> None:
    """Copies of the wanted rows, from row `base` on."""
    for turn in range(turns(len(want), part, parts)):
        t = part + turn * parts
        for i in range(rows.shape[1]):
            rows[base + t, i] = rows[want[t], i]


@compiled
def balanced(positions: Any, thread: Any, threads: Any) -> Any:
    """First and last of neighbouring tokens whose attention is a thread's part: the later a token, the more it sees."""
    total = 0
    for t in range(len(positions)):
        total += positions[t] + SPAN // 2
    low, high = share(total, thread, threads)
    first = last = before = 0
    for t in range(len(positions)):
        first += before < low
        last += before < high
        before += positions[t] + SPAN // 2
    return first, last


@compiled
def own_work(positions: Any, base: Any, thread: Any, threads: Any) -> Any:
    """What a thread does for the tokens in the rows from `base` on: first and last of its tokens · its part
    of their products, and of how many · its part of what costs little, and of how many · first and last of the tokens
    that it attends for · the first row that its quantised tokens lie in.

    Many tokens: a thread has tokens of its own, in whole tiles, so that its numbers stay in its cache. Few: all threads
    work on all tokens, each on a part of every product. Very few: each does for itself what costs less than to meet.
    """
    n = len(positions)
    if n >= WHOLE * threads:
        first, last = share(-(-n // WHOLE), thread, threads)
        first, last = base + WHOLE * first, base + min(n, WHOLE * last)
        seeing, seen = balanced(positions, thread, threads)
        return first, last, 0, 1, 0, 1, base + seeing, base + seen, first
    if n <= FEW and threads <= ROOM // FEW:
        return base, base + n, thread, threads, 0, 1, base, base + n, FEW * thread
    return base, base + n, thread, threads, thread, threads, base, base + n, base


def build(isa: Isa, shape: Shape) -> Callable[..., None]:
    """The whole pass, embeddings to logits, still to be compiled: of a pointer to an ORDER, a thread's number and how
    many there are."""
    project, respond, head = build_project(isa, shape), build_respond(isa, shape), build_head(isa, shape)
    y_columns = (shape.heads + 2 * shape.kv_heads) * shape.head_dim

    def forward(order: Any, thread: Any, threads: Any) -> None:
        o = orders(order, 1)[0]
        base = o.n if o.m < o.n else 0  # the row from which on the wanted tokens lie
        positions = longs(o.positions, o.n + o.m)
        work = own_work(positions[: o.n], 0, thread, threads)
        for i in range(o.layers):
            project(order, i, work)
            meet(o.barrier, threads)
            if i == o.layers - 1 and base > 0:  # of the others only keys and values are of use
                gather(floats(o.x, o.n + o.m, o.width), ints(o.want, o.m), base, thread, threads)
                gather(floats(o.y, o.n + o.m, y_columns), ints(o.want, o.m), base, thread, threads)
                work = own_work(positions[base:], base, thread, threads)
                meet(o.barrier, threads)
            respond(order, i, thread, threads, work)
        meet(o.barrier, threads)
        head(order, base, thread, threads)

    return forward


def build_project(isa: Isa, shape: Shape) -> Callable[..., None]:
    matmul, rotate_store = build_matmul(isa, shape.forms[0]), build_rotate(shape)
    heads, kv_heads, dim = shape.heads, shape.kv_heads, shape.head_dim
    q_columns, kv_columns = heads * dim, 2 * kv_heads * dim
    row_bytes = 2 * kv_columns  # of one layer: K and V in half precision

    def project(order: Any, i: Any, work: Any) -> None:
        """A layer up to its keys and values, in their rows, and its queries."""
        o = orders(order, 1)[0]
        first, last, part, parts, little, littles, _, _, row = work
        n, width, blocks = last - first, o.width, o.width // BLOCK
        widest = max(width, o.hidden, q_columns)
        x, y = floats(o.x, last, width)[first:last], floats(o.y, last, q_columns + kv_columns)[first:last]
        q, per_row = steps(o.q + row * widest, n, width), 4 * row * (widest // BLOCK)
        s, su = floats(o.s + per_row, n, blocks), sums(o.su + 2 * per_row, n, blocks, 2)
        norm_quantise(x, vector(o.attn_norm + 4 * i * width, width), np.float32(o.epsilon), q, s, su, little, littles)
        meet(o.barrier, littles)
        matmul(o.qkv, o.qkv_scales, i, q, s, su, y, 0, part, parts)
        meet(o.barrier, parts)
        cos, sin = floats(o.cos, last, dim // 2)[first:last], floats(o.sin, last, dim // 2)[first:last]
        rows, positions = longs(o.rows, last)[first:last], longs(o.positions, last)[first:last]
        rotate_store(y, cos, sin, rows, positions, i * row_bytes, o.layers * row_bytes, part, parts)

    return compiled(project)


def build_respond(isa: Isa, shape: Shape) -> Callable[..., None]:
    matmul_out, matmul_gate_up, matmul_down = (build_matmul(isa, form) for form in shape.forms[1:4])
    attention = build_attention(shape)
    heads, kv_heads, dim = shape.heads, shape.kv_heads, shape.head_dim
    group, q_columns, kv_columns = heads // kv_heads, heads * dim, 2 * kv_heads * dim
    row_bytes = 2 * kv_columns

    def respond(order: Any, i: Any, thread: Any, threads: Any, work: Any) -> None:
        """The rest of a layer: attention, and gate, up and down."""
        o = orders(order, 1)[0]
        first, last, part, parts, little, littles, seeing, seen, row = work
        every, n, width, hidden, barrier = o.n + o.m, last - first, o.width, o.hidden, o.barrier
        where = longs(o.rows, every), longs(o.shared, every), longs(o.border, every), longs(o.positions, every)
        keys, values = floats(o.keys, threads, SPAN * dim)[thread], floats(o.values, threads, SPAN * dim)[thread]
        space = keys, values, floats(o.scores, threads, group * SPAN)[thread]
        y, mixed = floats(o.y, every, q_columns + kv_columns), floats(o.mixed, every, q_columns)
        state, layer, step = floats(o.state, every, 2 * heads), i * row_bytes, o.layers * row_bytes
        attention(y, where, layer, step, space, state, mixed, seeing, seen, part, parts)
        meet(barrier, threads)

        widest = max(width, hidden, q_columns)
        per_row, q_blocks, blocks, hidden_blocks = (
            4 * row * (widest // BLOCK),
            q_columns // BLOCK,
            width // BLOCK,
            hidden // BLOCK,
        )
        q, s, su = o.q + row * widest, o.s + per_row, o.su + 2 * per_row
        qm, sm, sum_ = steps(q, n, q_columns), floats(s, n, q_blocks), sums(su, n, q_blocks, 2)
        qx, sx, sux = steps(q, n, width), floats(s, n, blocks), sums(su, n, blocks, 2)
        qh, sh, suh = steps(q, n, hidden), floats(s, n, hidden_blocks), sums(su, n, hidden_blocks, 2)
        x, h = floats(o.x, last, width)[first:last], floats(o.h, last, 2 * hidden)[first:last]
        quantise(mixed[first:last], qm, sm, sum_, little, littles)
        meet(barrier, littles)
        matmul_out(o.out, o.out_scales, i, qm, sm, sum_, x, 1, part, parts)
        meet(barrier, parts)
        gain = vector(o.ffn_norm + 4 * i * width, width)
        norm_quantise(x, gain, np.float32(o.epsilon), qx, sx, sux, little, littles)
        meet(barrier, littles)
        matmul_gate_up(o.gate_up, o.gate_up_scales, i, qx, sx, sux, h, 0, part, parts)
        meet(barrier, parts)
        gate_quantise(h, qh, sh, suh, little, littles)
        meet(barrier, littles)
        matmul_down(o.down, o.down_scales, i, qh, sh, suh, x, 1, part, parts)
        meet(barrier, parts)

    return compiled(respond)


def build_head(isa: Isa, shape: Shape) -> Callable[..., None]:
    matmul = build_matmul(isa, shape.forms[4])

    def head(order: Any, base: Any, thread: Any, threads: Any) -> None:
        """Logits of the tokens in the rows from `base` on."""
        o = orders(order, 1)[0]
        m, blocks = o.m, o.width // BLOCK
        x, gain = floats(o.x, base + m, o.width)[base : base + m], vector(o.output_norm, o.width)
        q, s, su = steps(o.q, m, o.width), floats(o.s, m, blocks), sums(o.su, m, blocks, 2)
        norm_quantise(x, gain, np.float32(o.epsilon), q, s, su, thread, threads)
        meet(o.barrier, threads)
        matmul(o.head, o.head_scales, 0, q, s, su, floats(o.logits, m, o.vocab), 0, thread, threads)
        meet(o.barrier, threads)

    return compiled(head)
