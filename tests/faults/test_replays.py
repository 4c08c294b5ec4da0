"""Faults that people met with editors of this kind, replayed."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Locator, Page, WebSocketRoute, expect, sync_playwright

from tests.spaces.conftest import TOKEN, Running, running

WORDS = 40
STREAMED = "article[data-testid^=node-]:has(.stream:not(.quiet))"  # the card of the one node that streams
TEXT = "".join(f"word{n} " for n in range(WORDS))


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with running(tmp_path_factory.mktemp("replays") / "data") as found:
        yield found


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as play:
        chromium = play.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox", "--disable-gpu"])
        yield chromium
        chromium.close()


@pytest.fixture
def page(browser: Browser, server: Running) -> Iterator[Page]:
    context = browser.new_context(viewport={"width": 1440, "height": 900}, locale="en-GB")
    page = context.new_page()
    page.goto(f"{server.url}/?token={TOKEN}")
    yield page
    server.engine.go.set()
    context.close()


def generating(page: Page) -> Locator:
    """The live text on it."""
    return page.locator(f"{STREAMED} .stream:not(.quiet)")


def begin(page: Page, server: Running) -> str:
    """A Space whose run has said its first words and waits."""
    server.engine.words, server.engine.free = WORDS, 10
    server.engine.go.clear()
    space = server.new_space("summary")
    page.goto(f"{server.url}/spaces/{space}")
    page.get_by_test_id("run").click()
    expect(generating(page)).to_contain_text("word9")
    return space


@pytest.mark.browser
@pytest.mark.slow
@pytest.mark.parametrize("closed", ["original", "copy"])
def test_a_tab_duplicated_during_a_run_and_either_closed_leaves_one_that_goes_on(
    page: Page, server: Running, closed: str
) -> None:
    begin(page, server)
    with page.expect_popup() as opened:
        page.evaluate("window.open(location.href)")  # as the browser's own command: storage of the session goes along
    copy = opened.value
    expect(generating(copy)).to_contain_text("word9")
    server.engine.free = 20
    for tab in (page, copy):
        expect(generating(tab)).to_contain_text("word19")
    gone, left = (page, copy) if closed == "original" else (copy, page)
    gone.close()
    server.engine.go.set()
    expect(generating(left)).to_have_text(TEXT.strip())
    expect(left.locator(STREAMED)).to_have_attribute("data-status", "done")
    expect(left.get_by_test_id("run")).to_be_enabled()


@pytest.mark.browser
@pytest.mark.slow
def test_a_run_that_ends_while_the_link_is_cut_is_shown_as_it_ended(page: Page, server: Running) -> None:
    routes: list[WebSocketRoute] = []
    out = False

    def plug(route: WebSocketRoute) -> None:
        if out:
            route.close(code=1013)
        else:
            route.connect_to_server()
            routes.append(route)

    page.context.route_web_socket("**/ws/spaces/*", plug)
    space = begin(page, server)
    out = True
    for route in routes:
        route.close(code=1013)
    expect(page.get_by_test_id("link")).not_to_have_attribute("data-pending", "0")
    watcher = server.join(space, "c000000077")  # it sees the end, which the page does not
    (run,) = watcher.until("welcome")["runs"]
    watcher.send(type="resume", run=run, after_seq=0)
    server.engine.go.set()
    assert watcher.events(run)[-1]["data"]["status"] == "done"
    expect(page.get_by_test_id("canvas")).to_be_visible()
    expect(generating(page)).not_to_contain_text("word39")
    out = False
    expect(generating(page)).to_have_text(TEXT.strip(), timeout=15_000)
    expect(page.locator(STREAMED)).to_have_attribute("data-status", "done")
    expect(page.get_by_test_id("run")).to_be_enabled()


@pytest.mark.browser
@pytest.mark.slow
def test_opening_and_leaving_without_edits_asks_nothing_and_makes_no_version(page: Page, server: Running) -> None:
    space = server.new_space("summary")
    with server.program() as client:
        before = client.get(f"/api/spaces/{space}/graph.igb").content
    asked: list[str] = []
    page.on("dialog", lambda dialog: (asked.append(dialog.type), dialog.accept()))
    page.goto(f"{server.url}/spaces/{space}")
    expect(page.get_by_test_id("canvas")).to_be_visible()
    expect(page.get_by_test_id("link")).to_have_attribute("data-pending", "0")
    page.get_by_test_id("canvas").click(position={"x": 5, "y": 5})
    page.goto(f"{server.url}/")
    page.goto(f"{server.url}/spaces/{space}")
    expect(page.get_by_test_id("canvas")).to_be_visible()
    page.close(run_before_unload=True)
    assert asked == []
    with server.program() as client:
        assert client.get(f"/api/spaces/{space}/versions").json() == []
        assert client.get(f"/api/spaces/{space}/graph.igb").content == before
    assert server.join(space).until("welcome")["seq"] == 0
