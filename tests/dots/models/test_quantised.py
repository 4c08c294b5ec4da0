"""The fast executor on the real model: close to the oracle, and bitwise itself in any batch and any chunks."""

import os
import subprocess
import sys

import numpy as np
import pytest

from dots.models.device import Batch
from dots.models.isa import Isa, available
from dots.models.model import load

pytestmark = pytest.mark.model
NAMES = [
    pytest.param(f"numba-{isa}", marks=pytest.mark.skipif(isa not in available(), reason="not this processor"))
    for isa in Isa
]


@pytest.fixture(scope="module", params=NAMES)
def fast(request):
    return load("smollm2-135m-instruct", request.param).executor


def test_the_passage_is_as_likely_as_the_oracle_says(fast, oracle, vectors, sequences, surprise):
    ids = vectors["passage"]["ids"]
    slow = sequences(oracle.executor, len(ids)).feed({0: ids}, want="all")
    quick = sequences(fast, len(ids)).feed({0: ids}, want="all")
    assert surprise(quick, ids) == pytest.approx(surprise(slow, ids), abs=0.02)
    assert (slow.argmax(axis=1) == quick.argmax(axis=1)).mean() >= 0.95


def test_logits_and_rows_are_bitwise_the_same_alone_in_a_batch_and_chunked(fast, vectors, sequences):
    ids = vectors["passage"]["ids"][:150]
    alone = sequences(fast, len(ids))
    expected = alone.feed({0: ids}, want="all")

    one_by_one = sequences(fast, len(ids))
    tokens = [one_by_one.feed({0: [i]})[0] for i in ids]
    np.testing.assert_array_equal(tokens, expected)
    np.testing.assert_array_equal(one_by_one.memory, alone.memory)

    busy = sequences(fast, len(ids), count=4)
    busy.feed({1: ids[7:30], 2: ids[40:41], 3: ids[:64]})
    chunks = [ids[:37], ids[37:64], ids[64:129], ids[129:]]
    got = [busy.feed({0: chunk, 2: ids[:1], 3: ids[3:6]}, want="all")[: len(chunk)] for chunk in chunks]
    np.testing.assert_array_equal(np.concatenate(got), expected)
    np.testing.assert_array_equal(busy.memory[0], alone.memory[0])


def test_a_chunk_may_want_no_logits(fast, sequences):
    unfinished = sequences(fast, 8)
    assert unfinished.feed({0: [5, 6, 7]}, want="none").shape == (0, fast.geometry.vocab)
    whole = sequences(fast, 8)
    np.testing.assert_array_equal(unfinished.feed({0: [8]}), whole.feed({0: [5, 6, 7, 8]}))


def test_both_instruction_sets_agree_bitwise(vectors, sequences):
    if len(available()) < 2:
        pytest.skip("needs a processor with both")
    ids = vectors["passage"]["ids"][:20]
    first, second = (load("smollm2-135m-instruct", f"numba-{isa}").executor for isa in Isa)
    np.testing.assert_array_equal(*(sequences(e, 20).feed({0: ids}, want="all") for e in (first, second)))


@pytest.mark.slow
def test_the_narrow_kernels_need_nothing_wider():
    """The whole pass compiled for a processor without AVX512, in a process of its own."""
    code = (
        "from dots.models.isa import available; from dots.models.model import load;"
        "import numpy as np; from dots.models.device import Batch;"
        "e = load('smollm2-135m-instruct').executor; m = np.zeros(e.geometry.kv_bytes, np.uint8);"
        "one = np.zeros(1, np.int32); rows = np.array([m.ctypes.data], np.uint64);"
        "x = e.forward(Batch(one + 504, one, one, rows, one));"
        "print(e.name, [str(i) for i in available()], int(x.argmax()))"
    )
    features = "+sse2,+ssse3,+sse4.1,+sse4.2,+popcnt,+avx,+avx2,+fma,+f16c,+bmi,+bmi2"
    env = os.environ | {"NUMBA_CPU_NAME": "haswell", "NUMBA_CPU_FEATURES": features}
    env.pop("SPACES_EXECUTOR", None)
    out = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True).stdout
    assert out.startswith("numba-avx2 ['avx2'] ")


@pytest.mark.parametrize("threads", [2, 3, 8])
def test_any_number_of_threads_computes_the_same_bits(monkeypatch, vectors, sequences, threads):
    """With few tokens each thread has a part of every step, with many it has tokens of its own."""
    ids = vectors["passage"]["ids"]
    monkeypatch.setenv("SPACES_THREADS", str(threads))
    executor = load("smollm2-135m-instruct", f"numba-{available()[0]}").executor
    told = {}
    for used in (1, threads):
        monkeypatch.setattr(executor._threads, "choose", lambda n, used=used: used)
        state = sequences(executor, 130, count=3)
        fed = [state.feed({0: ids[:n], 1: ids[n : n + 1], 2: ids[3:5]}, want="all") for n in (1, 5, 13, 14, 30, 64)]
        told[used] = (np.concatenate(fed), state.memory)
    for one, several in zip(told[1], told[threads], strict=True):
        np.testing.assert_array_equal(one, several)


@pytest.mark.parametrize("name", [*NAMES, "numpy-f32"])
def test_rows_in_common_with_others_are_read_where_they_lie(name, vectors, sequences):
    """Two sequences that begin alike need the rows of their beginning once; nobody can tell from the result."""
    ids, border = vectors["passage"]["ids"][:140], 128
    executor = load("smollm2-135m-instruct", name).executor
    alone = sequences(executor, len(ids))
    alone.feed({0: ids[:border]})
    expected = alone.feed({0: ids[border:]}, want="all")
    own = np.full_like(alone.memory, 0xFF)
    count = len(ids) - border
    batch = Batch(
        tokens=np.array(ids[border:], np.int32),
        positions=np.arange(border, len(ids), dtype=np.int32),
        sequence=np.zeros(count, np.int32),
        rows=np.array([own.ctypes.data], np.uint64),
        want=np.arange(count, dtype=np.int32),
        shared=np.array([alone.memory.ctypes.data], np.uint64),
        border=np.array([border], np.int32),
    )
    np.testing.assert_array_equal(executor.forward(batch), expected)
