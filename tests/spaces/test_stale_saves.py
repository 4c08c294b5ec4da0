"""Saves over the socket of clients that have not seen the newest version: refused, nothing lost, made on top of it."""

from typing import Any

from igc import igb, patch
from igc.graph import Graph
from tests.igc.build import edited
from tests.spaces.conftest import Peer, Running, node, node_id

ONE, TWO = "c000000001", "c000000002"


def save(peer: Peer, counter: int, seq: int, base: int | None, message: str = "") -> list[Any]:
    peer.send(type="save", id=[peer.client, counter], seq=seq, base_version=base, message=message)
    return [peer.client, counter]


def files(server: Running, space: str) -> list[tuple[int, bytes, bytes]]:
    """Number, graph and patch of every version, oldest first."""
    with server.program() as client:
        rows = client.get(f"/api/spaces/{space}/versions").json()
        found = [
            (row["number"], *(client.get(f"/api/files/{row[kind]}").content for kind in ("file", "patch")))
            for row in rows
        ]
    return sorted(found)


def room(server: Running, space: str) -> bytes:
    with server.program() as client:
        return client.get(f"/api/spaces/{space}/graph.igb").content


def test_fields_of_one_node_from_two_clients_are_both_in_the_version_saved_on_top(server: Running) -> None:
    space, a = server.new_space(), node_id()
    one, two = server.join(space, ONE), server.join(space, TWO)
    one.push(node(a))
    save(one, 2, 1, None, "Begin")
    assert two.until("saved")["version"]["number"] == 1
    one.counter = 2
    text, name = ["set", [a, "text"], [], ["of one"]], ["set", [a, "name"], [], ["of two"]]
    one.push(text)
    save(one, 4, 2, 1, "A text")
    assert one.until("saved", id=[ONE, 4])["version"]["number"] == 2
    two.push(name)
    two.until("ack")
    stale = save(two, 2, 3, 1, "A name")  # sent before `saved` of version 2 was read
    refusal = two.until("refused")
    assert refusal == {
        "type": "refused",
        "id": stale,
        "code": "stale",
        "where": "save.base_version",
        "expected": "the newest version, 2",
        "got": "1",
    }
    both = igb.write(edited(node(a), text, name, of=Graph()))
    assert room(server, space) == both
    assert [number for number, _, _ in files(server, space)] == [1, 2]

    save(two, 3, 3, 2, "A name")
    assert two.until("saved", id=[TWO, 3])["version"]["message"] == "A name"
    found = files(server, space)
    assert (len(found), found[-1][1]) == (3, both)
    graph = Graph()
    for _, data, change in found:
        graph = patch.apply(patch.read(change), graph)
        assert igb.write(graph) == data


def test_two_clients_save_an_equal_new_graph_and_both_are_answered_with_the_first_version(server: Running) -> None:
    space = server.new_space("summary")
    one, two = server.join(space, ONE), server.join(space, TWO)
    first, second = save(one, 1, 0, None, "One"), save(two, 1, 0, None, "Two")
    answers = [peer.until("saved", id=name)["version"] for peer, name in ((one, first), (two, second))]
    assert answers[0] == answers[1]
    assert [number for number, _, _ in files(server, space)] == [1]


def test_the_second_first_save_of_a_graph_that_has_more_is_refused_and_loses_nothing(server: Running) -> None:
    space, a, b = server.new_space(), node_id(), node_id()
    one, two = server.join(space, ONE), server.join(space, TWO)
    one.push(node(a))
    one.until("ack")
    save(one, 2, 1, None, "One")
    one.until("saved")
    two.push(node(b))
    two.until("ack")
    save(two, 2, 2, None, "Two")
    refusal = two.until("refused")
    assert (refusal["code"], refusal["expected"], refusal["got"]) == ("stale", "the newest version, 1", "none")
    save(two, 3, 2, 1, "Two")
    assert two.until("saved", id=[TWO, 3])["version"]["number"] == 2
    assert [sorted(igb.read(data).nodes) for _, data, _ in files(server, space)] == [[a], sorted([a, b])]


def test_the_first_save_of_a_graph_is_never_stale(server: Running) -> None:
    space = server.new_space("summary")
    one = server.join(space)
    save(one, 1, 0, 7)
    assert one.until("saved")["version"]["number"] == 1


def test_a_save_that_goes_again_as_it_was_is_answered_with_its_version(server: Running) -> None:
    """Its answer was lost with the link; meanwhile the graph went on."""
    space, a = server.new_space("summary"), node_id()
    one = server.join(space, ONE)
    save(one, 1, 0, None, "First")
    made = one.until("saved")["version"]
    one.socket.close()
    again = server.join(space, ONE)
    again.counter = 1
    again.push(node(a))
    again.until("ack")
    save(again, 1, 0, None, "First")
    assert again.until("saved", id=[ONE, 1])["version"] == made
    assert [number for number, _, _ in files(server, space)] == [1]
