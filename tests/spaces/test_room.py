"""The Room as a pure state machine: what a push comes to, and that replaying the server's order gives equal bytes."""

import random

import pytest

from dots.codec import Value
from igc import igb
from igc.graph import Graph
from igc.patch import apply_ops
from spaces import room as rooms
from spaces.room import Room, decode_ops, encode_ops, read_ops
from tests.spaces.conftest import edge, node

NAMES = [f"n{number:09d}" for number in range(6)]


def empty() -> Room:
    return Room.opened(Graph(), 0, [])


def push(room: Room, author: str, *ops: list[Value]) -> rooms.Outcome:
    outcome = room.plan(read_ops(ops))
    room.take(author, outcome)
    return outcome


def some_op(draw: random.Random) -> list[Value]:
    """An op that may well not fit."""
    a, b = draw.sample(NAMES, 2)
    value: Value = draw.randrange(5)
    choices: list[list[Value]] = [
        node(a, "text.template"),
        ["node-", [a], ["text.template", 1, {}, {}]],
        edge(a, "text", b, draw.choice("xy")),
        ["edge-", [a, "text", b, "x", 0]],
        ["set", [a, draw.choice("pq")], [], [value]],
        ["set", [a, "p"], [value], []],
        ["move", [a], [], [[draw.randrange(9), 0]]],
        ["label", [a], [], [draw.choice("LM")]],
        ["group", ["g000000001"], [], [["", sorted((a, b))]]],
        ["retype", [a], [["text.template", 1]], [["text.clean", 1]]],
        ["graph", ["k"], [], [value]],
        ["extra", [70], [], [value]],
    ]
    return draw.choice(choices)


def distinct(op: list[Value]) -> bool:
    return len(op) != 4 or op[2] != op[3]


def test_two_people_settle_two_conflicts_at_once_and_neither_comes_back() -> None:
    room = empty()
    push(room, "a", ["extra", [68], [], [["one", "two", "three"]]])
    push(room, "a", ["extra", [68], [["one", "two", "three"]], [["two", "three"]]])
    second = push(room, "b", ["extra", [68], [["one", "two", "three"]], [["one", "three"]]])
    assert room.graph.extra == {68: ["three"]}
    assert (second.overtaken, second.refused) == ((), ())
    again = push(room, "c", ["extra", [68], [["one", "two", "three"]], [["two", "three"]]])
    assert (again.ops, again.overtaken, again.refused) == ((), ((("extra", (68,)), "b"),), ())


@pytest.mark.parametrize("seed", range(12))
def test_a_replica_that_applies_the_servers_order_is_byte_equal(seed: int) -> None:
    draw = random.Random(seed)
    room, replica, journal = empty(), Graph(), []
    for _ in range(120):
        ops = [op for op in (some_op(draw) for _ in range(draw.randint(1, 6))) if distinct(op)]
        outcome = push(room, draw.choice("ab"), *ops)
        replica = apply_ops(replica, outcome.ops)
        if outcome.ops:
            journal.append((room.seq, "a", decode_ops(encode_ops(outcome.ops))))
        assert igb.write(replica) == igb.write(room.graph)
    assert igb.read(igb.write(room.graph)) == room.graph
    assert igb.write(Room.opened(Graph(), 0, journal).graph) == igb.write(room.graph)


def test_a_plan_changes_nothing() -> None:
    room = empty()
    before = igb.write(room.graph)
    room.plan(read_ops([node(NAMES[0])]))
    assert (igb.write(room.graph), room.seq) == (before, 0)


def test_the_graph_as_of_an_earlier_seq_can_be_had_back_to_the_base(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rooms, "HISTORY", 10)
    room = empty()
    push(room, "a", node(NAMES[0]))
    seen = {1: igb.write(room.graph)}
    for number in range(2, 30):
        push(room, "a", ["move", [NAMES[0]], [], [[number, 0]]])
        seen[room.seq] = igb.write(room.graph)
        if room.wants_snapshot:
            room.snapshot_taken()
    assert room.base_seq > 10
    for seq in range(room.base_seq, room.seq + 1):
        graph = room.as_of(seq)
        assert graph is not None and igb.write(graph) == seen[seq]
    assert room.as_of(room.base_seq - 1) is room.as_of(room.seq + 1) is None


def test_a_push_that_would_take_too_long_to_fit_is_refused_as_a_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rooms, "MAX_WORK", 10)
    room = empty()
    push(room, "a", *(node(name) for name in NAMES))
    outcome = push(room, "b", ["label", [NAMES[0]], [], ["x"]], ["node-", ["n999999999"], ["x.y", 1, {}, {}]])
    assert (outcome.ops, len(outcome.refused), room.seq) == ((), 1, 1)


def test_setting_what_stands_already_overtakes_nobody_twice() -> None:
    room = empty()
    push(room, "a", node(NAMES[0], text="x"))
    push(room, "a", ["set", [NAMES[0], "text"], ["x"], ["y"]])
    outcome = push(room, "b", ["set", [NAMES[0], "text"], ["x"], ["z"]], ["set", [NAMES[0], "text"], ["x"], ["w"]])
    assert outcome.overtaken == ((("set", (NAMES[0], "text")), "a"),)
    assert room.graph.nodes[NAMES[0]].params["text"] == "w"


def test_what_went_along_with_a_deleted_node_may_be_deleted_again_in_the_same_push() -> None:
    room = empty()
    a, b = NAMES[:2]
    push(room, "a", node(a), node(b, "flow.output"), edge(a, "text", b, "value"), ["label", [a], [], ["A"]])
    stale = ["text.input", 1, {"text": "never"}, {}]
    outcome = push(room, "b", ["node-", [a], stale], ["edge-", [a, "text", b, "value", 0]], ["label", [a], ["A"], []])
    assert (outcome.refused, set(room.graph.nodes), room.graph.edges) == ((), {b}, ())
    assert sorted(op.kind for op in outcome.ops) == ["edge-", "label", "node-"]
