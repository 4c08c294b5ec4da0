"""Files that become versions over REST and from the command line; what a stale one is told."""

import base64
import hashlib
from pathlib import Path
from typing import Any

import pytest

from igc import igb, patch
from igc.graph import CONFLICTS, Graph
from spaces import cli
from tests.igc.build import edited
from tests.spaces.conftest import TOKEN, Running, edge, node, node_id, running


def file(graph: Graph) -> bytes:
    return igb.write(graph)


def post(server: Running, space: str, graph: Graph, **query: Any) -> Any:
    with server.program() as client:
        return client.post(f"/api/spaces/{space}/versions", params=query, content=file(graph))


def test_a_file_becomes_a_version_and_open_editors_take_its_change(server: Running) -> None:
    space, a, b = server.new_space(), node_id(), node_id()
    one = server.join(space)
    one.until("welcome")
    first = edited(node(a, text="one"), of=Graph())
    made = post(server, space, first, message="First")
    assert (made.status_code, made.json()["number"], made.json()["refused"]) == (201, 1, [])
    assert made.json()["file"] == hashlib.sha256(file(first)).hexdigest()
    patched = one.until("patched")
    assert (patched["ops"], patched["author"]) == ([["node+", [a], ["text.input", 1, {"text": "one"}, {}]]], "tester")
    assert one.until("saved")["version"]["message"] == "First"
    one.push(["move", [a], [], [[7, 7]]])  # not saved: it stays in the Room
    one.until("ack")
    second = edited(node(b), of=first)
    assert post(server, space, second, base=1).json()["number"] == 2
    assert one.until("patched")["ops"][0][1] == [b]
    with server.program() as client:
        room = igb.read(client.get(f"/api/spaces/{space}/graph.igb").content)
        files = [
            client.get(f"/api/files/{row['patch']}").content
            for row in client.get(f"/api/spaces/{space}/versions").json()
        ]
    assert room == edited(["move", [a], [], [[7, 7]]], of=second)
    assert patch.apply(patch.read(files[0]), patch.apply(patch.read(files[1]), Graph())) == second
    one.push(node(node_id()))
    one.until("ack", seq=4)


def test_equal_bytes_make_no_version_whatever_the_base(server: Running) -> None:
    space, graph = server.new_space(), edited(node(node_id()), of=Graph())
    assert post(server, space, graph).status_code == 201
    again = post(server, space, graph)
    assert (again.status_code, again.json()["number"]) == (200, 1)


def test_the_first_save_of_a_graph_is_never_in_conflict(server: Running) -> None:
    space, a = server.new_space("summary"), node_id()
    one = server.join(space)
    drawn = igb.read(one.until("welcome")["igb"])
    one.push(node(a))
    one.until("ack")
    assert post(server, space, drawn, base=7).status_code == 201
    with server.program() as client:
        assert client.get(f"/api/spaces/{space}/graph.igb").content == file(drawn)


def test_a_stale_file_gets_both_diffs_and_the_merge_of_what_does_not_overlap(server: Running) -> None:
    space, a, b, c = server.new_space(), node_id(), node_id(), node_id()
    base = edited(node(a, text="one"), of=Graph())
    post(server, space, base)
    newest = edited(node(b), ["set", [a, "text"], ["one"], ["two"]], of=base)
    assert post(server, space, newest, base=1).status_code == 201
    mine = edited(node(c), of=base)
    answer = post(server, space, mine, base=1)
    told = answer.json()
    assert (answer.status_code, told["code"], told["newest"], told["got"]) == (409, "stale", 2, "1")
    assert told["ours"] == f'node+ {c} ["text.input", 1, {{}}, {{}}]\n'
    assert f'set {a}.text: "one" -> "two"' in told["theirs"]
    merged = igb.read(base64.b64decode(told["merged"]))
    assert (merged, told["conflicts"]) == (edited(node(c), of=newest), [])
    assert post(server, space, merged, base=2).json()["number"] == 3


def test_two_fields_of_one_node_are_both_in_the_merge_byte_for_byte(server: Running) -> None:
    space, a = server.new_space(), node_id()
    base = edited(node(a), of=Graph())
    text, name = ["set", [a, "text"], [], ["theirs"]], ["set", [a, "name"], [], ["ours"]]
    post(server, space, base)
    post(server, space, edited(text, of=base), base=1)
    told = post(server, space, edited(name, of=base), base=1).json()
    merged = base64.b64decode(told["merged"])
    assert (merged, told["conflicts"]) == (file(edited(text, name, of=base)), [])
    assert post(server, space, igb.read(merged), base=told["newest"]).json()["number"] == 3
    with server.program() as client:
        assert client.get(f"/api/spaces/{space}/graph.igb").content == merged


def test_what_overlaps_is_named_and_stands_in_the_merge(server: Running) -> None:
    space, a = server.new_space(), node_id()
    base = edited(node(a, text="one"), of=Graph())
    post(server, space, base)
    post(server, space, edited(["set", [a, "text"], [], ["two"]], of=base), base=1)
    told = post(server, space, edited(["set", [a, "text"], [], ["three"]], of=base), base=1).json()
    conflict = {"code": "modify", "key": ["set", a, "text"], "against": []}
    assert told["conflicts"] == [conflict | {"base": ["one"], "ours": ["three"], "theirs": ["two"]}]
    merged = igb.read(base64.b64decode(told["merged"]))
    assert merged.nodes[a].params == {"text": "three"}
    assert merged.extra[CONFLICTS] == told["conflicts"]


def test_two_tabs_one_of_them_stale(server: Running) -> None:
    """Ops of both are in the Room, so the second tab's graph is the merge already; it is told what came between."""
    space, a, b = server.new_space(), node_id(), node_id()
    one, two = server.join(space, "c000000001"), server.join(space, "c000000002")
    one.send(type="save", id=["c000000001", 1], seq=0, base_version=None, message="")
    two.until("saved")
    one.counter = 1
    one.push(node(a))
    one.until("ack")
    one.send(type="save", id=["c000000001", 3], seq=1, base_version=1, message="")
    assert two.until("saved")["version"]["number"] == 2
    two.push(node(b))
    two.until("ack")
    two.send(type="save", id=["c000000002", 2], seq=2, base_version=1, message="")  # as if it had not seen `saved`
    assert two.until("refused")["code"] == "stale"
    with server.program() as client:
        told = client.get(f"/api/spaces/{space}/standing", params={"base": 1}).json()
    assert [line.split()[:2] for line in told["ours"].splitlines()] == [["node+", a], ["node+", b]]
    assert [line.split()[:2] for line in told["theirs"].splitlines()] == [["node+", a]]
    assert told["conflicts"] == [] and sorted(igb.read(base64.b64decode(told["merged"])).nodes) == [a, b]
    two.send(type="save", id=["c000000002", 3], seq=2, base_version=2, message="")
    assert two.until("saved")["version"]["number"] == 3


@pytest.mark.parametrize(
    ("query", "data", "status"),
    [
        ({}, b"no graph", 422),
        ({}, b"", 422),
        ({"base": 0}, None, 422),
        ({"base": "x"}, None, 422),
        ({"base": 9}, None, 404),
        ({"message": "x" * 10_001}, None, 422),
    ],
)
def test_a_push_of_another_form_is_refused(server: Running, query: Any, data: bytes | None, status: int) -> None:
    space, graph = server.new_space(), edited(node(node_id()), of=Graph())
    post(server, space, graph)
    content = file(edited(node(node_id()), of=graph)) if data is None else data
    with server.program() as client:
        answer = client.post(f"/api/spaces/{space}/versions", params=query, content=content)
        listed = client.get(f"/api/spaces/{space}/versions").json()
    assert (answer.status_code, len(listed)) == (status, 1)
    assert set(answer.json()) == {"code", "where", "expected", "got", "hint"}


def test_pull_and_push_from_the_command_line(
    server: Running, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    space, a, b = server.new_space("summary"), node_id(), node_id()

    def command(*words: str) -> tuple[int, str]:
        arguments = cli.parser().parse_args([*words, "--server", server.url, "--token", TOKEN])
        status: int = arguments.command(arguments)
        return status, capsys.readouterr().out

    def changed(name: str) -> None:
        made = ["node+", [name], ["text.input", 1, {"name": name}, {}]]  # two of one name would be a conflict
        flow.write_bytes(file(edited(made, of=igb.read(base))))

    flow, out = tmp_path / "flow.igb", tmp_path / "merged.igb"
    assert command("pull", space, "-o", str(flow)) == (0, "no version\n")
    base = flow.read_bytes()
    assert command("push", str(flow), "--space", space, "-m", "Begin") == (0, "version 1\n")
    assert command("pull", space, "-o", str(flow)) == (0, "version 1\n")
    assert flow.read_bytes() == base
    changed(a)
    assert command("push", str(flow), "--space", space, "--base", "1") == (0, "version 2\n")
    changed(b)
    status, said = command("push", str(flow), "--space", space, "--base", "1", "--merge", str(out))
    assert (status, said.splitlines()[:2]) == (1, ["stale: the newest version is 2", "yours:"])
    assert f"  node+ {b} " in said and f"version 2:\n  node+ {a} " in said
    assert {a, b} <= set(igb.read(out.read_bytes()).nodes)
    assert command("push", str(out), "--space", space, "--base", "2") == (0, "version 3\n")
    out.write_bytes(b"no graph")
    assert command("push", str(out), "--space", space, "--base", "3")[0] == 2
    assert command("pull", "0000000000", "-o", str(out))[0] == 2
    assert command("push", str(tmp_path / "none"), "--space", space)[0] == 2


def test_a_wrong_token_and_a_server_that_is_not_there_exit_2(
    server: Running, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SPACES_TOKEN", raising=False)
    nobody, wrong = ["--server", "http://127.0.0.1:9"], ["--token", "x"]
    for words in (["--server", server.url, *wrong], [*nobody, *wrong], nobody):
        arguments = cli.parser().parse_args(["pull", "0000000000", "-o", str(tmp_path / "o"), *words])
        assert arguments.command(arguments) == 2
        assert capsys.readouterr().err.startswith("spaces: ")


@pytest.mark.parametrize(
    "words",
    [["--base", "0"], ["--base", "x"], ["-m", "\udcff"], ["--token", "\n"], ["--server", "ftp://x"], ["--space", "x"]],
    ids=ascii,
)
def test_what_cannot_be_meant_is_bad_usage(words: list[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        cli.parser().parse_args(["push", "flow.igb", "--space", "0000000000", *words])
    assert caught.value.code == 2


def test_a_pushed_file_stands_in_the_journal(tmp_path: Path) -> None:
    a, b = node_id(), node_id()
    graph = edited(node(a), of=Graph())
    with running(tmp_path) as found:
        space = found.new_space()
        assert post(found, space, graph).json()["number"] == 1
    with running(tmp_path) as found, found.program() as client:
        assert client.get(f"/api/spaces/{space}/graph.igb").content == file(graph)
        assert post(found, space, edited(node(b), of=graph), base=1).json()["number"] == 2
        assert client.get(f"/api/spaces/{space}/graph.igb").content == file(edited(node(b), of=graph))


def test_an_unsaved_edit_that_a_file_overwrites_or_bars_is_named(server: Running) -> None:
    space, a, b, c = server.new_space(), node_id(), node_id(), node_id()
    base = edited(node(a, text="one"), node(b, "text.clean"), node(c, "text.clean"), of=Graph())
    post(server, space, base)
    one = server.join(space)
    one.until("welcome")
    one.push(["set", [a, "text"], ["one"], ["draft"]], edge(b, "text", c, "text"))
    one.until("ack")
    theirs = edited(["set", [a, "text"], ["one"], ["file"]], edge(c, "text", b, "text"), of=base)
    answer = post(server, space, theirs, base=1)
    assert (answer.status_code, answer.json()["refused"]) == (201, [f"edge+ {c}.text.{b}.text.0: cycle"])
    assert one.until("patched")["overtaken"] == [[["set", a, "text"], "c000000001"]]
    assert answer.json()["file"] == hashlib.sha256(file(theirs)).hexdigest()
