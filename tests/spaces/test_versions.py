"""Saving, versions, and files that come back byte for byte."""

import hashlib

import pytest

from dots.components import catalogue
from igc import igb, patch
from spaces.templates import TEMPLATES, build
from tests.spaces.conftest import Running, node, node_id


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
