"""Which edges of a graph lie on cycles: strongly connected parts, found by two walks without a deep stack."""

from collections.abc import Iterable, Mapping, Sequence

from igc.graph import Edge


def on_cycles(names: Iterable[str], edges: Sequence[Edge]) -> list[list[Edge]]:
    """The edges inside each part of more than one node, or of one that leads to itself. Ends must be among `names`."""
    ahead: dict[str, list[str]] = {name: [] for name in names}
    back: dict[str, list[str]] = {name: [] for name in ahead}
    for edge in edges:
        ahead[edge.source].append(edge.target)
        back[edge.target].append(edge.source)
    part: dict[str, str] = {}
    for name in reversed(_finished(ahead)):
        waiting = [name]
        while waiting:
            here = waiting.pop()
            if here not in part:
                part[here] = name
                waiting += back[here]
    found: dict[str, list[Edge]] = {}
    for edge in edges:
        if part[edge.source] == part[edge.target]:
            found.setdefault(part[edge.source], []).append(edge)
    return [found[name] for name in sorted(found)]


def _finished(ahead: Mapping[str, list[str]]) -> list[str]:
    """The names in the order in which a depth-first walk leaves them."""
    done: list[str] = []
    seen: set[str] = set()
    for start in ahead:
        if start in seen:
            continue
        seen.add(start)
        stack = [(start, iter(ahead[start]))]
        while stack:
            name, following = stack[-1]
            after = next((other for other in following if other not in seen), None)
            if after is None:
                done.append(name)
                stack.pop()
            else:
                seen.add(after)
                stack.append((after, iter(ahead[after])))
    return done
