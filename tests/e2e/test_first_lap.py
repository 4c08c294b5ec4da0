"""The first lap by mouse and keyboard: draw, connect, type, run, watch, cancel, undo, redo; equal bytes everywhere."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, expect

from dots import codec
from tests.e2e.conftest import serve, stop
from tests.e2e.editor import CARDS, SLOW, Editor

pytestmark = [pytest.mark.browser, pytest.mark.model]


def draw(editor: Editor) -> dict[str, str]:
    """Five nodes by drag, four wires, and text typed into the forms."""
    nodes = {
        "input": editor.add("text.input", 330, 200),
        "clean": editor.add("text.clean", 330, 480),
        "template": editor.add("text.template", 620, 200),
        "model": editor.add("llm.generate", 620, 480),
        "output": editor.add("flow.output", 930, 260),
    }
    editor.connect(nodes["input"], "text", nodes["clean"], "text")
    editor.connect(nodes["clean"], "text", nodes["template"], "text")
    editor.connect(nodes["template"], "text", nodes["model"], "prompt")
    editor.connect(nodes["model"], "text", nodes["output"], "value")
    editor.type(nodes["input"], "text", "<p>The kettle   stopped after a week.</p>")
    editor.type(nodes["template"], "template", "Tell a long story about this: {text}")
    editor.type(nodes["model"], "max_tokens", "96")
    return nodes


def test_a_graph_is_drawn_run_cancelled_undone_and_redone_by_hand(editor: Editor) -> None:
    empty = editor.igb()
    nodes = draw(editor)
    built = editor.igb()
    model = nodes["model"]

    editor.run()
    early = editor.first_text(model)
    assert early.strip(), "tokens are there before the run ends"
    editor.wait_for(model, "done")
    editor.wait_for(nodes["output"], "done")
    assert len(editor.text(model).inner_text()) > len(early)

    editor.run()
    editor.first_text(model)
    editor.page.get_by_test_id("stop").click()
    editor.wait_for(model, "cancelled", timeout=5_000)
    pools = editor.engine()
    assert (pools["kv_committed"], pools["kv_reserved"], pools["steps_reserved"], pools["dots"]) == (0, 0, 0, 0)
    assert editor.text(model).inner_text().strip(), "stopping keeps what was produced"

    undo, redo = editor.page.get_by_test_id("undo"), editor.page.get_by_test_id("redo")
    entries = 0
    while undo.is_enabled():
        undo.click()
        entries += 1
    assert entries == 12, "one entry a gesture: five drags, four wires, three fields"
    assert editor.nodes() == [] and editor.igb() == empty
    for _ in range(entries):
        redo.click()
    expect(redo).to_be_disabled()
    assert editor.igb() == built


def test_browser_server_compiler_and_command_line_agree_byte_for_byte(editor: Editor, tmp_path: Path) -> None:
    nodes = draw(editor)
    editor.run()
    editor.wait_for(nodes["output"], "done")
    (sent,) = [frame["igb"] for frame in editor.sent if frame["type"] == "run"]
    flow = tmp_path / "flow.igb"
    flow.write_bytes(editor.igb())
    assert flow.read_bytes() == sent

    programs = set()
    for seed in ("0", "1", "4242"):
        out = tmp_path / f"{seed}.dotbin"
        command = [sys.executable, "-m", "igc.cli", "compile", str(flow), "-o", str(out)]
        subprocess.run(command, check=True, env={**os.environ, "PYTHONHASHSEED": seed}, capture_output=True)
        programs.add(out.read_bytes())
    assert len(programs) == 1

    command = [sys.executable, "-m", "dots.cli", "exec", str(tmp_path / "0.dotbin")]
    texts = [subprocess.run(command, check=True, capture_output=True).stdout for _ in range(2)]
    (served,) = [frame["data"]["outputs"]["result"] for frame in editor.came if frame.get("kind") == "ended"]
    assert texts[0] == texts[1] == served.encode()


def test_a_connection_that_does_not_fit_is_refused_with_the_reason(editor: Editor) -> None:
    model = editor.add("llm.generate", 330, 200)
    clean = editor.add("text.clean", 700, 200)
    source, target = editor.port(model, "out", "usage"), editor.port(clean, "in", "text")
    a, b = source.bounding_box(), target.bounding_box()
    assert a and b
    editor.drag(
        (a["x"] + a["width"] / 2, a["y"] + a["height"] / 2), (b["x"] + b["width"] / 2, b["y"] + b["height"] / 2)
    )
    note = editor.page.get_by_test_id("port-refusal")
    expect(note).to_contain_text("text")
    expect(note).to_contain_text("json")
    expect(editor.page.locator(".react-flow__edge")).to_have_count(0)


def test_a_missing_input_is_shown_at_its_node_and_blocks_the_run(editor: Editor) -> None:
    model = editor.add("llm.generate", 500, 300)
    expect(editor.page.get_by_test_id("problems")).to_contain_text("1")
    editor.page.get_by_test_id("problems").click()
    expect(editor.page.get_by_test_id("problem").first).to_be_visible()
    editor.run()
    expect(editor.page.get_by_test_id("run-notice")).to_be_visible()
    assert editor.status(model) != "running"


def test_the_first_start_opens_a_template_that_runs(browser: Browser, tmp_path: Path) -> None:
    """A fresh data folder; the printed URL leads to a graph, and Run streams real tokens into it."""
    process, place = serve(tmp_path)
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    try:
        page = context.new_page()
        came: list[dict[str, Any]] = []  # what the screen shows of a short answer depends on the machine's load
        page.on("websocket", lambda link: link.on("framereceived", lambda data: came.append(codec.decode(data))))
        page.goto(place.url)
        expect(page.locator(CARDS)).to_have_count(5, timeout=SLOW)
        page.keyboard.press("Control+Enter")
        expect(page.locator(f"{CARDS}[data-status=done]")).to_have_count(5, timeout=SLOW)
        texts = [one["data"]["text"] for one in came if one.get("kind") == "tokens"]
        assert len(texts) > 1, "tokens come as they are made"
        expect(page.locator(CARDS).filter(has_text="Prompt").locator(".stream")).to_have_text("".join(texts).strip())
    finally:
        context.close()
        stop(process)


def test_frames_that_the_browser_sends_are_canonical(editor: Editor) -> None:
    editor.add("text.input", 400, 300)
    editor.igb()
    assert editor.sent and all(codec.decode(codec.encode(frame)) == frame for frame in editor.sent)
