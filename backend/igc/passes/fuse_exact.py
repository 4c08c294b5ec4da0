"""fuse_exact: a model instruction takes in the deterministic steps around it; results stay equal to the last byte.

A pure or template step joins the prologue of the one anchor that all its paths lead to, and the epilogue of an anchor
when it alone reads outputs of that anchor and nothing else. Two anchors never join, and a target or an output of the
run stays out of a prologue. Needs the steps in topological order.
"""

from dataclasses import dataclass, replace

from dots.spec import Effect, Spec
from igc.module import Fused, Module, Source, Step

ABSORBED = (Effect.PURE, Effect.TEMPLATE)


@dataclass(frozen=True)
class FuseExact:
    name = "fuse_exact"

    def __call__(self, module: Module) -> Module:
        consumers = module.consumers()
        anchors = {step.node for step in module.steps if is_anchor(step.spec)}
        fused: dict[str, Fused] = {}
        for step in reversed(module.steps):
            anchor = only_anchor(step, consumers, anchors, fused)
            if anchor is not None and step.node not in module.targets:
                fused[step.node] = Fused(anchor, "prologue")
        for step in module.steps:
            anchor = feeding_anchor(step, consumers, anchors, fused)
            if anchor is not None:
                fused[step.node] = Fused(anchor, "epilogue")
        return replace(module, fused=dict(sorted(fused.items())))


def is_anchor(spec: Spec) -> bool:
    return spec.effect is Effect.ANCHOR and not spec.reads_context


def absorbed(spec: Spec) -> bool:
    return spec.effect in ABSORBED and not spec.reads_context


def only_anchor(
    step: Step, consumers: dict[Source, list[str]], anchors: set[str], fused: dict[str, Fused]
) -> str | None:
    """The anchor that every path from here leads to; consumers have been looked at before."""
    if not absorbed(step.spec) or step.result:
        return None
    readers = {name for port in step.spec.outputs for name in consumers.get(Source(step.node, port.name), ())}
    ends = {name if name in anchors else fused[name].anchor if name in fused else None for name in readers}
    return ends.pop() if len(ends) == 1 else None


def feeding_anchor(
    step: Step, consumers: dict[Source, list[str]], anchors: set[str], fused: dict[str, Fused]
) -> str | None:
    """The anchor whose outputs, or whose epilogue's, are all that this step reads, as their only reader."""
    if not absorbed(step.spec) or step.node in fused or step.given:
        return None
    sources = {source for ends in step.inputs.values() for source in ends}
    if any(consumers[source] != [step.node] for source in sources):
        return None
    homes = {home(source.node, anchors, fused) for source in sources}
    return homes.pop() if len(homes) == 1 else None


def home(node: str, anchors: set[str], fused: dict[str, Fused]) -> str | None:
    if node in anchors:
        return node
    return fused[node].anchor if node in fused and fused[node].place == "epilogue" else None
