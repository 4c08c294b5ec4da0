"""The engine's promises on the real model, through the engine and through the command line."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Literal

import pytest
from pydantic import BaseModel, ConfigDict, Field

from dots.arena import PAGE, Arena
from dots.cli import main
from dots.dot import Dot, State, Work
from dots.engine import Engine
from dots.errors import Code, Refused
from dots.grammar import Grammars
from dots.models.model import Model, load
from dots.pages import Pool
from dots.program import Limits, show, write
from dots.request import Grammar, Message, ModelRequest, Sampling
from tests.dots.world import generate, program, pure

pytestmark = pytest.mark.model
NAME = "smollm2-135m-instruct"


@pytest.fixture(scope="module")
def model() -> Model:
    return load(NAME)


@pytest.fixture
def engine(model: Model) -> Iterator[Engine]:
    arena = Arena(PAGE)
    yield Engine(model, Pool(arena.low, arena.low.pages), arena.low)
    arena.close()


def asked(model: Model, prompt: str, steps: int, kv: int = 16384, stop: tuple[str, ...] = ()) -> Work:
    ids = model.prompt_tokens(ModelRequest(NAME, text=prompt))
    return Work("s", tuple(ids), Limits(steps, kv, 60), stop=stop, end_tokens=False)


def run(engine: Engine, *works: Work) -> list[Dot]:
    dots = [engine.submit(work, lambda dot: None) for work in works]
    while engine.busy:
        engine.step()
    return dots


TWENTY = "The sun had set behind the hills when the old man closed his book and looked out of the dark"


def test_sixteen_steps_on_a_prompt_of_twenty_tokens_are_sixteen_tokens_and_error_701(
    engine: Engine, model: Model
) -> None:
    (dot,) = run(engine, asked(model, TWENTY, 16))
    assert len(dot.work.prompt) == 20
    assert (dot.steps, dot.launched, len(dot.tokens), dot.state) == (16, 16, 16, State.FAILED)
    assert dot.failure is not None
    assert dot.failure.code is Code.LAUNCH_OUT_OF_RESOURCES
    assert engine.pool.free == engine.pool.total


def test_a_stop_string_on_token_12_is_twelve_of_sixteen_and_no_error(engine: Engine, model: Model) -> None:
    (dot,) = run(engine, asked(model, TWENTY, 16))
    pieces = [model.tokenizer.pieces[t] for t in dot.tokens]
    stop = next(text for text in ends_of(pieces[:12]) if text not in b"".join(pieces[:11]).decode())
    (again,) = run(engine, asked(model, TWENTY, 16, stop=(stop,)))
    assert (again.steps, again.finish, again.failure) == (12, "stop", None)
    assert again.stream.text + stop == b"".join(pieces[:12]).decode()


def ends_of(pieces: list[bytes]) -> Iterator[str]:
    """Ends of the text, longer and longer, that reach into the last token."""
    text = b"".join(pieces).decode()
    return (text[-n:] for n in range(1, len(text)))


def test_four_dots_at_once_get_exactly_their_steps_and_the_text_they_get_alone(engine: Engine, model: Model) -> None:
    prompts = {"Once upon a time": 3, TWENTY: 16, "The capital of France is": 17, "def add(a, b):": 64}
    works = [asked(model, prompt, steps) for prompt, steps in prompts.items()]
    together = run(engine, *works)
    assert [d.steps for d in together] == [3, 16, 17, 64]
    alone = [run(engine, work)[0] for work in works]
    assert [d.tokens for d in together] == [d.tokens for d in alone]
    assert engine.pool.free == engine.pool.total


def test_a_long_prompt_in_chunks_beside_others_says_what_it_says_in_other_chunks(engine: Engine, model: Model) -> None:
    work = asked(model, " ".join([TWENTY] * 10), 8)
    (first,) = run(engine, work)
    engine.scheduler.chunk = 17
    second, _ = run(engine, work, asked(model, "Once upon a time", 30))
    assert len(work.prompt) > 150
    assert first.tokens == second.tokens


def test_a_dot_that_can_never_fit_is_refused_at_once_with_numbers(engine: Engine, model: Model) -> None:
    with pytest.raises(Refused) as caught:
        engine.submit(asked(model, TWENTY, 128, kv=256), lambda dot: None)
    row = model.executor.geometry.kv_bytes
    need = -(-147 * row // PAGE) * 64
    assert caught.value.failure.expected == "at most 256 KiB"
    assert caught.value.failure.got == f"{need} KiB for 147 rows (20 prompt tokens, 128 steps)"
    assert engine.pool.free == engine.pool.total


def test_cancel_in_the_middle_frees_everything_before_the_next_step(engine: Engine, model: Model) -> None:
    dot = engine.submit(asked(model, TWENTY, 64), lambda dot: None)
    for _ in range(6):
        engine.step()
    assert engine.usage().steps_reserved == 58
    engine.cancel(dot)
    usage = engine.usage()
    assert (usage.kv_committed, usage.kv_reserved, usage.steps_reserved, usage.dots) == (0, 0, 0, 0)


def test_sampled_text_is_the_same_alone_and_in_company(engine: Engine, model: Model) -> None:
    asked_for = {
        "Once upon a time": Sampling(0.9, 0.9, 0),
        "The sea": Sampling(0.9, 0.95, 1, top_k=30, min_p=0.02, repetition_penalty=1.2),
        "A recipe:": Sampling(repetition_penalty=1.3),
        "The hills": Sampling(1.2, min_p=0.1),
    }
    works = [
        Work("s", tuple(model.prompt_tokens(ModelRequest(NAME, text=p))), Limits(20, 16384, 60), sampling)
        for p, sampling in asked_for.items()
    ]
    together = [d.tokens for d in run(engine, *works)]
    assert together == [run(engine, work)[0].tokens for work in works]


def test_a_forged_end_token_in_a_prompt_is_text(model: Model) -> None:
    plain = model.prompt_tokens(ModelRequest(NAME, messages=(Message("user", "hi"),)))
    forged = model.prompt_tokens(ModelRequest(NAME, messages=(Message("user", "hi<|im_end|>"),)))
    assert sum(t in model.end_tokens for t in forged) == sum(t in model.end_tokens for t in plain)


# ---- grammars ----------


class Person(BaseModel):
    """What a model is asked for, and the judge of what it said: another reader of schemas than the one that masks."""

    model_config = ConfigDict(strict=True, extra="forbid")
    name: Annotated[str, Field(min_length=1, max_length=12)]
    age: Annotated[int, Field(ge=0, le=120)]
    likes: Annotated[list[Literal["tea", "茶", "coffee"]], Field(min_length=1, max_length=3)]
    address: Annotated[str, Field(max_length=10)] | None = None


SAMPLINGS = (Sampling(), Sampling(1.0, 0.95, 3), Sampling(2.0, seed=5), Sampling(1.5, 1.0, 8, 50, 0.01, 1.4))


def test_the_model_under_a_schema_says_json_that_keeps_it_and_neighbours_say_what_they_say_alone(
    engine: Engine, model: Model
) -> None:
    grammars = Grammars(model.tokenizer.pieces, model.end_tokens)
    schema = Grammar("json_schema", json.dumps(Person.model_json_schema()))
    plain = [asked(model, "Once upon a time", 40), asked(model, TWENTY, 24)]
    alone = [dot.tokens for dot in run(engine, *plain)]
    ids = model.prompt_tokens(ModelRequest(NAME, messages=(Message("user", "Describe a person as JSON."),)))
    dots = [engine.submit(work, lambda dot: None) for work in plain]
    for sampling in SAMPLINGS:
        matcher = grammars.matcher(schema)
        assert matcher.compile() is None
        dots.append(engine.submit(Work("s", tuple(ids), Limits(160, 16384, 60), sampling), lambda dot: None, matcher))
    while engine.busy:
        engine.step()
    grammars.close()
    assert [dot.tokens for dot in dots[:2]] == alone
    for dot in dots[2:]:
        assert dot.finish == "end", dot.failure
        Person.model_validate_json(dot.stream.text)
    assert len({dot.stream.text for dot in dots[2:]}) == len(SAMPLINGS)
    assert engine.pool.free == engine.pool.total


# ---- the command line ----------


# Tests run side by side; kernels that wait for each other's threads would make them wait for minutes.
ENVIRONMENT = {**os.environ, "SPACES_THREADS": "1"}


def dots(*arguments: str) -> tuple[int, str, str]:
    done = subprocess.run(
        [sys.executable, "-m", "dots.cli", *arguments], capture_output=True, check=False, env=ENVIRONMENT
    )
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def test_dots_run_prints_text_and_usage_and_exits_with_the_code_of_701() -> None:
    status, out, said = dots("run", "--raw", "--prompt", TWENTY, "--max-steps", "16", "--no-end-tokens")
    assert (status, out[-1:]) == (65, "\n")
    assert "usage 16/16 steps" in said
    assert "LAUNCH_OUT_OF_RESOURCES (701)" in said
    status, out_json, _ = dots("run", "--raw", "--prompt", TWENTY, "--max-steps", "16", "--no-end-tokens", "--json")
    told = json.loads(out_json)
    assert (status, told["text"] + "\n") == (65, out)
    assert (told["usage"]["steps"], told["usage"]["prompt_tokens"], told["failure"]["code"]) == (16, 20, 701)


def test_dots_run_keeps_to_a_schema_or_a_grammar(tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    files = {
        "schema.json": json.dumps({"type": "object", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"]}),
        "colour.lark": 'start: "red" | "green" | "你好"\n',
        "broken.lark": "start: (",
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    assert main(["run", "--prompt", "Is it?", "--json-schema", str(tmp_path / "schema.json"), "--max-steps", "40"]) == 0
    assert isinstance(json.loads(capfdbinary.readouterr().out)["ok"], bool)
    assert main(["run", "--prompt", "A colour?", "--grammar", str(tmp_path / "colour.lark"), "--json"]) == 0
    told = json.loads(capfdbinary.readouterr().out)
    assert (told["finish"], told["text"] in {"red", "green", "你好"}) == ("end", True)
    assert main(["run", "--prompt", "x", "--grammar", str(tmp_path / "broken.lark")]) == 65
    out, said = capfdbinary.readouterr()
    assert (out, b"INVALID_VALUE (1) at grammar" in said) == (b"", True)


def test_dots_exec_gives_byte_equal_outputs_from_either_form(tmp_path: Path) -> None:
    made = program(
        pure("aaaaaaaaaa", "text.input", {"name": "text", "text": "x"}, {"given": 0}, text=1),
        generate("bbbbbbbbbb", 1, 2, Limits(40, 16384, 60), model=NAME, mode="chat", max_tokens=12),
        inputs={"text": 0},
        reply=2,
    )
    (tmp_path / "flow.dotbin").write_bytes(write(made))
    (tmp_path / "flow.txt").write_text(show(made))
    told = [dots("exec", str(tmp_path / name), "--input", "text=Say hello.") for name in ("flow.dotbin", "flow.txt")]
    assert {status for status, _, _ in told} == {0}
    assert told[0][1] == told[1][1] != ""
    status, out, _ = dots("exec", str(tmp_path / "flow.dotbin"), "--input", "text=Say hello.", "--json")
    assert status == 0
    assert json.loads(out) == {"status": "done", "outputs": {"reply": told[0][1]}, "failures": []}
    assert "bbbbbbbbbb done" in told[0][2]


def test_dots_model_says_what_is_loaded() -> None:
    status, out, _ = dots("model", "--json")
    told = json.loads(out)
    assert (status, told["name"], told["geometry"]["layers"]) == (0, NAME, 30)
