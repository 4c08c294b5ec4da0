"""Gestures that people make by mistake: drags let go, keys held down, the same button twice."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.cable import Cable
from tests.e2e.conftest import Served
from tests.e2e.editor import CARDS, Editor, middle

pytestmark = pytest.mark.browser


def carry(page: Page, *way: tuple[float, float]) -> None:
    """Press at the first place and move along the others, without letting go."""
    page.mouse.move(*way[0])
    page.mouse.down()
    for place in way[1:]:
        page.mouse.move(*place, steps=4)


def test_escape_lets_a_drag_go_as_if_it_had_not_been(editor: Editor) -> None:
    page = editor.page
    clean = editor.add("text.clean", 400, 250)
    output = editor.add("flow.output", 800, 300)
    before = editor.igb()
    header = middle(editor.card(clean).locator("header"))

    carry(page, header, (header[0] + 80, header[1] + 120))
    page.keyboard.press("Escape")
    page.mouse.move(header[0] + 120, header[1] + 160)
    page.mouse.up()
    editor.comes_to_rest(editor.card(clean).locator("header"), header)

    value = middle(editor.port(output, "in", "value"))
    carry(page, middle(editor.port(clean, "out", "text")), (700, 400), value)
    page.keyboard.press("Escape")
    expect(page.locator(".react-flow__connection")).to_have_count(0)
    page.mouse.up()
    assert editor.igb() == before

    editor.connect(clean, "text", output, "value")
    connected = editor.igb()
    carry(page, value, (700, 500))
    page.keyboard.press("Escape")
    page.mouse.up()
    assert editor.igb() == connected
    assert page.get_by_test_id("quick-add").count() == 0


def test_the_first_card_stays_where_it_was_dropped(editor: Editor) -> None:
    node = editor.add("text.input", 400, 250)
    box = editor.card(node).bounding_box()
    assert box
    assert abs(box["x"] - 400) < 40
    assert abs(box["y"] - 250) < 40


def test_a_graph_is_in_sight_when_it_is_opened(page: Page, editor: Editor) -> None:
    node = editor.add("text.input", 400, 250)
    x, y = middle(editor.card(node).locator("header"))
    editor.drag((x, y), (1000, 700))
    editor.igb()
    page.mouse.move(700, 400)
    page.mouse.wheel(-900, -900)
    page.reload()
    expect(page.locator(CARDS)).to_have_count(1)
    expect(editor.card(node)).to_be_in_viewport(ratio=1)


def test_a_double_click_or_a_held_key_starts_one_run_and_does_not_stop_it(editor: Editor) -> None:
    page = editor.page
    text, clean = editor.add("text.input", 300, 200), editor.add("text.clean", 620, 200)
    output = editor.add("flow.output", 900, 300)
    editor.connect(text, "text", clean, "text")
    editor.connect(clean, "text", output, "value")
    editor.igb()
    page.get_by_test_id("run").dblclick()
    editor.wait_for(output, "done")
    page.keyboard.down("Control")
    page.keyboard.down("Enter")
    page.keyboard.down("Enter")
    page.keyboard.up("Enter")
    page.keyboard.up("Control")
    editor.wait_for(output, "done")
    assert [frame["type"] for frame in editor.sent].count("run") == 2
    assert "cancel" not in [frame["type"] for frame in editor.sent]


def test_the_end_of_a_wire_is_picked_up_at_its_input(editor: Editor) -> None:
    source = editor.add("text.input", 330, 200)
    first, second = editor.add("text.clean", 760, 160), editor.add("text.clean", 760, 460)
    editor.connect(source, "text", first, "text")
    edges = editor.page.locator(".react-flow__edge")

    place = middle(editor.port(first, "in", "text"))
    editor.page.mouse.click(*place)
    expect(edges).to_have_count(1)  # a click moves nothing

    editor.drag(place, middle(editor.port(second, "in", "text")))
    expect(edges).to_have_count(1)
    assert second in str(edges.first.get_attribute("data-id")), "the same wire, at its new place"

    editor.drag(middle(editor.port(second, "in", "text")), (560, 620))
    expect(edges).to_have_count(0)  # let go over nothing, it is gone, and no menu asks for more
    expect(editor.page.locator(".quick-add")).to_have_count(0)
    editor.page.get_by_test_id("undo").click()
    editor.page.get_by_test_id("undo").click()
    expect(edges).to_have_count(1)
    assert first in str(edges.first.get_attribute("data-id"))


def test_a_component_added_by_key_never_hides_anothers_name(editor: Editor) -> None:
    for word in ("generate", "text input", "clean"):
        editor.page.keyboard.press("/")
        editor.page.keyboard.type(word)
        editor.page.keyboard.press("Enter")
        editor.page.keyboard.press("Escape")
        editor.page.keyboard.press("Escape")
    boxes = [card.locator("header").bounding_box() for card in editor.page.locator("article[data-testid^=node-]").all()]
    assert len(boxes) == 3
    for n, a in enumerate(boxes):
        for b in boxes[n + 1 :]:
            assert a and b
            apart = a["x"] + a["width"] <= b["x"] or b["x"] + b["width"] <= a["x"]
            assert apart or a["y"] + a["height"] <= b["y"] or b["y"] + b["height"] <= a["y"]


def test_run_pressed_before_the_check_of_the_last_edit_waits_for_it(page: Page, served: Served) -> None:
    """Until the answers come, the only problems known are of the text as it was."""
    cable = Cable(page)
    editor = Editor.open_new(page, served.origin, "empty")
    given, first, second = (
        editor.add(component, x, y)
        for component, x, y in (("text.input", 340, 250), ("flow.output", 700, 180), ("flow.output", 700, 420))
    )
    editor.type(given, "text", "hello")
    editor.connect(given, "text", first, "value")
    editor.connect(given, "text", second, "value")
    editor.type(second, "name", "result")
    problems = page.get_by_test_id("problems")
    expect(problems).to_have_text(re.compile("^[1-9]"))  # two outputs of one name

    cable.held = True
    editor.type(second, "name", "other")
    editor.run()
    expect(page.get_by_test_id("run-notice")).to_have_text("Run begins when the graph is checked")
    cable.release()
    editor.wait_for(second, "done")
    expect(problems).to_have_text("No problems")
