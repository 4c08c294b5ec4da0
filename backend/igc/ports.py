"""The ports that a node has: those of its component's spec, and one for each slot of its template."""

from collections.abc import Mapping

from dots.spec import Label, Port, PortType, Spec
from dots.template import slots


def inputs_of(spec: Spec, params: Mapping[str, object]) -> dict[str, Port]:
    """Input ports by name, hidden ones included; a template that is no text makes none."""
    found = {port.name: port for port in spec.inputs}
    if spec.template is not None:
        template = params.get(spec.template, spec.params.model_fields[spec.template].default)
        names = slots(template) if isinstance(template, str) else ()
        found |= {name: Port(name, PortType.ANY, Label(name, name)) for name in names if name not in found}
    return found


def outputs_of(spec: Spec) -> dict[str, Port]:
    return {port.name: port for port in spec.outputs}


def run_input(spec: Spec) -> str | None:
    """The hidden input that the caller of a run may fill, under the name in the param `name`."""
    return _hidden(spec, spec.inputs)


def run_output(spec: Spec) -> str | None:
    """The hidden output that a run gives back, under the name in the param `name`."""
    return _hidden(spec, spec.outputs)


def _hidden(spec: Spec, ports: tuple[Port, ...]) -> str | None:
    return next((port.name for port in ports if port.hidden), None) if "name" in spec.params.model_fields else None


def run_name(spec: Spec, params: Mapping[str, object]) -> object:
    return params.get("name", spec.params.model_fields["name"].default)
