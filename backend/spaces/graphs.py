"""Graphs as the server handles them: read from untrusted bytes, compiled, diagnosed; their patches as files."""

import logging
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from dots import codec, program
from dots.components import Catalogue
from igc import igb, patch
from igc.check import Diagnostic, check
from igc.compile import compile, left_out
from igc.graph import Graph
from spaces import wire
from spaces.errors import Reason, Refused

log = logging.getLogger("spaces.graphs")

MOST_DIAGNOSTICS = 500  # in one frame


@dataclass(frozen=True, slots=True)
class Compiled:
    data: bytes | None  # the `.dotbin`; None: see the diagnostics
    sem: bytes
    diagnostics: tuple[Diagnostic, ...] = ()
    skipped: Mapping[str, dict[str, Any]] = field(default_factory=dict)  # nodes that are no part of it, and why


def compiled(graph: Graph, catalogue: Catalogue, targets: Iterable[str] | None = None) -> Compiled:
    wanted = list(targets or ())
    result = compile(graph, catalogue, targets=wanted)
    if isinstance(result, list):
        return Compiled(None, igb.hashes_of(graph).sem, tuple(result))
    dropped = left_out(graph, catalogue, wanted)
    skipped = {node: {k: v for k, v in why._asdict().items() if v is not None} for node, why in dropped.items()}
    return Compiled(program.write(result), result.source, skipped=skipped)


def diagnose(graph: Graph, catalogue: Catalogue) -> list[wire.Diagnostic]:
    found = check(graph, catalogue)[:MOST_DIAGNOSTICS]
    return [wire.Diagnostic(d.code, d.where, d.node, d.field, d.expected, d.got, d.hint) for d in found]


def read_igb(data: bytes, where: str) -> Graph:
    """The graph of untrusted bytes.

    Raises Refused.
    """
    try:
        return igb.read(data)
    except igb.Malformed as error:
        raise Refused(Reason.INVALID, error.code, f"{where} byte {error.offset}", error.expected, error.got) from error
    except igb.Invalid as error:
        raise Refused(Reason.INVALID, error.code, f"{where} {error.path}", error.expected, error.got) from error


def patch_file(change: patch.Patch) -> bytes | None:
    """The patch's bytes; None where both sides together exceed what one file may hold. The save stands all the same."""
    try:
        return patch.write(change)
    except codec.Unencodable as error:
        log.warning("a version without a patch: %s", error)
        return None
