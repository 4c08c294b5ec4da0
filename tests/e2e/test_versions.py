"""Versions as a person keeps them: saved with a message, compared, renamed, restored, taken home as files."""

import hashlib
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.conftest import Served
from tests.e2e.editor import Editor

pytestmark = pytest.mark.browser


def versions_of(editor: Editor) -> list[dict[str, Any]]:
    answer = editor.page.request.get(f"{editor.origin}/api/spaces/{editor.space}/versions")
    assert answer.ok
    return list(answer.json())


def save(page: Page, message: str, number: int) -> None:
    page.get_by_test_id("save-message").fill(message)
    page.get_by_test_id("save-message").press("Enter")
    expect(page.get_by_test_id(f"version-{number}")).to_contain_text(message)


def test_a_first_version_is_compared_with_the_second_and_comes_back_byte_for_byte(
    page: Page, served: Served, tmp_path: Path
) -> None:
    editor = Editor.open_new(page, served.origin)
    template = editor.add("text.template", 380, 200)
    output = editor.add("flow.output", 800, 200)
    editor.type(template, "template", "Answer politely and in full, at most 150 words.")
    editor.connect(template, "text", output, "value")
    first = editor.igb()
    page.get_by_test_id("room-versions").click()
    save(page, "Begin", 1)

    page.get_by_test_id("room-graph").click()
    editor.type(template, "template", "Answer in plain words, at most 120 words.")
    clean = editor.add("text.clean", 380, 420)
    editor.select(output)
    page.keyboard.press("Shift+ArrowDown")
    page.get_by_test_id("room-versions").click()
    save(page, "Shorter answers", 2)
    expect(page.get_by_test_id("version-2")).to_contain_text("+1")

    page.get_by_test_id("version-pick-2").click()
    compared = page.get_by_test_id("compare")
    marks = {node: compared.get_by_test_id(f"node-{node}") for node in (template, output, clean)}
    expect(marks[template].get_by_test_id("mark")).to_have_text("~ 1 field")
    expect(marks[clean].get_by_test_id("mark")).to_have_text("+ added")
    expect(marks[output].get_by_test_id("mark")).to_have_text("↦ moved")
    page.get_by_test_id(f"changed-{template}").click()
    change = page.get_by_test_id("node-changes")
    expect(change.locator("del")).to_have_text(["politely and ", "full", "150"])
    expect(change.locator("ins")).to_have_text(["plain words", "120"])
    expect(page.get_by_test_id("patch")).to_contain_text(f"node+ {clean} text.clean@1")
    page.keyboard.press("Delete")
    assert template in editor.nodes()

    page.get_by_test_id("version-pick-1").click()
    with page.expect_download() as given:
        page.get_by_test_id("download-igb").click()
    assert given.value.suggested_filename == "Test v1.igb"
    given.value.save_as(tmp_path / "first.igb")
    assert (tmp_path / "first.igb").read_bytes() == first

    page.get_by_test_id("rename-version").click()
    page.get_by_test_id("version-message").fill("The first one")
    page.get_by_test_id("version-message").press("Enter")
    expect(page.get_by_test_id("version-1")).to_contain_text("The first one")

    page.get_by_test_id("restore").click()
    expect(page.get_by_test_id("version-3")).to_contain_text("Restore v1")
    assert editor.igb() == first
    assert versions_of(editor)[0]["file"] == hashlib.sha256(first).hexdigest()
    expect(page.get_by_test_id("version-state")).to_have_text("saved")
    page.get_by_test_id("undo").click()
    expect(editor.card(clean)).to_be_visible()
    expect(page.get_by_test_id("version-state")).to_have_text("unsaved changes")

    page.get_by_test_id("version-pick-3").click()
    page.get_by_test_id("restore").click()
    page.get_by_test_id("confirm-restore").click()
    expect(page.get_by_test_id("version-state")).to_have_text("saved")
    assert (editor.igb(), len(versions_of(editor))) == (first, 3)


def test_a_space_that_was_only_looked_at_makes_no_version_and_asks_nothing(page: Page, served: Served) -> None:
    editor = Editor.open_new(page, served.origin, "summary")
    asked: list[str] = []
    page.on("dialog", lambda dialog: (asked.append(dialog.type), dialog.accept()))
    page.get_by_test_id("room-versions").click()
    page.get_by_test_id("version-pick-draft").click()
    expect(page.get_by_test_id("compare")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_test_id("compare")).to_have_count(0)
    page.goto(f"{served.origin}/?list")
    expect(page.get_by_test_id(f"space-{editor.space}")).to_be_visible()
    assert (versions_of(editor), asked) == ([], [])
    assert [frame for frame in editor.sent if frame["type"] in ("push", "save")] == []
