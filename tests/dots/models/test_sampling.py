"""Draws follow the distribution, the bounds, and nothing but seed and step."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dots.models.sampling import nucleus, probabilities, sample, uniform
from dots.spec import Sampling

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
    np.testing.assert_array_equal(nucleus(p, 0.97), order[:count])
