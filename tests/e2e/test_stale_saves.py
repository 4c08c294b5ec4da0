"""Two tabs save, one of them without having seen the other's version: it is shown both sides, and nothing is lost."""

import hashlib
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from igc import igb, patch
from tests.e2e.cable import Cable
from tests.e2e.conftest import Served
from tests.e2e.editor import CARDS, Editor

pytestmark = pytest.mark.browser


def second_tab(first: Editor) -> tuple[Editor, Cable]:
    page = first.page.context.new_page()
    cable = Cable(page)
    tab = Editor.open(page, first.origin, first.space)
    expect(page.locator(CARDS)).to_have_count(len(first.nodes()))
    return tab, cable


def param(editor: Editor, node: str, name: str) -> Any:
    answer = editor.page.request.get(f"{editor.origin}/api/spaces/{editor.space}/graph.igb")
    return igb.read(answer.body()).nodes[node].params.get(name)


def change(editor: Editor, node: str, name: str, text: str, arrives: bool = True) -> None:
    """Without its answers a tab has one push on its way, and the rest waits: then not all of the edit arrives yet."""
    editor.page.bring_to_front()
    editor.type(node, name, text)
    for _ in range(200 if arrives else 0):
        if param(editor, node, name) == text:
            return
    assert not arrives, "the edit never came to the server"


def save(editor: Editor, message: str) -> None:
    """With a message, as under Versions."""
    editor.page.bring_to_front()
    editor.page.get_by_test_id("room-versions").click()
    editor.page.get_by_test_id("save-message").fill(message)
    editor.page.get_by_test_id("save-message").press("Enter")


def saved(editor: Editor, number: int) -> None:
    expect(editor.page.locator(".version b")).to_have_text(f"v{number}")
    expect(editor.page.get_by_test_id("version-state")).to_have_text("saved")


def files(editor: Editor) -> list[bytes]:
    """The graphs of all versions, newest first."""
    request = editor.page.request
    rows = request.get(f"{editor.origin}/api/spaces/{editor.space}/versions").json()
    found = [request.get(f"{editor.origin}/api/files/{row['file']}").body() for row in rows]
    assert [hashlib.sha256(data).hexdigest() for data in found] == [row["file"] for row in rows]
    return found


def with_params(data: bytes, node: str, **params: str) -> bytes:
    graph = igb.read(data)
    for name, value in params.items():
        old = [graph.nodes[node].params[name]] if name in graph.nodes[node].params else []
        graph, _ = patch.apply_op(graph, patch.op_from_value(["set", [node, name], old, [value]]))
    return igb.write(graph)


def fields(side: Locator) -> list[str]:
    return side.locator(".field-changes dt").all_inner_texts()


def test_two_tabs_change_different_fields_and_the_later_save_has_both_byte_for_byte(page: Page, served: Served) -> None:
    one = Editor.open_new(page, served.origin)
    node = one.add("text.input", 420, 220)
    save(one, "Begin")
    saved(one, 1)
    page.get_by_test_id("room-graph").click()
    two, cable = second_tab(one)

    cable.held = True
    change(one, node, "text", "Which way is north?")
    save(one, "A question")
    saved(one, 2)
    change(two, node, "name", "question", arrives=False)
    save(two, "A name")
    cable.release()

    tab = two.page
    asked = tab.get_by_test_id("stale")
    expect(asked.get_by_role("heading", level=2)).to_have_text("v2 was saved before yours")
    expect(asked.get_by_test_id("since-2")).to_contain_text("A question")
    expect(asked.get_by_test_id("stale-adds").locator("ins")).to_have_text("question")
    assert fields(asked.get_by_test_id("stale-came")) == ["Text"]
    assert fields(asked.get_by_test_id("stale-adds")) == ["Name"]
    expect(asked.get_by_test_id("stale-both")).to_have_count(0)
    expect(tab.get_by_test_id("refusal")).to_have_count(0)
    assert len(files(two)) == 2

    expect(tab.get_by_test_id("stale-not-now")).to_be_focused()
    for _ in range(8):  # round and round, never out
        tab.keyboard.press("Tab")
        assert asked.evaluate("place => place.contains(document.activeElement)")
    tab.get_by_test_id("stale-message").focus()
    expect(tab.get_by_test_id("stale-message")).to_have_value("A name")
    tab.keyboard.press("Tab")
    tab.keyboard.press("Tab")
    tab.keyboard.press("Enter")
    expect(asked).to_have_count(0)
    saved(two, 3)
    saved(one, 3)
    expect(tab.get_by_test_id("version-3")).to_contain_text("A name")
    expect(tab.get_by_test_id("save-message")).to_have_value("")
    third, second, first = files(two)
    assert second == with_params(first, node, text="Which way is north?")
    assert third == with_params(second, node, name="question") == one.igb() == two.igb()


def test_the_first_saves_of_a_new_graph_in_two_tabs_lose_nothing(page: Page, served: Served) -> None:
    one = Editor.open_new(page, served.origin)
    node = one.add("text.input", 420, 220)
    change(one, node, "text", "first")
    two, cable = second_tab(one)

    cable.held = True
    save(one, "One")
    saved(one, 1)
    change(two, node, "name", "second", arrives=False)
    save(two, "Two")
    cable.release()

    tab = two.page
    asked = tab.get_by_test_id("stale")
    expect(asked.get_by_role("heading", level=2)).to_have_text("v1 was saved before yours")
    tab.get_by_test_id("stale-message").click()
    tab.keyboard.press("Escape")
    expect(asked).to_have_count(0)
    expect(tab.get_by_test_id("save-message")).to_have_value("Two")
    expect(tab.get_by_test_id("version-state")).to_have_text("unsaved changes")
    (first,) = files(two)
    assert two.igb() == with_params(first, node, name="second")

    tab.get_by_test_id("save-message").press("Enter")
    saved(two, 2)
    assert files(two) == [two.igb(), first]


def test_a_save_asked_for_offline_names_what_both_wrote_and_who_wrote_last(page: Page, served: Served) -> None:
    one = Editor.open_new(page, served.origin)
    node = one.add("text.input", 420, 220)
    save(one, "Begin")
    saved(one, 1)
    page.get_by_test_id("room-graph").click()
    two, cable = second_tab(one)

    change(two, node, "name", "mine")
    cable.pull()
    expect(two.page.get_by_test_id("link")).to_have_text("Kept on this machine")
    change(two, node, "text", "written offline", arrives=False)
    save(two, "Offline")
    change(one, node, "text", "written meanwhile")
    save(one, "Meanwhile")
    saved(one, 2)
    cable.out = False
    two.page.bring_to_front()

    asked = two.page.get_by_test_id("stale")
    both = asked.get_by_test_id("stale-both")
    expect(both).to_contain_text("You wrote last: yours stands.", timeout=15_000)
    expect(both.locator("del")).to_have_text("written meanwhile")
    expect(both.locator("ins")).to_have_text("written offline")
    assert fields(asked.get_by_test_id("stale-came")) == ["Name · yours", "Text"]
    two.page.get_by_test_id("stale-on-top").click()
    saved(two, 3)
    newest, before, _ = files(two)
    assert newest == with_params(before, node, text="written offline")
    assert igb.read(newest).nodes[node].params == {"text": "written offline", "name": "mine"}
