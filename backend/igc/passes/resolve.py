"""resolve: fills in the params' defaults of the component's version, and the names of the run's ends."""

from dataclasses import dataclass, replace

from igc.module import Module, Step
from igc.ports import run_input, run_output


@dataclass(frozen=True)
class Resolve:
    name = "resolve"

    def __call__(self, module: Module) -> Module:
        return replace(module, steps=tuple(resolved(step) for step in module.steps))


def resolved(step: Step) -> Step:
    params = step.spec.params.model_validate(dict(step.params)).model_dump()
    called = str(params.get("name"))
    entry, result = run_input(step.spec), run_output(step.spec)
    return replace(
        step,
        params=params,
        given={entry: called} if entry is not None else {},
        result={result: called} if result is not None else {},
    )
