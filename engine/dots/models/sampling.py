"""Picks the next token from logits. A draw depends on (seed, step), the dot's own tokens and the logits only: alone or
in a batch, now or after a restart, the same request walks the same way.

The order, which is that of Hugging Face transformers' generation (`RepetitionPenaltyLogitsProcessor`, then the
temperature, top-k, top-p and min-p warpers):

1. repetition penalty r, of CTRL (Keskar et al. 2019, arXiv:1909.05858, section 4.1) with the sign rule that
   transformers gave it: the logit of every token that is in the prompt or was already said, once however often, is
   divided by r when it is positive and multiplied by r otherwise;
2. temperature: logits are divided by it; 0 ends here, with the likeliest token;
3. top-k: the k likeliest tokens stay;
4. top-p: of these, their shares taken anew, the fewest likeliest that together reach p stay;
5. min-p: of these, every token stays that has at least this part of the likeliest one's share.

Where equals stand at a bound, smaller ids stay; what stays is drawn from in the order of ids. A grammar's mask comes
before all of it. Nothing sorts a vocabulary: bounds are found by selection, in time linear in it.
"""

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from dots.request import Sampling

Scores = NDArray[np.float32]
Ids = NDArray[np.intp]


def uniform(seed: int, step: int) -> float:
    """A number in [0, 1): the first draw of the Philox stream with this key and counter."""
    return float(np.random.Generator(np.random.Philox(key=seed, counter=[0, 0, 0, step])).random())


def penalised(logits: Scores, seen: Sequence[int], penalty: float) -> Scores:
    """The logits with those of seen tokens made less likely; the given ones stay as they are."""
    scores = logits.copy()
    ids = np.asarray(seen, np.intp)
    ids = ids[ids < len(scores)]  # a prompt may hold tokens that are never sampled
    old = scores[ids]
    with np.errstate(over="ignore"):
        scores[ids] = np.where(old > 0, old / np.float32(penalty), old * np.float32(penalty))
    return scores


def probabilities(logits: Scores, temperature: float) -> NDArray[np.float64]:
    with np.errstate(over="ignore"):  # of a temperature near 0: what is far below the likeliest becomes -inf
        scaled = (logits.astype(np.float64) - float(logits.max())) / temperature
    weights: NDArray[np.float64] = np.exp(scaled)
    weights /= weights.sum()
    return weights


def in_order(places: Iterable[Ids], size: int) -> Ids:
    """All of these places among `size`, in order."""
    chosen = np.zeros(size, np.bool_)
    for some in places:
        chosen[some] = True
    return np.flatnonzero(chosen)


def highest(scores: NDArray[np.floating], count: int) -> Ids:
    """Places of the `count` highest scores, in order of place; among equals at the bound the first stay."""
    if count >= len(scores):
        return np.arange(len(scores))
    bound = np.partition(scores, len(scores) - count)[len(scores) - count]
    above = np.flatnonzero(scores > bound)
    equal = np.flatnonzero(scores == bound)[: count - len(above)]
    return in_order([above, equal], len(scores))


def nucleus(p: NDArray[np.float64], top_p: float) -> Ids:
    """Places of the fewest likeliest tokens that together reach `top_p`, in order of place; ties go to the first.

    What may hold the bound is cut at one of its shares, first near the top, then in the middle: half is left each time.
    """
    inside: list[Ids] = []
    pool, left = np.arange(len(p)), top_p
    place = max(len(p) - 64, 0)  # most nuclei are small
    while True:
        shares = p[pool]
        bound = float(np.partition(shares, place)[place])
        above, equal, below = pool[shares > bound], pool[shares == bound], pool[shares < bound]
        more = float(p[above].sum())
        if more >= left:
            pool = above
        else:
            inside.append(above)
            left -= more
            if left <= bound * len(equal) or not len(below):
                enough = int(np.ceil(left / bound)) if bound > 0 else 0  # what has no share is never needed
                return in_order([*inside, equal[:enough]], len(p))
            inside.append(equal)
            left -= bound * len(equal)
            pool = below
        place = (len(pool) - 1) // 2


def kept(scores: Scores, sampling: Sampling) -> tuple[Ids, NDArray[np.float64]]:
    """Places that may be drawn, in order, and their weights."""
    places = highest(scores, sampling.top_k) if sampling.top_k else np.arange(len(scores))
    p = probabilities(scores[places], sampling.temperature)
    if sampling.top_p < 1:
        inside = nucleus(p, sampling.top_p)
        places, p = places[inside], p[inside]
    if sampling.min_p > 0:
        inside = np.flatnonzero(p >= sampling.min_p * p.max())
        places, p = places[inside], p[inside]
    return places, p


def sample(logits: Scores, sampling: Sampling, step: int, seen: Sequence[int] = (), allowed: Ids | None = None) -> int:
    """`step` counts the tokens already appended after the prompt, `seen` are those and the prompt's; `allowed` are the
    tokens that a grammar leaves, in order, at least one."""
    scores = logits if sampling.repetition_penalty == 1 else penalised(logits, seen, sampling.repetition_penalty)
    if allowed is not None:
        scores = scores[allowed]
    if sampling.temperature == 0:
        at = int(scores.argmax())
    else:
        places, p = kept(scores, sampling)
        total = np.cumsum(p)
        drawn = np.searchsorted(total, uniform(sampling.seed, step) * total[-1], side="right")
        at = int(places[min(int(drawn), len(places) - 1)])
    return at if allowed is None else int(allowed[at])
