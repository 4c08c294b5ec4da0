"""What only a browser decides: that its cookie, Origin and policy let our own page in, and inline code out."""

from pathlib import Path

import pytest
from playwright.sync_api import sync_playwright

from tests.spaces.conftest import TOKEN, running

PAGE = """<!doctype html><title>wait</title><p id="out"></p>
<script>document.title = "inline code ran"</script><script src="/assets/main.js"></script>"""
SCRIPT = """
const made = await fetch("/api/spaces", {
  method: "POST", headers: {"content-type": "application/json"}, body: JSON.stringify({name: "From a page"}),
});
const { id } = await made.json();
const socket = new WebSocket(`ws://${location.host}/ws/spaces/${id}`);
socket.binaryType = "arraybuffer";
const opened = await new Promise((resolve) => {
  socket.onopen = () => resolve("open");
  socket.onclose = (event) => resolve(`closed ${event.code}`);
});
let evaluated = "ran";
try { Function("return 1")(); } catch { evaluated = "refused"; }
document.getElementById("out").textContent = `${made.status} ${opened} eval ${evaluated} cookie '${document.cookie}'`;
"""


@pytest.mark.browser
def test_a_page_of_ours_may_write_and_open_a_socket_and_no_inline_code_runs(tmp_path: Path) -> None:
    assets = tmp_path / "dist" / "assets"
    assets.mkdir(parents=True)
    (tmp_path / "dist" / "index.html").write_text(PAGE.replace("<script src", '<script type="module" src'))
    (assets / "main.js").write_text(SCRIPT)
    with running(tmp_path / "data", dist=tmp_path / "dist") as server, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
        page = browser.new_page()
        page.goto(f"{server.url}/?token={TOKEN}")
        page.get_by_text("cookie").wait_for()
        found = (page.url, page.title(), page.inner_text("#out"))
        browser.close()
    assert found == (f"{server.url}/", "wait", "201 open eval refused cookie ''")
