"""order: puts the steps in topological order, the lowest id first among those that are ready."""

from dataclasses import dataclass, replace

from igc.module import Module, topological


@dataclass(frozen=True)
class Order:
    name = "order"

    def __call__(self, module: Module) -> Module:
        return replace(module, steps=topological(module.steps))
