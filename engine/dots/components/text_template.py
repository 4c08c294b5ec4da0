"""Puts values into a text. Each {name} in the template becomes an input port; {{ and }} stand for braces."""

import json
from typing import Any

from pydantic import Field

from dots.spec import Effect, Example, Label, Params, Port, PortType, Spec, Values
from dots.template import pieces


class TextTemplate(Params):
    template: str = Field(
        "{text}",
        max_length=1_000_000,
        title="Template",
        json_schema_extra={"zh": "模板", "widget": "template", "main": True},
    )


SPEC = Spec(
    name="text.template",
    version=1,
    effect=Effect.TEMPLATE,
    label=Label("Template", "模板"),
    group="text",
    glyph="template",
    params=TextTemplate,
    inputs=(),
    outputs=(Port("text", PortType.TEXT, Label("Text", "文本")),),
    example=Example({"template": "Dear {name}, {{{count}}}"}, {"name": "Ada", "count": 3}, {"text": "Dear Ada, {3}"}),
    help_zh="把值填入文本。模板中的每个 {名称} 都成为一个输入端口；{{ 和 }} 表示花括号本身。",
    template="template",
)


def shown(value: Any) -> str:
    """A text as it is, anything else as compact JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def run(p: TextTemplate, inputs: Values) -> Values:
    return {"text": "".join(shown(inputs[text]) if is_slot else text for text, is_slot in pieces(p.template))}
