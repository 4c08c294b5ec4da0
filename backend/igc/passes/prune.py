"""prune: takes out what cannot run and what nobody waits for, and notes each node with its reason.

Disabled nodes are gone already; a node with a required input that only such nodes feed goes too. Then what leads to no
target goes; without targets, what leads to no output of the run, no model and no effect.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from dots.spec import Effect
from igc.module import Dropped, Module, Step, topological

ROOTS = (Effect.ANCHOR, Effect.OPAQUE)


@dataclass(frozen=True)
class Prune:
    name = "prune"

    def __call__(self, module: Module) -> Module:
        dropped = dict(module.dropped)
        alive: list[Step] = []
        for step in topological(module.steps):
            why = starved(step, dropped)
            if why is None:
                alive.append(fed(step, dropped))
            else:
                dropped[step.node] = why
        wanted = reached(alive, module.targets)
        dropped |= {step.node: Dropped("pruned") for step in alive if step.node not in wanted}
        steps = tuple(sorted((step for step in alive if step.node in wanted), key=lambda step: step.node))
        types = {source: kind for source, kind in module.types.items() if source.node in wanted}
        return replace(module, steps=steps, types=types, dropped=dropped)


def starved(step: Step, dropped: Mapping[str, Dropped]) -> Dropped | None:
    """A required input at which nothing can arrive; a reduction takes what is there."""
    optional = {port.name for port in step.spec.inputs if not port.required}
    for port, sources in step.inputs.items():
        required = step.spec.effect is not Effect.REDUCE and port not in optional
        if required and all(source.node in dropped for source in sources):
            return Dropped("input", port, sources[0].node)
    return None


def fed(step: Step, dropped: Mapping[str, Dropped]) -> Step:
    inputs = {port: tuple(s for s in sources if s.node not in dropped) for port, sources in step.inputs.items()}
    return replace(step, inputs={port: sources for port, sources in inputs.items() if sources})


def reached(steps: list[Step], targets: frozenset[str]) -> set[str]:
    """Backwards from the roots; sources stand before their consumers."""
    wanted: set[str] = set()
    for step in reversed(steps):
        root = step.node in targets if targets else bool(step.result) or step.spec.effect in ROOTS
        if root or step.node in wanted:
            wanted.add(step.node)
            wanted |= {source.node for sources in step.inputs.values() for source in sources}
    return wanted
