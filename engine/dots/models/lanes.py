"""Sixteen floats at a time, inside compiled functions: values whose operators emit LLVM instructions.

An `@intrinsic` of `tile.py` gets addresses as integers and writes its arithmetic with these. Every operation rounds in
one fixed order, so a result does not depend on the instruction set: where registers are narrower the compiler splits
the sixteen lanes in halves.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from llvmlite import ir
from numba.core import cgutils, types

N = 16
I8, I16, I32, I64 = (ir.IntType(n) for n in (8, 16, 32, 64))
F16, F32 = ir.HalfType(), ir.FloatType()
INTS, FLOATS, HALVES = ir.VectorType(I32, N), ir.VectorType(F32, N), ir.VectorType(F16, N)

LOG2_E, LN_2_HIGH, LN_2_LOW = 1.44269504, 0.693359375, -2.12194440e-4
EXP_TERMS = (1.9875691500e-4, 1.3981999507e-3, 8.3334519073e-3, 4.1665795894e-2, 1.6666665459e-1, 5.0000001201e-1)

# How two vectors fold into one: by the width of their parts, the lanes of both that are lower halves, and the way from
# each to the lane of the upper half that is added to it.
FOLDS = {
    16: ([*range(8), *range(16, 24)], 8),
    8: ([*range(4), *range(8, 12), *range(16, 20), *range(24, 28)], 4),
    4: ([quarter + i for quarter in (0, 4, 8, 12) for i in (0, 1, 16, 17)], 2),
    2: ([quarter + i for quarter in (0, 4, 8, 12) for i in (0, 2, 16, 18)], 1),
}


def addresses(count: int) -> Any:
    """The signature of an intrinsic that takes addresses and counts and gives nothing."""
    return types.void(*[types.intp] * count)


def vector_of(kind: Any, size: int, number: float) -> Any:
    return ir.Constant(ir.VectorType(kind, size), [kind(number)] * size)


def intrinsic_call(b: Any, name: str, result: Any, arguments: Sequence[Any]) -> Any:
    signature = ir.FunctionType(result, [a.type for a in arguments])
    return b.call(cgutils.get_or_insert_function(b.module, signature, name), arguments)  # type: ignore[no-untyped-call]


def register(b: Any, initial: Any = None) -> Any:
    """A variable of sixteen floats that the compiler keeps in registers."""
    slot = cgutils.alloca_once(b, FLOATS)  # type: ignore[no-untyped-call]
    if initial is not None:
        b.store(initial, slot)
    return slot


def in_register(b: Any, vector: Any) -> Any:
    """The vector, which the compiler may not make anew by loads where it is used. For x86 alone."""
    kind = ir.FunctionType(vector.type, [vector.type])
    return b.asm(kind, "", "=v,0", [vector], False)


def offset(b: Any, address: Any, *terms: Any) -> Any:
    """address + the sum of terms; a term is a number, a value, or a product (value, number)."""
    for term in terms:
        value, times = term if isinstance(term, tuple) else (term, 1)
        value = ir.Constant(I64, value) if isinstance(value, int) else value
        address = b.add(address, value if times == 1 else b.mul(value, ir.Constant(I64, times)))
    return address


def load(b: Any, address: Any, kind: Any, align: int = 1) -> Any:
    value = b.load(b.inttoptr(address, kind.as_pointer()))
    value.align = align
    return value


def store(b: Any, value: Any, address: Any, align: int = 1) -> None:
    b.store(value, b.inttoptr(address, value.type.as_pointer())).align = align


def prefetch(b: Any, address: Any) -> None:
    """Ask for the cache line at an address, which need not exist."""
    at = b.inttoptr(address, I8.as_pointer())
    signature = ir.FunctionType(ir.VoidType(), [at.type, I32, I32, I32])
    reads, level, data = I32(0), I32(1), I32(1)
    b.call(cgutils.get_or_insert_function(b.module, signature, "llvm.prefetch.p0"), [at, reads, level, data])  # type: ignore[no-untyped-call]


def splat(b: Any, scalar: Any, size: int = N) -> Any:
    empty = ir.Constant(ir.VectorType(scalar.type, size), ir.Undefined)
    order = ir.Constant(ir.VectorType(I32, size), [0] * size)
    return b.shuffle_vector(b.insert_element(empty, scalar, I32(0)), empty, order)


class Floats:
    """Sixteen floats in registers. `b` is LLVM's builder, `v` the value."""

    def __init__(self, b: Any, v: Any) -> None:
        self.b, self.v = b, v

    @staticmethod
    def of(b: Any, number: float) -> Floats:
        return Floats(b, ir.Constant(FLOATS, [F32(number)] * N))

    @staticmethod
    def load(b: Any, address: Any) -> Floats:
        return Floats(b, load(b, address, FLOATS, 4))

    @staticmethod
    def load_halves(b: Any, address: Any) -> Floats:
        return Floats(b, b.fpext(load(b, address, HALVES, 2), FLOATS))

    @staticmethod
    def of_ints(b: Any, ints: Any) -> Floats:
        return Floats(b, b.sitofp(ints, FLOATS))

    @staticmethod
    def splat(b: Any, scalar: Any) -> Floats:
        return Floats(b, splat(b, scalar))

    def store(self, address: Any) -> None:
        store(self.b, self.v, address, 4)

    def store_halves(self, address: Any) -> None:
        store(self.b, self.b.fptrunc(self.v, HALVES), address, 2)

    def __add__(self, other: Floats) -> Floats:
        return Floats(self.b, self.b.fadd(self.v, other.v))

    def __sub__(self, other: Floats) -> Floats:
        return Floats(self.b, self.b.fsub(self.v, other.v))

    def __mul__(self, other: Floats) -> Floats:
        return Floats(self.b, self.b.fmul(self.v, other.v))

    def __truediv__(self, other: Floats) -> Floats:
        return Floats(self.b, self.b.fdiv(self.v, other.v))

    def fma(self, times: Floats, plus: Floats) -> Floats:
        """self * times + plus, rounded once"""
        return self._call("llvm.fma.v16f32", times, plus)

    def max(self, other: Floats) -> Floats:
        return Floats(self.b, self.b.select(self.b.fcmp_ordered(">", self.v, other.v), self.v, other.v))

    def min(self, other: Floats) -> Floats:
        return Floats(self.b, self.b.select(self.b.fcmp_ordered("<", self.v, other.v), self.v, other.v))

    def abs(self) -> Floats:
        return self._call("llvm.fabs.v16f32")

    def rint(self) -> Floats:
        """To the nearest integer, ties to even."""
        return self._call("llvm.rint.v16f32")

    def ints(self) -> Any:
        return self.b.fptosi(self.v, INTS)

    def total(self) -> Any:
        """The sum as a scalar: halves are folded on each other, always in the same order."""
        return self._fold(lambda low, high: self.b.fadd(low, high))

    def fold_with(self, other: Floats, width: int) -> Floats:
        """What `total` does to a part of `width` lanes, done to every part of two vectors: halves are added."""
        low, step = FOLDS[width]
        lower, upper = (ir.Constant(ir.VectorType(I32, N), [i + k for i in low]) for k in (0, step))
        one, two = (self.b.shuffle_vector(self.v, other.v, lanes) for lanes in (lower, upper))
        return Floats(self.b, self.b.fadd(one, two))

    def until(self, count: Any, beyond: float) -> Floats:
        """The first `count` lanes, and `beyond` in the others."""
        lanes = ir.Constant(ir.VectorType(I32, N), list(range(N)))
        there = self.b.icmp_signed("<", lanes, splat(self.b, self.b.trunc(count, I32)))
        return Floats(self.b, self.b.select(there, self.v, Floats.of(self.b, beyond).v))

    def peak(self) -> Any:
        return self._fold(lambda low, high: self.b.select(self.b.fcmp_ordered(">", low, high), low, high))

    def exp(self) -> Floats:
        """e to the power of each lane, to within 2 units in the last place; beyond ±87 it is as at ±87."""
        b = self.b
        low, high = Floats.of(b, -87.0), Floats.of(b, 87.0)
        x = self.max(low).min(high)
        n = (x * Floats.of(b, LOG2_E)).rint()
        r = n.fma(Floats.of(b, -LN_2_LOW), n.fma(Floats.of(b, -LN_2_HIGH), x))
        series = Floats.of(b, EXP_TERMS[0])
        for term in EXP_TERMS[1:]:
            series = series.fma(r, Floats.of(b, term))
        power = b.shl(b.add(n.ints(), vector_of(I32, N, 127)), vector_of(I32, N, 23))
        return series.fma(r * r, r + Floats.of(b, 1.0)) * Floats(b, b.bitcast(power, FLOATS))

    def _call(self, name: str, *others: Floats) -> Floats:
        return Floats(self.b, intrinsic_call(self.b, name, FLOATS, [self.v, *(o.v for o in others)]))

    def _fold(self, join: Any) -> Any:
        v, size = self.v, N
        while size > 1:
            size //= 2
            low = ir.Constant(ir.VectorType(I32, size), list(range(size)))
            high = ir.Constant(ir.VectorType(I32, size), list(range(size, 2 * size)))
            v = join(self.b.shuffle_vector(v, v, low), self.b.shuffle_vector(v, v, high))
        return self.b.extract_element(v, I32(0))


def totals(rows: Callable[[int], list[Floats]]) -> list[Floats]:
    """Lane i of the nth result is the `total` of the nth vector of rows(i), for sixteen i: the same sums in the same
    order, for a third of the instructions."""

    def folded(leaf: int, count: int) -> list[Floats]:
        if count == 1:
            return rows(4 * (leaf % 4) + leaf // 4)  # so that no fold has to cross quarters after the second
        half = count // 2
        sides = zip(folded(leaf, half), folded(leaf + half, half), strict=True)
        return [one.fold_with(two, N // half) for one, two in sides]

    return folded(0, N)
