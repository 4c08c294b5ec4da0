"""A graph on its way to a program: frozen steps with resolved ends. Passes take a module and give another one.

`show` is its text, one fact per line; golden files of the passes are made of it.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from heapq import heapify, heappop, heappush
from typing import NamedTuple

from dots.program import Limits
from dots.spec import PortType, Spec


class Source(NamedTuple):
    """An output of a step."""

    node: str
    output: str


@dataclass(frozen=True, slots=True)
class Step:
    node: str
    spec: Spec
    params: Mapping[str, object]
    inputs: Mapping[str, tuple[Source, ...]]
    given: Mapping[str, str] = field(default_factory=dict)  # hidden input port: name of the run input
    result: Mapping[str, str] = field(default_factory=dict)  # hidden output port: name of the run output
    limits: Limits | None = None  # None: makes no dot


class Dropped(NamedTuple):
    """Why a node is not in the program: `disabled`, `input` (nothing arrives at `port` from `source`) or `pruned`."""

    reason: str
    port: str | None = None
    source: str | None = None


class Fused(NamedTuple):
    anchor: str
    place: str  # prologue or epilogue


@dataclass(frozen=True, slots=True)
class Module:
    steps: tuple[Step, ...]
    targets: frozenset[str] = frozenset()  # empty: the whole flow
    types: Mapping[Source, PortType] = field(default_factory=dict)
    dropped: Mapping[str, Dropped] = field(default_factory=dict)
    fused: Mapping[str, Fused] = field(default_factory=dict)

    def consumers(self) -> dict[Source, list[str]]:
        """Steps that read each output, in the order of the steps."""
        found: dict[Source, list[str]] = {}
        for step in self.steps:
            for source in dict.fromkeys(source for sources in step.inputs.values() for source in sources):
                found.setdefault(source, []).append(step.node)
        return found


def topological(steps: tuple[Step, ...]) -> tuple[Step, ...]:
    """Sources first, the lowest id first among those that are ready. Ends at dropped nodes do not count."""
    by_node = {step.node: step for step in steps}
    following: dict[str, list[str]] = {name: [] for name in by_node}
    waiting: dict[str, int] = {}
    for step in steps:
        sources = {source.node for ends in step.inputs.values() for source in ends} & by_node.keys()
        waiting[step.node] = len(sources)
        for source in sources:
            following[source].append(step.node)
    ready = [name for name, count in waiting.items() if not count]
    heapify(ready)
    ordered = []
    while ready:
        name = heappop(ready)
        ordered.append(by_node[name])
        for target in following[name]:
            waiting[target] -= 1
            if not waiting[target]:
                heappush(ready, target)
    return tuple(ordered)


def show(module: Module) -> str:
    lines = []
    for target in sorted(module.targets):
        lines.append(f"target {target}")
    for step in module.steps:
        lines.append(f"step {step.node} {step.spec.name}@{step.spec.version}")
        lines += [f"  param {name} = {json.dumps(value, ensure_ascii=False)}" for name, value in step.params.items()]
        lines += [f"  given {port} <- {json.dumps(name)}" for port, name in step.given.items()]
        lines += [f"  input {port} <- {s.node}.{s.output}" for port, ends in step.inputs.items() for s in ends]
        lines += [f"  output {s.output}: {kind}" for s, kind in module.types.items() if s.node == step.node]
        lines += [f"  result {port} -> {json.dumps(name)}" for port, name in step.result.items()]
        if step.limits:
            lines.append(f"  limits {step.limits.steps} steps, {step.limits.kv} KiB, {step.limits.seconds} s")
        if step.node in module.fused:
            lines.append(f"  fused {module.fused[step.node].place} of {module.fused[step.node].anchor}")
    for node, why in sorted(module.dropped.items()):
        lines.append(f"dropped {node} {why.reason}" + (f" {why.port} <- {why.source}" if why.port else ""))
    return "".join(f"{line}\n" for line in lines)
