"""One real server, one real browser. Every test gets a Space and a page of its own."""

import os
import re
import shutil
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from tests.e2e.editor import Editor

ROOT = Path(__file__).resolve().parents[2]
READY_SECONDS = 120


@dataclass(frozen=True, slots=True)
class Served:
    url: str  # with the start token
    origin: str
    data: Path


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def serve(data: Path, *more: str) -> tuple[subprocess.Popen[str], Served]:
    """Start `spaces serve` and wait for its line with the URL; fails with what it printed."""
    log = data.parent / f"{data.name}.log"
    command = [sys.executable, "-m", "spaces.cli", "serve", "--data", str(data), "--port", str(free_port()), *more]
    with log.open("w") as errors:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True, cwd=ROOT)
    assert process.stdout
    watchdog = threading.Timer(READY_SECONDS, process.kill)
    watchdog.start()
    said: list[str] = []
    for line in process.stdout:
        said.append(line)
        found = re.search(r"(http://127\.0\.0\.1:\d+)/\?token=\S+", line)
        if found:
            watchdog.cancel()
            return process, Served(found[0], found[1], data)
    watchdog.cancel()
    raise AssertionError("the server printed no URL:\n" + "".join(said) + log.read_text())


def stop(process: subprocess.Popen[str]) -> None:
    process.terminate()
    assert process.wait(20) is not None
    assert process.stdout
    process.stdout.close()


@pytest.fixture(scope="session")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    process, place = serve(tmp_path_factory.mktemp("data"))
    yield place
    stop(process)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    names = (os.environ.get("CHROMIUM", ""), "chromium", "chromium-browser", "google-chrome")
    path = next((found for name in names if name and (found := shutil.which(name))), None)
    assert path, "no Chromium: make test installs it, or set CHROMIUM"
    arguments = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]
    with sync_playwright() as play:
        chromium = play.chromium.launch(executable_path=path, args=arguments)
        yield chromium
        chromium.close()


@pytest.fixture
def page(browser: Browser, served: Served) -> Iterator[Page]:
    """A signed-in page at 1440 × 900 whose console must stay free of errors."""
    context = browser.new_context(viewport={"width": 1440, "height": 900}, locale="en-GB")
    page = context.new_page()
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
    page.goto(served.url)
    yield page
    context.close()
    assert errors == []


@pytest.fixture
def editor(page: Page, served: Served) -> Editor:
    """A new, empty Space, open."""
    return Editor.open_new(page, served.origin)
