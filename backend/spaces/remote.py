"""A server's REST as a program uses it: `spaces pull` and `spaces push`. Nothing of the server itself is imported."""

import argparse
import base64
import binascii
import json
import os
import re
import sys
from collections.abc import Mapping
from http.client import HTTPException
from pathlib import Path
from typing import Any, Final
from urllib.error import HTTPError, URLError
from urllib.parse import quote, urlencode, urlsplit
from urllib.request import HTTPRedirectHandler, OpenerDirector, ProxyHandler, Request, build_opener

from dots.shape import ID
from igc import render
from igc.files import write_file

FINE, FINDINGS, UNREADABLE = range(3)
MOST: Final = 256 << 20  # bytes of an answer: two diffs and a merge
SECONDS: Final = 120.0


class Unreachable(Exception):
    """No answer that can be used; the message says what was asked and what came."""


class NoRedirect(HTTPRedirectHandler):
    """A token goes to the address that was given and to no other."""

    def redirect_request(self, *arguments: object) -> None:
        return None


class Remote:
    """One server and the token for it."""

    def __init__(self, server: str, token: str) -> None:
        self.server = server.rstrip("/")
        self.headers = {"authorization": f"Bearer {token}"}
        self.opener: OpenerDirector = build_opener(NoRedirect(), ProxyHandler({}))

    def ask(self, method: str, path: str, body: bytes | None = None) -> tuple[int, bytes]:
        """Status and body of the answer.

        Raises Unreachable.
        """
        request = Request(f"{self.server}{path}", body, self.headers, method=method)
        try:
            try:
                with self.opener.open(request, timeout=SECONDS) as answer:
                    return answer.status, answer.read(MOST)
            except HTTPError as error:
                return error.code, error.read(MOST)
        except URLError as error:
            raise Unreachable(f"{self.server}: {error.reason}") from error
        except (OSError, ValueError, HTTPException) as error:
            raise Unreachable(f"{self.server}: {error}") from error


def facts(status: int, body: bytes, expected: tuple[int, ...]) -> Any:
    """The JSON of an answer with one of these statuses.

    Raises Unreachable.
    """
    try:
        found = json.loads(body)
    except ValueError:
        found = None
    if status in expected and found is not None:
        return found
    if isinstance(found, dict) and "expected" in found:
        why = f"{found.get('code')} at {found.get('where')}: expected {found['expected']}, got {found.get('got')}"
        raise Unreachable(render.name(why))
    raise Unreachable(f"expected an answer of a Spaces server, got status {status}")


def pull(arguments: argparse.Namespace) -> int:
    """Write the newest version of a Space, or its graph as it stands where it has none."""
    remote = Remote(arguments.server, arguments.token)
    path = f"/api/spaces/{arguments.space}"
    versions = facts(*remote.ask("GET", f"{path}/versions"), (200,))
    newest: Mapping[str, Any] | None = versions[0] if versions else None
    where = f"{path}/graph.igb" if newest is None else f"/api/files/{quote(str(newest['file']))}"
    status, data = remote.ask("GET", where)
    if status != 200:
        facts(status, data, ())
    write_file(arguments.output, data)
    print("no version" if newest is None else f"version {newest['number']}")
    return FINE


def push(arguments: argparse.Namespace) -> int:
    """Make a file the newest version, or say how it differs from it."""
    remote = Remote(arguments.server, arguments.token)
    query = {"message": arguments.message} | ({} if arguments.base is None else {"base": arguments.base})
    data = arguments.file.read_bytes()
    status, body = remote.ask("POST", f"/api/spaces/{arguments.space}/versions?{urlencode(query)}", data)
    found = facts(status, body, (200, 201, 409))
    if status != 409:
        print(f"version {found['number']}")
        for line in found["refused"]:
            print(f"spaces: unsaved edits in the Space leave no place for {render.name(line)}", file=sys.stderr)
        return FINE
    if found.get("code") != "stale":
        facts(status, body, ())
    tell_stale(found)
    if arguments.merge is not None and found["merged"] is not None:
        write_file(arguments.merge, base64.b64decode(found["merged"], validate=True))
    return FINDINGS


def tell_stale(found: Mapping[str, Any]) -> None:
    newest = found["newest"]
    print(f"stale: the newest version is {newest}")
    for title, lines in (("yours", found["ours"]), (f"version {newest}", found["theirs"])):
        print(f"{title}:")
        for line in str(lines).splitlines():
            print(f"  {render.name(line)}")
    for one in found["conflicts"]:
        print(render.name(f"conflict {one['code']} {' '.join(str(part) for part in one['key'])}"))


def guarded(arguments: argparse.Namespace) -> int:
    if not arguments.token:
        print(
            "spaces: expected a token in --token or SPACES_TOKEN, got none; `spaces token` makes one", file=sys.stderr
        )
        return UNREADABLE
    try:
        status: int = arguments.work(arguments)
    except Unreachable as error:
        print(f"spaces: {error}", file=sys.stderr)
    except OSError as error:
        print(f"spaces: {error.filename}: {error.strerror}", file=sys.stderr)
    except (KeyError, TypeError, IndexError, AttributeError, binascii.Error) as error:
        print(f"spaces: expected an answer of a Spaces server, got another one ({error!r})", file=sys.stderr)
    else:
        return status
    return UNREADABLE


def space_id(text: str) -> str:
    if ID.fullmatch(text) is None:
        raise argparse.ArgumentTypeError(f"expected the id in a Space's address, got {text!r}")
    return text


def address(text: str) -> str:
    parts = urlsplit(text)
    if parts.scheme not in ("http", "https") or not parts.netloc or parts.query:
        raise argparse.ArgumentTypeError(f"expected an address such as http://127.0.0.1:8000, got {text!r}")
    return text


def bearer(text: str) -> str:
    if not text.isascii() or not text.isprintable():
        raise argparse.ArgumentTypeError("expected a token as `spaces token` prints it")
    return text


def message(text: str) -> str:
    """Python keeps argument bytes that are no text as lone surrogates; no request can carry them."""
    if any("\ud800" <= letter <= "\udfff" for letter in text):
        raise argparse.ArgumentTypeError(f"expected text, got {text!r}")
    return text


def version_number(text: str) -> int:
    if not re.fullmatch(r"[1-9][0-9]{0,14}", text):
        raise argparse.ArgumentTypeError(f"expected the number of a version, got {text!r}")
    return int(text)


def add_commands(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    pulling = commands.add_parser("pull", help="write a Space's newest version to a file")
    pulling.add_argument("space", type=space_id, metavar="SPACE", help="the id in the Space's address")
    pulling.add_argument("-o", "--output", type=Path, metavar="FILE", required=True)
    pulling.set_defaults(work=pull)
    pushing = commands.add_parser("push", help="make a file a Space's newest version; exit 1 if another came between")
    pushing.add_argument("file", type=Path, metavar="FILE")
    pushing.add_argument("--space", type=space_id, metavar="ID", required=True)
    pushing.add_argument("--base", type=version_number, metavar="N", help="the version that FILE was made from")
    pushing.add_argument("-m", "--message", type=message, default="", help="of the new version")
    pushing.add_argument(
        "--merge", type=Path, metavar="OUT.igb", help="where to write the merge if another came between"
    )
    pushing.set_defaults(work=push)
    for one in (pulling, pushing):
        one.add_argument("--server", type=address, default="http://127.0.0.1:8000", help="default: %(default)s")
        given = os.environ.get("SPACES_TOKEN", "")
        one.add_argument("--token", default=given, type=bearer, help="bearer token; default: $SPACES_TOKEN")
        one.set_defaults(command=guarded)
