"""Running programs on the toy model: events, skips, failures, cancels, and work that must not hold up the engine."""

import os
import sys
import threading
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from time import monotonic, sleep

import pytest

from dots import codec
from dots.components import Catalogue, catalogue, load
from dots.errors import Code, Failure, Refused
from dots.excerpts import said
from dots.models.device import Tell
from dots.program import Limits
from tests.dots.toy import ToyExecutor, ToyModel, letters, text_of, tokens_of
from tests.dots.world import data, fused, generate, program, pure, running, story

INPUT = pure("input", "text.input", {"name": "text", "text": "hello"}, {"given": 0}, text=1)


def says(prompt: str, steps: int) -> str:
    return text_of(tokens_of(letters(prompt), steps))


def test_a_flow_tells_every_node_from_start_to_end() -> None:
    made = program(
        INPUT,
        pure("template", "text.template", {"template": "{a}!"}, {"a": 1}, text=2),
        generate("model", 2, 3, max_tokens=9),
        pure("output", "flow.output", {}, {"value": 3}, value=4),
        inputs={"text": 0},
        reply=4,
    )
    with running() as r:
        events = r.ended(made)
        assert story(events) == [
            (None, "started"),
            ("input", "running"),
            ("input", "done"),
            ("template", "running"),
            ("template", "done"),
            ("model", "running"),
            ("model", "done"),
            ("output", "running"),
            ("output", "done"),
            (None, "ended"),
        ]
        started = data(events, "started")
        assert dict(started) == {
            "device": "cpu",
            "executor": "toy",
            "model": "toy",
            "digest": "00" * 32,
            "nodes": ["input", "template", "model", "output"],
        }
        ended = data(events, "ended")
        assert (ended["status"], ended["outputs"], ended["reason"]) == ("done", {"reply": says("hello!", 9)}, None)
        done = data(events, "done", "model")
        assert (done["steps"], done["prompt_tokens"], done["finish"], done["kv_committed"]) == (9, 6, "cut", 2 * 65536)
        assert "".join(e.data["text"] for e in events if e.kind == "tokens") == says("hello!", 9)
        last_pool = [e.data for e in events if e.kind == "pool"][-1]
        assert (last_pool["kv_committed"], last_pool["kv_reserved"], last_pool["steps_reserved"]) == (0, 0, 0)
        assert [e.time for e in events] == sorted(e.time for e in events)


def test_a_given_input_takes_the_place_of_the_written_one() -> None:
    with running() as r:
        assert data(r.ended(program(INPUT, inputs={"text": 0}, out=1), text="bye"), "ended")["outputs"] == {
            "out": "bye"
        }


def test_fused_steps_tell_the_same_story_as_steps_on_their_own() -> None:
    template = pure("template", "text.template", {"template": "{a}!"}, {"a": 1}, text=2)
    apart = program(INPUT, template, generate("model", 2, 3, max_tokens=5), inputs={"text": 0}, out=3)
    together = program(INPUT, generate("model", 2, 3, before=(template,), max_tokens=5), inputs={"text": 0}, out=3)
    with running() as r:
        first, second = r.ended(apart), r.ended(together)
        assert story(first) == story(second)
        assert data(first, "ended")["outputs"] == data(second, "ended")["outputs"]


def test_what_lacks_an_input_is_skipped_with_the_reason() -> None:
    made = program(
        pure("clean", "text.clean", {}, {"text": 0}, text=1),
        pure("output", "flow.output", {}, {"value": 1}, value=2),
        inputs={"text": 0},
        out=2,
    )
    with running() as r:
        events = r.ended(made)
        assert dict(data(events, "skipped", "clean")) == {"reason": "input", "port": "text"}
        assert dict(data(events, "skipped", "output")) == {"reason": "input", "port": "value", "source": "clean"}
        assert (data(events, "ended")["status"], data(events, "ended")["outputs"]) == ("done", {})


def test_a_failure_skips_what_follows_and_leaves_other_branches_alone() -> None:
    made = program(
        INPUT,
        generate("short", 1, 2, Limits(4, 1024, 60), max_tokens=9),
        pure("after", "flow.output", {}, {"value": 2}, value=3),
        generate("long", 1, 4, max_tokens=9),
        pure("beside", "flow.output", {}, {"value": 4}, value=5),
        inputs={"text": 0},
        bad=3,
        good=5,
    )
    with running() as r:
        events = r.ended(made)
        failed = data(events, "failed", "short")
        assert (failed["code"], failed["name"], failed["steps"]) == (701, "LAUNCH_OUT_OF_RESOURCES", 4)
        assert failed["text"] == says("hello", 4)
        assert dict(data(events, "skipped", "after")) == {"reason": "upstream", "port": "value", "source": "short"}
        ended = data(events, "ended")
        assert (ended["status"], ended["outputs"]) == ("failed", {"good": says("hello", 9)})
        assert ended["reason"].startswith("short: LAUNCH_OUT_OF_RESOURCES (701)")


def test_a_dot_that_can_never_fit_fails_its_node_with_numbers() -> None:
    made = program(INPUT, generate("model", 1, 2, Limits(64, 64, 60)), inputs={"text": 0}, out=2)
    with running() as r:
        failed = data(r.ended(made), "failed", "model")
        assert (failed["code"], failed["where"], failed["expected"]) == (2, "kv limit", "at most 64 KiB")
        assert failed["got"] == "384 KiB for 68 rows (5 prompt tokens, 64 steps)"


def test_cancel_ends_every_node_and_frees_the_pool_at_once() -> None:
    made = program(
        INPUT,
        generate("model", 1, 2, Limits(3000, 1 << 20, 60), max_tokens=3000),
        pure("after", "flow.output", {}, {"value": 2}, value=3),
        inputs={"text": 0},
        out=3,
    )
    with running() as r:
        flow = r.start(made)
        seen = r.until("tokens")
        r.runtime.cancel(flow)
        seen += r.until("ended")
        assert story(seen)[-3:] == [("model", "cancelled"), ("after", "cancelled"), (None, "ended")]
        cancelled = data(seen, "cancelled", "model")
        assert 0 < cancelled["steps"] < 3000
        assert cancelled["text"] == says("hello", cancelled["steps"])
        last = [e.data for e in seen if e.kind == "pool"][-1]
        assert {last[k] for k in ("kv_used", "kv_committed", "kv_reserved", "steps_reserved", "dots")} == {0}
        assert dict(data(seen, "ended"))["outputs"] == {}
        status = r.runtime.ask(r.runtime.status).result(10)
        assert (status.usage.kv_committed, status.usage.kv_reserved) == (0, 0)


def test_another_model_than_the_loaded_one_is_not_found() -> None:
    made = program(INPUT, generate("model", 1, 2, model="gpt-none"), inputs={"text": 0}, out=2)
    with running() as r:
        failed = data(r.ended(made), "failed", "model")
        assert (failed["code"], failed["where"], failed["expected"], failed["got"]) == (500, "model", "toy", "gpt-none")


def test_a_model_that_does_not_load_fails_what_asks_it_and_nothing_else() -> None:
    def broken(tell: Tell) -> ToyModel:
        raise Refused(Failure(Code.NOT_FOUND, "model file", "a file", "nothing"))

    made = program(INPUT, generate("model", 1, 2), inputs={"text": 0}, text=1, out=2)
    with running(load=broken) as r:
        events = r.ended(made)
        assert (data(events, "started")["digest"], data(events, "failed", "model")["code"]) == (None, 500)
        assert data(events, "ended")["outputs"] == {"text": "hello"}


@pytest.mark.parametrize(
    ("node", "message"),
    [
        (pure("x", "text.unknown", {}, {}, text=1), "NOT_FOUND.*node x.*text.unknown"),
        (pure("x", "text.input", {"text": 5}, {}, text=1), "INVALID_VALUE.*node x.text"),
        (pure("x", "text.input", {}, {}, nothing=1), "INVALID_VALUE.*node x.*nothing"),
    ],
)
def test_a_program_that_this_host_cannot_run_is_refused_before_it_starts(node: object, message: str) -> None:
    with running() as r, pytest.raises(Refused, match=message):
        r.start(program(node))  # type: ignore[arg-type]


def test_an_unknown_input_and_one_without_an_encoding_are_refused() -> None:
    made = program(INPUT, inputs={"text": 0}, out=1)
    with running() as r:
        with pytest.raises(Refused, match="inputs: expected text, got other"):
            r.start(made, other="x")
        with pytest.raises(Refused, match="inputs"):
            r.start(made, text="\ud800")


def test_a_value_of_the_wrong_type_fails_the_node_that_gets_it() -> None:
    made = program(pure("clean", "text.clean", {}, {"text": 0}, text=1), inputs={"text": 0}, out=1)
    with running() as r:
        failed = data(r.ended(made, text=5), "failed", "clean")
        assert (failed["where"], failed["expected"], failed["got"]) == ("input text", "text", "int")


def test_long_values_are_cut_in_events_and_whole_in_slots() -> None:
    made = program(INPUT, pure("out", "flow.output", {}, {"value": 1}, value=2), inputs={"text": 0}, out=2)
    given = "语" * 30_000
    with running() as r:
        flow = r.start(made, text=given)
        events = r.until("ended")
        assert (data(events, "done", "out")["cut"], data(events, "ended")["cut"]) == (True, True)
        shown = data(events, "ended")["outputs"]["out"]
        assert len(shown.encode()) == 65535
        assert given.startswith(shown)
        assert flow.outputs() == {"out": given}


def test_a_long_chain_of_steps_does_not_recurse() -> None:
    chain = [pure(f"n{i}", "flow.output", {}, {"value": i}, value=i + 1) for i in range(3000)]
    with running() as r:
        assert data(r.ended(program(*chain, inputs={"text": 0}, out=3000), text="x"), "ended")["outputs"] == {
            "out": "x"
        }


def nested(depth: int) -> object:
    value: object = 1
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize(
    "value", [nested(31), list(range(30_000)), {"a": "x" * 70_000}, {str(n): n for n in range(15_000)}, b"\0" * 70_000]
)
def test_every_event_has_an_encoding_that_fits_a_frame(value: object) -> None:
    outputs = {f"v{n}": n for n in range(1, 15)}
    nodes = [pure(f"n{n}", "flow.output", {}, {"value": 0}, value=n) for n in outputs.values()]
    made = program(*nodes, inputs={"given": 0}, **outputs)
    with running() as r:
        events = r.ended(made, given=value)
        assert data(events, "ended")["status"] == "done"
        assert max(len(codec.encode(dict(e.data))) for e in events) < 900_000


def test_a_long_chain_of_steps_lets_the_engine_take_its_steps() -> None:
    chain = [pure(f"n{i}", "flow.output", {}, {"value": i}, value=i + 1) for i in range(5000)]
    asks = program(INPUT, generate("model", 1, 2, Limits(3000, 1 << 20, 60), max_tokens=3000), inputs={"text": 0}, o=2)
    with running() as r:
        r.start(asks, run="asks", space="b")
        r.until("tokens", "asks")
        r.start(program(*chain, inputs={"text": 0}, out=5000), run="chain", text="x")
        r.until("started", "chain")
        assert "tokens" in {e.kind for e in r.until("ended", "chain") if e.run == "asks"}


def test_a_message_without_an_encoding_is_told_all_the_same() -> None:
    made = program(pure("t", "text.template", {"template": "{a}"}, {"a": 0}, text=1), inputs={"a": 0}, out=1)
    with running() as r:
        assert data(r.ended(made, a=b"x"), "failed", "t")["got"].startswith("TypeError")
        assert said("\ud800" * 5000) == "\\ud800" * 4096


@pytest.mark.slow
def test_a_text_step_on_a_megabyte_does_not_stop_the_tokens_of_another_run() -> None:
    big = program(pure("clean", "text.clean", {}, {"text": 0}, text=1), inputs={"text": 0}, out=1)
    small = program(INPUT, generate("model", 1, 2, Limits(3000, 1 << 20, 60), max_tokens=3000), inputs={"text": 0}, o=2)
    with running() as r:
        r.start(small, run="small", space="b")
        r.until("tokens", "small")
        r.start(big, run="big", text="<p>word & word</p>\n" * 50_000)
        seen = r.until("ended", "big")
        assert data([e for e in seen if e.run == "big"], "ended")["status"] == "done"
        times = [e.time for e in seen if e.run == "small" and e.kind == "tokens"]
        gaps = [b - a for a, b in pairwise(times)]
        assert len(times) > 5
        assert max(gaps) < 0.5


COMPONENT = '''"""A component of the tests: does I/O when told to."""
import asyncio, os, time
from dots.spec import Effect, Example, Label, Params, Port, PortType, Spec, Budget

class Do(Params):
    do: str = "echo"

SPEC = Spec(name="test.opaque", version=1, effect=Effect.OPAQUE, label=Label("t", "t"), group="io", glyph="x",
    params=Do,
    inputs=(Port("value", PortType.TEXT, Label("v", "v")),),
    outputs=(Port("value", PortType.ANY, Label("v", "v")),),
    example=Example({}, {}, {}), help_zh="t", budget=Budget(seconds=3), secrets=("TOKEN",))

async def run(p, inputs, ctx):
    if p.do == "echo":
        ctx.log("info", "echoing")
        return {"value": inputs["value"]}
    if p.do == "secret":
        return {"value": ctx.secrets["TOKEN"]}
    if p.do == "pid":
        return {"value": os.getpid()}
    if p.do == "environment":
        return {"value": sorted(os.environ)}
    if p.do == "memory":
        return {"value": len(bytearray(8 << 30))}
    if p.do == "raise":
        raise ValueError("no such page")
    if p.do == "exit":
        os._exit(7)
    if p.do == "wait":
        ctx.log("info", str(os.getpid()))
        await ctx.cancel.wait()
        open(inputs["value"], "w").write("cancelled")
    if p.do == "spin":
        time.sleep(60)
    return {"value": object()}
'''


@pytest.fixture(scope="module")
def opaque(tmp_path_factory: pytest.TempPathFactory) -> Catalogue:
    folder = tmp_path_factory.mktemp("components")
    (folder / "opaque_of_the_tests.py").write_text(COMPONENT)
    sys.path.append(str(folder))
    made = load(import_module("opaque_of_the_tests"))
    return {**catalogue(), made.spec.name: made}


def does(what: str, seconds: int | None = None) -> object:
    node = pure("node", "test.opaque", {"do": what}, {"value": 0}, value=1)
    limits = Limits(1, 1, seconds) if seconds else None
    made = type(node)(node.component, 1, node.params, node.inputs, node.outputs, "node", limits=limits)
    return program(made, inputs={"value": 0}, out=1)


def test_an_opaque_component_runs_in_a_process_of_its_own(opaque: Catalogue) -> None:
    with running(components=opaque) as r:
        events = r.ended(does("echo"), value="x")
        assert dict(data(events, "log", "node")) == {"level": "info", "message": "echoing"}
        assert data(events, "ended")["outputs"] == {"out": "x"}
        pids = [data(r.ended(does("pid"), value="x"), "ended")["outputs"]["out"] for _ in range(2)]
        assert len({*pids, os.getpid()}) == 3


def test_secrets_reach_the_component_and_no_event(opaque: Catalogue, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("A_TOKEN_OF_THE_OWNER", "hidden")
    with running(components=opaque) as r:
        events = r.ended(does("echo"), value="x", secrets={"TOKEN": "t0p", "OTHER": "no"})
        assert [e for e in events if "t0p" in repr(e)] == []
        assert data(r.ended(does("secret"), value="x", secrets={"TOKEN": "t0p"}), "ended")["outputs"] == {"out": "t0p"}
        names = data(r.ended(does("environment"), value="x"), "ended")["outputs"]["out"]
        assert "A_TOKEN_OF_THE_OWNER" not in names


@pytest.mark.parametrize(
    ("what", "code", "got"),
    [
        ("memory", 2, "more"),
        ("raise", 1, "ValueError: no such page"),
        ("exit", 2, "exit status 7"),
        ("nothing known", 1, "object"),
    ],
)
def test_what_an_opaque_component_does_wrong_fails_its_node(opaque: Catalogue, what: str, code: int, got: str) -> None:
    with running(components=opaque) as r:
        failed = data(r.ended(does(what), value="x"), "failed", "node")
        assert (failed["code"], got in failed["got"]) == (code, True), failed


def test_an_opaque_component_is_killed_at_its_deadline(opaque: Catalogue) -> None:
    with running(components=opaque) as r:
        began = monotonic()
        failed = data(r.ended(does("spin", 1), value="x"), "failed", "node")
        assert (failed["code"], failed["expected"]) == (702, "an answer within 1 s")
        assert monotonic() - began < 5


def test_cancel_tells_an_opaque_component_and_then_ends_its_process(opaque: Catalogue, tmp_path: Path) -> None:
    note = tmp_path / "note"
    with running(components=opaque) as r:
        flow = r.start(does("wait"), value=str(note))
        pid = int(data(r.until("log"), "log", "node")["message"])
        r.runtime.cancel(flow)
        assert story(r.until("ended"))[-2:] == [("node", "cancelled"), (None, "ended")]
        end = monotonic() + 10
        while r.runtime.ask(lambda: len(r.runtime.calls.workers)).result(10) and monotonic() < end:
            sleep(0.01)
    assert note.read_text() == "cancelled"
    assert not Path(f"/proc/{pid}").exists()


def test_runs_wait_for_the_model_and_then_begin() -> None:
    gate, told = threading.Event(), threading.Event()

    def slow(tell: Tell) -> ToyModel:
        tell(0.4)
        tell(0.2)  # what another thread had not said yet
        told.set()
        assert gate.wait(10)
        return ToyModel(ToyExecutor())

    asks = program(INPUT, generate("model", 1, 2, max_tokens=2), inputs={"text": 0}, out=2)
    with running(load=slow) as r:
        assert told.wait(10)
        status = r.runtime.ask(r.runtime.status).result(10)
        assert (status.state, status.progress) == ("loading", 0.4)
        r.start(asks, run="asks")
        assert r.ended(program(INPUT, inputs={"text": 0}, out=1), run="plain")[0].data["digest"] is None
        gate.set()
        assert data(r.until("ended", "asks"), "started")["digest"] == "00" * 32


def test_a_fused_step_that_fails_skips_the_instruction_it_feeds() -> None:
    clean = pure("clean", "text.clean", {}, {"text": 0}, text=1)
    made = program(generate("model", 1, 2, before=(clean,)), inputs={"text": 0}, out=2)
    assert fused(clean).node == "clean"
    with running() as r:
        events = r.ended(made, text=7)
        assert data(events, "failed", "clean")["code"] == 1
        assert dict(data(events, "skipped", "model")) == {"reason": "upstream", "port": "prompt", "source": "clean"}
