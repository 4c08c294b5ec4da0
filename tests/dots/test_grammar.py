"""Grammars: masks against a brute-force oracle, limits that hold, and hostile texts that hurt nobody but themselves."""

import itertools
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from dots.dot import Dot, State
from dots.errors import Code, Failure
from dots.grammar import COMPILE, MAX_TEXT, Grammars, Matcher
from dots.models.device import Batch
from dots.request import Grammar, Sampling
from tests.dots.toy import END, PIECES, ToyExecutor, ToyModel, ToyTokenizer, text_of
from tests.dots.world import data, generate, program, running, story, work, world

# Tokens of several characters, parts of characters, one token twice, one that is in no text, two that end.
SMALL = [
    b"",
    b"a",
    b"b",
    b"ab",
    b"aba",
    b"bb",
    b"\xe4\xbd",
    b"\xa0",
    b"b\xe4",
    b"\xbd\xa0",
    b"a",
    b"\xff",
    b"<end>",
    b"",
]
ENDS = (0, 13)


@pytest.fixture(scope="module")
def small() -> Iterator[Grammars]:
    grammars = Grammars(SMALL, ENDS)
    yield grammars
    grammars.close()


@pytest.fixture(scope="module")
def toy() -> Iterator[Grammars]:
    grammars = Grammars(PIECES, {END})
    yield grammars
    grammars.close()


def compiled(grammars: Grammars, text: str, kind: str = "lark") -> Matcher:
    matcher = grammars.matcher(Grammar(kind, text))
    assert matcher.compile() is None
    return matcher


def refused(grammars: Grammars, text: str, kind: str = "lark") -> Failure:
    matcher = grammars.matcher(Grammar(kind, text))
    failure = matcher.compile()
    matcher.close()
    assert failure is not None
    return failure


# ---- masks ----------

LANGUAGES = {
    'start: "ab" "b"*': {b"ab" + b"b" * n for n in range(12)},
    "start: /(ab|ba){2,3}/": {b"".join(p) for n in (2, 3) for p in itertools.product((b"ab", b"ba"), repeat=n)},
    'start: "a" "你"? "b" | "bb你"': {"a你b".encode(), b"ab", "bb你".encode()},
    'start: "a" start "b" | "ab"': {b"a" * n + b"b" * n for n in range(1, 9)},
    'start: start "a" | "b"': {b"b" + b"a" * n for n in range(12)},
}


@pytest.mark.parametrize("text", LANGUAGES)
def test_a_mask_is_every_token_that_some_text_of_the_language_goes_on_with(small: Grammars, text: str) -> None:
    """Walks all texts of up to four tokens. A language with no bound is listed far beyond what they can reach."""
    language = LANGUAGES[text]
    starts = {whole[:n] for whole in language for n in range(len(whole) + 1)}

    def expected(said: bytes) -> list[int]:
        going_on = [n for n, piece in enumerate(SMALL) if n not in (0, 11, 13) and said + piece in starts]
        return sorted([*going_on, *(ENDS if said in language else ())])

    walks: list[list[int]] = [[]]
    for tokens in walks:
        matcher = compiled(small, text)
        over = [matcher.took(token) for token in tokens]
        said = b"".join(SMALL[token] for token in tokens)
        if not any(over):
            allowed = matcher.allowed()
            assert not isinstance(allowed, Failure)
            assert allowed.tolist() == expected(said), said
        else:  # nothing could follow: the dot has ended
            assert over[:-1] == [False] * (len(over) - 1)
            assert expected(said) == list(ENDS)
        matcher.close()
        if len(tokens) < 3 and not any(over):
            walks += [[*tokens, token] for token in expected(said) if token not in ENDS]
    assert len(walks) > 5


def test_a_token_without_text_is_never_allowed_whatever_the_grammar_says(small: Grammars) -> None:
    matcher = compiled(small, 'start: <[11]> "a" | <[13]> | "b"')
    allowed = matcher.allowed()
    matcher.close()
    assert not isinstance(allowed, Failure)
    assert allowed.tolist() == [2]
    assert refused(small, "start: <no_such_token>").where == "grammar"


# ---- dots with a grammar ----------


def run(text: str, sampling: Sampling = Sampling(), kind: str = "lark", **asked: int) -> Dot:  # noqa: B008  # frozen
    with world() as w:
        grammars = Grammars(PIECES, {END})
        matcher = compiled(grammars, text, kind)
        dot = w.engine.submit(work("hello", sampling=sampling, **asked), lambda dot: None, matcher)
        w.run()
        assert w.is_empty()
        grammars.close()
        return dot


@pytest.mark.parametrize("sampling", [Sampling(), Sampling(2.0, seed=4), Sampling(1.0, 0.9, 7, 3, 0.1, 1.5)])
def test_what_a_dot_says_follows_its_grammar(sampling: Sampling) -> None:
    dot = run('start: ("x" | "yz")~3 "."', sampling)
    assert (dot.state, dot.finish) == (State.DONE, "end")
    assert dot.stream.text in {"".join(p) + "." for p in itertools.product(("x", "yz"), repeat=3)}


def test_a_text_that_nothing_can_follow_ends_without_another_step_even_at_the_limit() -> None:
    dot = run('start: "abc"', max_tokens=3)
    assert (dot.stream.text, dot.steps, dot.finish, dot.failure) == ("abc", 3, "end", None)


def test_where_the_grammar_may_end_or_go_on_an_end_token_ends_it_and_is_a_step() -> None:
    """The model wants to end at once; the grammar lets it only after two letters."""
    model = ToyModel(ToyExecutor(lambda hashed, position: END))
    with world(model=model) as w:
        grammars = Grammars(PIECES, {END})
        asked = replace(work("hello"), end_tokens=False)
        dot = w.engine.submit(asked, lambda dot: None, compiled(grammars, "start: /[a-z]{2,}/"))
        w.run()
        grammars.close()
    assert (dot.stream.text, dot.steps, dot.finish) == ("aa", 3, "end")  # of equals the smaller id


def test_a_dot_that_is_cut_keeps_the_beginning_of_a_text_of_the_grammar() -> None:
    dot = run('start: "abcdef"', max_tokens=4)
    assert (dot.stream.text, dot.finish) == ("abcd", "cut")


def test_dots_with_and_without_a_grammar_share_steps_and_say_what_they_say_alone(toy: Grammars) -> None:
    asked = [work("hello", max_tokens=20), work("there", max_tokens=20), work("you", max_tokens=20)]
    texts = [None, 'start: /[a-m]*/ "Z"', None]

    def together(chosen: list[int]) -> tuple[list[list[int]], list[int]]:
        with world() as w:
            dots = [
                w.engine.submit(asked[n], lambda dot: None, None if texts[n] is None else compiled(toy, str(texts[n])))
                for n in chosen
            ]
            w.run()
            return [dot.tokens for dot in dots], w.model.executor.batches

    all_three, batches = together([0, 1, 2])
    assert batches[1] == 3
    assert all_three == [together([n])[0][0] for n in range(3)]
    assert re.fullmatch("[a-m]+Z?", text_of(all_three[1]))


def test_a_mask_or_a_penalty_leaves_the_logits_of_the_step_as_they_were(toy: Grammars) -> None:
    """They are the executor's, and other dots' rows lie beside them."""
    kept: list[tuple[NDArray[np.float32], NDArray[np.float32]]] = []

    @dataclass
    class Watched(ToyExecutor):
        def forward(self, batch: Batch) -> NDArray[np.float32]:
            logits = ToyExecutor.forward(self, batch)
            kept.append((logits, logits.copy()))
            return logits

    with world(model=ToyModel(Watched())) as w:
        w.submit(work("there", max_tokens=8, sampling=Sampling(0.7, 0.9, 2, 5, 0.1, 1.5)))
        w.engine.submit(work("hello", max_tokens=8), lambda dot: None, compiled(toy, "start: /[a-z]+/"))
        w.run()
    assert len(kept) > 3
    assert all(after.tobytes() == before.tobytes() for after, before in kept)


def test_a_grammar_that_comes_to_nothing_fails_its_dot_only_and_keeps_its_text(toy: Grammars) -> None:
    """Toy tokens hold no exclamation mark: after three letters nothing can come next."""
    with world() as w:
        other = w.submit(work("there", max_tokens=8))
        dot = w.engine.submit(work("hello"), lambda dot: None, compiled(toy, 'start: "abc" "!"'))
        w.run()
        assert w.is_empty()
    assert (dot.state, dot.stream.text) == (State.FAILED, "abc")
    assert dot.failure is not None
    assert (dot.failure.code, dot.failure.where) == (Code.INVALID_VALUE, "grammar")
    assert other.state is State.DONE


def test_a_matcher_that_is_killed_fails_its_dot_with_its_text(toy: Grammars) -> None:
    with world() as w:
        matcher = compiled(toy, 'start: /[a-z]*/ "Z"')
        dot = w.engine.submit(work("hello"), lambda dot: None, matcher)
        for _ in range(4):
            w.engine.step()
        matcher._kill()
        w.run()
        assert w.is_empty()
    assert dot.state is State.FAILED
    assert dot.failure is not None and dot.failure.where == "grammar"
    assert 3 <= len(dot.stream.text) <= 5


# ---- hostile texts ----------

HOSTILE = {
    "a megabyte": 'start: "' + "a" * (1 << 20) + '"',
    "no lark": "start: (",
    "no rule": "",
    "zero bytes": "\0" * 100,
    "a lone surrogate's escape": 'start: "\\ud800"',
    "nothing satisfies it": 'start: start "a"',
    "parentheses": "start: " + "(" * 20_000 + '"a"' + ")" * 20_000,
    "parentheses of an expression": "start: /" + "(" * 20_000 + "a" + ")" * 20_000 + "/",
    "brackets of a schema": "start: %json " + '{"items":' * 5_000 + "{}" + "}" * 5_000,
    "intersections": "start: A\nA: /.*a.{30}/ & /.*b.{31}/ & ~/.*c.{29}.*/",
    "rules behind rules": "start: r0\n" + "".join(f"r{n}:r{n + 1}|/b/\n" for n in range(4_000)) + "r4000: /c/",
    "unknown import": "%import nowhere.WORD\nstart: WORD",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_grammar_is_refused_in_time(small: Grammars, name: str) -> None:
    began = time.monotonic()
    failure = refused(small, HOSTILE[name])
    assert time.monotonic() - began < COMPILE + 2
    assert (failure.code, failure.where) == (Code.INVALID_VALUE, "grammar")
    assert failure.got and len(failure.got) < 500
    assert compiled(small, 'start: "a"').close() is None  # and the next one finds all as before


def test_left_recursion_and_ambiguity_end_within_the_limits_of_a_step(small: Grammars) -> None:
    """Every token makes more ways to read the text; the work of a step is counted, and running out of it is said."""
    matcher = compiled(small, 'start: start start | start start start | "a" | ')
    began, worst = time.monotonic(), 0.0
    failure = None
    for _ in range(300):
        step = time.monotonic()
        answer = matcher.took(1)
        answer = matcher.allowed() if not isinstance(answer, Failure) else answer
        worst = max(worst, time.monotonic() - step)
        if isinstance(answer, Failure):
            failure = answer
            break
    matcher.close()
    assert failure is not None and failure.where == "grammar"
    assert worst < 2 and time.monotonic() - began < 20


def test_states_without_end_are_counted(small: Grammars) -> None:
    matcher = compiled(small, "start: /((a{1,100}){1,100}){1,100}/")
    answers = [matcher.took(4 if n % 2 else 1) for n in range(3)]
    matcher.close()
    assert any(isinstance(answer, Failure) for answer in answers)


SCHEMAS = {
    "no JSON": "{",
    "not an object": "[]",
    "a number that is none": '{"minimum": NaN}',
    "digits": '{"minimum": ' + "9" * 10_000 + "}",
    "nesting": '{"items":' * 3_000 + "{}" + "}" * 3_000,
    "a circle": '{"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/a"}}}',
    "a keyword that is not kept": '{"type": "array", "uniqueItems": true}',
    "elsewhere": '{"$ref": "https://example.com/schema"}',
    "products": json.dumps(
        {"allOf": [{"anyOf": [{"properties": {f"p{n}": {"const": m}}} for m in range(8)]} for n in range(12)]}
    ),
    "too long": json.dumps({"enum": ["x" * MAX_TEXT]}),
}


@pytest.mark.parametrize("name", SCHEMAS)
def test_a_schema_that_cannot_be_kept_is_refused(small: Grammars, name: str) -> None:
    failure = refused(small, SCHEMAS[name], "json_schema")
    assert (failure.code, failure.where) == (Code.INVALID_VALUE, "grammar")


def test_a_compilation_can_be_cancelled_and_leaves_nothing(small: Grammars) -> None:
    compiled(small, 'start: "a"').close()  # the process is there
    descriptors = len(os.listdir("/proc/self/fd"))  # noqa: PTH208
    slow = "start: " + "|".join(f'"{n}"' for n in range(11_000))
    matcher = small.matcher(Grammar("lark", slow[:MAX_TEXT].rpartition("|")[0]))
    timer = threading.Timer(0.05, matcher.close)
    timer.start()
    failure = matcher.compile()
    timer.join()
    matcher.close()
    assert failure is None or failure.where == "grammar"
    assert matcher._channel is None
    assert len(os.listdir("/proc/self/fd")) == descriptors  # noqa: PTH208
    closed = small.matcher(Grammar("lark", 'start: "a"'))
    closed.close()
    assert closed.compile() is not None


def test_a_grammar_that_takes_too_long_to_compile_is_given_up(small: Grammars, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dots.grammar.COMPILE", 0.001)
    large = json.dumps({"type": "object", "properties": {f"p{n}": {"type": "string"} for n in range(1800)}})
    assert refused(small, large, "json_schema").expected == "an answer of the grammar within 0.001 s"
    assert small._live == 0


def test_a_matcher_that_stands_still_is_given_up(small: Grammars, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dots.grammar.STEP", 0.05)
    matcher = compiled(small, 'start: "a"+')
    signal.pidfd_send_signal(matcher._handle, signal.SIGSTOP)
    answer = matcher.took(1)
    assert isinstance(answer, Failure) and answer.expected == "an answer of the grammar within 0.05 s"
    matcher.close()


def test_no_more_matchers_than_there_is_room_for(small: Grammars, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dots.grammar.MOST", 1)
    first = compiled(small, 'start: "a"')
    failure = refused(small, 'start: "a"')
    assert (failure.code, failure.retry) == (Code.OUT_OF_MEMORY, True)
    first.close()
    compiled(small, 'start: "a"').close()


def test_a_model_without_an_end_token_follows_no_grammar() -> None:
    assert refused(Grammars(SMALL, ()), 'start: "a"').got == "no end token"


def test_the_process_comes_back_after_its_end(small: Grammars) -> None:
    compiled(small, 'start: "a"').close()
    assert small._process is not None
    small._process.kill()
    small._process.wait()
    compiled(small, 'start: "a"').close()
    assert small._live == 0


def test_matchers_end_with_the_process_that_asked_for_them() -> None:
    code = (
        "import os\nfrom dots.grammar import Grammars\nfrom dots.request import Grammar\n"
        "grammars = Grammars([b'', b'a'], [0])\nmatcher = grammars.matcher(Grammar('lark', 'start: \"a\"+'))\n"
        "assert matcher.compile() is None\nprint(grammars._process.pid, flush=True)\nos._exit(1)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    watched = Path("/proc", done.stdout.strip())
    end = time.monotonic() + 10
    while watched.exists() and time.monotonic() < end:
        time.sleep(0.01)
    assert done.returncode == 1 and not watched.exists()


# ---- flows ----------


def test_a_flow_that_is_cancelled_while_its_grammar_compiles_gives_everything_back() -> None:
    lark = json.dumps({"type": "object", "properties": {f"p{n}": {"type": "string"} for n in range(1500)}})
    made = program(generate("bbbbbbbbbb", 0, 1, format="json", json_schema=lark), inputs={"text": 0}, out=1)
    with running() as r:
        flow = r.start(made, text="hi")
        r.runtime.cancel(flow)
        assert data(r.until("ended"), "ended")["status"] == "cancelled"
        after = program(generate("bbbbbbbbbb", 0, 1, max_tokens=3), inputs={"text": 0}, out=1)
        assert data(r.ended(after, "again", text="hi"), "ended")["status"] == "done"
        grammars = r.runtime.grammars
    assert grammars is not None and grammars._live == 0


def test_a_flow_gets_json_that_keeps_its_schema_and_a_bad_schema_fails_its_node() -> None:
    tokens = ToyTokenizer([*PIECES[:-7], b'"', b"{", b"}", b":", b",", b" ", b"0"])
    model = ToyModel(tokenizer=tokens)
    schema = {"type": "object", "properties": {"a": {"enum": [0, "b"]}}, "required": ["a"]}
    closed = {**schema, "additionalProperties": False}
    made = program(
        generate("bbbbbbbbbb", 0, 1, format="json", json_schema=json.dumps(closed)), inputs={"text": 0}, out=1
    )
    bad = program(generate("bbbbbbbbbb", 0, 1, format="json", json_schema='{"$ref": "#/x"}'), inputs={"text": 0}, out=1)
    with running(model) as r:
        events = r.ended(made, text="hi")
        assert json.loads(data(events, "ended")["outputs"]["out"]) in ({"a": 0}, {"a": "b"})
        events = r.ended(bad, "bad", text="hi")
        assert story(events)[-2:] == [("bbbbbbbbbb", "failed"), (None, "ended")]
        assert data(events, "failed", "bbbbbbbbbb")["where"] == "grammar"
        assert r.runtime.grammars is not None and r.runtime.grammars._live == 0
