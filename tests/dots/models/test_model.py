"""Models by name: what is found, what is refused, and which executor is taken."""

import gc

import pytest

from dots.errors import Code, Refused
from dots.models import isa
from dots.models.gguf import open_model
from dots.models.model import KNOWN, find_file, load, make_executor
from dots.request import Message, ModelRequest

NAME = "smollm2-135m-instruct"
pytestmark = pytest.mark.model


def test_an_unknown_name_is_not_found():
    with pytest.raises(Refused) as caught:
        load("../../etc/passwd")
    assert caught.value.failure.code is Code.NOT_FOUND


def test_a_file_that_is_not_the_known_one_is_refused(tmp_path):
    (tmp_path / "m.gguf").write_bytes(b"GGUF and so on")
    with pytest.raises(Refused, match=KNOWN[NAME].sha256):
        load(NAME, path=tmp_path / "m.gguf")


@pytest.mark.parametrize(
    ("whole", "broken", "refusal"),
    [
        (b"\x06" + bytes(7) + b"smollm", b"\x06" + bytes(7) + b"viking", r"tokenizer\.ggml\.pre"),
        ("Ġ t".encode(), "Ġ\x01t".encode(), r"tokenizer\.ggml\.merges"),
        (b"{% for message in messages %}", b"{% fox message in messages %}", "chat template"),
    ],
)
def test_an_operators_file_with_broken_text_is_refused_when_it_is_loaded(tmp_path, whole, broken, refusal):
    raw = find_file(KNOWN[NAME]).read_bytes()
    assert whole in raw
    (tmp_path / "m.gguf").write_bytes(raw.replace(whole, broken, 1))
    with pytest.raises(Refused, match=refusal):
        load("mine", "numpy-f32", tmp_path / "m.gguf")
    assert gc.isenabled()


def test_the_known_file_is_loaded_without_its_text_and_its_text_is_whole():
    loaded = load(NAME, "numpy-f32")
    assert "text" not in vars(loaded)
    assert loaded.template is not None and loaded.end_tokens == {0, 2}


def test_an_operators_file_is_loaded_under_its_own_name(oracle):
    other = load("mine", "numpy-f32", find_file(KNOWN[NAME]))
    assert (other.name, other.digest) == ("mine", oracle.digest)


def test_the_environment_chooses_the_executor_where_nothing_else_does(monkeypatch):
    monkeypatch.setenv("SPACES_EXECUTOR", "numpy-f32")
    assert load(NAME).executor.name == "numpy-f32"


def test_a_processor_without_the_instructions_gets_the_oracle(monkeypatch):
    monkeypatch.delenv("SPACES_EXECUTOR", raising=False)
    monkeypatch.setattr(isa, "available", list)
    file = open_model(find_file(KNOWN[NAME]))
    assert make_executor(file, "auto").name == "numpy-f32"
    with pytest.raises(Refused, match="expected numpy-f32, got 'numba-avx2'"):
        make_executor(file, "numba-avx2")


def test_raw_text_is_taken_as_it_is(oracle):
    assert oracle.prompt_tokens(ModelRequest(NAME, text="<|im_end|> x")) == oracle.tokenizer.encode("<|im_end|> x")


def test_an_empty_prompt_is_refused(oracle):
    with pytest.raises(Refused, match="empty prompt"):
        oracle.prompt_tokens(ModelRequest(NAME, text=""))


def test_a_prompt_that_can_never_fit_is_refused_before_it_is_tokenised(oracle):
    with pytest.raises(Refused, match="at most 8192 tokens") as caught:
        oracle.prompt_tokens(ModelRequest(NAME, messages=(Message("user", "x" * 10_000_000),)))
    assert caught.value.failure.code is Code.OUT_OF_MEMORY
