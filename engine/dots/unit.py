"""A unit: one step of a running program, checked against the catalogue, with what it is doing now.

The flow owns its units and moves them. Everything else here is a function of a unit and of the values around it: which
inputs have arrived, and what is wrong with them or with the outputs.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from pydantic import ValidationError

from dots import codec
from dots.components import Catalogue, Component
from dots.dot import Dot
from dots.errors import Code, Failure, Refused
from dots.program import Instruction, Limits, Step
from dots.slots import Slots
from dots.spec import Effect, Params, PortType, Values

Handle = Callable[[], None]
"""Ends a call in progress."""


@dataclass(frozen=True, slots=True)
class Absent:
    """No value in a slot: why, and the node where that began."""

    reason: str  # input or upstream
    source: str | None = None


@dataclass(eq=False, slots=True)
class Unit:
    """A step or an instruction's own part, checked, with what it is doing now."""

    step: Step | Instruction
    component: Component
    params: Params
    limits: Limits | None
    reads: frozenset[int]  # slots
    missing: int  # those not yet known
    state: str = "waiting"  # then the kinds of its events
    began: float = 0.0
    inputs: Values = field(default_factory=dict)
    dot: Dot | None = None
    stop: Handle | None = None
    told: float = 0.0  # when its last coalesced event went out
    first: float = 0.0  # when its first token came
    text: list[str] = field(default_factory=list)  # not yet told

    @property
    def node(self) -> str:
        return self.step.node

    @property
    def ended(self) -> bool:
        return self.state == "ended"


def parts(i: Instruction) -> list[tuple[Step | Instruction, Limits | None]]:
    return [*((s, None) for s in i.prologue), (i, i.limits), *((s, None) for s in i.epilogue)]


def unit(step: Step | Instruction, limits: Limits | None, catalogue: Catalogue) -> Unit:
    """Check a step against the catalogue; raises Refused."""
    component = catalogue.get(step.component)
    where = f"node {step.node}"
    if component is None:
        raise Refused(Failure(Code.NOT_FOUND, where, "a component of this host's catalogue", step.component))
    spec = component.spec
    if spec.version != step.version:
        got = f"version {step.version}"
        raise Refused(Failure(Code.NOT_FOUND, where, f"{spec.name} version {spec.version}", got))
    if spec.effect is Effect.ANCHOR and limits is None:
        raise Refused(Failure(Code.INVALID_VALUE, where, "limits, because it asks a model", "none"))
    unknown = [port for port in step.outputs if port not in {p.name for p in spec.outputs}]
    if unknown:
        raise Refused(Failure(Code.INVALID_VALUE, where, f"outputs of {spec.name}", ", ".join(unknown)))
    try:
        params = spec.params.model_validate(dict(step.params))
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(map(str, first["loc"]))
        raise Refused(Failure(Code.INVALID_VALUE, f"{where}.{place}", first["msg"], "another value")) from None
    reads = frozenset(slot for slots in step.inputs.values() for slot in slots)
    return Unit(step, component, params, limits, reads, len(reads))


def gathered(u: Unit, slots: Slots) -> tuple[dict[str, Any], tuple[str, Absent] | None]:
    """The unit's inputs that are there, and the first absent one that it cannot do without."""
    takes_what_is_there = u.component.spec.effect is Effect.REDUCE
    optional = {port.name for port in u.component.spec.inputs if not port.required}
    inputs: dict[str, Any] = {}
    for port, sources in u.step.inputs.items():
        values = [slots[slot] for slot in sources]
        absent = next((v for v in values if isinstance(v, Absent)), None)
        if absent is None or takes_what_is_there:
            there = [v for v in values if not isinstance(v, Absent)]
            inputs |= {port: there if len(sources) > 1 else there[0]} if there else {}
        elif port not in optional:
            return inputs, (port, absent)
    required = (p.name for p in u.component.spec.inputs if p.required and not takes_what_is_there)
    unwired = next((name for name in required if name not in u.step.inputs), None)
    return inputs, None if unwired is None else (unwired, Absent("input"))


KINDS: Final[Mapping[PortType, tuple[type, ...]]] = {
    PortType.TEXT: (str,),
    PortType.NUMBER: (int, float),
    PortType.BOOLEAN: (bool,),
}


def mistyped(u: Unit, inputs: Values) -> Failure | None:
    """An `any` source is checked here, when its value is there."""
    types = {port.name: port.type for port in u.component.spec.inputs}
    for port, value in inputs.items():
        kinds = KINDS.get(types.get(port, PortType.ANY))
        if kinds and (not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds)):
            return Failure(Code.INVALID_VALUE, f"input {port}", types[port], type(value).__name__)
    return None


def unusable(u: Unit, outputs: Values) -> Failure | None:
    """A component's mistake: outputs that are no map of its ports."""
    ports = {port.name for port in u.component.spec.outputs}
    if not isinstance(outputs, Mapping) or not set(outputs) <= ports:
        got = ", ".join(map(repr, outputs)) if isinstance(outputs, Mapping) else type(outputs).__name__
        return Failure(Code.INVALID_VALUE, u.step.component, f"outputs among {', '.join(sorted(ports))}", got)
    return None


def unencodable(outputs: Values, inputs: Values) -> Failure | None:
    """A component's mistake: values that no event or worker can carry. What was an input has been checked."""
    handed_on = {id(value) for value in inputs.values()}
    try:
        codec.encode({port: value for port, value in outputs.items() if id(value) not in handed_on})
    except codec.Unencodable as error:
        return Failure(Code.INVALID_VALUE, f"output {error.path}", error.expected, error.got)
    return None


def raised(u: Unit, error: Exception) -> Failure:
    return Failure(Code.INVALID_VALUE, u.step.component, "an answer", f"{type(error).__name__}: {error}"[:4096])
