"""Pushes: order, acks, last writer, refusal by key, repeats, and what a second member sees."""

import itertools
from pathlib import Path

import pytest
from websockets.exceptions import ConnectionClosedError

from igc import igb
from igc.graph import Graph
from tests.spaces.conftest import Running, edge, node, node_id, running

ALL = ("seq", "ops", "author", "overtaken")


def joined(server: Running, space: str, client: str) -> tuple[Graph, int]:
    """The graph that a newcomer is shown, and its seq."""
    peer = server.join(space, client)
    welcome = peer.until("welcome")
    peer.socket.close()
    return igb.read(welcome["igb"]), welcome["seq"]


def test_the_welcome_shows_the_room_its_members_and_what_runs(server: Running) -> None:
    space = server.new_space()
    first = server.join(space, "c000000001").until("welcome")
    second = server.join(space, "c000000002").until("welcome")
    assert first == {
        "type": "welcome",
        "space": {"id": space, "name": "A test"},
        "seq": 0,
        "igb": igb.write(Graph()),
        "transfer": None,
        "version": None,
        "members": [{"client": "c000000001", "name": "tester"}],
        "runs": [],
    }
    assert [member["client"] for member in second["members"]] == ["c000000001", "c000000002"]


def test_a_push_is_acked_and_told_to_the_others(server: Running) -> None:
    space = server.new_space()
    one, two = server.join(space, "c000000001"), server.join(space, "c000000002")
    two.until("welcome")
    a = node_id()
    ops = [node(a, text="Hi"), ["move", [a], [], [[16, 8]]]]
    sent = one.push(*ops)
    assert one.until("ack") == {"type": "ack", "id": sent, "seq": 1}
    patched = two.until("patched")
    assert [patched[name] for name in ALL] == [1, ops, "c000000001", []]
    assert joined(server, space, "c000000003")[0].positions == {a: (16, 8)}


def test_ops_of_a_push_may_come_in_any_order(server: Running) -> None:
    space, a, b = server.new_space(), node_id(), node_id()
    one = server.join(space)
    one.push(
        edge(a, "text", b, "value"),
        ["set", [a, "text"], [], ["x"]],
        node(a),
        node(b, "flow.output"),
        ["label", [b], [], ["B"]],
    )
    assert one.until("patched")["seq"] == 1
    graph, _ = joined(server, space, "c000000002")
    assert (len(graph.nodes), len(graph.edges), graph.labels, graph.nodes[a].params) == (2, 1, {b: "B"}, {"text": "x"})


def test_the_last_writer_wins_a_field_and_is_told_whom_it_overtook(server: Running) -> None:
    space, a = server.new_space(), node_id()
    one, two = server.join(space, "c000000001"), server.join(space, "c000000002")
    one.push(node(a, text="start"))
    one.until("ack")
    two.until("patched", seq=1)
    one.push(["set", [a, "text"], ["start"], ["one"]])
    one.until("ack")
    two.push(["set", [a, "text"], ["start"], ["two"]])  # it has not seen "one"
    patched = two.until("patched", seq=3)
    key = ["set", a, "text"]
    assert [patched[n] for n in ALL] == [
        3,
        [["set", [a, "text"], ["one"], ["two"]]],
        "c000000002",
        [[key, "c000000001"]],
    ]
    assert one.until("patched", seq=3) == patched
    assert joined(server, space, "c000000003")[0].nodes[a].params["text"] == "two"


def test_a_structural_op_that_no_longer_fits_is_refused_by_key_and_the_rest_stands(server: Running) -> None:
    space, a, b, gone = server.new_space(), node_id(), node_id(), node_id()
    one = server.join(space)
    one.push(node(a), node(b, "flow.output"))
    one.until("ack")
    sent = one.push(edge(gone, "text", b, "value"), ["label", [a], [], ["Kept"]], ["node-", [gone], ["x.y", 1, {}, {}]])
    patched = one.until("patched", seq=2)
    assert patched["ops"] == [["label", [a], [], ["Kept"]]]
    first, second = one.until("refused"), one.until("refused")
    assert {first["where"].split()[0], second["where"].split()[0]} == {"edge+", "node-"}
    assert [first["id"], second["id"], first["code"]] == [sent, sent, "dangling"]


def test_a_push_of_which_nothing_stands_is_only_refused_and_takes_no_seq(server: Running) -> None:
    space, a = server.new_space(), node_id()
    one = server.join(space)
    sent = one.push(["label", [a], [], ["Nobody"]])
    assert one.until("refused")["id"] == sent
    one.push(node(a))
    assert one.until("ack")["seq"] == 1


def test_deleting_a_node_takes_along_what_others_added_meanwhile(server: Running) -> None:
    space, a, b = server.new_space(), node_id(), node_id()
    one, two = server.join(space, "c000000001"), server.join(space, "c000000002")
    one.push(node(a), node(b, "flow.output"))
    two.until("patched", seq=1)
    two.push(edge(a, "text", b, "value"), ["move", [a], [], [[8, 8]]])
    two.until("ack")
    one.push(["node-", [a], ["text.input", 1, {}, {}]])
    patched = one.until("patched", seq=3)
    assert sorted(op[0] for op in patched["ops"]) == ["edge-", "move", "node-"]
    assert two.until("patched", seq=3)["ops"] == patched["ops"]
    graph, _ = joined(server, space, "c000000003")
    assert (set(graph.nodes), graph.edges, graph.positions) == ({b}, (), {})


def test_a_repeated_push_is_answered_and_not_applied(server: Running) -> None:
    space, a = server.new_space(), node_id()
    one = server.join(space)
    sent = one.push(node(a))
    assert one.until("ack")["seq"] == 1
    one.send(type="push", id=sent, base_seq=0, ops=[node(node_id())])
    assert one.until("ack") == {"type": "ack", "id": sent, "seq": 1}
    assert set(joined(server, space, "c000000002")[0].nodes) == {a}


def test_a_client_cannot_push_under_another_clients_id(server: Running) -> None:
    space = server.new_space()
    one = server.join(space)
    one.send(type="push", id=["c000000009", 1], base_seq=0, ops=[node(node_id())])
    assert one.until("refused")["where"] == "push.id[0]"


def test_what_makes_a_graph_invalid_is_refused(server: Running) -> None:
    space, a, b = server.new_space(), node_id(), node_id()
    one = server.join(space)
    one.push(node(a, "text.clean"), node(b, "text.clean"), edge(a, "text", b, "text"))
    one.until("ack")
    for op, code in (
        (edge(b, "text", a, "text"), "cycle"),
        (edge(a, "other", b, "text"), "duplicate"),
        (node(a), "duplicate"),
        (["set", [a, "html"], [], [{"secret": "lower"}]], "secret"),
        (["move", [a], [], [[0.5, 0]]], "field"),
        (["flag", [a, "steps"], [], [0]], "field"),
        (["node+", ["short"], ["x.y", 1, {}, {}]], "field"),
        (["label", [a], [], [""]], "field"),
        (["explode", [a]], "field"),
        ([], "field"),
    ):
        sent = one.push(op)
        refusal = one.until("refused", id=sent)
        assert refusal["code"] in (code, "field"), (op, refusal)
        assert refusal["expected"] and refusal["got"] and refusal["where"]
    assert joined(server, space, "c000000002")[1] == 1


def test_two_members_who_write_at_once_end_with_the_same_graph(server: Running) -> None:
    space = server.new_space()
    peers = [server.join(space, f"c00000000{n}") for n in (1, 2)]
    a = node_id()
    peers[0].push(node(a))
    peers[0].until("ack")
    peers[1].until("patched", seq=1)
    for number, peer in itertools.product(range(20), peers):
        peer.push(["set", [a, "text"], [], [f"{peer.client} {number}"]], ["move", [a], [], [[number, 0]]])
    graph, seq = joined(server, space, "c000000003")
    while seq < 41:
        graph, seq = joined(server, space, "c000000003")
    told: dict[str, object] = {}
    for peer in peers:
        while len([f for f in peer.seen if f["type"] in ("ack", "patched") and f["seq"] > 1]) < 40:
            peer.receive()
        told[peer.client] = max(f["seq"] for f in peer.seen if f["type"] in ("ack", "patched"))
    assert told == {"c000000001": 41, "c000000002": 41}
    assert graph.positions[a] == (19, 0)


def test_the_room_survives_a_restart_with_its_seq(tmp_path: Path) -> None:
    a = node_id()
    with running(tmp_path) as server:
        space = server.new_space()
        one = server.join(space)
        one.push(node(a, text="kept"))
        one.until("ack")
        for place in range(300):  # past a snapshot
            one.push(["move", [a], [[place - 1, 0]] if place else [], [[place, 0]]])
        while one.until("ack")["seq"] < 301:
            pass
        before = joined(server, space, "c000000002")
    with running(tmp_path) as server:
        assert joined(server, space, "c000000002") == before
        assert before[1] == 301
        again = server.join(space)  # the same client, with a push that it may have lost the answer of
        again.send(type="push", id=["c000000001", 301], base_seq=0, ops=[node(node_id())])
        assert again.until("ack")["seq"] == 301
        assert joined(server, space, "c000000002") == before


def test_who_comes_and_their_presence_goes_to_the_others(server: Running) -> None:
    space = server.new_space()
    one, two = server.join(space, "c000000001"), server.join(space, "c000000002")
    two.until("welcome")
    came = one.until("presence")
    assert came == {"type": "presence", "client": "c000000002", "name": "tester", "data": {}}
    one.send(type="presence", data={"cursor": [1, 2]})
    told = came | {"client": "c000000001"}
    assert two.until("presence") == told | {"data": {"cursor": [1, 2]}}


def test_findings_are_told_after_the_welcome_and_after_a_push(server: Running) -> None:
    space, a = server.new_space(), node_id()
    one = server.join(space)
    assert one.until("diagnosed") == {"type": "diagnosed", "seq": 0, "diagnostics": []}
    one.push(node(a, "text.clean"))
    (finding,) = one.until("diagnosed", seq=1)["diagnostics"]
    assert (finding["code"], finding["node"], finding["field"]) == ("missing_input", a, "text")


def test_a_connection_that_takes_over_a_client_id_replaces_the_old_one(server: Running) -> None:
    space = server.new_space()
    old, new = server.join(space), server.join(space)
    new.until("welcome")
    with pytest.raises(ConnectionClosedError):
        old.until("never")
    assert old.socket.close_code == 4409
    other = server.join(space, "c000000002")
    assert [member["client"] for member in other.until("welcome")["members"]] == ["c000000001", "c000000002"]
    other.push(node(node_id()))
    assert new.until("patched")["seq"] == 1


def test_a_graph_too_long_for_a_frame_comes_in_parts(server: Running) -> None:
    space = server.new_space()
    one = server.join(space)
    names = [node_id() for _ in range(3)]
    for name in names:
        one.push(node(name, text=name * 40_000))
        one.until("ack")
    two = server.join(space, "c000000002")
    welcome = two.until("welcome")
    parts = [frame for frame in two.seen if frame["type"] == "part"]
    assert welcome["igb"] is None and {part["transfer"] for part in parts} == {welcome["transfer"]}
    assert set(igb.read(b"".join(part["bytes"] for part in parts)).nodes) == set(names)
