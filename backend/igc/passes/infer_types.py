"""infer_types: the type of every output. One that is `any` and named like an input passes on what arrives there."""

from dataclasses import dataclass, replace

from dots.spec import PortType
from igc.module import Module, Source, topological


@dataclass(frozen=True)
class InferTypes:
    name = "infer_types"

    def __call__(self, module: Module) -> Module:
        types: dict[Source, PortType] = {}
        for step in topological(module.steps):
            for port in step.spec.outputs:
                arriving = {types[source] for source in step.inputs.get(port.name, ()) if source in types}
                passed = port.type is PortType.ANY and len(arriving) == 1
                types[Source(step.node, port.name)] = arriving.pop() if passed else port.type
        return replace(module, types=types)
