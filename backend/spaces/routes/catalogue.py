"""The catalogue of components, the templates, and the engine's state: what an editor needs to draw its first screen."""

from typing import Any

from fastapi import APIRouter

from dots.components import Component
from dots.spec import Label, Port
from spaces.parts import Server
from spaces.templates import FIRST, TEMPLATES

router = APIRouter(prefix="/api")


def label(value: Label | tuple[str, str]) -> dict[str, str]:
    return {"en": value[0], "zh": value[1]}


def port(value: Port) -> dict[str, Any]:
    return {
        "name": value.name,
        "type": value.type.value,
        "label": label(value.label),
        "required": value.required,
        "hidden": value.hidden,
    }


def entry(component: Component) -> dict[str, Any]:
    """A component as `frontend/src/state/catalogue.ts` has it."""
    spec = component.spec
    return {
        "name": spec.name,
        "version": spec.version,
        "effect": spec.effect.value,
        "label": label(spec.label),
        "help": {"en": component.help, "zh": spec.help_zh},
        "group": spec.group,
        "glyph": spec.glyph,
        "inputs": [port(value) for value in spec.inputs],
        "outputs": [port(value) for value in spec.outputs],
        "schema": component.schema,
        "template": spec.template,
        "budget": {"steps": spec.budget.steps, "kv": spec.budget.kv, "seconds": spec.budget.seconds},
    }


@router.get("/catalogue")
def catalogue(server: Server) -> list[dict[str, Any]]:
    return [entry(component) for component in server.catalogue.values()]


@router.get("/templates")
def templates(server: Server) -> list[dict[str, Any]]:
    return [
        {"name": t.name, "label": label(t.label), "help": label(t.help), "first": t.name == FIRST}
        for t in TEMPLATES.values()
    ]


@router.get("/engine")
async def engine(server: Server) -> dict[str, Any]:
    return await server.engine.status()
