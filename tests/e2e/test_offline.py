"""Edits made without a link outlive the page: the next one pushes them, once, whoever wrote meanwhile."""

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Page, expect

from igc import igb
from tests.e2e.cable import Cable
from tests.e2e.conftest import Served
from tests.e2e.editor import CARDS, Editor

pytestmark = pytest.mark.browser

KEPT = """async () => {
  const request = indexedDB.open('spaces', 1);
  const db = await new Promise((done, no) => { request.onsuccess = () => done(request.result); request.onerror = no; });
  const rows = db.transaction('edits').objectStore('edits').getAll();
  const found = await new Promise((done, no) => { rows.onsuccess = () => done(rows.result); rows.onerror = no; });
  db.close();
  return found.map((row) => row.queued.length + (row.sent ? row.sent.ops.length : 0));
}"""


def wait_for_kept(page: Page, fits: Callable[[list[int]], bool]) -> list[int]:
    """The numbers of ops in the records of this browser, once they fit."""
    for _ in range(200):
        found = [int(count) for count in page.evaluate(KEPT)]
        if fits(found):
            return found
        page.evaluate("() => new Promise((done) => setTimeout(done, 25))")
    raise AssertionError(f"the records never fitted: {found}")


@pytest.fixture
def cable(page: Page) -> Iterator[Cable]:
    yield Cable(page.context)


def on_server(editor: Editor) -> list[str]:
    answer = editor.page.request.get(f"{editor.origin}/api/spaces/{editor.space}/graph.igb")
    return sorted(igb.read(answer.body()).nodes)


def settled(page: Page) -> None:
    link = page.get_by_test_id("link")
    expect(link).to_have_text("Connected", timeout=15_000)
    expect(link).to_have_attribute("data-pending", "0", timeout=15_000)


def test_edits_made_offline_are_there_after_a_reload_exactly_once(cable: Cable, page: Page, served: Served) -> None:
    editor = Editor.open_new(page, served.origin)
    first = editor.add("text.input", 400, 200)
    settled(page)
    cable.pull()
    expect(page.get_by_test_id("link")).to_have_text("Kept on this machine")
    second = editor.add("text.clean", 700, 200)
    wait_for_kept(page, lambda found: len(found) == 1 and found[0] >= 2)
    assert on_server(editor) == [first]

    cable.out = False
    page.reload()
    expect(page.locator(CARDS)).to_have_count(2)
    settled(page)
    assert on_server(editor) == sorted([first, second])
    assert wait_for_kept(page, lambda found: not found) == []
    page.reload()
    expect(page.locator(CARDS)).to_have_count(2)
    assert sorted(editor.nodes()) == sorted([first, second])


def test_words_typed_without_a_link_right_before_a_reload_come_back(cable: Cable, page: Page, served: Served) -> None:
    """The page ends before its edits were due to be kept, and answers nothing any more."""
    editor = Editor.open_new(page, served.origin)
    node = editor.add("text.input", 400, 200)
    settled(page)
    for words in ("one", "two", "three", "four"):
        cable.pull()
        expect(page.get_by_test_id("link")).to_have_text("Kept on this machine")
        editor.type(node, "text", words)
        cable.out = False
        page.reload()
        expect(page.get_by_test_id(f"node-{node}")).to_contain_text(words)
        settled(page)
        assert igb.read(editor.igb()).nodes[node].params == {"text": words}


def test_a_push_whose_answer_was_lost_is_not_applied_twice(cable: Cable, page: Page, served: Served) -> None:
    editor = Editor.open_new(page, served.origin)
    settled(page)
    cable.deaf = True
    node = editor.add("text.input", 400, 200)
    wait_for_kept(page, lambda found: len(found) == 1)
    expect(page.get_by_test_id("link")).not_to_have_attribute("data-pending", "0")
    for _ in range(1000):
        if on_server(editor) == [node]:
            break
    assert on_server(editor) == [node], "the push came through, its answer did not"

    cable.deaf = False
    page.reload()
    settled(page)
    expect(page.locator(CARDS)).to_have_count(1)
    pushes = [frame["id"] for frame in editor.sent if frame["type"] == "push"]
    assert len(pushes) == 2
    assert pushes[0] == pushes[1], "the same id both times"
    assert on_server(editor) == [node]
    assert page.get_by_test_id("refusal").count() == 0


def test_two_tabs_closed_offline_leave_nothing_behind(cable: Cable, page: Page, served: Served) -> None:
    editor = Editor.open_new(page, served.origin)
    first = editor.add("text.input", 400, 200)
    settled(page)
    other = Editor.open(page.context.new_page(), served.origin, editor.space)
    expect(other.page.locator(CARDS)).to_have_count(1)
    settled(other.page)
    cable.pull()
    for tab in (page, other.page):
        expect(tab.get_by_test_id("link")).to_have_text("Kept on this machine")
    page.bring_to_front()
    second = editor.add("text.clean", 700, 150)
    other.page.bring_to_front()
    third = other.add("flow.output", 700, 450)
    wait_for_kept(other.page, lambda found: len(found) == 2)
    other.page.close()

    page.bring_to_front()
    page.goto("about:blank")
    cable.out = False
    page.goto(f"{served.origin}/spaces/{editor.space}")
    expect(page.locator(CARDS)).to_have_count(3)
    settled(page)
    assert wait_for_kept(page, lambda found: not found) == []
    assert on_server(editor) == sorted([first, second, third])
