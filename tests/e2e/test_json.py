"""An answer in JSON by a schema that a person writes: the form, the mistake at its field, and a run that keeps it."""

import json

import pytest
from playwright.sync_api import expect

from tests.e2e.editor import Editor

pytestmark = [pytest.mark.browser, pytest.mark.model]

SCHEMA = {
    "type": "object",
    "properties": {"mood": {"enum": ["好", "bad"]}, "stars": {"type": "integer", "minimum": 1, "maximum": 5}},
    "required": ["mood", "stars"],
    "additionalProperties": False,
}


def test_a_person_asks_for_json_and_a_broken_schema_is_told_at_its_field(editor: Editor) -> None:
    prompt, model = editor.add("text.input", 330, 200), editor.add("llm.generate", 620, 300)
    output = editor.add("flow.output", 930, 260)
    editor.connect(prompt, "text", model, "prompt")
    editor.connect(model, "text", output, "value")
    editor.type(prompt, "text", "Judge this: the kettle stopped after a week.")
    editor.select(model)
    field, stop = editor.page.get_by_test_id("field-json_schema"), editor.page.get_by_test_id("field-stop")
    expect(field).to_have_count(0)
    editor.page.get_by_test_id("field-format").select_option("json")
    expect(field).to_be_visible()
    expect(stop).to_have_count(0)  # JSON ends where it ends

    editor.page.get_by_test_id("field-json_schema").fill('{"type": ')
    problem = editor.page.locator(".field.is-wide .field-problem, .field .field-problem")
    expect(problem).to_contain_text("a JSON Schema")
    field.fill(json.dumps(SCHEMA, ensure_ascii=False))
    expect(problem).to_have_count(0)

    editor.run()
    editor.wait_for(model, "done")
    said = json.loads(editor.text(model).inner_text())
    assert (sorted(said), said["mood"] in ("好", "bad"), 1 <= said["stars"] <= 5) == (["mood", "stars"], True, True)
