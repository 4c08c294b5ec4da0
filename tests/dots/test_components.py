"""Every component of the catalogue: its worked example, its labels, its form, and what it does with odd input."""

import json
import subprocess
import sys
from dataclasses import asdict, replace
from types import ModuleType

import pytest
from pydantic import ValidationError

from dots import components
from dots.components import BadComponent, Component, catalogue, load
from dots.request import Grammar, ModelResult, Sampling
from dots.spec import Effect

ALL = catalogue()
PURE = (Effect.PURE, Effect.TEMPLATE, Effect.REDUCE)


def run(name: str, params: dict[str, object], **inputs: object) -> object:
    component = ALL[name]
    return component.module.run(component.spec.params.model_validate(params), inputs)


@pytest.mark.parametrize("component", [c for c in ALL.values() if c.spec.effect in PURE], ids=lambda c: c.spec.name)
def test_the_worked_example_holds(component: Component) -> None:
    spec = component.spec
    assert (
        component.module.run(spec.params.model_validate(spec.example.params), spec.example.inputs)
        == spec.example.outputs
    )


@pytest.mark.parametrize("component", ALL.values(), ids=lambda c: c.spec.name)
def test_a_component_speaks_both_languages_and_has_a_form(component: Component) -> None:
    spec = component.spec
    labels = [spec.label, *(port.label for port in (*spec.inputs, *spec.outputs))]
    assert all(label.en and label.zh for label in labels)
    assert component.help and spec.help_zh
    for name, field in component.schema["properties"].items():
        assert field.get("title") and field.get("zh"), f"{spec.name}.{name} lacks a title in one language"
        assert "default" in field, f"{spec.name}.{name} needs a default: a dropped component must run"
    spec.params()


def test_a_module_that_lacks_a_part_is_refused_by_name() -> None:
    module = ModuleType("broken", "Says nothing.")
    with pytest.raises(BadComponent, match="broken: expected SPEC"):
        load(module)
    module.SPEC = ALL["llm.generate"].spec  # type: ignore[attr-defined]
    module.request = lambda p, inputs: None  # type: ignore[attr-defined]
    spec = replace(ALL["text.clean"].spec, group="sound")
    module.SPEC = spec
    with pytest.raises(BadComponent, match="expected a group of io, text, model, flow, got 'sound'"):
        load(module)
    module.SPEC = ALL["llm.generate"].spec
    with pytest.raises(BadComponent, match=r"broken: a anchor component needs the function finish\(\)"):
        load(module)


def test_the_catalogue_digest_names_version_and_schema() -> None:
    code = "from dots import components as c; print(c.digest(c.catalogue(), {'text.clean', 'llm.generate'}).hex())"
    outs = {
        subprocess.run(
            [sys.executable, "-c", code], env={"PYTHONHASHSEED": seed}, capture_output=True, text=True, check=True
        ).stdout
        for seed in ("0", "1", "77")
    }
    assert len(outs) == 1
    assert components.digest(ALL, {"text.clean"}) != components.digest(ALL, {"text.input"})


def test_generate_asks_for_a_chat_or_the_raw_text() -> None:
    spec, module = ALL["llm.generate"].spec, ALL["llm.generate"].module
    chat = module.request(spec.params.model_validate({"system": "Be brief."}), {"prompt": "Hi"})
    assert [(m.role, m.text) for m in chat.messages] == [("system", "Be brief."), ("user", "Hi")] and chat.text is None
    raw = module.request(spec.params.model_validate({"mode": "raw", "stop": ["", "\n"]}), {"prompt": "Hi"})
    assert raw.messages is None and raw.text == "Hi" and raw.stop == ("\n",)


def test_generate_hands_on_every_number_of_the_sampling() -> None:
    spec, module = ALL["llm.generate"].spec, ALL["llm.generate"].module
    numbers = {"temperature": 0.5, "top_p": 0.9, "seed": 3, "top_k": 40, "min_p": 0.05, "repetition_penalty": 1.25}
    asked = module.request(spec.params.model_validate(numbers), {"prompt": "Hi"})
    assert asdict(asked.sampling) == numbers
    assert module.request(spec.params(), {"prompt": "Hi"}).sampling == Sampling()


@pytest.mark.parametrize(
    "wrong", [{"top_k": 1001}, {"top_k": -1}, {"min_p": 1.5}, {"repetition_penalty": 0.9}, {"repetition_penalty": 2.5}]
)
def test_a_number_outside_its_range_is_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(ValidationError):
        ALL["llm.generate"].spec.params.model_validate(wrong)


def test_generate_asks_for_json_by_its_schema_and_then_for_no_stop_strings() -> None:
    spec, module = ALL["llm.generate"].spec, ALL["llm.generate"].module
    given = {"stop": ["x"], "json_schema": '{"type": "integer"}'}
    text = module.request(spec.params.model_validate(given), {"prompt": "Hi"})
    assert (text.grammar, text.stop) == (None, ("x",))
    made = module.request(spec.params.model_validate({"format": "json", **given}), {"prompt": "Hi"})
    assert (made.grammar, made.stop) == (Grammar("json_schema", '{"type": "integer"}'), ())
    assert json.loads(spec.params().json_schema)["type"] == "object"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "a JSON Schema: Expecting value (line 1)"),
        ('{\n"type": ]', "a JSON Schema: Expecting value (line 2)"),
        ("[]", "a JSON Schema, which is an object"),
        ('{"minimum": Infinity}', "a JSON Schema: Infinity is no JSON"),
        ('{"items":' * 20_000 + "}" * 20_000, "String should have at most 65536 characters"),
        ("[" * 60_000, "a JSON Schema: "),
        ('{"minimum": ' + "9" * 5_000 + "}", "a JSON Schema: "),
    ],
)
def test_a_text_that_is_no_schema_is_told_at_its_field(text: str, says: str) -> None:
    with pytest.raises(ValidationError) as caught:
        ALL["llm.generate"].spec.params.model_validate({"json_schema": text})
    (error,) = caught.value.errors(include_url=False)
    assert error["loc"] == ("json_schema",)
    assert error["msg"].startswith(says)


def test_generate_reports_its_usage() -> None:
    spec, module = ALL["llm.generate"].spec, ALL["llm.generate"].module
    out = module.finish(spec.params(), ModelResult("Hello", 5, 2, "end"))
    assert out == {"text": "Hello", "usage": {"prompt_tokens": 5, "steps": 2, "finish": "end"}}


@pytest.mark.parametrize(
    ("dirty", "clean"),
    [
        ("a &lt;b&gt; c", "a <b> c"),
        ("<script>alert(1)</script>kept<style>p{}</style>", "kept"),
        ("one<br>two<p>three</p>", "one\ntwo\nthree"),
        ("e\u0301", "é"),
        ("a\u202eb\u200bc\x00d", "abcd"),
        ("  a \t b\r\n\r\n\r\n\r\nc  ", "a b\n\nc"),
        ("3 < 4 and 5 > 4", "3 < 4 and 5 > 4"),
        ("<b>unclosed", "unclosed"),
        ("a <b unclosed", "a <b unclosed"),
        ("<!-- gone -->kept<!-- open", "kept<!-- open"),
        ("<a title=\"a > b\" href='x'>link</a>", "link"),
        ("<p title=it's>one</p><p>it's two</p>", "one\n\nit's two"),
        ("<SCRIPT>if (a<b) 'x'</SCRIPT >kept", "kept"),
        ("<!DOCTYPE html><?xml version='1'?>kept", "kept"),
        ("&lt;b&gt;&amp;amp;", "<b>&amp;"),
        ("你好，<b>世界</b>", "你好，世界"),
        ("", ""),
    ],
)
def test_cleaning_keeps_what_a_reader_would_see(dirty: str, clean: str) -> None:
    assert run("text.clean", {}, text=dirty) == {"text": clean}


def test_each_cleaning_step_can_be_left_out() -> None:
    off = {"html": False, "control": False, "normal": False, "space": False}
    text = " <b>e\u0301\x07</b>  "
    assert run("text.clean", off, text=text) == {"text": text}


HOSTILE = ["<", "<!--", "<!", "<?", "</", "<a ", "<a b='", '<a b="', "<a<", "<script>", "&", "&#", " \n", "='"]


@pytest.mark.parametrize("unit", HOSTILE)
def test_half_a_megabyte_of_unclosed_marks_is_one_pass(unit: str) -> None:
    """What is never closed is text; a parser that starts again at each mark would need hours for this."""
    text = unit * (500_000 // len(unit))
    assert run("text.clean", {}, text=text) == {"text": "" if unit == "<script>" else text.strip()}


def test_a_template_shows_values_as_compact_json() -> None:
    assert run("text.template", {"template": "{a}|{b}|{a}"}, a={"k": [1, "é"]}, b=True) == {
        "text": '{"k":[1,"é"]}|true|{"k":[1,"é"]}'
    }


def test_the_catalogue_is_json_for_the_palette() -> None:
    assert json.loads(json.dumps({name: c.schema for name, c in ALL.items()}))
