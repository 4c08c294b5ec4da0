"""From a graph to a program: check, passes in a fixed order, emission. Deterministic: equal graphs give equal bytes."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Final, Protocol

from dots import codec, program
from dots.components import Catalogue, digest
from dots.program import Block, Instruction, Limits, Program
from dots.shape import shown
from dots.spec import Budget
from igc import igb
from igc.check import Diagnostic, check
from igc.graph import Graph, Node
from igc.module import Dropped, Module, Source, Step
from igc.passes.fuse_exact import FuseExact
from igc.passes.infer_types import InferTypes
from igc.passes.order import Order
from igc.passes.prune import Prune
from igc.passes.resolve import Resolve

VERSION: Final = "0.1.0"


class Pass(Protocol):
    """A frozen dataclass: valid module in, valid module out."""

    @property
    def name(self) -> str: ...

    def __call__(self, module: Module) -> Module: ...


PIPELINE: Final[tuple[Pass, ...]] = (Resolve(), InferTypes(), Prune(), Order(), FuseExact())
LEVELS: Final[Mapping[str, tuple[Pass, ...]]] = {"none": PIPELINE[:-1], "exact": PIPELINE}


def compile(
    graph: Graph, catalogue: Catalogue, fusion: str = "exact", targets: Iterable[str] | None = None
) -> Program | list[Diagnostic]:
    """The program of a graph, or why there is none. `targets` are nodes: only what they need is compiled."""
    module = lower(graph, catalogue, LEVELS[fusion], targets)
    if isinstance(module, list):
        return module
    made = emit(module, graph, catalogue, fusion)
    try:
        program.write(made)
    except codec.Unencodable as error:  # it writes out what a graph leaves to defaults
        hint = "Split the graph, or run a part of it."
        return [Diagnostic("size", "program", None, None, error.expected, error.got, hint)]
    return made


def left_out(graph: Graph, catalogue: Catalogue, targets: Iterable[str] | None = None) -> dict[str, Dropped]:
    """Nodes of a graph that its program has not, with the reason; empty where there is no program."""
    module = lower(graph, catalogue, LEVELS["none"], targets)
    if isinstance(module, list):
        return {}
    kept = {step.node for step in module.steps}
    return {name: module.dropped.get(name, Dropped("pruned")) for name in sorted(graph.nodes) if name not in kept}


def lower(
    graph: Graph, catalogue: Catalogue, passes: Iterable[Pass], targets: Iterable[str] | None = None
) -> Module | list[Diagnostic]:
    """The module after these passes, or the findings that stand against it. A disabled node's findings do not."""
    wanted = frozenset(targets or ())
    if unknown := sorted(wanted - graph.nodes.keys()):
        return [Diagnostic("unknown_target", "targets", None, None, "a node of this graph", shown(unknown[0]))]
    needed = upstream(graph, wanted) if wanted else graph
    findings = [f for f in check(needed, catalogue) if f.node is None or "disabled" not in graph.nodes[f.node].flags]
    if findings:
        return findings
    module = started(needed, catalogue, wanted)
    for one in passes:
        module = one(module)
    if not module.steps:
        hint = "Add an output, or enable what leads to one."
        return [
            Diagnostic("nothing_to_run", "nodes", None, None, "a node that leads to an output or a model", "none", hint)
        ]
    return module


def upstream(graph: Graph, targets: frozenset[str]) -> Graph:
    """The part of a graph that these nodes need, themselves included."""
    sources: dict[str, list[str]] = {}
    for edge in graph.edges:
        sources.setdefault(edge.target, []).append(edge.source)
    needed, ahead = set(targets), list(targets)
    while ahead:
        for source in sources.get(ahead.pop(), ()):
            if source not in needed:
                needed.add(source)
                ahead.append(source)
    nodes = {name: node for name, node in graph.nodes.items() if name in needed}
    return replace(graph, nodes=nodes, edges=tuple(edge for edge in graph.edges if edge.target in needed))


def started(graph: Graph, catalogue: Catalogue, targets: frozenset[str]) -> Module:
    """The module that the passes begin with: nodes by id, edges by port, disabled nodes dropped."""
    ends: dict[str, dict[str, list[Source]]] = {name: {} for name in graph.nodes}
    for edge in sorted(graph.edges):
        ends[edge.target].setdefault(edge.input, []).append(Source(edge.source, edge.output))
    steps = []
    for name in sorted(graph.nodes):
        node = graph.nodes[name]
        if "disabled" in node.flags:
            continue
        inputs = {port: tuple(sources) for port, sources in sorted(ends[name].items())}
        spec = catalogue[node.component].spec
        steps.append(Step(name, spec, dict(node.params), inputs, limits=limits(node, spec.budget)))
    disabled = {name: Dropped("disabled") for name, node in sorted(graph.nodes.items()) if "disabled" in node.flags}
    return Module(tuple(steps), targets, dropped=disabled)


def limits(node: Node, budget: Budget) -> Limits | None:
    """The component's budget where the node's flags say nothing else; None where it makes no dot."""
    if not budget.steps:
        return None
    return Limits(
        *(
            flag if isinstance(flag := node.flags.get(name), int) else usual
            for name, usual in (("steps", budget.steps), ("kv", budget.kv), ("seconds", budget.seconds))
        )
    )


def emit(module: Module, graph: Graph, catalogue: Catalogue, fusion: str) -> Program:
    """Instructions in the order of their own steps; slots are counted as they are written, run inputs first."""
    given = sorted({name for step in module.steps for name in step.given.values()})
    inputs = {name: slot for slot, name in enumerate(given)}
    groups: dict[str, list[Step]] = {}
    for step in module.steps:
        fused = module.fused.get(step.node)
        groups.setdefault(fused.anchor if fused else step.node, []).append(step)
    written: dict[Source, int] = {}
    instructions = []
    for step in module.steps:
        if step.node not in module.fused:
            instructions.append(_instruction(step, groups[step.node], module, written, inputs))
    outputs = {name: written[Source(step.node, port)] for step in module.steps for port, name in step.result.items()}
    used = {step.spec.name for step in module.steps}
    return Program(
        source=igb.hashes_of(graph).sem,
        igc=VERSION,
        catalogue=digest(catalogue, used),
        fusion=fusion,
        passes=tuple(one.name for one in LEVELS[fusion]),
        inputs=inputs,
        outputs=dict(sorted(outputs.items())),
        blocks=(Block(len(inputs) + len(written), tuple(instructions)),),
    )


def _instruction(
    step: Step, group: list[Step], module: Module, written: dict[Source, int], inputs: Mapping[str, int]
) -> Instruction:
    """A step with what has been fused to it; the group's order is topological, so the prologue is written first."""

    def fused(place: str) -> tuple[program.Step, ...]:
        others = (one for one in group if one.node != step.node)
        return tuple(_step(one, written, inputs) for one in others if module.fused[one.node].place == place)

    before, own, after = fused("prologue"), _step(step, written, inputs), fused("epilogue")
    return Instruction(
        own.component,
        own.version,
        own.params,
        own.inputs,
        own.outputs,
        own.node,
        prologue=before,
        epilogue=after,
        limits=step.limits,
    )


def _step(step: Step, written: dict[Source, int], inputs: Mapping[str, int]) -> program.Step:
    ends = {port: tuple(written[source] for source in sources) for port, sources in step.inputs.items()}
    ends |= {port: (inputs[name],) for port, name in step.given.items()}
    outputs = {}
    for port in step.spec.outputs:
        outputs[port.name] = written[Source(step.node, port.name)] = len(inputs) + len(written)
    return program.Step(
        step.spec.name,
        step.spec.version,
        step.params,
        dict(sorted(ends.items())),
        dict(sorted(outputs.items())),
        step.node,
    )
