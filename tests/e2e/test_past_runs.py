"""Runs have a history: after a reload the newest is on the canvas, and an earlier one can be looked at again."""

from itertools import pairwise

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.conftest import Served
from tests.e2e.editor import CARDS, Editor

pytestmark = pytest.mark.browser


def test_an_earlier_run_is_shown_again_and_left_with_escape(page: Page, editor: Editor) -> None:
    text, clean = editor.add("text.input", 300, 160), editor.add("text.clean", 620, 160)
    output = editor.add("flow.output", 900, 200)
    editor.connect(text, "text", clean, "text")
    editor.connect(clean, "text", output, "value")
    for words in ("first words", "second words"):
        editor.type(text, "text", words)
        editor.igb()
        editor.run()
        editor.wait_for(output, "done")
        expect(editor.card(output)).to_contain_text(words)

    page.reload()
    expect(editor.card(output)).to_contain_text("second words")
    expect(editor.card(output)).to_have_attribute("data-status", "done")
    expect(page.get_by_test_id("run")).to_be_visible()
    page.get_by_test_id("drawer-toggle").click()
    rows = page.get_by_test_id("runs").get_by_role("button")
    expect(rows).to_have_count(2)
    expect(rows.first).to_have_attribute("aria-current", "true")

    rows.nth(1).click()
    expect(page.get_by_test_id("past-run")).to_contain_text("Run of ")
    expect(editor.card(output)).to_contain_text("first words")
    expect(rows.nth(1)).to_have_attribute("aria-current", "true")
    page.keyboard.press("Escape")
    expect(page.get_by_test_id("past-run")).to_have_count(0)
    expect(editor.card(output)).to_contain_text("second words")

    rows.nth(1).click()
    expect(editor.card(output)).to_contain_text("first words")
    page.get_by_test_id("language").click()
    expect(page.get_by_test_id("past-run")).to_contain_text("的运行")
    editor.run()
    expect(page.get_by_test_id("past-run")).to_have_count(0)
    editor.wait_for(output, "done")
    expect(editor.card(output)).to_contain_text("second words")
    expect(rows).to_have_count(3)


@pytest.mark.model
def test_a_run_that_failed_says_why_in_the_words_of_its_node(page: Page, served: Served) -> None:
    editor = Editor.open_new(page, served.origin, "summary")
    expect(page.locator(CARDS)).to_have_count(5)
    model = next(node for node in editor.nodes() if editor.card(node).get_by_text("steps").count())
    editor.select(model)
    page.get_by_test_id("field-budget-steps").fill("4")
    page.get_by_test_id("field-budget-steps").press("Enter")
    editor.run()
    editor.wait_for(model, "over")

    page.get_by_test_id("drawer-toggle").click()
    expect(page.get_by_test_id("run-reason")).to_have_text("Why it ended: Generate · Stopped at 4 steps. 4 tok kept.")
    page.get_by_test_id("tab-problems").click()
    places = "parts => parts.map((part) => [part.getBoundingClientRect().x, part.scrollWidth])"
    parts = page.get_by_test_id("problem").locator("> *").evaluate_all(places)
    assert all(x + width <= after for (x, width), (after, _) in pairwise(parts)), "each in its column"
