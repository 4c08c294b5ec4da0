"""Text that starts a flow. A run may give another text under this input's name.

Without one, the text written here is used.
"""

from pydantic import Field

from dots.spec import Effect, Example, Label, Params, Port, PortType, Spec, Values


class TextInput(Params):
    name: str = Field("text", min_length=1, max_length=64, title="Name", json_schema_extra={"zh": "名称"})
    text: str = Field(
        "", max_length=1_000_000, title="Text", json_schema_extra={"zh": "文本", "widget": "multiline", "main": True}
    )


SPEC = Spec(
    name="text.input",
    version=1,
    effect=Effect.PURE,
    label=Label("Text input", "文本输入"),
    group="io",
    glyph="input",
    params=TextInput,
    inputs=(Port("given", PortType.TEXT, Label("Given", "传入"), required=False, hidden=True),),
    outputs=(Port("text", PortType.TEXT, Label("Text", "文本")),),
    example=Example({"text": "Good morning"}, {}, {"text": "Good morning"}),
    help_zh="流程的起始文本。运行时可按名称传入别的文本，否则使用此处的内容。",
)


def run(p: TextInput, inputs: Values) -> Values:
    return {"text": inputs.get("given", p.text)}
