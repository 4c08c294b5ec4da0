"""What a component is: ports, params, effect, budget, and the values that its entry takes and gives.

A component is one module in `dots.components` (or behind an entry point): a docstring (palette tooltip and
documentation), a `Params` model, a `SPEC`, and the entry that its effect names. Nothing here runs a component.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, NamedTuple

from pydantic import BaseModel, ConfigDict

Values = Mapping[str, Any]
"""Values of ports by port name; a missing key is ABSENT."""


class PortType(StrEnum):
    TEXT = "text"
    NUMBER = "number"
    BOOLEAN = "boolean"
    JSON = "json"
    ANY = "any"

    def accepts(self, source: "PortType") -> bool:
        """No implicit conversion except into `any` and `json`; an `any` source is checked when the value is there."""
        return self is source or self in (PortType.ANY, PortType.JSON) or source is PortType.ANY


class Effect(StrEnum):
    """What the engine may assume; `pure`, `template` and `reduce` are deterministic and touch nothing."""

    PURE = "pure"  # run(p, inputs) -> outputs
    TEMPLATE = "template"  # the same, and its input ports come from a param
    REDUCE = "reduce"  # the same, and it takes what is there: absent inputs do not skip it
    ANCHOR = "anchor"  # request(p, inputs) -> ModelRequest; finish(p, result) -> outputs
    OPAQUE = "opaque"  # async run(p, inputs, ctx) -> outputs, in a worker process


class Label(NamedTuple):
    en: str
    zh: str


@dataclass(frozen=True, slots=True)
class Port:
    name: str
    type: PortType
    label: Label
    required: bool = True
    hidden: bool = False  # filled by the run, never by an edge


@dataclass(frozen=True, slots=True)
class Budget:
    """Defaults of a node's hard limits; a node's flags override them. Zero steps: the component makes no dot."""

    steps: int = 0
    kv: int = 0  # KiB of committed pages
    seconds: int = 60


class Params(BaseModel):
    """Base of every component's params: strict, closed, immutable. Titles are English; `zh` carries the Chinese."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)


@dataclass(frozen=True, slots=True)
class Example:
    """One worked example; a test runs it. For an anchor the outputs name only what holds for any model."""

    params: Mapping[str, Any]
    inputs: Values
    outputs: Values


GROUPS = ("io", "text", "model", "flow")
"""Sections of the palette."""


@dataclass(frozen=True, slots=True)
class Spec:
    name: str
    version: int
    effect: Effect
    label: Label
    group: str  # one of GROUPS
    glyph: str
    params: type[Params]
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    example: Example
    help_zh: str  # the docstring's first paragraph in Chinese
    budget: Budget = field(default_factory=Budget)
    template: str | None = None  # the text param whose placeholders make input ports (docs/formats.md §4)
    reads_context: bool = False
    secrets: tuple[str, ...] = ()
