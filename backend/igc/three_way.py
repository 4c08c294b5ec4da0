"""Fields of two graphs that come from one, each merged by itself: the rule of every field, and what is only drawn.

A `ThreeWay` holds what of theirs is kept out and why; `merge.py` adds nodes and edges and decides what goes together.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from dots import codec
from igc.conflicts import Conflict
from igc.graph import Graph, Group, Node, Note
from igc.ops import Key, Maybe, value_at


class ThreeWay:
    """One merge in the making."""

    def __init__(self, base: Graph, ours: Graph, theirs: Graph) -> None:
        self.base, self.ours, self.theirs = base, ours, theirs
        self.conflicts: dict[Key, Conflict] = {}
        self.taken: dict[Key, tuple[Maybe, Maybe, Maybe]] = {}  # what of theirs stands in the graph built last

    def names(self, section: str) -> list[str]:
        return sorted({name for graph in (self.base, self.ours, self.theirs) for name in getattr(graph, section)})

    def conflict(
        self, code: str, key: Key, base: Maybe, ours: Maybe, theirs: Maybe, against: Iterable[Key] = ()
    ) -> None:
        self.conflicts.setdefault(key, Conflict(code, key, base, ours, theirs, tuple(against)))

    def keep_out(self, code: str, key: Key, against: Iterable[Key] = ()) -> None:
        """A conflict over something of theirs that stood in the graph built last."""
        base, ours, theirs = self.taken.get(key, ((), (), ()))
        self.conflict(code, key, base, ours, theirs, against)

    def took(self, key: Key, base: Maybe, ours: Maybe, theirs: Maybe) -> Maybe:
        self.taken[key] = (base, ours, theirs)
        return theirs

    def field(self, key: Key, base: Maybe, ours: Maybe, theirs: Maybe) -> Maybe:
        """Whoever changed it has it; where both did and differ, ours stands."""
        if key in self.conflicts or codec.same(theirs, base) or codec.same(ours, theirs):
            return ours
        if codec.same(ours, base):
            return self.took(key, base, ours, theirs)
        self.conflict("modify", key, base, ours, theirs)
        return ours

    def fields(self, kind: str, prefix: Key, *sides: Mapping[Any, Any]) -> dict[Any, Any]:
        names = sorted({name for side in sides for name in side})
        found = ((name, self.field((kind, *prefix, name), *(value_at(side, name) for side in sides))) for name in names)
        return {name: value[0] for name, value in found if value}

    # Drawing

    def position(self, name: str) -> Maybe:
        """Ours; a place is never worth a question."""
        base, ours, theirs = (value_at(graph.positions, name) for graph in (self.base, self.ours, self.theirs))
        return theirs if ours == base and name in self.theirs.nodes else ours

    def label(self, name: str) -> Maybe:
        base, ours, theirs = (value_at(graph.labels, name) for graph in (self.base, self.ours, self.theirs))
        return self.field(("label", name), base, ours, theirs if name in self.theirs.nodes else base)

    def note(self, name: str) -> Maybe:
        """Place and size as positions, the text as a label."""
        base, ours, theirs = (value_at(graph.notes, name) for graph in (self.base, self.ours, self.theirs))
        if ours and theirs and (ours[0][4] == theirs[0][4] or (base and base[0][4] in (ours[0][4], theirs[0][4]))):
            place: Note = theirs[0] if base and ours[0][:4] == base[0][:4] else ours[0]
            text: Note = theirs[0] if base and ours[0][4] == base[0][4] else ours[0]
            return ((*place[:4], text[4]),)
        if base and (not ours or not theirs):  # deleted on one side, and on the other only moved if at all
            other = ours or theirs
            if not other or other[0][4] == base[0][4]:
                return ()
        return self.field(("note", name), base, ours, theirs)

    def group(self, name: str, nodes: Mapping[str, Node]) -> Maybe:
        """The label as any label; members that either side brought or took, as far as they are there."""
        base, ours, theirs = (value_at(graph.groups, name) for graph in (self.base, self.ours, self.theirs))
        if base:  # losing a member that is gone is no change
            ours = base if ours == as_group(base[0], self.ours.nodes) else ours
            theirs = base if theirs == as_group(base[0], self.theirs.nodes) else theirs
        if not ours or not theirs:
            found = self.field(("group", name), base, ours, theirs)
            return as_group(found[0], nodes) if found else ()
        before, mine, others = (frozenset(side[0][1]) if side else frozenset() for side in (base, ours, theirs))
        others |= {member for member in before & mine if member not in self.theirs.nodes}
        label = self.field(("group", name), *((side[0][0],) if side else () for side in (base, ours, theirs)))
        return as_group((label[0], (mine & others) | (mine - before) | (others - before)), nodes)


def as_group(group: tuple[str, Iterable[str]], nodes: Mapping[str, Node]) -> Maybe:
    """A group with those of its members that are there; nothing without any."""
    found: Group = (group[0], tuple(sorted(member for member in group[1] if member in nodes)))
    return (found,) if found[1] else ()
