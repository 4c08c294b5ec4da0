"""The compiler as the server uses it: a graph's program as bytes, or the findings that stand against it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from dots import program
from dots.components import Catalogue
from igc import igb
from igc.check import Diagnostic, check
from igc.compile import compile, left_out
from igc.graph import Graph
from spaces import wire

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
