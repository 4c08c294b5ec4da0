"""Attention's inner loops, as LLVM instructions behind Numba intrinsics: scores, the online softmax, and the mix.

KV rows are in half precision and `step` bytes apart, and floats while they are worked on. The softmax takes SPAN rows
at a time by absolute position, so where a chunk or a batch ends cannot be seen in the result. The intrinsics take
addresses; whoever calls them answers for the bounds.
"""

from typing import Any

from numba.core import cgutils

from dots.models.compiling import emitted
from dots.models.lanes import F32, I32, I64, Floats, addresses, load, offset, prefetch, register, store, totals
from dots.models.layout import SPAN

AHEAD = 16  # rows: measured
LEAST = -3.4e38  # the score of a row that does not exist


@emitted
def to_halves(typing: Any, x: Any, out: Any) -> Any:
    """Sixteen floats to half precision."""

    def codegen(context: Any, b: Any, signature: Any, args: Any) -> Any:
        Floats.load(b, args[0]).store_halves(args[1])
        return context.get_dummy_value()

    return addresses(2), codegen


def spread_rows(dim: int, behind: int) -> Any:
    """`rows` keys, `step` bytes apart in half precision, as floats side by side; the same of the values, `behind` each.

    Rows are far apart and often another core wrote them: left to itself the processor would wait for each.
    """

    def spread(typing: Any, rows: Any, step: Any, count: Any, keys: Any, values: Any) -> Any:
        def codegen(context: Any, b: Any, signature: Any, args: Any) -> Any:
            rows, step, count, keys, values = args
            with cgutils.for_range(b, count, intp=I64) as loop:
                row = offset(b, rows, b.mul(loop.index, step))
                later = offset(b, row, b.mul(step, I64(AHEAD)))
                for line in range(0, 2 * dim, 64):
                    prefetch(b, offset(b, later, line))
                    prefetch(b, offset(b, later, behind + line))
                for source, target in ((row, keys), (offset(b, row, behind), values)):
                    for c in range(dim // 16):
                        half = Floats.load_halves(b, offset(b, source, 32 * c))
                        half.store(offset(b, target, (loop.index, 4 * dim), 64 * c))
            return context.get_dummy_value()

        return addresses(5), codegen

    return emitted(spread)


def score_rows(heads: int, dim: int) -> Any:
    """scores[head * SPAN + row] = q[head] . keys[row] for `rows` of SPAN rows

    Sixteen at a time: up to the next multiple of sixteen the scores become LEAST.
    """

    def score(typing: Any, q: Any, keys: Any, rows: Any, scores: Any) -> Any:
        def codegen(context: Any, b: Any, signature: Any, args: Any) -> Any:
            q, keys, rows, scores = args
            parts = range(dim // 16)
            queries = [[Floats.load(b, offset(b, q, 4 * (h * dim + 16 * c))) for c in parts] for h in range(heads)]
            with cgutils.for_range(b, b.udiv(b.add(rows, I64(15)), I64(16)), intp=I64) as loop:
                block = offset(b, keys, (loop.index, 16 * 4 * dim))

                def products(number: int) -> list[Floats]:
                    key = [Floats.load(b, offset(b, block, 4 * dim * number + 64 * c)) for c in parts]
                    sums = [query[0] * key[0] for query in queries]
                    for c in parts[1:]:
                        sums = [query[c].fma(key[c], so_far) for query, so_far in zip(queries, sums, strict=True)]
                    return sums

                left = b.sub(rows, b.mul(loop.index, I64(16)))
                for h, found in enumerate(totals(products)):
                    found.until(left, LEAST).store(offset(b, scores, 4 * SPAN * h, (loop.index, 64)))
            return context.get_dummy_value()

        return addresses(4), codegen

    return emitted(score)


def mix_rows(heads: int, dim: int) -> Any:
    """mixed[head] += sum over rows of weights[head * SPAN + row] * values[row]"""

    def mix(typing: Any, weights: Any, values: Any, rows: Any, mixed: Any) -> Any:
        def codegen(context: Any, b: Any, signature: Any, args: Any) -> Any:
            weights, values, rows, mixed = args
            places = [(h, c) for h in range(heads) for c in range(dim // 16)]
            sums = {p: register(b) for p in places}
            for h, c in places:
                b.store(Floats.load(b, offset(b, mixed, 4 * (h * dim + 16 * c))).v, sums[h, c])
            with cgutils.for_range(b, rows, intp=I64) as loop:
                row = offset(b, values, (loop.index, 4 * dim))
                value = [Floats.load(b, offset(b, row, 64 * c)) for c in range(dim // 16)]
                for h in range(heads):
                    weight = Floats.splat(b, load(b, offset(b, weights, 4 * SPAN * h, (loop.index, 4)), F32, 4))
                    for c in range(dim // 16):
                        b.store(weight.fma(value[c], Floats(b, b.load(sums[h, c]))).v, sums[h, c])
            for h, c in places:
                Floats(b, b.load(sums[h, c])).store(offset(b, mixed, 4 * (h * dim + 16 * c)))
            return context.get_dummy_value()

        return addresses(4), codegen

    return emitted(mix)


def begin_mix(heads: int, dim: int) -> Any:
    """Nothing seen yet: of each head no greatest score, no sum of weights, nothing mixed."""

    def begin(typing: Any, state: Any, mixed: Any) -> Any:
        def codegen(context: Any, b: Any, signature: Any, args: Any) -> Any:
            state, mixed = args
            for h in range(heads):
                store(b, F32(LEAST), offset(b, state, 8 * h), 4)
                store(b, F32(0), offset(b, state, 8 * h + 4), 4)
            for part in range(heads * dim // 16):
                Floats.of(b, 0).store(offset(b, mixed, 64 * part))
            return context.get_dummy_value()

        return addresses(2), codegen

    return emitted(begin)


def finish_mix(heads: int, dim: int) -> Any:
    """mixed[head] /= its sum of weights"""

    def finish(typing: Any, state: Any, mixed: Any) -> Any:
        def codegen(context: Any, b: Any, signature: Any, args: Any) -> Any:
            state, mixed = args
            for h in range(heads):
                total = Floats.splat(b, load(b, offset(b, state, 8 * h + 4), F32, 4))
                for c in range(dim // 16):
                    at = offset(b, mixed, 4 * (h * dim + 16 * c))
                    (Floats.load(b, at) / total).store(at)
            return context.get_dummy_value()

        return addresses(2), codegen

    return emitted(finish)


def online_softmax(dim: int) -> Any:
    """Turns SPAN scores into weights relative to the greatest score so far, and rescales what was mixed before.

    state: greatest score, sum of weights · scores beyond the rows that exist hold the least float
    """

    def softmax(typing: Any, scores: Any, state: Any, mixed: Any) -> Any:
        def codegen(context: Any, b: Any, signature: Any, args: Any) -> Any:
            scores, state, mixed = args
            parts = [Floats.load(b, offset(b, scores, 64 * i)) for i in range(SPAN // 16)]
            peak = parts[0]
            for part in parts[1:]:
                peak = peak.max(part)
            before = Floats.splat(b, load(b, state, F32, 4))
            now = Floats.splat(b, peak.peak()).max(before)
            weights = [(part - now).exp() for part in parts]
            total = weights[0]
            for weight in weights[1:]:
                total = total + weight
            for i, weight in enumerate(weights):
                weight.store(offset(b, scores, 64 * i))
            fade = (before - now).exp()
            for c in range(dim // 16):
                (Floats.load(b, offset(b, mixed, 64 * c)) * fade).store(offset(b, mixed, 64 * c))
            faded = b.fmul(load(b, offset(b, state, 4), F32, 4), b.extract_element(fade.v, I32(0)))
            store(b, b.extract_element(now.v, I32(0)), state, 4)
            store(b, b.fadd(faded, total.total()), offset(b, state, 4), 4)
            return context.get_dummy_value()

        return addresses(3), codegen

    return emitted(softmax)
