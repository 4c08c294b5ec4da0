"""Turns a plan into one forward pass and its logits into tokens. Owns no queue and ends no dot.

What goes wrong with one dot's memory or logits is that dot's result; what goes wrong in the forward pass is the result
of every dot in it.
"""

import logging
from dataclasses import dataclass

import numpy as np

from dots.dot import Dot
from dots.errors import Code, Failure
from dots.models.device import Batch, Executor
from dots.models.sampling import sample
from dots.scheduler import Chunk, Plan

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Result:
    """One chunk's outcome: a failure, the token of a step, or neither for an unfinished prompt."""

    dot: Dot
    token: int | None = None
    failure: Failure | None = None


@dataclass(frozen=True, slots=True)
class Runner:
    executor: Executor
    vocab: int  # a model may be padded beyond its tokenizer; such tokens are never sampled

    def run(self, plan: Plan) -> list[Result]:
        grown = [(chunk, _grow(chunk)) for chunk in plan.chunks]
        failed = [Result(chunk.dot, failure=failure) for chunk, failure in grown if failure]
        chunks = [chunk for chunk, failure in grown if not failure]
        if not chunks:
            return failed
        try:
            logits = self.executor.forward(batch(chunks))
        except Exception as error:
            log.exception("forward pass of %d dots", len(chunks))
            failure = Failure(Code.INVALID_VALUE, "executor", "a forward pass", f"{type(error).__name__}: {error}")
            return failed + [Result(chunk.dot, failure=failure) for chunk in chunks]
        steps = iter(logits)
        return failed + [
            _sampled(chunk.dot, next(steps)[: self.vocab]) if chunk.step else Result(chunk.dot) for chunk in chunks
        ]


def batch(chunks: list[Chunk]) -> Batch:
    counts = [chunk.count for chunk in chunks]
    ends = np.cumsum(counts, dtype=np.int32)
    return Batch(
        tokens=np.array([c.dot.token_at(c.start + i) for c in chunks for i in range(c.count)], np.int32),
        positions=np.concatenate([np.arange(c.start, c.start + c.count, dtype=np.int32) for c in chunks]),
        sequence=np.repeat(np.arange(len(chunks), dtype=np.int32), counts),
        rows=np.array([_rows(c.dot) for c in chunks], np.uint64),
        want=np.array([end - 1 for c, end in zip(chunks, ends, strict=True) if c.step], np.int32),
    )


def _rows(dot: Dot) -> int:
    assert dot.kv is not None
    return dot.kv.address


def _grow(chunk: Chunk) -> Failure | None:
    assert chunk.dot.kv is not None
    try:
        chunk.dot.kv.grow(chunk.start + chunk.count)
    except (OSError, MemoryError) as error:
        return Failure(Code.OUT_OF_MEMORY, "kv pool", "memory for promised pages", str(error), retry=True)
    return None


def _sampled(dot: Dot, logits: np.ndarray[tuple[int, ...], np.dtype[np.float32]]) -> Result:
    if not np.isfinite(logits).all():
        return Result(dot, failure=Failure(Code.INVALID_VALUE, "executor", "finite logits", "NaN or infinity"))
    sampling = dot.work.sampling
    seen = (*dot.work.prompt, *dot.tokens) if sampling.repetition_penalty != 1 else ()
    allowed = dot.matcher.allowed() if dot.matcher else None
    if isinstance(allowed, Failure):
        return Result(dot, failure=allowed)
    try:
        return Result(dot, token=sample(logits, sampling, dot.steps, seen, allowed))
    except Exception as error:
        log.exception("sampling of dot %d", dot.key)
        return Result(
            dot, failure=Failure(Code.INVALID_VALUE, "sampling", "a token", f"{type(error).__name__}: {error}")
        )
