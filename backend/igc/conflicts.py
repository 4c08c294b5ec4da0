"""Conflicts of a merge as values (docs/formats.md §6) and their section in a graph. Nothing here decides one."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from dots import codec
from dots.codec import Value
from igc.graph import CONFLICTS, Graph
from igc.ops import Key, Maybe

MOST_AGAINST: Final = 16


@dataclass(frozen=True, slots=True)
class Conflict:
    """Something that both sides changed, or that does not go together; ours stands.

    `key` is what theirs wanted to change, `against` what of ours stands in its way where that has another key.
    """

    code: str
    key: Key
    base: Maybe
    ours: Maybe
    theirs: Maybe
    against: tuple[Key, ...] = ()


def to_value(conflict: Conflict, with_values: bool = True) -> dict[str, Value]:
    """The plain value that the section holds."""
    sides = {name: plain(getattr(conflict, name)) if with_values else [] for name in ("base", "ours", "theirs")}
    against: list[Value] = [plain(key) for key in conflict.against[:MOST_AGAINST]]
    return {"code": conflict.code, "key": plain(conflict.key), "against": against, **sides}


def plain(values: Maybe) -> Value:
    """As the file has it: tuples are arrays."""
    return codec.decode(codec.encode(values))


def with_section(graph: Graph, conflicts: Sequence[Conflict], with_values: bool = True) -> Graph:
    """The graph with these conflicts behind those that it has."""
    if not conflicts:
        return graph
    held = graph.extra.get(CONFLICTS, [])
    found = [*(held if isinstance(held, list) else []), *(to_value(one, with_values) for one in conflicts)]
    return replace(graph, extra={**graph.extra, CONFLICTS: found})


def merged_section(base: Mapping[int, Value], ours: Mapping[int, Value], theirs: Mapping[int, Value]) -> list[Value]:
    """Open conflicts of three graphs: those of ours that theirs did not resolve, then new ones of theirs."""
    before, mine, others = (_entries(side) for side in (base, ours, theirs))
    kept = [entry for key, entry in mine.items() if key in others or key not in before]
    return kept + [entry for key, entry in others.items() if key not in mine and key not in before]


def laid_over(standing: Maybe, old: Maybe, new: Maybe) -> Maybe:
    """What the section comes to under an op that may have been made for another one."""
    if codec.same(standing, old):
        return new
    found = merged_section(*({CONFLICTS: side[0]} if side else {} for side in (old, standing, new)))
    return (found,) if found else ()


def _entries(extra: Mapping[int, Value]) -> dict[bytes, Value]:
    found = extra.get(CONFLICTS, [])
    return {codec.encode(entry): entry for entry in found} if isinstance(found, list) else {}
