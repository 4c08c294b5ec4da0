"""The reader of model files on small files made here: what it takes, and every way it refuses."""

import struct

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dots.models.gguf import MalformedModel, Reader, Texts, open_model, parse
from dots.models.llama import read_config, read_weights
from tests.dots.models.made import ARRAY, BOOL, F32, STRING, U32, entry, file, pair, text, texts

ONE = np.arange(64, dtype=np.float32)
GOOD = file(
    [
        pair("name", STRING, text("tiny")),
        pair("count", U32, struct.pack("<I", 7)),
        pair("on", BOOL, b"\x01"),
        pair("list", ARRAY, texts(["a", "é"])),
        pair("ids", ARRAY, struct.pack("<IQ3I", U32, 3, 1, 2, 3)),
    ],
    [entry("w", (2, 32), 0, 0)],
    ONE.tobytes(),
)


def test_a_good_file_is_read_whole():
    model = parse(GOOD)
    assert (model.text("name"), model.integer("count"), model.flag("on", False)) == ("tiny", 7, True)
    assert (model.texts("list"), model.integers("ids")) == (["a", "é"], [1, 2, 3])
    np.testing.assert_array_equal(model.tensors["w"].floats(), ONE.reshape(2, 32))


def test_a_mapped_file_reads_the_same(tmp_path):
    (tmp_path / "m.gguf").write_bytes(GOOD)
    np.testing.assert_array_equal(open_model(tmp_path / "m.gguf").tensors["w"].floats(), ONE.reshape(2, 32))


HUGE = struct.pack("<Q", 2**60)
REFUSED = {
    "nothing": (b"", 0),
    "another magic": (file(magic=b"GGML"), 0),
    "an old version": (file(version=1), 8),
    "too many keys": (file(keys=2**40), 16),
    "too many tensors": (file(tensors=2**40), 8),
    "a long key": (file([HUGE + bytes(64)], keys=1), 24),
    "a key twice": (file([pair("a", BOOL, b"\0"), pair("a", BOOL, b"\0")]), 24 + 14),
    "an unknown type": (file([pair("a", 99, bytes(16))]), 37),
    "an array of arrays": (file([pair("a", ARRAY, struct.pack("<IQ", ARRAY, 1) + bytes(32))]), 41),
    "a huge array": (file([pair("a", ARRAY, struct.pack("<I", U32) + HUGE)]), 41),
    "a huge list of texts": (file([pair("a", ARRAY, struct.pack("<I", STRING) + HUGE)]), 41),
    "text that is not UTF-8": (file([pair("a", STRING, text(b"\xff\xff"))]), 45),
    "no dimensions": (file(entries=[entry("w", (), 0, 0)], data=bytes(64)), 24),
    "an empty dimension": (file(entries=[entry("w", (0, 32), 0, 0)], data=bytes(64)), 24),
    "an overflowing shape": (file(entries=[entry("w", (2**40, 2**40), 0, 0)], data=bytes(64)), 24),
    "half a block": (file(entries=[entry("w", (2, 33), 3, 0)], data=bytes(64)), 24),
    "data beyond the file": (file(entries=[entry("w", (2, 32), 0, 0)], data=bytes(255)), 24),
    "an offset beyond the file": (file(entries=[entry("w", (1, 8), 0, 2**62)], data=bytes(64)), 24),
    "an odd offset": (file(entries=[entry("w", (1, 8), 0, 4)], data=bytes(64)), 24),
    "a tensor twice": (file(entries=[entry("w", (1, 8), 0, 0)] * 2, data=bytes(64)), 24 + 41),
    "a strange alignment": (file([pair("general.alignment", U32, struct.pack("<I", 24))]), 57),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_bad_file_is_refused_where_it_is_bad(name):
    raw, offset = REFUSED[name]
    with pytest.raises(MalformedModel) as caught:
        parse(raw)
    assert caught.value.offset == offset


def test_an_unknown_tensor_type_is_refused_by_name():
    with pytest.raises(MalformedModel, match=r"'w' in one of F32, .*, Q6_K, BF16, got Q5_K"):
        parse(file(entries=[entry("w", (1, 256), 13, 0)], data=bytes(256)))


@pytest.mark.parametrize("code", [12, 14])
def test_rows_that_are_no_whole_blocks_are_refused_with_both_numbers(code):
    with pytest.raises(MalformedModel, match="expected rows of 'w' in blocks of 256, got rows of 576"):
        parse(file(entries=[entry("w", (2, 576), code, 0)], data=bytes(2000)))


@pytest.mark.parametrize("end", range(0, len(GOOD) - 1, 3))
def test_a_cut_file_is_refused(end):
    with pytest.raises(MalformedModel):
        parse(GOOD[:end])


@settings(max_examples=300, deadline=None)
@given(at=st.integers(0, len(GOOD) - 257), value=st.integers(0, 255))
def test_a_damaged_file_is_read_or_refused_and_never_anything_else(at, value):
    raw = bytearray(GOOD)
    raw[at] = value
    try:
        parse(bytes(raw))
    except MalformedModel as refused:
        assert 0 <= refused.offset <= len(raw)


class OneByOne(Reader):
    def plain_texts(self, n):
        return None


def texts_or_refusal(reader, raw, n):
    try:
        r = reader(raw)
        found = r.array()
    except MalformedModel as refused:
        return refused.offset, refused.failure
    assert len(found) == n
    return r.at, found.split() if isinstance(found, Texts) else found


SOME = st.text(st.sampled_from("a\0\1\bé你"), max_size=9) | st.integers(250, 260).map(lambda n: "x" * n)


@settings(max_examples=400, deadline=None)
@given(values=st.lists(SOME, max_size=12), behind=st.binary(max_size=40), damage=st.none() | st.integers(0, 10**9))
def test_texts_read_in_one_go_are_those_read_one_by_one(values, behind, damage):
    raw = bytearray(texts(values) + behind)
    if damage is not None and len(raw) > 12:
        raw[12 + damage % (len(raw) - 12)] = damage % 251
    raw = bytes(raw)
    assert texts_or_refusal(Reader, raw, len(values)) == texts_or_refusal(OneByOne, raw, len(values))


@pytest.mark.parametrize(
    ("values", "quick"),
    [
        (["a", "é", "你好"], True),
        (["a" * 255] + ["b"] * 40, True),
        (["a" * 256] + ["b"] * 40, False),
        (["a", "", "b"], False),
        (["a", "b\0c"], False),
        (["a", "\0" * 9], False),
    ],
)
def test_only_short_and_plain_texts_are_read_in_one_go(values, quick):
    found = Reader(texts(values)).array()
    assert isinstance(found, Texts) == quick
    assert (found.split() if quick else found) == values


@pytest.mark.model
def test_the_known_file_has_a_plain_llama(oracle):
    assert oracle.executor.geometry.kv_bytes == 30 * 2 * 3 * 64 * 4


def test_a_model_of_another_architecture_is_refused():
    model = parse(file([pair("general.architecture", STRING, text("mamba"))]))
    with pytest.raises(Exception, match="expected 'llama', got 'mamba'"):
        read_config(model)


def llama(**change):
    """A model of one layer, two heads of sixteen."""
    numbers = {"embedding_length": 32, "attention.head_count": 2, "block_count": 1, "feed_forward_length": 32,
               "context_length": 64} | change.pop("numbers", {})  # fmt: skip
    pairs = [
        pair("general.architecture", STRING, text("llama")),
        pair("llama.attention.layer_norm_rms_epsilon", F32, struct.pack("<f", 1e-5)),
        pair("tokenizer.ggml.tokens", ARRAY, texts(["a", "b"])),
        *(pair(f"llama.{k}", U32, struct.pack("<I", v)) for k, v in numbers.items()),
    ]
    square = ["attn_q", "attn_k", "attn_v", "attn_output", "ffn_gate", "ffn_up", "ffn_down"]
    shapes = {"token_embd": (2, 32), "output_norm": (32,), "blk.0.attn_norm": (32,), "blk.0.ffn_norm": (32,)}
    shapes |= {f"blk.0.{n}": (32, 32) for n in square} | change.pop("shapes", {})
    entries = [entry(f"{n}.weight", shape, 0, 0) for n, shape in shapes.items() if shape]
    return parse(file(pairs, entries, bytes(2 * 4 * 32 * 32)))


def test_a_whole_llama_is_read():
    model = llama()
    config = read_config(model)
    assert (config.kv_heads, config.head_dim, config.vocab) == (2, 16, 2)
    assert read_weights(model, config).output.name == "token_embd.weight"


@pytest.mark.parametrize(
    "change",
    [
        {"shapes": {"blk.0.attn_q": (32, 64)}},
        {"shapes": {"blk.0.ffn_up": None}},
        {"shapes": {"blk.0.attn_q.bias": (32,)}},
        {"shapes": {"token_embd": (1, 32)}},
        {"numbers": {"attention.head_count": 0}},
        {"numbers": {"attention.head_count_kv": 3}},
        {"numbers": {"rope.dimension_count": 8}},
        {"numbers": {"block_count": 2**31}},
    ],
    ids=str,
)
def test_a_llama_that_would_run_wrongly_is_refused(change):
    model = llama(**change)
    with pytest.raises(Exception, match="model file, "):
        read_weights(model, read_config(model))
