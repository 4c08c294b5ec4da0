"""A run's log: coalescing, numbers, folding, and cursors that miss nothing."""

import random
from typing import Any

from dots.events import Event
from spaces.log import EVENT_LIMIT, QUIET, TAIL, TEXT_LIMIT, Log, Told

RUN = "r000000001"


def event(kind: str, node: str | None = "a", **data: Any) -> Event:
    return Event(RUN, node, kind, data, 0.0)


def tokens(text: str, node: str = "a") -> Event:
    return event("tokens", node, text=text, steps=1)


def log() -> Log:
    return Log(RUN, lambda: None)


class Reader:
    """A client: takes what covers the next number, and puts text where `at` says."""

    def __init__(self) -> None:
        self.last = 0
        self.texts: dict[str | None, str] = {}
        self.kinds: list[tuple[str | None, str]] = []

    def take(self, told: Told) -> None:
        first, entry = told
        assert first == self.last + 1 <= entry.seq
        self.last = entry.seq
        if entry.kind == "tokens":
            at = entry.data["at"]
            known = self.texts.get(entry.node, "").encode("utf-16-le")
            assert 2 * at <= len(known)
            self.texts[entry.node] = known[: 2 * at].decode("utf-16-le") + entry.data["text"]
        else:
            self.kinds.append((entry.node, entry.kind))


def test_progress_within_33_ms_becomes_one_entry() -> None:
    told = log()
    assert told.add(tokens("a"), 0.100) is None
    assert told.add(tokens("b"), 0.110) == 0.100 + QUIET
    assert told.add(tokens("c"), 0.120) == 0.100 + QUIET
    assert told.flush(0.100 + QUIET) is None
    assert [(e.seq, e.data["text"], e.data["at"]) for e in told.entries] == [(1, "a", 0), (2, "bc", 1)]


def test_progress_of_one_node_does_not_wait_for_another() -> None:
    told = log()
    told.add(tokens("a", "a"), 1.0)
    told.add(tokens("b", "b"), 1.001)
    assert [e.node for e in told.entries] == ["a", "b"]


def test_what_ends_a_node_comes_after_its_held_text() -> None:
    told = log()
    told.add(tokens("a"), 1.0)
    told.add(tokens("b"), 1.001)
    told.add(event("done", outputs={}), 1.002)
    told.add(event("ended", None, status="done"), 1.003)
    assert [(e.kind, e.data.get("text")) for e in told.entries] == [
        ("tokens", "a"),
        ("tokens", "b"),
        ("done", None),
        ("ended", None),
    ]
    assert told.ended and not told.held


def test_places_in_a_text_count_as_a_browser_does() -> None:
    told = log()
    for number, text in enumerate(("ä", "😀", "x")):
        told.add(tokens(text), number)
    assert [e.data["at"] for e in told.entries] == [0, 1, 3]


def filled(draw: random.Random, num_events: int) -> tuple[Log, dict[str | None, str]]:
    told, texts = log(), dict[str | None, str]()
    for number in range(num_events):
        name = draw.choice("abcd")
        if draw.random() < 0.03:
            told.add(event("log", name, level="info", message=str(number)), number)
            continue
        text = draw.choice(("x", "yz", "😀", ""))
        texts[name] = texts.get(name, "") + text
        told.add(tokens(text, name), number)
    return told, texts


def test_a_reader_at_any_cursor_gets_all_the_text_even_when_cut_off_in_a_fold() -> None:
    draw = random.Random(3)
    told, texts = filled(draw, 3 * TAIL + 77)
    assert told.folded and len(told.entries) < 2 * TAIL + 100
    reader = Reader()
    while reader.last < told.seq:
        found = told.read(reader.last)
        for one in found[: draw.randint(1, 40)]:  # the connection breaks somewhere in the batch
            reader.take(one)
    assert reader.texts == texts


def test_a_fold_that_is_read_at_once_repeats_nothing() -> None:
    told, texts = filled(random.Random(5), 2 * TAIL + 500)
    found = told.read(0)
    assert {
        n: "".join(t.entry.data["text"] for t in found if t.entry.node == n and t.entry.kind == "tokens") for n in texts
    } == texts
    assert len(found) < 2 * TAIL
    assert (found[0].first, found[-1].entry.seq, told.read(told.seq)) == (1, told.seq, [])


def test_a_reader_that_keeps_up_sees_every_number() -> None:
    told, _ = filled(random.Random(1), 200)
    found = told.read(0)
    assert [(first, entry.seq) for first, entry in found] == [(n, n) for n in range(1, told.seq + 1)]
    assert [entry.seq for _, entry in told.read(150)] == list(range(151, told.seq + 1))
    assert told.read(told.seq) == told.read(told.seq + 5) == []


def test_the_stored_tail_tells_the_same() -> None:
    told, texts = filled(random.Random(9), 3 * TAIL)
    told.add(event("ended", None, status="done"), 9e9)
    stored, reader = Log.stored(RUN, told.tail()), Reader()
    assert (stored.seq, stored.ended) == (told.seq, True)
    for one in stored.read(0):
        reader.take(one)
    assert reader.texts == texts and reader.last == told.seq and reader.kinds[-1] == (None, "ended")


def test_memory_stays_bounded_however_much_a_run_streams() -> None:
    told = log()
    chunk = "x" * 100_000
    for number in range(3 * TEXT_LIMIT // len(chunk)):
        told.add(tokens(chunk), number)
    assert sum(len(e.data["text"]) for e in told.entries) <= 2 * TEXT_LIMIT
    for number in range(20_000):
        told.add(event("log", message="m"), number)
    assert len(told.entries) < 4 * TAIL


def test_a_value_too_long_for_a_frame_is_cut_and_says_so() -> None:
    told = log()
    told.add(event("done", outputs={"text": "é" * EVENT_LIMIT}), 0)
    told.add(event("done", "b", outputs={"json": list(range(300_000))}), 0)
    told.add(event("done", "c", outputs={"json": float("nan")}, steps=3), 0)
    first, second, third = (e.data for e in told.entries)
    assert first["cut"] is True and 60_000 < len(first["outputs"]["text"].encode()) <= 65_536
    assert second["outputs"] == {} and "reason" in second
    assert (third["outputs"], third["steps"]) == ({}, 3)
