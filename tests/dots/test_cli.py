"""The command line where no model is needed: bad usage, unreadable files, plain programs."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from dots.cli import main
from dots.program import Instruction, Program, show, write
from sol.cli import main as sol
from tests.dots.world import ROOMY, program, pure

INPUT = pure("aaaaaaaaaa", "text.input", {"name": "text", "text": "hello"}, {"given": 0}, text=1)


@pytest.fixture
def flow(tmp_path: Path) -> Path:
    return saved(tmp_path / "flow.dotbin", program(INPUT, inputs={"text": 0}, out=1))


def saved(path: Path, made: Program) -> Path:
    path.write_bytes(write(made))
    return path


def test_one_text_output_prints_as_it_is(flow: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    assert main(["exec", str(flow), "--input", "text=a = b\n 语"]) == 0
    assert capfdbinary.readouterr().out == "a = b\n 语".encode()


def test_the_text_form_runs_too(tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    made = program(INPUT, inputs={"text": 0}, out=1)
    (tmp_path / "flow.txt").write_text(show(made))
    assert main(["exec", str(tmp_path / "flow.txt")]) == 0
    assert capfdbinary.readouterr().out == b"hello"


def test_several_outputs_need_json(tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    path = saved(tmp_path / "two.dotbin", program(INPUT, inputs={"text": 0}, b=1, a=1))
    assert main(["exec", str(path)]) == 2
    assert capfdbinary.readouterr().out == b""
    assert main(["exec", str(path), "--json"]) == 0
    out = capfdbinary.readouterr().out
    assert out == b'{"failures":[],"outputs":{"a":"hello","b":"hello"},"status":"done"}\n'


def test_a_failed_step_leaves_other_outputs_and_gives_its_exit_code(
    tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    braces = pure("bbbbbbbbbb", "text.template", {"template": "{{"}, {}, text=1)
    typed = pure("cccccccccc", "text.clean", {}, {"text": 2}, text=3)
    ask = Instruction("llm.generate", 1, {"model": "none"}, {"prompt": (1,)}, {"usage": 2}, "aaaaaaaaaa", limits=ROOMY)
    path = saved(tmp_path / "bad.dotbin", program(braces, ask, typed, clean=3, braces=1))
    assert main(["exec", str(path), "--json"]) == 66
    told = json.loads(capfdbinary.readouterr().out)
    assert (told["outputs"], told["status"]) == ({"braces": "{"}, "failed")
    (failure,) = told["failures"]
    assert (failure["node"], failure["code"], failure["where"]) == ("aaaaaaaaaa", 500, "model")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["exec", "nowhere.dotbin"], "dots: nowhere.dotbin: No such file or directory"),
        (["exec", "GRAPH"], "compile it first: igc compile"),
        (["exec", "FLOW", "--input", "text"], "expected NAME=TEXT"),
        (["exec", "BROKEN"], "expected"),
        (["run", "--prompt-file", "BROKEN"], "expected UTF-8"),
        (["run", "--prompt-file", "/dev/zero"], "expected at most"),
        (["exec", "/dev/zero"], "expected at most"),
    ],
)
def test_what_cannot_be_read_is_exit_status_2(
    arguments: list[str], says: str, flow: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "broken").write_bytes(b"\x89DOT\r\n\x1a\n\xff")
    (tmp_path / "graph.igb").write_bytes(b"\x89IGB\r\n\x1a\n\xa0")
    names = {"FLOW": str(flow), "BROKEN": str(tmp_path / "broken"), "GRAPH": str(tmp_path / "graph.igb")}
    assert main([names.get(a, a) for a in arguments]) == 2
    assert says in capsys.readouterr().err


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["init"],
        ["run"],
        ["run", "--prompt", "x", "--max-steps", "0"],
        ["run", "--prompt", "x", "--temperature", "3"],
        ["run", "--prompt", "x", "--max-steps", "many"],
        ["run", "--prompt", "x", "--seed", "-1"],
        ["run", "--prompt", "x", "--seed", "9" * 5000],
        ["run", "--prompt", "x", "--seed", str(2**53)],
        ["run", "--prompt", "x", "--top-p", "0"],
        ["run", "--prompt", "x", "--top-k", "1001"],
        ["run", "--prompt", "x", "--min-p", "nan"],
        ["run", "--prompt", "x", "--repetition-penalty", "0.5"],
        ["run", "--prompt", "\udcff"],
        ["run", "--prompt", "x", "--stop", "\udcff"],
        ["exec", "flow.dotbin", "--input", "text=\udcff"],
    ],
)
def test_bad_usage_is_exit_status_2(arguments: list[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    assert caught.value.code == 2


def test_an_unknown_input_is_refused_with_its_exit_code(flow: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["exec", str(flow), "--input", "other=x"]) == 65
    assert "inputs: expected text, got other" in capsys.readouterr().err


def test_an_unknown_model_is_exit_status_66(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "--prompt", "x", "--model", "none"]) == 66
    assert "NOT_FOUND (500)" in capsys.readouterr().err


def test_sol_says_that_the_language_comes_later(capsys: pytest.CaptureFixture[str]) -> None:
    assert sol([]) == 2
    assert capsys.readouterr().err == "sol: the tensor language comes with a later version\n"


def test_a_closed_pipe_ends_it_without_a_word(flow: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "wb") as closed:
        done = subprocess.run(
            [sys.executable, "-m", "dots.cli", "exec", str(flow)], stdout=closed, stderr=subprocess.PIPE, text=True
        )
    assert done.returncode == 0
    assert "pipe" not in done.stderr


def test_an_interrupt_before_anything_runs_is_exit_status_130(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(name: str, executor: str) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("dots.cli.load", interrupted)
    assert main(["run", "--prompt", "x"]) == 130
    assert capsys.readouterr().err == ""


def test_a_prompt_waits_for_no_library_that_it_does_not_use() -> None:
    slow = "{'pydantic', 'jinja2', 'tokenizers', 'asyncio', 'llvmlite', 'numba', 'importlib.metadata'}"
    command = [sys.executable, "-c", f"import sys, dots.cli; print(sorted({slow} & set(sys.modules)))"]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == "[]\n"
