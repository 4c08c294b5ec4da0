"""REST: Spaces, the catalogue, templates, pages and their caching."""

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from websockets.exceptions import ConnectionClosed

from dots import codec
from dots.components import catalogue
from igc import igb
from igc.check import check
from igc.compile import compile
from spaces.templates import TEMPLATES, build
from tests.spaces.conftest import Running, running, wait_for


@pytest.fixture
def api(server: Running) -> Iterator[httpx.Client]:
    with server.program() as client:
        yield client


def test_a_space_is_made_looked_at_renamed_and_deleted(api: httpx.Client, server: Running) -> None:
    made = api.post("/api/spaces", json={"name": "Draft", "template": "parallel"}).json()
    path = f"/api/spaces/{made['id']}"
    assert api.get(path).json() == made
    assert api.patch(path, json={"name": "Kept"}).json()["name"] == "Kept"
    assert made["id"] in [space["id"] for space in api.get("/api/spaces").json()]
    peer = server.join(made["id"])
    assert peer.until("welcome")["space"] == {"id": made["id"], "name": "Kept"}
    assert api.delete(path).status_code == 204
    assert [api.get(path).status_code, api.delete(path).status_code, api.get(f"{path}/versions").status_code] == [
        404
    ] * 3


def test_deleting_a_space_ends_its_runs_and_lets_its_members_go(api: httpx.Client, server: Running) -> None:
    space = server.new_space("summary")
    peer = server.join(space)
    server.engine.go.clear()
    peer.send(type="run", run="r000000901", igb=peer.until("welcome")["igb"])
    while peer.until("event")["kind"] != "running":
        pass
    assert api.delete(f"/api/spaces/{space}").status_code == 204
    with pytest.raises(ConnectionClosed):
        peer.until("never")
    assert peer.socket.close_code == 4404
    wait_for(lambda: "r000000901" in server.engine.cancelled)
    assert api.get("/api/engine").json()["state"] == "ready"


@pytest.mark.parametrize(
    ("body", "where"),
    [
        ({}, "body.name"),
        ({"name": ""}, "body.name"),
        ({"name": 7}, "body.name"),
        ({"name": "x" * 201}, "body.name"),
        ({"name": "x", "more": 1}, "body.more"),
        ({"name": "x", "template": "no"}, "body.template"),
        ([], "body"),
    ],
)
def test_a_body_of_another_form_is_refused_with_its_place(api: httpx.Client, body: object, where: str) -> None:
    answer = api.post("/api/spaces", json=body)
    assert (answer.status_code, answer.json()["where"]) == (422, where)
    assert set(answer.json()) == {"code", "where", "expected", "got", "hint"}


@pytest.mark.parametrize(
    "path",
    ["/api/nothing", "/api/spaces/UPPERCASE0", "/api/files/00", "/api/files/" + "0" * 64, "/" + "语" * 150],
)
def test_what_is_not_there_is_an_error_in_our_form(api: httpx.Client, path: str) -> None:
    answer = api.get(path)
    assert answer.status_code in (404, 422)
    assert set(answer.json()) == {"code", "where", "expected", "got", "hint"}


def test_the_largest_file_that_a_graph_may_be_passes_the_guard(api: httpx.Client) -> None:
    """It is refused for what it is, not for its size."""
    answer = api.post("/api/spaces/import", params={"name": "x"}, content=igb.MAGIC + bytes(codec.MAX_SIZE))
    assert (answer.status_code, answer.json()["code"]) == (422, "trailing")


def test_the_catalogue_has_the_entries_that_the_editor_reads(api: httpx.Client) -> None:
    entries = {entry["name"]: entry for entry in api.get("/api/catalogue").json()}
    assert list(entries) == list(catalogue())
    clean = entries["text.clean"]
    assert set(clean) == {
        *("name", "version", "effect", "label", "help", "group", "glyph", "inputs", "outputs", "schema", "template"),
        "budget",
    }
    text = {"name": "text", "type": "text", "label": {"en": "Text", "zh": "文本"}, "required": True, "hidden": False}
    assert (clean["inputs"], clean["label"], clean["effect"]) == (
        [text],
        {"en": "Clean text", "zh": "清洗文本"},
        "pure",
    )
    assert clean["schema"]["properties"]["html"] == {
        "default": True,
        "title": "Remove HTML",
        "type": "boolean",
        "zh": "去除 HTML",
    }
    assert entries["text.template"]["template"] == "template"


def test_the_engine_tells_of_itself(api: httpx.Client) -> None:
    assert api.get("/api/engine").json()["state"] == "ready"


@pytest.mark.parametrize("name", TEMPLATES)
def test_a_template_has_no_findings_stands_on_the_grid_and_compiles(name: str) -> None:
    components = catalogue()
    graph = build(TEMPLATES[name], components)
    assert check(graph, components) == []
    assert set(graph.positions) == set(graph.nodes)
    assert all(x % 8 == y % 8 == 0 for x, y in graph.positions.values())
    assert name == "empty" or not isinstance(compile(graph, components), list)


def test_the_first_start_has_a_space_that_runs(tmp_path: Path) -> None:
    for run in ("r000000001", "r000000002"):
        with running(tmp_path) as server, server.program() as client:
            (space,) = client.get("/api/spaces").json()
            peer = server.join(space["id"])
            peer.send(type="run", run=run, igb=peer.until("welcome")["igb"])
            assert peer.events(run)[-1]["data"]["status"] == "done"


def test_pages_are_served_from_the_build_with_the_right_caching(tmp_path: Path) -> None:
    dist = tmp_path / "dist"
    (dist / "assets").mkdir(parents=True)
    (dist / "index.html").write_text("<!doctype html><p>editor</p>")
    (dist / "assets" / "main-abc.js").write_text("1")
    (dist / "favicon.svg").write_text("<svg/>")
    with running(tmp_path / "data", dist=dist) as server, server.browser() as client:
        found = {
            path: (answer.status_code, answer.headers["cache-control"], answer.headers["content-type"].split(";")[0])
            for path in ("/", "/spaces/0123456789", "/assets/main-abc.js", "/favicon.svg", "/assets/none.js")
            for answer in (client.get(path),)
        }
    page = (200, "no-cache", "text/html")
    assert found == {
        "/": page,
        "/spaces/0123456789": page,
        "/assets/main-abc.js": (200, "public, max-age=31536000, immutable", "text/javascript"),
        "/favicon.svg": (200, "no-cache", "image/svg+xml"),
        "/assets/none.js": (404, "no-store", "application/json"),
    }


def test_a_page_that_is_not_built_says_how(tmp_path: Path) -> None:
    with running(tmp_path / "data", dist=tmp_path / "nothing") as server, server.browser() as client:
        answer = client.get("/")
    assert (answer.status_code, "make run" in answer.text) == (503, True)
