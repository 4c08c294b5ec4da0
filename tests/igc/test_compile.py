"""The compiler as a whole; single passes are tested by their golden files."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from dots import program
from dots.components import catalogue
from dots.program import Limits, Program
from igc import igb
from igc.compile import compile, left_out
from igc.graph import Graph
from igc.module import Dropped
from tests.igc.build import chat, graph, nid, node, parse

CATALOGUE = catalogue()


def made(source: Graph, fusion: str = "exact", targets: tuple[str, ...] = ()) -> Program:
    result = compile(source, CATALOGUE, fusion, targets)
    assert isinstance(result, Program), result
    return result


def codes(source: Graph, targets: tuple[str, ...] = ()) -> list[str]:
    result = compile(source, CATALOGUE, targets=targets)
    assert isinstance(result, list)
    return [one.code for one in result]


def test_the_whole_flow_becomes_one_instruction() -> None:
    (one,) = made(chat()).blocks[0].instructions
    steps = [[step.node for step in steps] for steps in (one.prologue, (one,), one.epilogue)]
    assert steps == [[nid("in"), nid("tpl")], [nid("gen")], [nid("out")]]
    assert one.limits == Limits(256, CATALOGUE["llm.generate"].spec.budget.kv, 120)


def test_without_fusion_each_step_is_an_instruction_and_only_models_make_dots() -> None:
    instructions = made(chat(), "none").blocks[0].instructions
    assert [one.node for one in instructions] == [nid("in"), nid("tpl"), nid("gen"), nid("out")]
    assert [one.limits is not None for one in instructions] == [False, False, True, False]


def test_flags_override_the_budget() -> None:
    flow = graph(
        node("in", "text.input"),
        node("gen", "llm.generate", steps=16, kv=64, seconds=9),
        edges=("in.text > gen.prompt",),
    )
    assert made(flow).blocks[0].instructions[0].limits == Limits(16, 64, 9)


def test_run_inputs_and_outputs_have_the_names_in_their_params() -> None:
    flow, _ = parse("""
node a text.input
  name = "question"
node b text.input
  name = "language"
node t text.template
  template = "{q} {l}"
node o flow.output
  name = "prompt"
edge a.text > t.q
edge b.text > t.l
edge t.text > o.value
""")
    result = made(flow)
    assert (dict(result.inputs), list(result.outputs)) == ({"language": 0, "question": 1}, ["prompt"])
    assert result.source == igb.hashes_of(flow).sem


def test_findings_block_and_are_given_back() -> None:
    assert codes(graph(node("a", "text.clean"))) == ["missing_input"]


def test_findings_of_disabled_nodes_do_not_block() -> None:
    flow = graph(
        node("in", "text.input"),
        node("out", "flow.output"),
        node("bad", "no.such", disabled=True),
        edges=("in.text > out.value",),
    )
    assert [one.node for one in made(flow, "none").blocks[0].instructions] == [nid("in"), nid("out")]
    assert left_out(flow, CATALOGUE) == {nid("bad"): Dropped("disabled")}


def test_findings_of_nodes_that_no_target_needs_do_not_block() -> None:
    flow = graph(node("in", "text.input"), node("bad", "text.clean"))
    assert [one.node for one in made(flow, targets=(nid("in"),)).blocks[0].instructions] == [nid("in")]
    assert left_out(flow, CATALOGUE, (nid("in"),)) == {nid("bad"): Dropped("pruned")}


@pytest.mark.parametrize(
    "flow", [Graph(), graph(node("in", "text.input")), graph(node("o", "text.input", disabled=True))]
)
def test_a_graph_in_which_nothing_would_run_is_a_finding(flow: Graph) -> None:
    assert codes(flow) == ["nothing_to_run"]


def test_an_unknown_target_is_a_finding() -> None:
    assert codes(chat(), ("x\n",)) == ["unknown_target"]


def test_a_long_chain_needs_no_deep_stack() -> None:
    count = 3000
    nodes = [
        node("n0", "text.input"),
        *(node(f"n{at}", "text.clean") for at in range(1, count)),
        node("o", "flow.output"),
    ]
    edges = (*(f"n{at}.text > n{at + 1}.text" for at in range(count - 1)), f"n{count - 1}.text > o.value")
    assert len(made(graph(*nodes, edges=edges)).blocks[0].instructions) == count + 1


def test_a_program_too_large_for_a_file_is_a_finding() -> None:
    asks = [node(f"n{at}", "llm.generate") for at in range(6000)]
    edges = tuple(f"a.text > n{at}.prompt" for at in range(6000))
    assert codes(graph(node("a", "text.input"), *asks, edges=edges)) == ["size"]


HASHED = """
import sys
from pathlib import Path
from dots import program
from dots.components import catalogue
from igc import igb, patch
from igc.compile import compile
graph = igb.read(Path(sys.argv[1]).read_bytes())
change = patch.diff(igb.read(Path(sys.argv[2]).read_bytes()), graph)
result = compile(graph, catalogue())
print((program.write(result) + patch.write(change)).hex(), program.show(result))
"""


def test_bytes_do_not_depend_on_the_hash_seed(tmp_path: Path) -> None:
    flow, _ = parse(
        (Path(__file__).parent.parent / "golden/igc/fuse_exact/two_readers.txt").read_text().split("-----")[0]
    )
    (tmp_path / "a.igb").write_bytes(igb.write(flow))
    (tmp_path / "b.igb").write_bytes(igb.write(chat()))
    answers = {
        subprocess.run(
            [sys.executable, "-c", HASHED, "a.igb", "b.igb"],
            cwd=tmp_path,
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("0", "1", "4242")
    }
    assert len(answers) == 1
    assert program.write(made(flow)).hex() in answers.pop().decode()
