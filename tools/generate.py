"""Writes what is generated from Python; with --check, says what would change and exits 1: `python -m tools.generate`.

A generator is a function from nothing to text; it stands in GENERATORS under the path that it fills.
"""

import argparse
import dataclasses
import json
import sys
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from spaces import wire
from tests.spec.vectors import VECTORS, text

ROOT = Path(__file__).resolve().parent.parent
RECORDS = (wire.Member, wire.SpaceInfo, wire.Version, wire.Diagnostic)
SCALARS = {int: "number", float: "number", str: "string", bytes: "Uint8Array", bool: "boolean", NoneType: "null"}
NAMED = ((wire.Key, "readonly Value[]"), (wire.Op, "Op"), (wire.Id, "Id"), (Any, "Value"))
HEADER = """// Frames of an open Space. Generated from backend/spaces/wire.py by `make gen`: change it there.
import type { Id, Op, Value } from "../igb/graph";
"""


def type_name(kind: Any) -> str:
    """A frame's or record's name in TypeScript; `Event` and `Version` would hide other types there."""
    return f"{kind.__name__}{'Frame' if kind in (*wire.CLIENT_FRAMES, *wire.SERVER_FRAMES) else ''}"


def typescript(kind: Any) -> str:
    """A Python type as wire.py uses it, in TypeScript."""
    for known, name in NAMED:
        if kind == known:
            return name
    if dataclasses.is_dataclass(kind):
        return type_name(kind)
    origin, args = get_origin(kind), get_args(kind)
    if origin is None:
        return SCALARS[kind]
    if origin is Annotated:
        return typescript(args[0])
    if origin in (Union, UnionType):
        return " | ".join(typescript(arg) for arg in args)
    if origin is Literal:
        return " | ".join(json.dumps(arg) for arg in args)
    if origin is list:
        item = typescript(args[0])
        return f"readonly {item}[]" if item.isidentifier() else f"ReadonlyArray<{item}>"
    if origin is tuple:
        return f"readonly [{', '.join(typescript(arg) for arg in args)}]"
    if origin is dict:
        return f"ReadonlyMap<{typescript(args[0])}, {typescript(args[1])}>"
    raise TypeError(f"expected a type that wire.py uses, got {kind}")


def interface(kind: Any) -> str:
    hints = get_type_hints(kind, include_extras=True)
    tag = [f"  type: {json.dumps(kind.type)};"] if kind not in RECORDS else []
    lines = [f"  {f.name}: {typescript(hints[f.name])};" for f in dataclasses.fields(kind)]
    return "\n".join([f"export interface {type_name(kind)} {{", *tag, *lines, "}\n"])


def frames() -> str:
    kinds = dict.fromkeys((*RECORDS, *wire.CLIENT_FRAMES, *wire.SERVER_FRAMES))
    constants = [
        f"export const {name} = {getattr(wire, name)};"
        for name in ("PROTOCOL", "FRAME_LIMIT", "PART_SIZE", "TRANSFER_LIMIT")
    ]
    unions = [
        f"export type {name} =\n  | " + "\n  | ".join(type_name(kind) for kind in members) + ";\n"
        for name, members in (("ClientFrame", wire.CLIENT_FRAMES), ("ServerFrame", wire.SERVER_FRAMES))
    ]
    return "\n".join([HEADER, *constants, "", *(interface(kind) for kind in kinds), *unions])


GENERATORS: Mapping[str, Callable[[], str]] = {
    "frontend/src/wire/frames.ts": frames,
    **{name: partial(text, cases) for name, cases in VECTORS.items()},
}


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="change nothing; exit 1 when a file is not up to date")
    check = parser.parse_args(arguments).check
    stale = []
    for name, generator in GENERATORS.items():
        path, wanted = ROOT / name, generator()
        if path.exists() and path.read_text("utf-8") == wanted:
            continue
        stale.append(name)
        if not check:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(wanted, "utf-8")
    for name in stale:
        print(f"{name} is not up to date; run `make gen`" if check else f"wrote {name}")
    return 1 if check and stale else 0


if __name__ == "__main__":
    sys.exit(main())
