"""resolve: fills in the params' defaults of the component's version, the limits, and the names of the run's ends."""

from dataclasses import dataclass, replace

from dots.program import Limits
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
        limits=limits(step),
    )


def limits(step: Step) -> Limits | None:
    """The component's budget; what the node's flags say has been put in `step.limits`, zero where they are silent."""
    budget, flags = step.spec.budget, step.limits or Limits(0, 0, 0)
    if not budget.steps:
        return None
    return Limits(flags.steps or budget.steps, flags.kv or budget.kv, flags.seconds or budget.seconds)
