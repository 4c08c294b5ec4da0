"""Attention's inner loops, as LLVM instructions behind Numba intrinsics: scores, the online softmax, and the mix.

KV rows are in half precision and `step` bytes apart. The softmax takes SPAN rows at a time by absolute position, so
where a chunk or a batch ends cannot be seen in the result. The intrinsics take addresses; whoever calls them answers
for the bounds.
"""

from typing import Any

from numba.core import cgutils

from dots.models.compiling import emitted
from dots.models.lanes import F32, I32, I64, Floats, addresses, load, offset, prefetch, register, store, totals
from dots.models.layout import SPAN

AHEAD = 32  # rows: measured
LEAST = -3.4e38  # the score of a row that does not exist


@emitted
def to_halves(typing: Any, x: Any, out: Any) -> Any:
    """Sixteen floats to half precision."""

    def codegen(context: Any, b: Any, signature: Any, args: Any) -> Any:
        Floats.load(b, args[0]).store_halves(args[1])
        return context.get_dummy_value()

    return addresses(2), codegen


def score_rows(heads: int, dim: int, values: int) -> Any:
    """scores[head * SPAN + row] = q[head] . keys[row] for `rows` half-precision rows, `step` bytes apart

    `values` bytes behind a row is the one that it will be mixed with. Sixteen at a time: up to the next multiple of sixteen the scores become LEAST.
    """

    def score(typing: Any, q: Any, keys: Any, step: Any, rows: Any, scores: Any) -> Any:
        def codegen(context: Any, b: Any, signature: Any, args: Any) -> Any:
            q, keys, step, rows, scores = args
            parts = range(dim // 16)
            queries = [[Floats.load(b, offset(b, q, 4 * (h * dim + 16 * c))) for c in parts] for h in range(heads)]
            last = b.sub(rows, I64(1))
            with cgutils.for_range(b, b.udiv(b.add(rows, I64(15)), I64(16)), intp=I64) as loop:
                first = b.mul(loop.index, I64(16))

                def products(number: int) -> list[Floats]:
                    row = b.add(first, I64(number))
                    row = b.select(b.icmp_signed("<", row, last), row, last)  # behind the last there may be no memory
                    at = offset(b, keys, b.mul(row, step))
                    ask_ahead(b, offset(b, at, b.mul(step, I64(AHEAD))), dim)
                    ask_ahead(b, offset(b, at, values), dim)
                    key = [Floats.load_halves(b, offset(b, at, 32 * c)) for c in parts]
                    sums = [query[0] * key[0] for query in queries]
                    for c in parts[1:]:
                        sums = [query[c].fma(key[c], so_far) for query, so_far in zip(queries, sums, strict=True)]
                    return sums

                for h, found in enumerate(totals(products)):
                    found.until(b.sub(rows, first), LEAST).store(offset(b, scores, 4 * SPAN * h, (loop.index, 64)))
            return context.get_dummy_value()

        return addresses(5), codegen

    return emitted(score)


def ask_ahead(b: Any, row: Any, dim: int) -> None:
    """Rows are far apart and often somebody else wrote them: left to itself the processor waits for each."""
    for line in range(0, 2 * dim, 64):
        prefetch(b, offset(b, row, line))


def mix_rows(heads: int, dim: int) -> Any:
    """mixed[head] += sum over rows of weights[head * SPAN + row] * values[row]"""

    def mix(typing: Any, weights: Any, values: Any, step: Any, rows: Any, mixed: Any) -> Any:
        def codegen(context: Any, b: Any, signature: Any, args: Any) -> Any:
            weights, values, step, rows, mixed = args
            places = [(h, c) for h in range(heads) for c in range(dim // 16)]
            sums = {p: register(b) for p in places}
            for h, c in places:
                b.store(Floats.load(b, offset(b, mixed, 4 * (h * dim + 16 * c))).v, sums[h, c])
            with cgutils.for_range(b, rows, intp=I64) as loop:
                row = offset(b, values, b.mul(loop.index, step))
                value = [Floats.load_halves(b, offset(b, row, 32 * c)) for c in range(dim // 16)]
                for h in range(heads):
                    weight = Floats.splat(b, load(b, offset(b, weights, 4 * SPAN * h, (loop.index, 4)), F32, 4))
                    for c in range(dim // 16):
                        b.store(weight.fma(value[c], Floats(b, b.load(sums[h, c]))).v, sums[h, c])
            for h, c in places:
                Floats(b, b.load(sums[h, c])).store(offset(b, mixed, 4 * (h * dim + 16 * c)))
            return context.get_dummy_value()

        return addresses(5), codegen

    return emitted(mix)


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
