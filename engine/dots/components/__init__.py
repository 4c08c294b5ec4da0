"""The catalogue: the folder is the registry.

A component is one module here, or one behind the entry point `spaces.components`. Importing the catalogue
imports no model and no array library.
"""

import hashlib
import inspect
import pkgutil
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from importlib.metadata import entry_points
from types import ModuleType
from typing import Any

from dots import codec
from dots.spec import GROUPS, Effect, Spec

ENTRIES: dict[Effect, tuple[str, ...]] = {
    Effect.PURE: ("run",),
    Effect.TEMPLATE: ("run",),
    Effect.REDUCE: ("run",),
    Effect.ANCHOR: ("request", "finish"),
    Effect.OPAQUE: ("run",),
}


class BadComponent(TypeError):
    """A component module lacks what its effect demands; the message names the module and the missing part."""


@dataclass(frozen=True)
class Component:
    """A component's module and its spec; entries are reached through the module (`component.module.run`)."""

    spec: Spec
    module: ModuleType

    @cached_property
    def schema(self) -> dict[str, Any]:
        return self.spec.params.model_json_schema()

    @cached_property
    def help(self) -> str:
        """The docstring's first paragraph."""
        return inspect.cleandoc(self.module.__doc__ or "").split("\n\n")[0].replace("\n", " ")


def load(module: ModuleType) -> Component:
    """The component in a module.

    Raises BadComponent when SPEC, the docstring or an entry is missing, or the palette has no such group.
    """
    spec = getattr(module, "SPEC", None)
    if not isinstance(spec, Spec):
        raise BadComponent(f"{module.__name__}: expected SPEC, a dots.spec.Spec, got {spec!r}")
    if not module.__doc__:
        raise BadComponent(f"{module.__name__}: expected a docstring (it is the palette's help), got none")
    if spec.group not in GROUPS:
        raise BadComponent(f"{module.__name__}: expected a group of {', '.join(GROUPS)}, got {spec.group!r}")
    for entry in ENTRIES[spec.effect]:
        if not callable(getattr(module, entry, None)):
            raise BadComponent(f"{module.__name__}: a {spec.effect} component needs the function {entry}()")
    return Component(spec, module)


Catalogue = Mapping[str, Component]


def catalogue() -> Catalogue:
    """Every component by name: this folder first, then entry points; a name taken twice is refused."""
    modules = [import_module(f"{__name__}.{info.name}") for info in pkgutil.iter_modules(__path__)]
    modules += [point.load() for point in entry_points(group="spaces.components")]
    found: dict[str, Component] = {}
    for module in modules:
        component = load(module)
        if component.spec.name in found:
            raise BadComponent(f"{module.__name__}: the name {component.spec.name} is taken")
        found[component.spec.name] = component
    return dict(sorted(found.items()))


def digest(components: Catalogue, used: set[str]) -> bytes:
    """SHA-256 over (name, version, schema) of the components used."""
    facts = [[name, components[name].spec.version, components[name].schema] for name in sorted(used)]
    return hashlib.sha256(codec.encode(facts)).digest()
