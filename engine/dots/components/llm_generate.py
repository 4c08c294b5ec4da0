"""Asks the language model to continue a prompt.

Tokens appear as they are made; the step and KV budgets are hard limits.
"""

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from dots.spec import (
    Budget,
    Effect,
    Example,
    Label,
    Message,
    ModelRequest,
    ModelResult,
    Params,
    Port,
    PortType,
    Sampling,
    Spec,
    Values,
)


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
    stop: list[Annotated[str, StringConstraints(max_length=256)]] = Field(
        [], max_length=8, title="Stop at", json_schema_extra={"zh": "停止符", "widget": "list", "escapes": True}
    )
    max_tokens: int = Field(
        128, ge=1, le=1_000_000, title="Most tokens", json_schema_extra={"zh": "最多词元", "unit": "tok"}
    )
    model: str = Field("smollm2-135m-instruct", title="Model", json_schema_extra={"zh": "模型", "widget": "model"})


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
        stop=tuple(s for s in p.stop if s),
        max_tokens=p.max_tokens,
    )


def finish(p: Generate, result: ModelResult) -> Values:
    usage = {"prompt_tokens": result.prompt_tokens, "steps": result.steps, "finish": result.finish}
    return {"text": result.text, "usage": usage}
