"""The oracle against transformers in fp32 (recorded), and against itself in batches and chunks."""

import numpy as np
import pytest

pytestmark = pytest.mark.model


@pytest.mark.parametrize("i", range(5))
def test_greedy_tokens_equal_transformers(oracle, vectors, sequences, i):
    run = vectors["greedy"][i]
    steps = len(run["tokens"])
    assert sequences(oracle.executor, len(run["ids"]) + steps).greedy(run["ids"], steps) == run["tokens"]


def test_the_passage_is_as_likely_as_transformers_says(oracle, vectors, sequences, surprise):
    ids = vectors["passage"]["ids"]
    logits = sequences(oracle.executor, len(ids)).feed({0: ids}, want="all")
    assert surprise(logits, ids) == pytest.approx(vectors["passage"]["nll"], abs=1e-4)


def test_a_batch_of_chunks_says_what_each_sequence_says_alone(oracle, vectors, sequences):
    first, second = vectors["greedy"][0]["ids"], vectors["greedy"][4]["ids"]
    alone = [sequences(oracle.executor, 80).feed({0: ids})[0] for ids in (first, second)]
    together = sequences(oracle.executor, 80, count=2)
    together.feed({1: second[:17]})
    together.feed({0: first[:5], 1: second[17:20]})
    logits = together.feed({0: first[5:], 1: second[20:]})
    np.testing.assert_allclose(logits, alone, atol=2e-3)


def test_only_wanted_tokens_have_logits(oracle, sequences):
    assert sequences(oracle.executor, 4).feed({0: [1, 2, 3]}).shape == (1, oracle.executor.geometry.vocab)


def test_the_recorded_model_is_the_loaded_one(oracle, vectors):
    assert oracle.digest == vectors["model_sha256"]
