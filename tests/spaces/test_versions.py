"""Saving, versions, and files that come back byte for byte."""

import hashlib
from pathlib import Path

import pytest

from dots.components import catalogue
from igc import igb, patch
from igc.graph import Graph
from spaces.templates import TEMPLATES, build
from tests.spaces.conftest import Running, node, node_id, running


def template_bytes(name: str) -> bytes:
    return igb.write(build(TEMPLATES[name], catalogue()))


def test_a_save_makes_a_version_with_its_files(server: Running) -> None:
    space = server.new_space("summary")
    one, two = server.join(space, "c000000001"), server.join(space, "c000000002")
    first = one.until("welcome")
    one.send(type="save", id=["c000000001", 1], seq=0, base_version=None, message="Begin")
    version = one.until("saved")["version"]
    assert two.until("saved")["version"] == version
    assert (version["number"], version["message"], version["author"]) == (1, "Begin", "tester")
    assert version["file"] == hashlib.sha256(first["igb"]).digest()
    assert version["created"].endswith("Z")
    with server.program() as client:
        stored = {k: client.get(f"/api/files/{version[k].hex()}").content for k in ("file", "patch", "dotbin")}
        (listed,) = client.get(f"/api/spaces/{space}/versions").json()
    assert stored["file"] == first["igb"]
    change = patch.read(stored["patch"])
    assert igb.write(patch.apply(change, igb.Graph())) == first["igb"]
    assert stored["dotbin"].startswith(b"\x89DOT\r\n\x1a\n")
    assert listed == version | {k: version[k].hex() for k in ("file", "sem", "patch", "dotbin")}


def test_equal_bytes_make_no_version_and_a_stale_base_is_refused(server: Running) -> None:
    space, a = server.new_space(), node_id()
    one = server.join(space)
    one.send(type="save", id=["c000000001", 1], seq=0, base_version=None, message="")
    assert one.until("saved")["version"]["number"] == 1
    one.send(type="save", id=["c000000001", 2], seq=0, base_version=None, message="again")
    assert one.until("saved")["version"]["number"] == 1
    one.push(node(a))
    one.until("ack")
    one.send(type="save", id=["c000000001", 4], seq=1, base_version=None, message="stale")
    refusal = one.until("refused")
    assert (refusal["id"], refusal["code"], refusal["where"]) == (["c000000001", 4], "stale", "save.base_version")
    one.send(type="save", id=["c000000001", 5], seq=1, base_version=1, message="fine")
    version = one.until("saved")["version"]
    assert (version["number"], version["dotbin"]) == (2, None if version["dotbin"] is None else version["dotbin"])


def test_a_save_is_of_the_room_as_of_its_seq(server: Running) -> None:
    space, a = server.new_space(), node_id()
    one = server.join(space)
    one.push(node(a, text="one"))
    one.until("ack")
    one.push(["set", [a, "text"], ["one"], ["two"]])
    one.until("ack")
    one.send(type="save", id=["c000000001", 3], seq=1, base_version=None, message="earlier")
    version = one.until("saved")["version"]
    with server.program() as client:
        saved = igb.read(client.get(f"/api/files/{version['file'].hex()}").content)
    assert saved.nodes[a].params == {"text": "one"}
    one.send(type="save", id=["c000000001", 4], seq=9, base_version=1, message="later than all")
    assert one.until("refused")["code"] == "seq"


def test_a_graph_that_does_not_compile_is_saved_all_the_same(server: Running) -> None:
    space = server.new_space()
    one = server.join(space)
    one.push(node(node_id(), "no.such_component"))
    one.until("ack")
    one.send(type="save", id=["c000000001", 2], seq=1, base_version=None, message="broken")
    version = one.until("saved")["version"]
    assert version["dotbin"] is None and version["patch"] is not None


@pytest.mark.parametrize("name", TEMPLATES)
def test_an_imported_file_comes_back_byte_for_byte(server: Running, name: str) -> None:
    data = template_bytes(name)
    with server.browser() as client:
        made = client.post("/api/spaces/import", params={"name": "Imported"}, content=data)
        assert made.status_code == 201
        got = client.get(f"/api/spaces/{made.json()['id']}/graph.igb")
    assert got.content == data
    assert "attachment" in got.headers["content-disposition"]
    peer = server.join(made.json()["id"])
    assert peer.until("welcome")["igb"] == data
    assert peer.until("diagnosed")["diagnostics"] == []


@pytest.mark.parametrize(
    "data", [b"", b"nonsense", igb.MAGIC, template_bytes("summary")[:-1], template_bytes("summary") + b"\x00"]
)
def test_a_file_that_is_no_graph_is_refused_with_its_place(server: Running, data: bytes) -> None:
    with server.program() as client:
        answer = client.post("/api/spaces/import", params={"name": "Bad"}, content=data)
    assert answer.status_code == 422
    assert set(answer.json()) == {"code", "where", "expected", "got", "hint"}


def test_a_restored_version_is_a_new_one_with_the_same_bytes_and_every_tab_follows(server: Running) -> None:
    space, a, b = server.new_space("summary"), node_id(), node_id()
    one, two = server.join(space, "c000000001"), server.join(space, "c000000002")
    first = one.until("welcome")["igb"]
    graph = igb.read(two.until("welcome")["igb"])
    one.send(type="save", id=["c000000001", 1], seq=0, base_version=None, message="Begin")
    one.until("saved")
    one.counter = 1
    one.push(node(a), node(b), ["move", [a], [], [[8, 16]]])
    one.until("ack")
    one.send(type="save", id=["c000000001", 3], seq=1, base_version=1, message="More")
    one.until("saved")
    with server.program() as client:
        restored = client.post(f"/api/spaces/{space}/versions/1/restore", json={})
        assert restored.status_code == 200, restored.text
        version = restored.json()
        assert (version["number"], version["message"], version["author"]) == (3, "Restore v1", "tester")
        assert version["file"] == hashlib.sha256(first).hexdigest()
        assert client.get(f"/api/files/{version['file']}").content == first
        assert client.get(f"/api/spaces/{space}/graph.igb").content == first
        change = patch.read(client.get(f"/api/files/{version['patch']}").content)
        second = client.get(f"/api/spaces/{space}/versions").json()[1]
        assert igb.write(patch.apply(change, igb.read(client.get(f"/api/files/{second['file']}").content))) == first
        again = client.post(f"/api/spaces/{space}/versions/3/restore", json={"message": "again"})
        assert again.json() == version
    for _ in range(2):
        patched = two.until("patched")
        graph = patch.apply_ops(graph, [patch.op_from_value(op, "op") for op in patched["ops"]])
    assert (patched["author"], igb.write(graph)) == ("tester", first)
    assert two.until("saved", id=["restore", 0])["version"]["number"] == 3
    one.push(node(node_id()))
    assert one.until("ack")["seq"] == 3


def test_a_restore_stands_in_the_journal(tmp_path: Path) -> None:
    with running(tmp_path) as found:
        space = found.new_space("summary")
        one = found.join(space)
        first = one.until("welcome")["igb"]
        one.send(type="save", id=["c000000001", 1], seq=0, base_version=None, message="Begin")
        one.counter = 1
        one.push(node(node_id()))
        one.until("ack")
        with found.program() as client:
            assert client.post(f"/api/spaces/{space}/versions/1/restore", json={}).json()["number"] == 1
    with running(tmp_path) as found, found.program() as client:
        assert client.get(f"/api/spaces/{space}/graph.igb").content == first
        peer = found.join(space)
        peer.until("welcome")
        peer.push(node(node_id()))
        peer.until("ack")
        client.post(f"/api/spaces/{space}/versions/1/restore", json={})
        assert client.get(f"/api/spaces/{space}/graph.igb").content == first


def test_a_version_is_renamed_and_keeps_its_bytes(server: Running) -> None:
    space = server.new_space()
    one = server.join(space)
    one.send(type="save", id=["c000000001", 1], seq=0, base_version=None, message="Begin")
    before = one.until("saved")["version"]
    with server.browser() as client:
        renamed = client.patch(f"/api/spaces/{space}/versions/1", json={"message": "起点"})
        assert renamed.status_code == 200
        (listed,) = client.get(f"/api/spaces/{space}/versions").json()
        assert (listed["message"], listed["file"]) == ("起点", before["file"].hex())
        file = client.get(f"/api/files/{listed['file']}", params={"name": '试 "v1"/..\r\n'})
    assert one.until("saved")["version"] == before | {"message": "起点"}
    told = file.headers["content-disposition"]
    assert "filename*=UTF-8''%E8%AF%95%20%22v1%22%2F..%0D%0A.igb" in told


@pytest.mark.parametrize(
    ("method", "path", "body", "status"),
    [
        ("POST", "versions/1/restore", {}, 404),
        ("PATCH", "versions/1", {"message": "x"}, 404),
        ("PATCH", "versions/0", {"message": "x"}, 422),
        ("PATCH", "versions/1", {}, 422),
        ("POST", "versions/1/restore", {"message": 7}, 422),
        ("POST", "versions/99999999999999999999/restore", {}, 422),
    ],
)
def test_a_version_that_is_not_there_or_a_body_of_another_form_is_refused(
    server: Running, method: str, path: str, body: object, status: int
) -> None:
    with server.program() as client:
        answer = client.request(method, f"/api/spaces/{server.new_space()}/{path}", json=body)
    assert answer.status_code == status
    assert set(answer.json()) == {"code", "where", "expected", "got", "hint"}


def test_a_restore_that_one_push_cannot_hold_is_refused_and_changes_nothing(server: Running) -> None:
    """What goes and what comes are 18 MiB together; one push holds 16."""
    space = server.new_space()
    sides = [
        igb.write(patch.apply_ops(Graph(), [patch.op_from_value(node(name, text="x" * (9 << 20)))]))
        for name in (node_id(), node_id())
    ]
    with server.program() as client:
        for base, data in enumerate((sides[0], igb.write(Graph()), sides[1])):
            query = {"base": base} if base else {}
            assert client.post(f"/api/spaces/{space}/versions", params=query, content=data).status_code == 201
        answer = client.post(f"/api/spaces/{space}/versions/1/restore", json={})
        assert (answer.status_code, answer.json()["code"], answer.json()["where"]) == (413, "size", "version 1")
        assert client.get(f"/api/spaces/{space}/graph.igb").content == sides[1]
        assert [row["number"] for row in client.get(f"/api/spaces/{space}/versions").json()] == [3, 2, 1]
        assert client.post(f"/api/spaces/{space}/versions/2/restore", json={}).status_code == 200
        assert client.post(f"/api/spaces/{space}/versions/1/restore", json={}).status_code == 200
