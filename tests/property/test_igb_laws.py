"""Laws of `.igb`: one byte string per graph, hashes that tell meaning from looks."""

from dataclasses import replace
from hashlib import sha256

from hypothesis import given
from hypothesis import strategies as st

from dots.codec import Malformed
from igc import igb
from igc.graph import Graph, Invalid
from tests.property.graphs import graphs, law


@law
@given(graphs())
def test_a_graph_is_read_back_byte_for_byte(graph: Graph) -> None:
    data = igb.write(graph)
    assert igb.write(igb.read(data)) == data


@law
@given(graphs(), st.randoms(use_true_random=False))
def test_the_order_in_which_a_graph_was_made_cannot_be_seen(graph: Graph, random: st.DataObject) -> None:
    def shuffled(found: dict[str, object]) -> dict[str, object]:
        entries = list(found.items())
        random.shuffle(entries)  # type: ignore[attr-defined]
        return dict(entries)

    nodes = {name: replace(node, params=shuffled(dict(node.params))) for name, node in graph.nodes.items()}
    other = replace(
        graph, nodes=shuffled(nodes), labels=shuffled(dict(graph.labels)), edges=tuple(reversed(graph.edges))
    )  # type: ignore[arg-type]
    assert igb.write(other) == igb.write(graph)


@law
@given(graphs())
def test_looks_change_the_file_and_not_the_meaning(graph: Graph) -> None:
    bare = Graph(graph.nodes, graph.edges, graph.settings)
    a, b = igb.hashes_of(graph), igb.hashes_of(bare)
    assert a.sem == b.sem
    assert a.file == sha256(igb.write(graph)).digest()
    assert (a.file == b.file) == (igb.write(graph) == igb.write(bare))


@law
@given(graphs(), st.data())
def test_a_changed_byte_is_refused_or_gives_another_canonical_file(graph: Graph, data: st.DataObject) -> None:
    encoded = bytearray(igb.write(graph))
    place = data.draw(st.integers(0, len(encoded) - 1))
    encoded[place] ^= data.draw(st.integers(1, 255))
    try:
        read = igb.read(bytes(encoded))
    except (Malformed, Invalid):
        return
    written = bytearray(igb.write(read))
    if encoded[11:13] != written[11:13]:  # a higher minor is read and not written
        assert encoded[11] == 1
        return
    assert written == encoded
