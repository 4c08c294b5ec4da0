"""Diagnostics: what is wrong is named by node and field, with what was expected and what came."""

import pytest
from hypothesis import given

from dots.components import catalogue
from igc.check import Diagnostic, check
from igc.graph import Graph
from tests.igc.build import chat, graph, nid, node
from tests.property.graphs import flows, graphs, law

CATALOGUE = catalogue()


def found(made: Graph) -> list[tuple[str, str | None, str | None]]:
    return [(one.code, one.node, one.field) for one in check(made, CATALOGUE)]


def test_the_flow_that_people_start_with_is_fine() -> None:
    assert check(chat(), CATALOGUE) == []


def test_a_finding_says_where_what_was_expected_and_what_came() -> None:
    made = graph(
        node("gen", "llm.generate", {"temperature": 3}), node("in", "text.input"), edges=("in.text > gen.prompt",)
    )
    assert check(made, CATALOGUE) == [
        Diagnostic(
            "bad_param", "nodes.0000000gen.temperature", nid("gen"), "temperature", "less than or equal to 2", "3"
        )
    ]


SOURCE = node("in", "text.input")


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (graph(node("a", "no.such")), ("unknown_component", nid("a"), None)),
        (
            graph(SOURCE, node("a", "llm.generate", {"json_schema": "{"}), edges=("in.text > a.prompt",)),
            ("bad_param", nid("a"), "json_schema"),
        ),
        (graph(node("a", "text.input", version=2)), ("unknown_version", nid("a"), None)),
        (graph(node("a", "text.input", {"colour": 1})), ("unknown_param", nid("a"), "colour")),
        (graph(node("a", "text.input", {"text": 1})), ("bad_param", nid("a"), "text")),
        (graph(node("a", "text.input", {"name": ""})), ("bad_param", nid("a"), "name")),
        (graph(node("a", "text.clean")), ("missing_input", nid("a"), "text")),
        (graph(node("a", "text.template", {"template": "{x}"})), ("missing_input", nid("a"), "x")),
        (graph(node("a", "text.template")), ("missing_input", nid("a"), "text")),
        (
            graph(SOURCE, node("b", "text.template", {"template": ""}), edges=("in.text > b.x",)),
            ("unknown_input", nid("b"), "x"),
        ),
        (
            graph(SOURCE, node("b", "text.clean"), edges=("in.text > b.text", "in.text > b.q")),
            ("unknown_input", nid("b"), "q"),
        ),
        (graph(SOURCE, node("b", "text.clean"), edges=("in.q > b.text",)), ("unknown_output", nid("in"), "q")),
        (
            graph(SOURCE, node("b", "text.input", {"name": "b"}), edges=("in.text > b.given",)),
            ("hidden_port", nid("b"), "given"),
        ),
        (
            graph(
                SOURCE,
                node("o", "flow.output"),
                node("c", "text.clean"),
                edges=("in.text > o.value", "o.value > c.text"),
            ),
            ("hidden_port", nid("o"), "value"),
        ),
        (
            graph(
                SOURCE,
                node("g", "llm.generate"),
                node("c", "text.clean"),
                edges=("in.text > g.prompt", "g.usage > c.text"),
            ),
            ("type_mismatch", nid("c"), "text"),
        ),
        (graph(SOURCE, settings={"speed": 1}), ("unknown_setting", None, "speed")),
        (graph(SOURCE, node("a", "text.input")), ("duplicate_name", nid("in"), "name")),
        (graph(node("a", "text.input", steps=3)), ("idle_flag", nid("a"), "steps")),
        (graph(SOURCE, extra={68: [1]}), ("open_conflicts", None, None)),
    ],
    ids=lambda value: value[0] if isinstance(value, tuple) else None,
)
def test_each_mistake_has_its_code(made: Graph, expected: tuple[str, str | None, str | None]) -> None:
    assert found(made) == [expected]


def test_a_second_edge_at_one_input_is_named() -> None:
    made = Graph(
        graph(SOURCE, node("b", "text.clean")).nodes,
        (*graph(SOURCE, node("b", "text.clean"), edges=("in.text > b.text",)).edges,),
    )
    twice = Graph(made.nodes, (*made.edges, made.edges[0]._replace(slot=1)))
    assert found(twice) == [("one_edge_only", nid("b"), "text")]


def test_a_template_that_is_no_text_is_one_finding_about_its_param() -> None:
    assert found(graph(node("a", "text.template", {"template": 7}))) == [("bad_param", nid("a"), "template")]


def test_any_value_feeds_json_and_any_and_text_feeds_json() -> None:
    made = graph(
        SOURCE,
        node("g", "llm.generate"),
        node("o", "flow.output"),
        node("t", "text.template"),
        edges=("in.text > g.prompt", "g.usage > o.value", "g.usage > t.text"),
    )
    assert found(made) == []


def test_a_long_value_is_cut_in_a_finding() -> None:
    (one,) = check(graph(node("a", "text.input", {"name": "x" * 100_000})), CATALOGUE)
    assert (one.field, one.got) == ("name", "x" * 80)


def test_two_names_of_which_one_is_disabled_are_fine() -> None:
    assert found(graph(SOURCE, node("a", "text.input", disabled=True))) == []


@law
@given(graphs())
def test_no_valid_graph_makes_it_raise(made: Graph) -> None:
    assert all(isinstance(one, Diagnostic) for one in check(made, CATALOGUE))


@law
@given(flows())
def test_flows_made_by_the_rules_have_no_finding(made: Graph) -> None:
    assert check(made, CATALOGUE) == []
