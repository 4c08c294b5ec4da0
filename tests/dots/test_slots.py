"""Values of a running program: kept as long as somebody reads them, counted once, bounded together."""

import pytest

from dots import slots
from dots.slots import ITEM, Slots
from tests.dots.world import data, program, pure, running


def test_a_value_goes_when_its_last_reader_has_ended() -> None:
    made = Slots(3, {0: 2, 1: 1}, kept=[1])
    made[0], made[1], made[2] = "twelve chars", "kept", "read by nobody"
    assert made.size == 16
    made.read([0])
    assert made[0] == "twelve chars"
    made.read([0, 1])
    assert [made[slot] for slot in range(3)] == [None, "kept", None]
    assert made.size == 4


def test_a_value_handed_on_counts_once_until_it_stands_nowhere() -> None:
    made = Slots(2, {0: 1, 1: 1}, kept=())
    value = "x" * 100
    made[0] = made[1] = value
    assert made.size == 100
    made.read([0])
    assert made.size == 100
    made.read([1])
    assert made.size == 0


def test_items_of_a_structured_value_count_what_they_cost() -> None:
    made = Slots(1, {0: 1}, kept=())
    made[0] = [0] * 9
    assert made.size == 10 * ITEM


def test_steps_that_would_fill_the_memory_fail_and_the_others_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slots, "MOST", 100_000)
    twice = {"template": "{a}{b}"}
    text = pure("text", "text.input", {"text": "x" * 100}, {"given": 0}, text=1)
    chain = [pure(f"n{i}", "text.template", twice, {"a": i, "b": i}, text=i + 1) for i in range(1, 12)]
    beside = pure("beside", "text.template", {"template": "fine"}, {}, text=20)
    made = program(text, *chain, beside, inputs={"text": 0}, out=12, beside=20)
    with running() as r:
        flow = r.start(made)
        events = r.until("ended")
        failed = data(events, "failed", "n10")
        assert (failed["code"], failed["where"], failed["got"]) == (2, "values of the run", "153604 bytes")
        assert (data(events, "ended")["status"], flow.outputs()) == ("failed", {"beside": "fine"})


def test_a_long_chain_holds_only_what_is_still_to_be_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slots, "MOST", 2500)
    chain = [pure(f"n{i}", "text.template", {"template": "{a}."}, {"a": i}, text=i + 1) for i in range(50)]
    with running() as r:
        flow = r.start(program(*chain, inputs={"text": 0}, out=50), text="x" * 1000)
        r.until("ended")
        assert flow.outputs() == {"out": "x" * 1000 + "." * 50}
