"""What a save gets whose base is no longer the newest version: both diffs, and the merge of what does not overlap."""

import base64
from dataclasses import dataclass
from itertools import islice
from typing import Any

from dots.components import Catalogue
from igc import conflicts, igb, patch, render
from igc.graph import Graph, Invalid
from igc.merge import Merge, merge3

MOST_LINES = 2000  # of one diff; the merge holds it all
MOST_CONFLICTS = 500
LINE = 400  # characters; a prompt can be as long as a file


@dataclass(frozen=True, slots=True)
class Standing:
    """How a graph stands to the newest version, seen from the version that it was made from."""

    newest: int | None
    ours: tuple[str, ...]  # what leads from the base to the graph
    theirs: tuple[str, ...]  # what leads from the base to the newest version
    merged: bytes | None  # `.igb`; None where ours has no room for a conflict
    conflicts: tuple[conflicts.Conflict, ...]

    def json(self) -> dict[str, Any]:
        return {
            "newest": self.newest,
            "ours": "".join(f"{line}\n" for line in self.ours),
            "theirs": "".join(f"{line}\n" for line in self.theirs),
            "merged": None if self.merged is None else base64.b64encode(self.merged).decode(),
            "conflicts": [render.plain(conflicts.to_value(one)) for one in self.conflicts[:MOST_CONFLICTS]],
        }


def standing(base: Graph, ours: Graph, theirs: Graph, newest: int | None, catalogue: Catalogue) -> Standing:
    merged = merge_of(base, ours, theirs, catalogue)
    data = None if merged is None else igb.write(merged.graph)
    found = () if merged is None else merged.conflicts
    return Standing(newest, told(base, ours), told(base, theirs), data, found)


def merge_of(base: Graph, ours: Graph, theirs: Graph, catalogue: Catalogue) -> Merge | None:
    try:
        return merge3(base, ours, theirs, catalogue)
    except Invalid:
        return None


def told(a: Graph, b: Graph) -> tuple[str, ...]:
    """A diff as text, of a length that an answer can have."""
    ops = patch.diff_ops(a, b)
    lines = (line if len(line) <= LINE else f"{line[:LINE]}…" for line in render.ops_lines(ops[:MOST_LINES]))
    more = len(ops) - MOST_LINES
    return (*islice(lines, MOST_LINES), *([f"and {more} more"] if more > 0 else []))
