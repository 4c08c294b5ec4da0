"""Picks the next token from logits. A draw depends on (seed, step) and the logits only: alone or in a batch, now or
after a restart, the same request walks the same way."""

import numpy as np
from numpy.typing import NDArray

from dots.spec import Sampling


def uniform(seed: int, step: int) -> float:
    """A number in [0, 1): the first draw of the Philox stream with this key and counter."""
    return float(np.random.Generator(np.random.Philox(key=seed, counter=[0, 0, 0, step])).random())


def probabilities(logits: NDArray[np.float32], temperature: float) -> NDArray[np.float64]:
    with np.errstate(over="ignore"):  # of a temperature near 0: what is far below the likeliest becomes -inf
        scaled = (logits.astype(np.float64) - float(logits.max())) / temperature
    weights: NDArray[np.float64] = np.exp(scaled)
    weights /= weights.sum()
    return weights


def nucleus(p: NDArray[np.float64], top_p: float) -> NDArray[np.intp]:
    """The fewest likeliest tokens that together reach `top_p`, likeliest first; ties go to the smaller id."""
    few = min(64, len(p))
    while True:  # sorting a whole vocabulary for each token would cost more than the model does
        least = np.partition(p, len(p) - few)[len(p) - few]
        likely = np.flatnonzero(p >= least)
        order = likely[np.argsort(-p[likely], kind="stable")]
        reached = np.cumsum(p[order])
        if reached[-1] >= top_p or len(order) == len(p):
            return order[: int(np.searchsorted(reached, top_p)) + 1]
        few = min(8 * few, len(p))


def sample(logits: NDArray[np.float32], sampling: Sampling, step: int) -> int:
    """`step` counts the tokens already appended after the prompt."""
    if sampling.temperature == 0:
        return int(logits.argmax())
    p = probabilities(logits, sampling.temperature)
    kept = nucleus(p, sampling.top_p) if sampling.top_p < 1 else np.arange(len(p))
    total = np.cumsum(p[kept])
    at = np.searchsorted(total, uniform(sampling.seed, step) * total[-1], side="right")
    return int(kept[min(int(at), len(kept) - 1)])
