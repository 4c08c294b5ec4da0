"""The compiled forward pass, embeddings to logits. `build` makes one for an instruction set and a model's shape.

Every thread runs it from end to end and does its own part, and they meet where one needs what another made. What the
steps do is in `kernels.py`; here is whose part is what, and where in the caller's memory everything lies.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numba import from_dtype
from numba.core import types

from dots.models.barrier import meet
from dots.models.compiling import array_at, compiled
from dots.models.isa import Isa
from dots.models.kernels import (
    build_attention,
    build_matmul,
    build_rotate,
    gate_quantise,
    norm_quantise,
    quantise,
    share,
    turns,
)
from dots.models.layout import ORDER, ROOM, SPAN, Shape
from dots.models.packing import BLOCK

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
    project, respond = build_project(isa, shape), build_respond(isa, shape)
    feed, head = build_feed(isa, shape), build_head(isa, shape)
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
            feed(order, i, work)
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
    attention, matmul = build_attention(shape), build_matmul(isa, shape.forms[1])
    heads, kv_heads, dim = shape.heads, shape.kv_heads, shape.head_dim
    group, q_columns, kv_columns = heads // kv_heads, heads * dim, 2 * kv_heads * dim
    row_bytes, blocks = 2 * kv_columns, q_columns // BLOCK

    def respond(order: Any, i: Any, thread: Any, threads: Any, work: Any) -> None:
        """Attention over the keys and values, and what it adds to the tokens."""
        o = orders(order, 1)[0]
        first, last, part, parts, little, littles, seeing, seen, row = work
        every, n = o.n + o.m, last - first
        where = longs(o.rows, every), longs(o.shared, every), longs(o.border, every), longs(o.positions, every)
        keys, values = floats(o.keys, threads, SPAN * dim)[thread], floats(o.values, threads, SPAN * dim)[thread]
        space = keys, values, floats(o.scores, threads, group * SPAN)[thread]
        y, mixed = floats(o.y, every, q_columns + kv_columns), floats(o.mixed, every, q_columns)
        state, layer, step = floats(o.state, every, 2 * heads), i * row_bytes, o.layers * row_bytes
        attention(y, where, layer, step, space, state, mixed, seeing, seen, part, parts)
        meet(o.barrier, threads)
        widest = max(o.width, o.hidden, q_columns)
        q, per_row = steps(o.q + row * widest, n, q_columns), 4 * row * (widest // BLOCK)
        s, su = floats(o.s + per_row, n, blocks), sums(o.su + 2 * per_row, n, blocks, 2)
        quantise(mixed[first:last], q, s, su, little, littles)
        meet(o.barrier, littles)
        matmul(o.out, o.out_scales, i, q, s, su, floats(o.x, last, o.width)[first:last], 1, part, parts)
        meet(o.barrier, parts)

    return compiled(respond)


def build_feed(isa: Isa, shape: Shape) -> Callable[..., None]:
    matmul_gate_up, matmul_down = (build_matmul(isa, form) for form in shape.forms[2:4])
    q_columns = shape.heads * shape.head_dim

    def feed(order: Any, i: Any, work: Any) -> None:
        """The rest of a layer: gate, up and down."""
        o = orders(order, 1)[0]
        first, last, part, parts, little, littles, _, _, row = work
        n, width, hidden, blocks, more = last - first, o.width, o.hidden, o.width // BLOCK, o.hidden // BLOCK
        widest = max(width, hidden, q_columns)
        per_row = 4 * row * (widest // BLOCK)
        q, s, su = o.q + row * widest, o.s + per_row, o.su + 2 * per_row
        qx, sx, sux = steps(q, n, width), floats(s, n, blocks), sums(su, n, blocks, 2)
        qh, sh, suh = steps(q, n, hidden), floats(s, n, more), sums(su, n, more, 2)
        x, h = floats(o.x, last, width)[first:last], floats(o.h, last, 2 * hidden)[first:last]
        norm_quantise(x, vector(o.ffn_norm + 4 * i * width, width), np.float32(o.epsilon), qx, sx, sux, little, littles)
        meet(o.barrier, littles)
        matmul_gate_up(o.gate_up, o.gate_up_scales, i, qx, sx, sux, h, 0, part, parts)
        meet(o.barrier, parts)
        gate_quantise(h, qh, sh, suh, little, littles)
        meet(o.barrier, littles)
        matmul_down(o.down, o.down_scales, i, qh, sh, suh, x, 1, part, parts)
        meet(o.barrier, parts)

    return compiled(feed)


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
