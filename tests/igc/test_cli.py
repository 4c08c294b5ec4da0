"""The command `igc`: exit codes, messages, files."""

import errno
import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from dots import program
from dots.components import catalogue
from igc import cli, igb, patch
from igc.compile import compile
from igc.files import write_file
from igc.graph import edge_of
from tests.igc.build import chat, graph, nid, node

GEN = nid("gen")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with two graphs; b has another label, with characters that must not reach a terminal."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.igb").write_bytes(igb.write(chat()))
    (tmp_path / "b.igb").write_bytes(igb.write(replace(chat(), labels={GEN: "\x1b[31m\u202e"})))
    (tmp_path / "bad.igb").write_bytes(igb.write(graph(node("a", "text.clean"))))
    return tmp_path


def test_check_is_quiet_about_a_good_graph_and_exact_about_a_bad_one(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["check", "a.igb"]) == 0
    assert cli.main(["check", "bad.igb"]) == 1
    assert capsys.readouterr().out.splitlines() == [
        "a.igb: fine",
        f"bad.igb: nodes.{nid('a')}.text: missing_input: expected text, got no edge (Connect an output to this input.)",
    ]


def test_check_as_json_has_every_part_of_a_finding(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["check", "bad.igb", "--json"]) == 1
    (one,) = json.loads(capsys.readouterr().out)["diagnostics"]
    assert one == {
        "code": "missing_input",
        "where": f"nodes.{nid('a')}.text",
        "node": nid("a"),
        "field": "text",
        "expected": "text",
        "got": "no edge",
        "hint": "Connect an output to this input.",
    }


def test_show_prints_a_graph_one_fact_per_line(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    flow = replace(chat(), settings={"x": 1}, notes={nid("n"): (1, 2, 3, 4, "hi\nyou")}, extra={70: {1: b"\xff"}})
    (here / "c.igb").write_bytes(igb.write(flow))
    assert cli.main(["show", "c.igb"]) == 0
    hashes = igb.hashes_of(flow)
    assert (
        capsys.readouterr().out
        == f"""\
sem {hashes.sem.hex()}
file {hashes.file.hex()}
setting "x" = 1
node 000000001n text.input@1
  param text = "Good morning"
  at [0, 0]
node 00000000vt flow.output@1
  at [840, 0]
node 0000000gen llm.generate@1
  param max_tokens = 8
  label "Answer"
  at [560, 0]
node 0000000tp1 text.template@1
  param template = "Answer briefly: {{text}}"
  at [280, 0]
edge 000000001n.text -> 0000000tp1.text
edge 0000000gen.text -> 00000000vt.value
edge 0000000tp1.text -> 0000000gen.prompt
note 000000000n = [1, 2, 3, 4, "hi\\nyou"]
section 70 = {{1: h'ff'}}
"""
    )


def test_no_control_or_bidirectional_character_of_a_file_is_printed(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ugly = "\x1b[31m\u202e\u2028\x9b"
    port = "a\u202eb"
    flow = graph(
        node("a", "t.a", {port: {ugly: [ugly, {1: ugly}]}}),
        node("b", "t.b"),
        edges=(),
        settings={ugly: ugly},
        labels={"a": ugly},
        notes={"n": (0, 0, 1, 1, ugly)},
        groups={"g": (ugly, ("a",))},
        extra={70: ugly},
    )
    linked = replace(flow, edges=(edge_of([nid("a"), port, nid("b"), port, 0], "edge"),))
    (here / "ugly.igb").write_bytes(igb.write(linked))
    for arguments in (["show", "ugly.igb"], ["diff", "a.igb", "ugly.igb", "-o", "ugly.patch"], ["show", "ugly.patch"]):
        assert cli.main(arguments) == 0
        assert cli.main([*arguments, "--json"]) == 0
    assert cli.main(["check", "ugly.igb"]) == 1
    captured = capsys.readouterr()
    assert all(character.isprintable() or character == "\n" for character in captured.out + captured.err)


def test_diff_prints_ops_writes_the_patch_and_tells_by_exit_code_only_when_asked(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["diff", "a.igb", "b.igb", "-o", "p.patch"]) == 0
    assert cli.main(["diff", "a.igb", "b.igb", "--exit-code"]) == 1
    assert cli.main(["diff", "a.igb", "a.igb", "--exit-code"]) == 0
    line = f'label {GEN}: "Answer" -> "\\u001b[31m\\u202e"'
    assert capsys.readouterr().out.splitlines() == [line, line]
    assert patch.read((here / "p.patch").read_bytes()) == patch.diff(
        igb.read((here / "a.igb").read_bytes()), igb.read((here / "b.igb").read_bytes())
    )


def test_patch_leads_from_the_base_to_the_target_and_from_nowhere_else(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cli.main(["diff", "a.igb", "b.igb", "-o", "p.patch"])
    assert cli.main(["patch", "p.patch", "a.igb", "-o", "c.igb"]) == 0
    assert (here / "c.igb").read_bytes() == (here / "b.igb").read_bytes()
    capsys.readouterr()
    assert cli.main(["patch", "p.patch", "b.igb", "-o", "d.igb", "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["diagnostics"][0]["code"] == "base"
    assert not (here / "d.igb").exists()


def test_compile_writes_the_program_or_its_text(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    expected = compile(chat(), catalogue())
    assert cli.main(["compile", "a.igb", "-o", "a.dotbin", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {
        "status": 0,
        "instructions": 1,
        "inputs": ["text"],
        "outputs": ["result"],
    }
    assert cli.main(["compile", "a.igb", "-o", "a.txt", "--text"]) == 0
    assert program.read((here / "a.dotbin").read_bytes()) == program.parse((here / "a.txt").read_text()) == expected
    assert cli.main(["show", "a.dotbin"]) == 0
    assert cli.main(["show", "a.txt"]) == 0
    assert capsys.readouterr().out == (here / "a.txt").read_text() * 2
    assert cli.main(["compile", "a.igb", "-o", "plain.dotbin", "--fusion", "none"]) == 0
    assert len(program.read((here / "plain.dotbin").read_bytes()).blocks[0].instructions) == 4


def test_what_is_written_goes_where_the_path_leads_and_replaces_files_alone(here: Path) -> None:
    (here / "link.igb").symlink_to("b.igb")
    assert cli.main(["merge", "a.igb", "a.igb", "a.igb", "-o", "link.igb"]) == 0
    assert (here / "link.igb").is_symlink()
    assert (here / "b.igb").read_bytes() == (here / "a.igb").read_bytes()
    os.mkfifo(here / "pipe")
    reader = os.open(here / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    assert cli.main(["merge", "a.igb", "a.igb", "a.igb", "-o", "pipe"]) == 0
    assert (os.read(reader, 1 << 16), (here / "pipe").is_fifo()) == ((here / "a.igb").read_bytes(), True)
    os.close(reader)


def test_a_write_that_fails_leaves_the_file_as_it_was(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = (here / "a.igb").read_bytes()

    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match=r"No space left on device: '.*a\.igb'"):
        write_file(here / "a.igb", b"half")
    assert (here / "a.igb").read_bytes() == before
    assert [path.name for path in here.iterdir() if path.name.startswith(".")] == []


def test_compile_of_a_graph_with_findings_writes_nothing(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["compile", "bad.igb", "-o", "bad.dotbin"]) == 1
    assert "missing_input" in capsys.readouterr().out
    assert not (here / "bad.dotbin").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["show", "none.igb"], "igc: none.igb: unreadable: expected a file, got No such file or directory"),
        (["show", "."], "igc: .: unreadable: expected a file, got Is a directory"),
        (
            ["check", "notes.txt"],
            "igc: notes.txt: kind: expected a .igb, .patch or .dotbin, got a file that begins b'hello'",
        ),
        (["check", "p.patch"], "igc: p.patch: kind: expected a .igb, got a patch"),
        (["patch", "a.igb", "a.igb", "-o", "c.igb"], "igc: a.igb: kind: expected a .patch, got a graph"),
        (["show", "cut.igb"], "igc: cut.igb byte 8: truncated: expected 6 pairs, got 4 bytes left"),
        (["show", "wrong.igb"], "igc: wrong.igb nodes[0].id: section: expected an id: "),
        (["compile", "a.igb", "-o", "no/a.dotbin"], "igc: no/a.dotbin: unwritable: expected a place to write, got "),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_what_cannot_be_read_or_written_exits_2_and_says_why(
    here: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    (here / "p.patch").write_bytes(patch.write(patch.diff(chat(), chat())))
    (here / "notes.txt").write_text("hello")
    (here / "cut.igb").write_bytes((here / "a.igb").read_bytes()[:13])
    (here / "wrong.igb").write_bytes((here / "bad.igb").read_bytes().replace(b"000000000a", b"000000000i"))
    assert cli.main(arguments) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith(message)
    assert cli.main([*arguments, "--json"]) == 2
    assert json.loads(capsys.readouterr().out)["status"] == 2


def test_bad_usage_exits_2(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as error:
        cli.main(["compile", "a.igb"])
    assert error.value.code == 2
    assert "usage: igc compile" in capsys.readouterr().err


def test_our_own_mistake_exits_3(
    here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError("broken")

    monkeypatch.setattr(cli, "check", broken)
    assert cli.main(["check", "a.igb", "--json"]) == 3
    assert json.loads(capsys.readouterr().out)["error"]["got"] == "ZeroDivisionError('broken')"


def test_a_file_is_replaced_whole_or_left_alone(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (here / "out.dotbin").write_text("before")
    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", lambda _: (_ for _ in ()).throw(OSError(28, "No space left on device")))
        assert cli.main(["compile", "a.igb", "-o", "out.dotbin"]) == 2
    assert (here / "out.dotbin").read_text() == "before"
    assert sorted(path.name for path in here.iterdir()) == ["a.igb", "b.igb", "bad.igb", "out.dotbin"]
    assert cli.main(["compile", "a.igb", "-o", "out.dotbin"]) == 0
    assert (here / "out.dotbin").read_bytes()[:4] == b"\x89DOT"


def test_the_installed_command_answers(here: Path) -> None:
    command = Path(sys.executable).parent / "igc"
    answer = subprocess.run([command, "check", "a.igb"], capture_output=True, text=True, check=False)
    assert (answer.returncode, answer.stdout) == (0, "a.igb: fine\n")


def test_a_reader_that_leaves_early_is_no_error(here: Path) -> None:
    (here / "big.igb").write_bytes(igb.write(graph(*(node(f"n{at}", "t.a", {"p": "x" * 99}) for at in range(2000)))))
    command = [str(Path(sys.executable).parent / "igc"), "show", "big.igb"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        assert running.stdout is not None
        assert running.stderr is not None
        assert running.stdout.readline().startswith(b"sem ")
        running.stdout.close()
        assert (running.wait(), running.stderr.read()) == (0, b"")


def test_a_full_disk_is_said_in_one_line(here: Path) -> None:
    with Path("/dev/full").open("wb") as full:
        command = [sys.executable, "-m", "igc.cli", "show", "a.igb"]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert (done.returncode, done.stderr) == (2, "igc: standard output: No space left on device\n")
