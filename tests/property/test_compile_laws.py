"""Laws of the compiler: valid flows compile, fusion cannot be seen in results, both forms of a program are exact."""

import hashlib
from collections.abc import Mapping

from hypothesis import given
from hypothesis import strategies as st

from dots import codec, program
from dots.codec import Malformed, Value
from dots.components import catalogue
from dots.program import Instruction, Program, Step
from dots.request import ModelResult
from dots.shape import Invalid
from dots.spec import Effect
from igc.check import Diagnostic
from igc.compile import PIPELINE, compile, emit, left_out, lower
from igc.graph import Graph
from tests.property.graphs import flows, law, many, values

CATALOGUE = catalogue()
NEEDED = ("resolve", "prune", "order")  # emission relies on them


def run(source: Program, inputs: Mapping[str, str]) -> dict[str, Value]:
    """The plainest interpreter: steps in order, and a model that answers with a digest of what it is asked."""
    slots: dict[int, object] = {slot: inputs[name] for name, slot in source.inputs.items() if name in inputs}
    for one in source.blocks[0].instructions:
        for step in (*one.prologue, one, *one.epilogue):
            run_step(step, slots)
    found = {name: slots[slot] for name, slot in source.outputs.items() if slot in slots}
    answer = codec.decode(codec.encode(found))
    assert isinstance(answer, dict)
    return answer  # type: ignore[return-value]


def run_step(step: Step | Instruction, slots: dict[int, object]) -> None:
    component = CATALOGUE[step.component]
    inputs = {port: slots[ends[0]] for port, ends in step.inputs.items() if ends[0] in slots}
    optional = {port.name for port in component.spec.inputs if not port.required}
    if step.inputs.keys() - inputs.keys() - optional:
        return
    params = component.spec.params.model_validate(step.params)
    if component.spec.effect is Effect.ANCHOR:
        asked = hashlib.sha256(repr(component.module.request(params, inputs)).encode()).hexdigest()
        outputs = component.module.finish(params, ModelResult(asked[:8], len(asked), 1, "end"))
    else:
        outputs = component.module.run(params, inputs)
    slots.update({slot: outputs[port] for port, slot in step.outputs.items() if port in outputs})


def nodes(source: Program) -> set[str]:
    steps = [step for one in source.blocks[0].instructions for step in (*one.prologue, one, *one.epilogue)]
    assert len({step.node for step in steps}) == len(steps)
    return {step.node for step in steps}


@many
@given(flows(), st.dictionaries(st.sampled_from(("text", "n1", "n2", "n3")), st.text("ab<& ", max_size=9)))
def test_fusion_cannot_be_seen_in_the_results(flow: Graph, inputs: dict[str, str]) -> None:
    plain, fused = compile(flow, CATALOGUE, "none"), compile(flow, CATALOGUE, "exact")
    if isinstance(plain, list) or isinstance(fused, list):
        assert plain == fused
        assert isinstance(plain, list)
        assert [one.code for one in plain] == ["nothing_to_run"]
        return
    assert run(plain, inputs) == run(fused, inputs)
    assert nodes(plain) == nodes(fused)
    assert nodes(plain) | left_out(flow, CATALOGUE).keys() == flow.nodes.keys()
    assert not nodes(plain) & left_out(flow, CATALOGUE).keys()


@many
@given(flows())
def test_no_pass_that_may_be_left_out_can_be_seen_in_the_results(flow: Graph) -> None:
    whole = lower(flow, CATALOGUE, PIPELINE)
    if isinstance(whole, list):
        return
    expected = run(emit(whole, flow, CATALOGUE, "exact"), {})
    for one in PIPELINE:
        if one.name in NEEDED:
            continue
        part = lower(flow, CATALOGUE, [other for other in PIPELINE if other is not one])
        assert not isinstance(part, list)
        assert run(emit(part, flow, CATALOGUE, "exact"), {}) == expected


@many
@given(flows(), st.data())
def test_what_targets_need_gives_what_the_whole_flow_gives(flow: Graph, data: st.DataObject) -> None:
    whole = compile(flow, CATALOGUE)
    part = compile(flow, CATALOGUE, targets=[data.draw(st.sampled_from(sorted(flow.nodes)))])
    if isinstance(whole, Program) and isinstance(part, Program):
        results = run(whole, {})
        assert run(part, {}).items() <= results.items()


@many
@given(flows())
def test_both_forms_of_a_program_are_exact(flow: Graph) -> None:
    made = compile(flow, CATALOGUE)
    if isinstance(made, list):
        assert all(isinstance(one, Diagnostic) for one in made)
        return
    data, text = program.write(made), program.show(made)
    assert program.read(data) == made
    assert program.parse(text) == made
    assert program.write(program.parse(text)) == data
    assert program.show(program.read(data)) == text


@law
@given(st.dictionaries(st.sampled_from(("a", "b c".replace(" ", "_"), "\u202e", '"', "=", "问")), values(), max_size=3))
def test_any_params_survive_the_text_form(params: dict[str, Value]) -> None:
    step = Step("a.b", 1, params, {}, {"o": 0}, "0000000000")
    block = program.Block(1, (Instruction(*(getattr(step, name) for name in Step.__slots__)),))
    made = Program(bytes(32), "0", bytes(32), "none", (), {}, {"\x1b[0m": 0}, (block,))
    text = program.show(made)
    assert program.write(program.parse(text)) == program.write(made)
    assert all(character.isprintable() or character == "\n" for character in text)


@many
@given(flows(), st.data())
def test_a_changed_byte_is_refused_or_gives_another_canonical_program(flow: Graph, data: st.DataObject) -> None:
    made = compile(flow, CATALOGUE)
    if isinstance(made, list):
        return
    encoded = bytearray(program.write(made))
    place = data.draw(st.integers(13, len(encoded) - 1))  # behind the format's minor, which is not kept
    encoded[place] ^= data.draw(st.integers(1, 255))
    try:
        read = program.read(bytes(encoded))
    except (Malformed, Invalid):
        return
    assert program.write(read) == encoded
