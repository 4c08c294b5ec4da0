"""A result of the flow. What arrives here is what a run returns under this output's name."""

from pydantic import Field

from dots.spec import Effect, Example, Label, Params, Port, PortType, Spec, Values


class FlowOutput(Params):
    name: str = Field("result", min_length=1, max_length=64, title="Name", json_schema_extra={"zh": "名称"})


SPEC = Spec(
    name="flow.output",
    version=1,
    effect=Effect.PURE,
    label=Label("Output", "输出"),
    group="io",
    glyph="output",
    params=FlowOutput,
    inputs=(Port("value", PortType.ANY, Label("Value", "值")),),
    outputs=(Port("value", PortType.ANY, Label("Value", "值"), hidden=True),),
    example=Example({"name": "reply"}, {"value": "Hello"}, {"value": "Hello"}),
    help_zh="流程的结果。到达这里的值，会以此名称作为运行结果返回。",
)


def run(p: FlowOutput, inputs: Values) -> Values:
    return {"value": inputs["value"]}
