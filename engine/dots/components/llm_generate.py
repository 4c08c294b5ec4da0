"""Asks the language model to continue a prompt.

Tokens appear as they are made; the step and KV budgets are hard limits.
"""

import json
from typing import Annotated, Final, Literal, NoReturn

from pydantic import Field, StringConstraints, field_validator
from pydantic_core import PydanticCustomError

from dots.request import Grammar, Message, ModelRequest, ModelResult, Sampling
from dots.spec import Budget, Effect, Example, Label, Params, Port, PortType, Spec, Values

SCHEMA: Final = """{
  "type": "object",
  "properties": {"answer": {"type": "string"}},
  "required": ["answer"],
  "additionalProperties": false
}"""


class Generate(Params):
    mode: Literal["chat", "raw"] = Field(
        "chat",
        title="Mode",
        json_schema_extra={"zh": "模式", "options": {"chat": ["Chat", "对话"], "raw": ["Raw", "原文"]}},
    )
    system: str = Field(
        "",
        max_length=1_000_000,
        title="System prompt",
        json_schema_extra={"zh": "系统提示词", "widget": "multiline", "when": {"mode": "chat"}},
    )
    temperature: float = Field(
        0.0, ge=0, le=2, title="Temperature", json_schema_extra={"zh": "温度", "widget": "slider", "step": 0.05}
    )
    top_p: float = Field(
        1.0, gt=0, le=1, title="Top-p", json_schema_extra={"zh": "Top-p", "widget": "slider", "step": 0.01}
    )
    top_k: int = Field(0, ge=0, le=1000, title="Top-k (0: all)", json_schema_extra={"zh": "Top-k（0：全部）"})
    min_p: float = Field(
        0.0, ge=0, le=1, title="Min-p", json_schema_extra={"zh": "Min-p", "widget": "slider", "step": 0.01}
    )
    repetition_penalty: float = Field(
        1.0,
        ge=1,
        le=2,
        title="Repetition penalty",
        json_schema_extra={"zh": "重复惩罚", "widget": "slider", "step": 0.05},
    )
    seed: int = Field(0, ge=0, le=2**53 - 1, title="Seed", json_schema_extra={"zh": "随机种子"})
    format: Literal["text", "json"] = Field(
        "text",
        title="Format",
        json_schema_extra={"zh": "格式", "options": {"text": ["Text", "文本"], "json": ["JSON", "JSON"]}},
    )
    json_schema: str = Field(
        SCHEMA,
        max_length=65_536,
        title="JSON Schema",
        json_schema_extra={"zh": "JSON 模式（Schema）", "widget": "multiline", "when": {"format": "json"}},
    )
    stop: list[Annotated[str, StringConstraints(max_length=256)]] = Field(
        [],
        max_length=8,
        title="Stop at",
        json_schema_extra={"zh": "停止符", "widget": "list", "escapes": True, "when": {"format": "text"}},
    )
    max_tokens: int = Field(
        128, ge=1, le=1_000_000, title="Most tokens", json_schema_extra={"zh": "最多词元", "unit": "tok"}
    )
    model: str = Field("smollm2-135m-instruct", title="Model", json_schema_extra={"zh": "模型", "widget": "model"})

    @field_validator("json_schema")
    @classmethod
    def _is_schema(cls, text: str) -> str:
        """Its form only: what the engine cannot keep of a schema it refuses when the node runs."""
        try:
            schema = json.loads(text, parse_constant=_no_number)
        except (ValueError, RecursionError) as error:
            said = error.msg if isinstance(error, json.JSONDecodeError) else str(error)
            at = f" (line {error.lineno})" if isinstance(error, json.JSONDecodeError) else ""
            raise PydanticCustomError("json_schema", "a JSON Schema: {said}{at}", {"said": said, "at": at}) from None
        if not isinstance(schema, dict):
            raise PydanticCustomError("json_schema", "a JSON Schema, which is an object")
        return text


def _no_number(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")


SPEC = Spec(
    name="llm.generate",
    version=1,
    effect=Effect.ANCHOR,
    label=Label("Generate", "生成"),
    group="model",
    glyph="generate",
    params=Generate,
    inputs=(Port("prompt", PortType.TEXT, Label("Prompt", "提示词")),),
    outputs=(
        Port("text", PortType.TEXT, Label("Text", "文本")),
        Port("usage", PortType.JSON, Label("Usage", "用量")),
    ),
    example=Example({"max_tokens": 4}, {"prompt": "Say hello."}, {}),
    help_zh="让语言模型接着提示词写下去。词元边生成边显示；步数和 KV 预算是硬性上限。",
    budget=Budget(steps=256, kv=16384, seconds=120),
)


def request(p: Generate, inputs: Values) -> ModelRequest:
    prompt: str = inputs["prompt"]
    chat = [Message("system", p.system)] if p.system else []
    return ModelRequest(
        model=p.model,
        messages=(*chat, Message("user", prompt)) if p.mode == "chat" else None,
        text=prompt if p.mode == "raw" else None,
        sampling=Sampling(p.temperature, p.top_p, p.seed, p.top_k, p.min_p, p.repetition_penalty),
        stop=tuple(s for s in p.stop if s) if p.format == "text" else (),
        max_tokens=p.max_tokens,
        grammar=Grammar("json_schema", p.json_schema) if p.format == "json" else None,
    )


def finish(p: Generate, result: ModelResult) -> Values:
    usage = {"prompt_tokens": result.prompt_tokens, "steps": result.steps, "finish": result.finish}
    return {"text": result.text, "usage": usage}
