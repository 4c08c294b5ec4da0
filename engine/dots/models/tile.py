"""The inner loops of the quantised executor, as LLVM instructions behind Numba intrinsics.

A tile is 16 rows of a packed matrix (`packing.py`) times 1, 4 or 8 quantised tokens. A token's sum is built by the
same operations whatever the tile's width, so results are bitwise equal alone, in a batch and in chunks. The intrinsics
take addresses; whoever calls them answers for the bounds.
"""

from collections.abc import Callable, Sequence
from typing import Any

from llvmlite import ir
from numba.core import cgutils, types

from dots.models.compiling import emitted
from dots.models.isa import Isa
from dots.models.lanes import (
    F32,
    I8,
    I16,
    I32,
    I64,
    INTS,
    Floats,
    addresses,
    in_register,
    intrinsic_call,
    load,
    offset,
    prefetch,
    register,
    splat,
    store,
    vector_of,
)
from dots.models.layout import Form
from dots.models.packing import BLOCK, ROWS

AHEAD = 32  # blocks, about 10 KiB: measured, and within the first-level cache
PLUS_128 = 0x80808080 - (1 << 32)  # four signed bytes, xor this, are unsigned and 128 greater


def dot_tile(isa: Isa, form: Form, tokens: int) -> Any:
    """y[token, row] (+)= sum over blocks of d[row] * s[token] * (weights . q[token]) (+ m[row] * su[token])

    first: the tile's first token · weights, scales: the packed tile · q, s, su: quantised tokens, `q_step`, `s_step`
    and twice `s_step` bytes apart · y: sixteen floats a token, `y_step` bytes apart · add: nonzero adds to y
    """
    body = {Isa.AVX512_VNNI: vnni_block, Isa.AVX2: avx2_block}[isa]

    def tile(typing: Any, first: Any, w: Any, scales: Any, q: Any, q_step: Any, s: Any, su: Any, s_step: Any,
             y: Any, y_step: Any, blocks: Any, add: Any) -> Any:  # fmt: skip
        def codegen(context: Any, b: Any, signature: Any, args: Any) -> Any:
            first, w, scales, q, q_step, s, su, s_step, y, y_step, blocks, add = args
            q, y = offset(b, q, b.mul(first, q_step)), offset(b, y, b.mul(first, y_step))
            s, su = offset(b, s, b.mul(first, s_step)), offset(b, su, b.mul(first, b.mul(s_step, I64(2))))
            outputs = [offset(b, y, (y_step, k)) for k in range(tokens)]
            sums = [register(b) for _ in range(tokens)]
            adding = b.icmp_signed("!=", add, I64(0))
            for k in range(tokens):
                b.store(b.select(adding, Floats.load(b, outputs[k]).v, Floats.of(b, 0).v), sums[k])
            with cgutils.for_range(b, blocks, intp=I64) as loop:
                j = loop.index
                scale = offset(b, scales, (j, 32 * form.scales))
                ask_ahead(b, form, offset(b, w, (j, 64 * form.bits)), scale)
                d = Floats.load_halves(b, scale)
                dots = body(b, form, offset(b, w, (j, 64 * form.bits)))
                for k in range(tokens):
                    sums_at = offset(b, su, (s_step, 2 * k), (j, 8))
                    start = splat(b, load(b, offset(b, sums_at, 4), I32)) if form is Form.Q4 else ZERO
                    dot = Floats.of_ints(b, dots(offset(b, q, (q_step, k), (j, BLOCK)), start))
                    at = offset(b, s, (s_step, k), (j, 4))
                    total = (dot * d).fma(Floats.splat(b, load(b, at, F32, 4)), Floats(b, b.load(sums[k])))
                    if form is Form.Q4_MIN:
                        low = Floats.load_halves(b, offset(b, scale, 32))
                        total = low.fma(Floats.splat(b, load(b, sums_at, F32, 4)), total)
                    b.store(total.v, sums[k])
            for k in range(tokens):
                Floats(b, b.load(sums[k])).store(outputs[k])
            return context.get_dummy_value()

        return addresses(12), codegen

    return emitted(tile)


def ask_ahead(b: Any, form: Form, w: Any, scale: Any) -> None:
    """Weights come from memory but once a pass; left to itself the processor asks for them too late to keep busy."""
    for line in range(form.bits):
        prefetch(b, offset(b, w, 64 * (form.bits * AHEAD + line)))
    prefetch(b, offset(b, scale, 32 * form.scales * AHEAD))


ZERO = ir.Constant(INTS, [0] * ROWS)

Dots = Callable[[Any, Any], Any]
"""(address of a token's 32 quantised values, sixteen integers) -> the integers plus sixteen dot products"""


def weight_bytes(b: Any, form: Form, w: Any, size: int, part: int) -> list[Any]:
    """Eight vectors; vector e holds columns 4e to 4e+3 of every row, four bytes a row."""
    kind = ir.VectorType(I8, size)
    if form.bits == 8:
        return [load(b, offset(b, w, 64 * e + part), kind) for e in range(8)]
    pairs = [load(b, offset(b, w, 64 * e + part), kind) for e in range(4)]
    return [b.and_(p, vector_of(I8, size, 15)) for p in pairs] + [b.lshr(p, vector_of(I8, size, 4)) for p in pairs]


def broadcast_columns(b: Any, q: Any) -> list[Any]:
    """Eight vectors, vector e with columns 4e to 4e+3 of a token in each lane: half of them loaded, half shuffled, for
    eight loads a token would take longer than its multiplications."""
    loaded = [splat(b, load(b, offset(b, q, 4 * e), I32)) for e in range(4)]
    quad = load(b, offset(b, q, 16), ir.VectorType(I32, 4), 4)
    fourfold = in_register(b, b.shuffle_vector(quad, quad, ir.Constant(INTS, [*range(4)] * 4)))
    lanes = [ir.Constant(INTS, [lane // 4 * 4 + e for lane in range(ROWS)]) for e in range(4)]
    return loaded + [b.shuffle_vector(fourfold, fourfold, order) for order in lanes]


def vnni_block(b: Any, form: Form, w: Any) -> Dots:
    """vpdpbusd multiplies unsigned by signed bytes: nibbles are unsigned as they are; signed weights take the place of
    the signed operand, and the tokens are made unsigned by adding 128, whose share is taken off again."""
    parts = [b.bitcast(v, INTS) for v in weight_bytes(b, form, w, 64, 0)]

    def dot(total: Any, unsigned: Any, signed: Any) -> Any:
        return intrinsic_call(b, "llvm.x86.avx512.vpdpbusd.512", INTS, [total, unsigned, signed])

    if form.bits == 4:

        def unsigned_dots(q: Any, start: Any) -> Any:
            even, odd = start, ZERO  # two chains, so that one need not wait for the other
            columns = broadcast_columns(b, q)
            for e in range(0, 8, 2):
                even = dot(even, parts[e], columns[e])
                odd = dot(odd, parts[e + 1], columns[e + 1])
            return b.add(even, odd)

        return unsigned_dots

    lift = vector_of(I32, ROWS, PLUS_128)
    share = ZERO
    for e in range(8):
        share = dot(share, lift, parts[e])

    def signed_dots(q: Any, start: Any) -> Any:
        even, odd = b.sub(start, share), ZERO
        for e in range(0, 8, 2):
            even = dot(even, splat(b, b.xor(load(b, offset(b, q, 4 * e), I32), I32(PLUS_128))), parts[e])
            odd = dot(odd, splat(b, b.xor(load(b, offset(b, q, 4 * e + 4), I32), I32(PLUS_128))), parts[e + 1])
        return b.add(even, odd)

    return signed_dots


def avx2_block(b: Any, form: Form, w: Any) -> Dots:
    """vpmaddubsw sums pairs in 16 bits: eight pairs of nibbles stay below 8*2*15*127 < 2^15 and are widened once; for
    8-bit weights one pair of |w| * (q with w's sign) reaches 2*128*127 < 2^15, so every pair is widened."""
    wide, narrow, halves = ir.VectorType(I8, 32), ir.VectorType(I16, 16), ir.VectorType(I32, 8)
    ones = vector_of(I16, 16, 1)
    sides = [weight_bytes(b, form, w, 32, side) for side in (0, 32)]
    sizes = [[intrinsic_call(b, "llvm.abs.v32i8", wide, [v, ir.Constant(ir.IntType(1), 0)]) for v in side]
             for side in sides] if form.bits == 8 else sides  # fmt: skip

    def pairs(unsigned: Any, signed: Any) -> Any:
        return intrinsic_call(b, "llvm.x86.avx2.pmadd.ub.sw", narrow, [unsigned, signed])

    def widened(sums: Any) -> Any:
        return intrinsic_call(b, "llvm.x86.avx2.pmadd.wd", halves, [sums, ones])

    def one_side(side: int, tokens: list[Any]) -> Any:
        if form.bits == 4:
            sums = pairs(sizes[side][0], tokens[0])
            for e in range(1, 8):
                sums = b.add(sums, pairs(sizes[side][e], tokens[e]))
            return widened(sums)
        total = ir.Constant(halves, [0] * 8)
        for e in range(8):
            turned = intrinsic_call(b, "llvm.x86.avx2.psign.b", wide, [tokens[e], sides[side][e]])
            total = b.add(total, widened(pairs(sizes[side][e], turned)))
        return total

    def dots(q: Any, start: Any) -> Any:
        tokens = [b.bitcast(splat(b, load(b, offset(b, q, 4 * e), I32), 8), wide) for e in range(8)]
        both = ir.Constant(INTS, list(range(ROWS)))
        return b.add(start, b.shuffle_vector(one_side(0, tokens), one_side(1, tokens), both))

    return dots


def quantise_pair(b: Any, parts: Sequence[Floats], q: Any, s: Any, su: Any) -> None:
    """Thirty-two floats in registers to signed bytes at q, their scale at s; at su scale times their sum, and -8 times
    their sum as an integer."""
    peak = parts[0].abs().max(parts[1].abs()).peak()
    nothing = b.fcmp_ordered("==", peak, F32(0))
    inverse = b.select(nothing, F32(0), b.fdiv(F32(127), peak))
    ints = [(p * Floats.splat(b, inverse)).rint().ints() for p in parts]
    for i in range(2):
        store(b, b.trunc(ints[i], ir.VectorType(I8, 16)), offset(b, q, 16 * i))
    scale = b.fdiv(peak, F32(127))
    total = intrinsic_call(b, "llvm.vector.reduce.add.v16i32", I32, [b.add(*ints)])
    store(b, scale, s, 4)
    store(b, b.fmul(scale, b.sitofp(total, F32)), su, 4)
    store(b, b.mul(total, I32(-8)), offset(b, su, 4), 4)


@emitted
def quantise_block(typing: Any, x: Any, q: Any, s: Any, su: Any) -> Any:
    """Thirty-two floats at x, quantised."""

    def codegen(context: Any, b: Any, signature: Any, args: Any) -> Any:
        x, *out = args
        quantise_pair(b, [Floats.load(b, offset(b, x, 64 * i)) for i in range(2)], *out)
        return context.get_dummy_value()

    return addresses(4), codegen


@emitted
def norm_block(typing: Any, x: Any, gain: Any, scale: Any, q: Any, s: Any, su: Any) -> Any:
    """Thirty-two of x * scale * gain, quantised."""

    def codegen(context: Any, b: Any, signature: Any, args: Any) -> Any:
        x, gain, scale, *out = args
        every = Floats.splat(b, scale)
        pair = [(Floats.load(b, offset(b, x, 64 * i)), Floats.load(b, offset(b, gain, 64 * i))) for i in range(2)]
        quantise_pair(b, [value * every * factor for value, factor in pair], *out)
        return context.get_dummy_value()

    return types.void(types.intp, types.intp, types.float32, types.intp, types.intp, types.intp), codegen


@emitted
def gate_block(typing: Any, gate: Any, up: Any, q: Any, s: Any, su: Any) -> Any:
    """Thirty-two of gate / (1 + e^-gate) * up, quantised."""

    def codegen(context: Any, b: Any, signature: Any, args: Any) -> Any:
        gate, up, *out = args
        one, zero = Floats.of(b, 1), Floats.of(b, 0)
        pair = [(Floats.load(b, offset(b, gate, 64 * i)), Floats.load(b, offset(b, up, 64 * i))) for i in range(2)]
        quantise_pair(b, [g / (one + (zero - g).exp()) * u for g, u in pair], *out)
        return context.get_dummy_value()

    return addresses(5), codegen


@emitted
def norm_scale(typing: Any, x: Any, count: Any, epsilon: Any) -> Any:
    """1 / sqrt(mean of squares + epsilon) of `count` floats, a multiple of sixteen."""

    def codegen(context: Any, b: Any, signature: Any, args: Any) -> Any:
        x, count, epsilon = args
        total = register(b, Floats.of(b, 0).v)
        with cgutils.for_range(b, b.udiv(count, I64(16)), intp=I64) as loop:
            part = Floats.load(b, offset(b, x, (loop.index, 64)))
            b.store(part.fma(part, Floats(b, b.load(total))).v, total)
        mean = b.fdiv(Floats(b, b.load(total)).total(), b.sitofp(count, F32))
        return b.fdiv(F32(1), intrinsic_call(b, "llvm.sqrt.f32", F32, [b.fadd(mean, epsilon)]))

    return types.float32(types.intp, types.intp, types.float32), codegen
