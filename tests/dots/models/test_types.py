"""Small models of every type, computed by the kernels: close to the oracle, and bitwise the same in any company."""

from functools import cache

import numpy as np
import pytest

from dots.errors import Refused
from dots.models.gguf import parse
from dots.models.isa import Isa, available
from dots.models.model import make_executor
from dots.models.quant import FORMATS
from tests.dots.models.made import WORDS, small_llama

ISAS = [pytest.param(isa, marks=pytest.mark.skipif(isa not in available(), reason="not this processor")) for isa in Isa]
MIXED = {
    "attn_q": "Q4_0", "attn_k": "Q5_0", "attn_v": "Q6_K", "attn_output": "Q8_0", "ffn_gate": "Q4_1", "ffn_up": "F16",
    "ffn_down": "BF16", "others": "F32",
}  # fmt: skip
KINDS = {fmt.name: {"others": fmt.name} for fmt in FORMATS.values()} | {"mixed": MIXED}
IDS = [int(i) for i in np.random.default_rng(2).integers(0, WORDS, 90)]


@cache
def model(kind):
    return parse(small_llama(KINDS[kind]))


@cache
def oracle_logits(kind, sequences):
    return sequences(make_executor(model(kind), "numpy-f32"), len(IDS)).feed({0: IDS}, want="all")


@pytest.mark.parametrize("isa", ISAS)
@pytest.mark.parametrize("kind", KINDS)
def test_a_model_of_each_type_says_nearly_what_the_oracle_says(kind, isa, sequences):
    slow = oracle_logits(kind, sequences)
    quick = sequences(make_executor(model(kind), f"numba-{isa}"), len(IDS)).feed({0: IDS}, want="all")
    assert np.sqrt(np.mean((quick - slow) ** 2)) < 0.02 * slow.std()
    assert (quick.argmax(axis=1) == slow.argmax(axis=1)).mean() >= 0.9


@pytest.mark.parametrize("isa", ISAS)
@pytest.mark.parametrize("kind", KINDS)
def test_a_model_of_each_type_is_bitwise_itself_alone_in_a_batch_and_chunked(kind, isa, sequences):
    executor = make_executor(model(kind), f"numba-{isa}")
    alone = sequences(executor, len(IDS))
    expected = alone.feed({0: IDS}, want="all")

    one_by_one = sequences(executor, len(IDS))
    np.testing.assert_array_equal([one_by_one.feed({0: [i]})[0] for i in IDS], expected)
    np.testing.assert_array_equal(one_by_one.memory, alone.memory)

    busy = sequences(executor, len(IDS), count=3)
    busy.feed({1: IDS[7:30], 2: IDS[40:41]})
    chunks = [IDS[:13], IDS[13:64], IDS[64:71], IDS[71:]]
    got = [busy.feed({0: chunk, 1: IDS[:1], 2: IDS[3:6]}, want="all")[: len(chunk)] for chunk in chunks]
    np.testing.assert_array_equal(np.concatenate(got), expected)
    np.testing.assert_array_equal(busy.memory[0], alone.memory[0])


@pytest.mark.skipif(len(available()) < 2, reason="needs a processor with both")
@pytest.mark.parametrize("kind", KINDS)
def test_instruction_sets_agree_bitwise_on_each_type(kind, sequences):
    both = (make_executor(model(kind), f"numba-{isa}") for isa in Isa)
    np.testing.assert_array_equal(*(sequences(e, len(IDS)).feed({0: IDS}, want="all") for e in both))


@pytest.mark.parametrize("name", ["numpy-f32", *(f"numba-{isa}" for isa in available())])
@pytest.mark.parametrize("tensor", ["token_embd", "output", "output_norm", "blk.1.attn_v", "blk.0.ffn_norm"])
def test_an_executor_refuses_a_broken_tensor_by_name(name, tensor):
    raw = bytearray(small_llama({"others": "Q8_0"}, tied=False))
    whole = parse(bytes(raw)).tensors[f"{tensor}.weight"]
    at = bytes(raw).index(whole.data.tobytes())
    raw[at : at + 4] = b"\x00\x7c\xff\x7f"  # infinity for a half, NaN for a float
    with pytest.raises(Refused, match=f"model file, {tensor}.weight: expected finite numbers, got infinity or NaN"):
        make_executor(parse(bytes(raw)), name)


@pytest.mark.parametrize("isa", ISAS)
def test_the_largest_numbers_that_a_file_may_hold_run_to_the_end_and_touch_nothing_else(isa, sequences):
    """Sums overflow, and what is not a number walks through every kernel: logits are noise, nothing more."""
    raw = bytearray(small_llama({"others": "Q8_0"}))
    for tensor in parse(bytes(raw)).tensors.values():
        at = bytes(raw).index(tensor.data.tobytes())
        data = tensor.data.reshape(-1, tensor.format.bytes).copy()
        largest = b"\xff\x7b" if tensor.format.name == "Q8_0" else b"\xff\xff\x7f\x7f"
        data[:, tensor.format.reals] = np.frombuffer(largest, np.uint8)
        raw[at : at + data.size] = data.tobytes()
    hostile = sequences(make_executor(parse(bytes(raw)), f"numba-{isa}"), 20, count=2)
    guard = hostile.memory[1].copy()
    assert hostile.feed({0: IDS[:20]}, want="all").shape == (20, WORDS)
    np.testing.assert_array_equal(hostile.memory[1], guard)
