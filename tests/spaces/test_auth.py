"""Who gets in: token, cookie, bearer, Origin, Host; and what every response says to a browser."""

import re
import time

import httpx
import pytest
from websockets.exceptions import InvalidStatus

from spaces.auth import Auth
from spaces.store import Store
from tests.spaces.conftest import TOKEN, Running, get

EVIL = "http://evil.example"


def refused(server: Running, space: str, headers: dict[str, str]) -> int:
    with pytest.raises(InvalidStatus) as caught:
        server.connect(space, headers=headers).close()
    return caught.value.response.status_code


def cookie_header(client: httpx.Client) -> str:
    return "; ".join(f"{name}={value}" for name, value in client.cookies.items())


def test_a_page_without_a_cookie_says_how_to_sign_in(server: Running) -> None:
    for path in ("/", "/spaces/0123456789"):
        answer = get(server.url + path)
        assert (answer.status_code, "printed when it started" in answer.text) == (401, True)


def test_the_printed_token_buys_a_cookie_that_scripts_cannot_read(server: Running) -> None:
    answer = get(server.url + "/", params={"token": TOKEN})
    assert (answer.status_code, answer.headers["location"]) == (303, "/")
    cookie = answer.headers["set-cookie"].lower()
    assert "httponly" in cookie and "samesite=strict" in cookie
    assert TOKEN not in cookie


@pytest.mark.parametrize("token", ["", "wrong", TOKEN + "x", TOKEN[:-1], "ü", "\x00"])
def test_another_token_buys_nothing(server: Running, token: str) -> None:
    answer = get(server.url + "/", params={"token": token})
    assert (answer.status_code, "set-cookie" in answer.headers) == (401, False)


def test_the_api_wants_a_caller(server: Running) -> None:
    answer = get(server.url + "/api/spaces")
    assert (answer.status_code, answer.json()["code"]) == (401, "cookie")
    assert get(server.url + "/api/spaces", headers={"authorization": "Bearer nonsense"}).status_code == 401
    assert get(server.url + "/api/spaces", headers={"authorization": f"Basic {TOKEN}"}).status_code == 401
    with server.program() as program, server.browser() as browser:
        assert [client.get("/api/spaces").status_code for client in (program, browser)] == [200, 200]


@pytest.mark.parametrize("forged", ["9999999999.00", "9999999999." + "0" * 64, "x.y", ".", "９.1", "9" * 5000])
def test_a_cookie_that_this_server_did_not_sign_is_none(server: Running, forged: str) -> None:
    name = f"spaces_{server.settings.port}"
    header = f"{name}={forged}".encode()
    assert get(server.url + "/api/spaces", headers={b"cookie": header}).status_code == 401


def test_a_cookie_ends_with_its_time_and_cannot_be_stretched(server: Running) -> None:
    auth = Auth(server.settings, Store(server.settings.database))
    assert auth.holds(auth.sign(int(time.time()) + 60))
    assert not auth.holds(auth.sign(int(time.time()) - 1))
    _, _, mac = auth.sign(int(time.time()) - 1).partition(".")
    assert not auth.holds(f"{int(time.time()) + 60}.{mac}")
    auth.store.close()


def test_a_change_with_the_cookie_must_come_from_our_own_pages(server: Running) -> None:
    body = {"name": "x"}
    with server.browser() as client:
        assert client.post("/api/spaces", json=body, headers={"origin": EVIL}).status_code == 403
        assert client.post("/api/spaces", json=body, headers={"origin": "null"}).status_code == 403
        del client.headers["origin"]
        assert client.post("/api/spaces", json=body).status_code == 403
        assert client.post("/api/spaces", json=body, headers={"sec-fetch-site": "cross-site"}).status_code == 403
        assert client.post("/api/spaces", json=body, headers={"sec-fetch-site": "same-origin"}).status_code == 201


def test_a_socket_wants_the_cookie_and_our_exact_origin(server: Running) -> None:
    space = server.new_space()
    with server.browser() as client:
        cookie = cookie_header(client)
    assert refused(server, space, {}) == 403
    assert refused(server, space, {"cookie": cookie}) == 403
    for origin in (EVIL, "null", server.url + "/", server.url.replace("http", "https"), server.url + "0"):
        assert refused(server, space, {"cookie": cookie, "origin": origin}) == 403
    assert refused(server, space, {"origin": server.url}) == 403
    server.connect(space, headers={"cookie": cookie, "origin": server.url}).close()


def test_a_bearer_comes_without_an_origin(server: Running) -> None:
    space = server.new_space()
    bearer = {"authorization": f"Bearer {TOKEN}"}
    assert refused(server, space, bearer | {"origin": server.url}) == 403
    assert refused(server, space, {"authorization": "Bearer no"}) == 403
    server.connect(space, headers=bearer).close()


def test_a_token_made_for_a_program_works_and_is_stored_only_as_a_hash(server: Running) -> None:
    store = Store(server.settings.database)
    store.add_token("a-token-for-a-program", "ci")
    store.close()
    answer = get(server.url + "/api/spaces", headers={"authorization": "Bearer a-token-for-a-program"})
    assert answer.status_code == 200
    assert b"a-token-for-a-program" not in b"".join(p.read_bytes() for p in server.settings.data.glob("spaces.db*"))


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:{port}", "127.0.0.1", "127.0.0.1:1", "localhost.evil:{port}", ""]
)
def test_a_host_name_that_is_not_ours_reaches_nothing(server: Running, host: str) -> None:
    space = server.new_space()
    given = host.format(port=server.settings.port)
    answer = get(server.url + "/", params={"token": TOKEN}, headers={"host": given})
    assert (answer.status_code, "set-cookie" in answer.headers) == (421, False)
    with pytest.raises(InvalidStatus) as caught:
        server.connect(space, headers={"authorization": f"Bearer {TOKEN}", "host": given}).close()
    assert caught.value.response.status_code in (400, 403)


def test_every_response_carries_the_security_headers(server: Running) -> None:
    for answer in (
        get(server.url + "/"),
        get(server.url + "/api/spaces"),
        get(server.url + "/nothing"),
        get(server.url + "/", headers={"host": "evil.example"}),
        get(server.url + "/api/catalogue", headers={"authorization": f"Bearer {TOKEN}"}),
    ):
        policy = answer.headers["content-security-policy"]
        scripts = re.search(r"script-src ([^;]*)", policy)
        assert scripts and scripts[1] == "'self'"
        assert "unsafe-eval" not in policy and "frame-ancestors 'none'" in policy and "default-src 'none'" in policy
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["referrer-policy"] == "no-referrer"


def test_the_data_directory_is_its_owners_alone(server: Running) -> None:
    data = server.settings.data
    assert data.stat().st_mode & 0o777 == 0o700
    assert (data / "cookie.key").stat().st_mode & 0o777 == 0o600
