"""The command `igc`: check, show, diff, patch, merge, compile. It alone reads files here, and `files.py` writes them.

Exit codes: 0 fine · 1 findings · 2 bad usage or unreadable input · 3 internal error.
Results go to standard output, messages to standard error; with `--json` both are one JSON object on standard output.
"""

import argparse
import json
import os
import sys
import traceback
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Final, TypeVar

from dots import program
from dots.codec import MAX_SIZE, Malformed
from dots.components import catalogue
from dots.program import Program
from igc import conflicts, igb, patch, render
from igc.check import Diagnostic, check
from igc.compile import LEVELS, compile
from igc.files import write_file
from igc.graph import Graph, Invalid
from igc.merge import merge3
from igc.patch import Patch

FINE, FINDINGS, UNREADABLE, INTERNAL = range(4)
MAGIC_SIZE: Final = 8
T = TypeVar("T", Graph, Patch)


class Unreadable(Exception):
    """A file cannot be read or written as asked."""

    def __init__(self, where: str, code: str, expected: str, got: str) -> None:
        super().__init__(f"{where}: {code}: expected {expected}, got {got}")
        self.facts = {"where": where, "code": code, "expected": expected, "got": got}


@dataclass(frozen=True, slots=True)
class Answer:
    """What a command has to say."""

    status: int = FINE
    lines: Iterable[str] = ()
    facts: dict[str, object] = field(default_factory=dict)


def main(arguments: Sequence[str] | None = None) -> int:
    options = parser().parse_args(arguments)
    command: Callable[[argparse.Namespace], Answer] = options.command
    try:
        answer = command(options)
    except Unreadable as error:
        return failed(options.json, UNREADABLE, str(error), error.facts)
    except Exception as error:
        traceback.print_exc()
        return failed(options.json, INTERNAL, f"internal error: {error!r}", {"code": "internal", "got": repr(error)})
    lines = [json.dumps({"status": answer.status, **answer.facts})] if options.json else answer.lines
    try:
        for line in lines:
            print(line)
        sys.stdout.flush()
    except BrokenPipeError:  # the reader has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        print(f"igc: standard output: {error.strerror}", file=sys.stderr)
        return UNREADABLE
    return answer.status


def failed(as_json: bool, status: int, message: str, facts: dict[str, str]) -> int:
    if as_json:
        print(json.dumps({"status": status, "error": facts}))
    else:
        print(f"igc: {message}", file=sys.stderr)
    return status


def parser() -> argparse.ArgumentParser:
    top = argparse.ArgumentParser(prog="igc", description="Checks, shows, compares and compiles graphs.")
    top.add_argument("--version", action="version", version=f"igc {version('spaces')}")
    commands = top.add_subparsers(required=True, metavar="COMMAND")

    def add(name: str, command: Callable[[argparse.Namespace], Answer], text: str) -> argparse.ArgumentParser:
        one = commands.add_parser(name, help=text, description=text)
        one.set_defaults(command=command)
        one.add_argument("--json", action="store_true", help="print one JSON object")
        return one

    one = add("check", check_file, "say what is wrong with a graph; exit 1 if something is")
    one.add_argument("file", type=Path, metavar="FILE")
    one = add("show", show_file, "print a .igb, .patch or .dotbin as text, one fact per line")
    one.add_argument("file", type=Path, metavar="FILE")
    one = add("diff", diff_files, "print what leads from graph A to graph B")
    one.add_argument("a", type=Path, metavar="A")
    one.add_argument("b", type=Path, metavar="B")
    one.add_argument("-o", "--output", type=Path, metavar="P.patch", help="write the patch too")
    one.add_argument("--exit-code", action="store_true", help="exit 1 when the graphs differ")
    one = add("patch", patch_file, "apply a patch to its base")
    one.add_argument("patch", type=Path, metavar="P.patch")
    one.add_argument("base", type=Path, metavar="BASE")
    one.add_argument("-o", "--output", type=Path, metavar="OUT", required=True)
    one = add(
        "merge", merge_files, "merge two graphs that come from one base; exit 1 on conflicts, which OUT then holds"
    )
    one.add_argument("base", type=Path, metavar="BASE")
    one.add_argument("ours", type=Path, metavar="OURS")
    one.add_argument("theirs", type=Path, metavar="THEIRS")
    one.add_argument("-o", "--output", type=Path, metavar="OUT", required=True)
    one = add("compile", compile_file, "compile a graph to a program")
    one.add_argument("file", type=Path, metavar="FILE")
    one.add_argument("-o", "--output", type=Path, metavar="OUT", required=True)
    one.add_argument("--text", action="store_true", help="write the text form")
    one.add_argument("--fusion", choices=sorted(LEVELS), default="exact")
    return top


# Commands ------------------------------------------------------------------------------------------------------------


def check_file(options: argparse.Namespace) -> Answer:
    found = check(read_graph(options.file), catalogue())
    return (
        findings(options.file, found)
        if found
        else Answer(lines=[f"{shown(options.file)}: fine"], facts={"diagnostics": []})
    )


def findings(path: Path, found: list[Diagnostic]) -> Answer:
    lines = [f"{shown(path)}: {finding(one)}" for one in found]
    return Answer(FINDINGS, lines, {"diagnostics": [asdict(one) for one in found]})


def finding(one: Diagnostic) -> str:
    hint = f" ({one.hint})" if one.hint else ""
    return render.name(f"{one.where}: {one.code}: expected {one.expected}, got {one.got}{hint}")


def show_file(options: argparse.Namespace) -> Answer:
    found = read_any(options.file)
    if isinstance(found, Program):
        return Answer(lines=program.show(found).splitlines(), facts={"program": render.plain(program.to_value(found))})
    if isinstance(found, Patch):
        return Answer(lines=render.patch_lines(found), facts={"patch": patch_facts(found)})
    hashes = igb.hashes_of(found)
    lines = [f"sem {hashes.sem.hex()}", f"file {hashes.file.hex()}", *render.graph_lines(found)]
    return Answer(lines=lines, facts={"graph": render.plain(asdict(found)), **hexed(hashes)})


def hexed(hashes: igb.Hashes) -> dict[str, object]:
    return {"sem": hashes.sem.hex(), "file": hashes.file.hex()}


def patch_facts(found: Patch) -> dict[str, object]:
    ops = [render.plain(patch.to_value(op)) for op in found.ops]
    return {"base": hexed(found.base), "target": hexed(found.target), "ops": ops}


def diff_files(options: argparse.Namespace) -> Answer:
    change = patch.diff(read_graph(options.a), read_graph(options.b))
    if options.output is not None:
        write(options.output, patch.write(change))
    status = FINDINGS if options.exit_code and change.ops else FINE
    return Answer(status, render.ops_lines(change.ops), {"patch": patch_facts(change)})


def patch_file(options: argparse.Namespace) -> Answer:
    change, base = read_as(Patch, options.patch, "a .patch"), read_graph(options.base)
    try:
        result = patch.apply(change, base)
    except Invalid as error:
        one = Diagnostic(error.code, error.path, None, None, error.expected, error.got)
        return findings(options.base, [one])
    write(options.output, igb.write(result))
    return Answer(facts=hexed(igb.hashes_of(result)))


def merge_files(options: argparse.Namespace) -> Answer:
    base, ours, theirs = (read_graph(path) for path in (options.base, options.ours, options.theirs))
    try:
        result = merge3(base, ours, theirs, catalogue())
    except Invalid as error:
        return findings(options.output, [Diagnostic(error.code, error.path, None, None, error.expected, error.got)])
    write(options.output, igb.write(result.graph))
    facts = {"conflicts": [render.plain(conflicts.to_value(one)) for one in result.conflicts]}
    lines = render.conflict_lines(result.conflicts)
    return Answer(FINE if result.clean else FINDINGS, lines, facts | hexed(igb.hashes_of(result.graph)))


def compile_file(options: argparse.Namespace) -> Answer:
    result = compile(read_graph(options.file), catalogue(), options.fusion)
    if isinstance(result, list):
        return findings(options.file, result)
    write(options.output, program.show(result).encode() if options.text else program.write(result))
    count = len(result.blocks[0].instructions)
    return Answer(facts={"instructions": count, "inputs": list(result.inputs), "outputs": list(result.outputs)})


# Files ---------------------------------------------------------------------------------------------------------------


def shown(path: Path) -> str:
    return render.name(str(path))


def read_any(path: Path) -> Graph | Patch | Program:
    """Any of the three files, known by its magic; the text form of a program too."""
    try:
        with path.open("rb") as file:
            data = file.read(MAX_SIZE + MAGIC_SIZE + 1)
    except OSError as error:
        raise Unreadable(shown(path), "unreadable", "a file", error.strerror or repr(error)) from error
    try:
        if data[:MAGIC_SIZE] == igb.MAGIC:
            return igb.read(data)
        if data[:MAGIC_SIZE] == patch.MAGIC:
            return patch.read(data)
        if data[:1] != igb.MAGIC[:1] and b"\nprogram " not in b"\n" + data:
            raise Unreadable(shown(path), "kind", "a .igb, .patch or .dotbin", f"a file that begins {data[:8]!r}")
        return program.load(data)
    except Malformed as error:
        raise Unreadable(f"{shown(path)} byte {error.offset}", error.code, error.expected, error.got) from error
    except Invalid as error:
        raise Unreadable(f"{shown(path)} {render.name(error.path)}", error.code, error.expected, error.got) from error


def read_as(kind: type[T], path: Path, expected: str) -> T:
    found = read_any(path)
    if not isinstance(found, kind):
        raise Unreadable(shown(path), "kind", expected, f"a {type(found).__name__.lower()}")
    return found


def read_graph(path: Path) -> Graph:
    return read_as(Graph, path, "a .igb")


def write(path: Path, data: bytes) -> None:
    try:
        write_file(path, data)
    except OSError as error:
        raise Unreadable(shown(path), "unwritable", "a place to write", error.strerror or repr(error)) from error


if __name__ == "__main__":
    sys.exit(main())
