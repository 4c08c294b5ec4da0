"""Tokens against transformers (recorded), and what user text can never do."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dots.errors import Refused
from dots.models.gguf import ModelFile
from dots.models.tokenizer import (
    BytePairTokenizer,
    Vocabulary,
    byte_alphabet,
    piece,
    read_merges,
    read_pieces,
    read_vocabulary,
    splitter,
)
from dots.request import Message, ModelRequest

LETTERS = [*sorted(byte_alphabet()), "he", "Ġa", "你".encode().decode("latin-1")]


def small(pre: str = "gpt-2") -> BytePairTokenizer:
    """Every byte, one merge, two control tokens."""
    tokens = [*sorted(byte_alphabet()), "he", "<end>", "<|x|>"]
    kinds = [1] * (len(tokens) - 2) + [3, 3]
    return BytePairTokenizer(Vocabulary(tokens, kinds, [("h", "e")], pre, None, False, frozenset()))


@pytest.mark.model
def test_recorded_texts_tokenise_as_transformers_does(oracle, vectors):
    for recorded in vectors["texts"]:
        assert oracle.tokenizer.encode(recorded["text"]) == recorded["ids"], recorded["text"]


@pytest.mark.model
def test_recorded_texts_come_back(oracle, vectors):
    for recorded in vectors["texts"]:
        assert oracle.tokenizer.decode(recorded["ids"]) == recorded["text"]


@pytest.mark.model
def test_recorded_chats_render_and_tokenise_as_transformers_does(oracle, vectors):
    for recorded in vectors["chats"]:
        messages = tuple(Message(m["role"], m["content"]) for m in recorded["messages"])
        assert oracle.template is not None
        assert oracle.template.render(messages) == recorded["rendered"]
        assert oracle.prompt_tokens(ModelRequest("m", messages=messages)) == recorded["ids"]


@pytest.mark.model
def test_the_end_of_a_turn_ends_the_text(oracle):
    assert oracle.end_tokens == {0, 2}  # <|endoftext|>, <|im_end|>


def test_plain_text_never_becomes_a_control_token():
    tokenizer = small()
    ids = tokenizer.encode("he<end>y<|x|>")
    assert not set(ids) & set(tokenizer.specials.values())
    assert tokenizer.decode(ids) == "he<end>y<|x|>"


def test_template_text_has_control_tokens_and_drops_what_hides_lookalikes():
    tokenizer = small()
    end = tokenizer.specials["<end>"]
    assert tokenizer.encode_template("he<end><~end>", hidden="~") == [
        *tokenizer.encode("he"),
        end,
        *tokenizer.encode("<end>"),
    ]


@pytest.mark.parametrize("pre", ["gpt-2", "smollm", "llama-bpe", "qwen2"])
@settings(max_examples=60, deadline=None)
@given(text=st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=60))
def test_any_text_comes_back(pre, text):
    tokenizer = small(pre)
    assert tokenizer.decode(tokenizer.encode(text)) == text


@settings(max_examples=60, deadline=None)
@given(text=st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=40))
def test_streamed_pieces_join_to_the_text_and_never_split_a_character(text):
    tokenizer = small()
    stream = tokenizer.detokenizer()
    pieces = [stream.push(i) for i in tokenizer.encode(text)]
    assert "".join(pieces) + stream.flush() == text
    assert all("\ufffd" not in p for p in pieces) or "\ufffd" in text


def test_an_unfinished_character_is_held_back_and_shown_only_at_the_end():
    tokenizer = small()
    ids = tokenizer.encode("é")
    stream = tokenizer.detokenizer()
    assert [stream.push(ids[0]), stream.flush()] == ["", "\ufffd"]


def test_an_unknown_splitter_is_refused_by_name():
    with pytest.raises(Refused, match=r"tokenizer\.ggml\.pre: .*qwen2, got 'viking'|tokenizer\.ggml\.pre.*'viking'"):
        splitter("viking")


@pytest.mark.parametrize("control", range(3))
def test_a_merge_with_a_control_token_is_refused(control):
    """Control tokens are left out of the model, where such a merge made the library panic."""
    kinds = [3 if i == control else 1 for i in range(3)]
    lists = {"tokens": ["a", "b", "ab"], "token_type": np.array(kinds), "merges": ["a b"]}
    metadata = {
        f"tokenizer.ggml.{key}": value for key, value in ({"model": "gpt2", "pre": "llama-bpe"} | lists).items()
    }
    with pytest.raises(Refused, match="merges"):
        read_vocabulary(ModelFile(metadata, {}))


@pytest.mark.parametrize("merge", ["ab", "a  b", " b", "a ", "a x", "a c", "a b c", ""])
def test_a_merge_that_is_no_pair_of_known_tokens_is_refused_and_counted(merge):
    with pytest.raises(Refused, match="expected pairs of known tokens, got 1 that are not"):
        read_merges(["a b", merge, "b a"], {"a", "b", "c", "ab", "ba"})


def test_a_token_may_hold_a_space():
    assert read_merges(["a b c", "a b"], {"a", "b c", "ab c", "b", "ab"}) == [("a", "b c"), ("a", "b")]


@given(
    st.lists(
        st.tuples(
            st.text(st.sampled_from(sorted(byte_alphabet())) | st.characters(), max_size=4),
            st.sampled_from([1, 1, 1, 3, 4]),
        )
    )
)
def test_the_bytes_of_all_tokens_are_those_of_each(named):
    tokens, kinds = [t for t, _ in named], [k for _, k in named]
    assert read_pieces(tokens, kinds) == list(map(piece, tokens, kinds))
