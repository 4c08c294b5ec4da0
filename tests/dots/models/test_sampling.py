"""Draws follow the distribution, the bounds, and nothing but seed and step."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dots.models.sampling import kept, nucleus, penalised, probabilities, sample, uniform
from dots.request import Sampling

LOGITS = np.log(np.array([0.5, 0.3, 0.15, 0.05], np.float32))


def test_temperature_zero_is_the_likeliest_token_and_the_first_of_equals():
    assert sample(np.array([1, 3, 3], np.float32), Sampling(), step=5) == 1


def test_draws_have_the_shares_of_the_distribution():
    drawn = np.bincount([sample(LOGITS, Sampling(1.0, 1.0, seed=3), step) for step in range(4000)], minlength=4) / 4000
    np.testing.assert_allclose(drawn, [0.5, 0.3, 0.15, 0.05], atol=0.025)


def test_a_low_temperature_sharpens_and_a_high_one_flattens():
    cold, hot = probabilities(LOGITS, 0.5), probabilities(LOGITS, 2.0)
    np.testing.assert_allclose(cold, np.array([0.25, 0.09, 0.0225, 0.0025]) / 0.365, rtol=1e-5)
    assert hot[0] < 0.5 < cold[0]


@pytest.mark.parametrize(
    ("top_p", "kept"), [(0.4, [0]), (0.5, [0]), (0.51, [0, 1]), (0.95, [0, 1, 2]), (1.0, [0, 1, 2, 3])]
)
def test_the_nucleus_is_the_fewest_tokens_that_reach_top_p(top_p, kept):
    assert nucleus(np.array([0.5, 0.3, 0.15, 0.05]), top_p).tolist() == kept


def test_no_token_outside_the_nucleus_is_drawn():
    assert {sample(LOGITS, Sampling(1.0, 0.7, seed=9), step) for step in range(300)} == {0, 1}


def test_a_draw_depends_on_seed_and_step_only():
    first = [uniform(11, step) for step in range(6)]
    assert [uniform(11, step) for step in reversed(range(6))] == first[::-1]
    assert len({*first, *(uniform(12, step) for step in range(6))}) == 12
    assert first[:2] == [0.12701753267435878, 0.30297077800097716]  # the stream itself must never change


@given(
    seed=st.integers(0, 2**53 - 1), step=st.integers(0, 2**31), top_p=st.floats(0.01, 1), temperature=st.floats(1e-3, 2)
)
def test_any_draw_is_a_token(seed, step, top_p, temperature):
    assert 0 <= sample(LOGITS, Sampling(temperature, top_p, seed), step) < 4


def test_even_a_temperature_near_zero_is_finite():
    assert sample(np.array([-1e4, 1e4, 0], np.float32), Sampling(1e-6, 1.0, 1), 0) == 1
    for smallest in (1e-300, 5e-324):  # dividing by it overflows
        assert sample(LOGITS, Sampling(smallest, 1.0, 0), 0) == 0


def test_a_wide_nucleus_of_a_large_vocabulary_is_the_same_as_by_sorting_it_whole():
    p = np.random.default_rng(5).dirichlet(np.full(5000, 0.5))
    order = np.argsort(-p, kind="stable")
    count = int(np.searchsorted(np.cumsum(p[order]), 0.97)) + 1
    np.testing.assert_array_equal(nucleus(p, 0.97), np.sort(order[:count]))


# ---- against the definition, token by token ----------

HALVES = st.integers(-6, 6).map(lambda n: n / 2)  # few values: ties are common
LOGIT_LISTS = st.lists(HALVES, min_size=1, max_size=12)


def by_definition(logits: list[float], sampling: Sampling, seen: list[int]) -> list[int]:
    """The tokens that may be drawn, with loops and sorting; shares are exact enough for halves."""
    r = sampling.repetition_penalty
    scores = [(x / r if x > 0 else x * r) if n in seen else x for n, x in enumerate(logits)]
    left = sorted(range(len(scores)), key=lambda n: (-scores[n], n))
    if sampling.top_k:
        left = left[: sampling.top_k]
    weights = {n: math.exp((scores[n] - scores[left[0]]) / sampling.temperature) for n in left}
    if sampling.top_p < 1:
        total, reached, count = sum(weights.values()), 0.0, 0
        while reached < sampling.top_p * total * (1 - 1e-12):
            reached += weights[left[count]]
            count += 1
        left = left[:count]
    return sorted(n for n in left if weights[n] >= sampling.min_p * weights[left[0]] * (1 - 1e-12))


@given(
    logits=LOGIT_LISTS,
    temperature=st.sampled_from([0.5, 1.0, 2.0]),
    top_k=st.integers(0, 14),
    top_p=st.sampled_from([0.1, 0.317, 0.71, 0.93, 1.0]),
    min_p=st.sampled_from([0.0, 0.013, 0.23, 0.77, 1.0]),
    penalty=st.sampled_from([1.0, 1.5, 2.0]),
    seen=st.lists(st.integers(0, 13), max_size=6),
    step=st.integers(0, 50),
)
def test_what_may_be_drawn_is_what_the_definition_says(logits, temperature, top_k, top_p, min_p, penalty, seen, step):
    sampling = Sampling(temperature, top_p, 1, top_k, min_p, penalty)
    array = np.array(logits, np.float32)
    allowed = by_definition(logits, sampling, seen)
    places, p = kept(penalised(array, seen, penalty), sampling)
    assert places.tolist() == allowed
    assert sample(array, sampling, step, seen) in allowed
    assert len(p) == len(places) and (p > 0).all()
    np.testing.assert_array_equal(array, np.array(logits, np.float32))  # what was given stays


@given(logits=LOGIT_LISTS, penalty=st.sampled_from([1.0, 1.5, 2.0]), seen=st.lists(st.integers(0, 13), max_size=6))
def test_greedy_is_the_likeliest_after_the_penalty_and_the_smaller_id_of_equals(logits, penalty, seen):
    every = Sampling(1.0, top_k=1, repetition_penalty=penalty)
    (best,) = by_definition(logits, every, seen)
    greedy = Sampling(0.0, 0.1, 7, 3, 0.9, penalty)
    assert sample(np.array(logits, np.float32), greedy, 0, seen) == best


@given(data=st.data(), logits=LOGIT_LISTS, step=st.integers(0, 20), temperature=st.sampled_from([0.0, 1.0]))
def test_a_mask_is_as_if_the_other_tokens_did_not_exist(data, logits, step, temperature):
    allowed = sorted(data.draw(st.sets(st.integers(0, len(logits) - 1), min_size=1)))
    sampling = Sampling(temperature, 0.8, 5, 4, 0.05)
    array = np.array(logits, np.float32)
    masked = sample(array, sampling, step, allowed=np.array(allowed))
    assert masked == allowed[sample(array[allowed], sampling, step)]


def test_defaults_change_nothing():
    logits = np.random.default_rng(3).normal(size=300).astype(np.float32)
    for step in range(40):
        total = np.cumsum(probabilities(logits, 0.9))
        plain = int(np.searchsorted(total, uniform(8, step) * total[-1], side="right"))
        assert sample(logits, Sampling(0.9, 1.0, 8), step, seen=range(300)) == plain


@pytest.mark.parametrize("top_p", [0.5, 0.999])
@pytest.mark.parametrize("spread", [0, 1])
def test_no_setting_sorts_the_vocabulary(monkeypatch, spread, top_p):
    """Ordering 50,000 numbers for each token would cost more than the model does; a few looks at each do not."""
    logits = (spread * np.random.default_rng(1).normal(size=50_000)).astype(np.float32)
    sizes, partition = [], np.partition
    monkeypatch.setattr(np, "partition", lambda a, k: sizes.append(len(a)) or partition(a, k))
    for sorting in ("sort", "argsort", "lexsort", "unique"):
        monkeypatch.setattr(np, sorting, None)
    sample(logits, Sampling(1.0, top_p, 0, 0, 0.01, 1.2), 0, seen=range(2000))
    assert len(logits) <= sum(sizes) <= 3 * len(logits)
    sizes.clear()
    sample(logits, Sampling(1.0, top_p, 0, 1000), 0)
    assert len(logits) <= sum(sizes) <= 3 * len(logits)
