"""Open conflicts of a merge, from the command line to a graph that runs: shown, chosen, undone, edited, seen by all."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from igc import igb
from igc.graph import CONFLICTS
from tests.e2e.cable import Cable
from tests.e2e.conftest import Served
from tests.e2e.editor import Editor
from tests.igc.build import graph, nid, node

pytestmark = pytest.mark.browser

LETTER, ASK, REPLY = (nid(name) for name in ("letter", "ask", "reply"))
BASE = "Answer politely and in full sentences: {text}"
OURS = "Answer warmly and in full sentences: {text}"
THEIRS = "Answer politely and in short sentences: {text}"


def side(template: str, name: str, text: str) -> bytes:
    made = graph(
        node("letter", "text.input", {"text": text}),
        node("ask", "text.template", {"template": template}),
        node("reply", "flow.output"),
        edges=("letter.text > ask.text", "ask.text > reply.value"),
        positions={"letter": (0, 0), "ask": (280, 0), "reply": (560, 0)},
        labels={"letter": "Letter", "ask": "Ask", "reply": name},
    )
    return igb.write(made)


@pytest.fixture
def merged(tmp_path: Path) -> Path:
    """A file with three conflicts, as `igc merge` writes it."""
    sides = {
        "base": side(BASE, "Reply", "Hello"),
        "ours": side(OURS, "Answer", "Good day"),
        "theirs": side(THEIRS, "Result", "Good evening"),
    }
    for name, data in sides.items():
        (tmp_path / f"{name}.igb").write_bytes(data)
    out = tmp_path / "letters.igb"
    files = [str(tmp_path / f"{name}.igb") for name in sides]
    done = subprocess.run(
        [sys.executable, "-m", "igc.cli", "merge", *files, "-o", str(out)], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout.count("conflict ")) == (1, 3), done.stderr
    return out


def imported(page: Page, served: Served, path: Path) -> Editor:
    page.goto(f"{served.origin}/?list")
    page.locator("input[type=file]").set_input_files(path)
    page.wait_for_url("**/spaces/*")
    return Editor.open(page, served.origin, page.url.rsplit("/", 1)[1])


def held(editor: Editor) -> list[Any]:
    found = igb.read(editor.igb()).extra.get(CONFLICTS, [])
    assert isinstance(found, list)
    return found


def test_a_conflicted_file_is_settled_choice_by_choice_until_it_runs(page: Page, served: Served, merged: Path) -> None:
    editor = imported(page, served, merged)
    tab = page.get_by_test_id("room-conflicts")
    expect(tab).to_have_text("3 conflicts")
    expect(editor.card(ASK).get_by_test_id("conflict-tag")).to_have_text("1 conflict")
    assert editor.igb() == merged.read_bytes()

    editor.run()
    expect(page.get_by_test_id("run-notice")).to_have_text("Run waits: 3 open conflicts")
    heads = [page.get_by_test_id(f"conflict-{at}") for at in range(3)]
    expect(heads[0]).to_be_focused()
    assert [frame for frame in editor.sent if frame["type"] == "run"] == []

    # By keyboard to the prompt, which is read word by word; theirs of it is one edit.
    expect(heads[0]).to_have_text("Answer Name both changed it")
    page.keyboard.press("ArrowDown")
    expect(heads[1]).to_be_focused()
    page.keyboard.press("ArrowUp")
    page.keyboard.press("End")
    expect(heads[2]).to_be_focused()
    while "Template" not in (page.locator(".conflict-head:focus").text_content() or ""):
        page.keyboard.press("F8")
    ours, theirs = page.get_by_test_id("side-ours"), page.get_by_test_id("side-theirs")
    expect(ours.locator("del")).to_have_text(["politely"])
    expect(ours.locator("ins")).to_have_text(["warmly"])
    expect(theirs.locator("ins")).to_have_text(["short"])
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    expect(page.get_by_test_id("choose-theirs")).to_be_focused()
    page.keyboard.press("Enter")
    expect(tab).to_have_text("2 conflicts")
    expect(page.locator(".conflict-head:focus")).to_have_count(1)
    taken = editor.igb()
    assert igb.read(taken).nodes[ASK].params["template"] == THEIRS
    assert [op[0] for op in editor.sent[-1]["ops"]] == ["set", "extra"]

    page.get_by_test_id("undo").click()
    expect(tab).to_have_text("3 conflicts")
    assert editor.igb() == merged.read_bytes()
    page.get_by_test_id("redo").click()
    expect(tab).to_have_text("2 conflicts")
    assert editor.igb() == taken

    # Ours of the name; another person sees what is left.
    other = Editor.open(page.context.new_page(), served.origin, editor.space)
    expect(other.page.get_by_test_id("room-conflicts")).to_have_text("2 conflicts")
    page.locator(".conflict-head", has_text="Name").click()
    page.get_by_test_id("choose-ours").click()
    expect(tab).to_have_text("1 conflict")
    expect(other.page.get_by_test_id("room-conflicts")).to_have_text("1 conflict")
    assert igb.read(editor.igb()).labels[REPLY] == "Answer"

    # Neither of the text: it is edited where it always is, and marked as settled.
    page.get_by_test_id("edit-value").click()
    expect(page.get_by_test_id("field-text")).to_be_focused()
    page.get_by_test_id("field-text").fill("Good night")
    expect(page.get_by_test_id("side-now")).to_contain_text("Good night")
    page.get_by_test_id("choose-now").click()
    expect(tab).to_have_count(0)
    expect(page.get_by_test_id("conflicts")).to_contain_text("No open conflicts")
    expect(page.get_by_test_id("leave-conflicts")).to_be_focused()
    expect(other.page.get_by_test_id("room-conflicts")).to_have_count(0)
    other.page.close()
    page.keyboard.press("Enter")
    expect(page.get_by_test_id("palette-text.input")).to_be_visible()
    assert CONFLICTS not in igb.read(editor.igb()).extra
    editor.run()
    editor.wait_for(REPLY, "done")
    expect(editor.text(REPLY)).to_have_text(THEIRS.format(text="Good night"))


def test_theirs_that_no_longer_fits_says_why_and_a_strange_entry_can_be_removed(
    page: Page, served: Served, merged: Path
) -> None:
    found = igb.read(merged.read_bytes())
    entries = found.extra[CONFLICTS]
    assert isinstance(entries, list)
    strange: list[Any] = [*entries, {"from": "elsewhere", "what": [1, "<img src=x>"]}]
    merged.write_bytes(igb.write(replace(found, extra={CONFLICTS: strange})))
    editor = imported(page, served, merged)
    editor.select(ASK)
    page.get_by_test_id("node-delete").click()
    page.get_by_test_id("room-conflicts").click()
    page.locator(".conflict-head", has_text=ASK).click()
    page.get_by_test_id("choose-theirs").click()
    expect(page.get_by_test_id("refused-choice")).to_contain_text("is not there")
    assert held(editor) == strange
    page.get_by_test_id("conflict-3").click()
    expect(page.get_by_test_id("conflicts")).to_contain_text('{"from": "elsewhere", "what": [1, "<img src=x>"]}')
    page.get_by_test_id("remove-entry").click()
    expect(page.get_by_test_id("room-conflicts")).to_have_text("3 conflicts")
    assert held(editor) == entries
    page.get_by_test_id("undo").click()
    page.get_by_test_id("undo").click()
    assert editor.igb() == merged.read_bytes()


def test_two_people_settle_at_once_and_undo_brings_back_only_ones_own(page: Page, served: Served, merged: Path) -> None:
    one = imported(page, served, merged)
    cable = Cable(tab := page.context.new_page())
    two = Editor.open(tab, served.origin, one.space)
    expect(tab.get_by_test_id("room-conflicts")).to_be_visible()
    cable.held = True
    settle(one, "Template")
    assert len(held(one)) == 2
    settle(two, "Text")
    cable.release()
    for editor in (one, two):
        expect(editor.page.get_by_test_id("room-conflicts")).to_have_text("1 conflict")
        expect(editor.page.get_by_test_id("refusal")).to_have_count(0)
    assert [entry["key"] for entry in held(two)] == [["label", REPLY]]
    assert one.igb() == two.igb()

    page.bring_to_front()
    page.get_by_test_id("undo").click()
    expect(two.page.get_by_test_id("room-conflicts")).to_have_text("2 conflicts")
    nodes = igb.read(two.igb()).nodes
    assert [nodes[ASK].params["template"], nodes[LETTER].params["text"]] == [OURS, "Good evening"]
    page.get_by_test_id("redo").click()
    expect(two.page.get_by_test_id("room-conflicts")).to_have_text("1 conflict")
    assert one.igb() == two.igb()
    expect(page.get_by_test_id("refusal")).to_have_count(0)


def settle(editor: Editor, field: str) -> None:
    """Theirs of the conflict about a field."""
    editor.page.bring_to_front()
    editor.page.get_by_test_id("room-conflicts").click()
    head = editor.page.locator(".conflict-head", has_text=field)
    if head.get_attribute("aria-expanded") != "true":
        head.click()
    editor.page.get_by_test_id("choose-theirs").click()
