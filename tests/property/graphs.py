"""Strategies: any value of the codec, any valid graph, and graphs of the catalogue's components that compile."""

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from dots.codec import MAX_INT, Value
from igc import igb
from igc.graph import Edge, Graph, Node

law = settings(max_examples=40, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
"""How laws are tried: the same examples every time, however slow the machine is."""

LETTERS = "0123456789abcdefghjkmnpqrstvwxyz"
NAMES = ("text", "prompt", "a", "b", "aa", "value", "\uff5e", "\U0001f600", "secret")
COMPONENTS = ("text.clean", "text.input", "llm.generate", "x.y_1.z")


def texts(size: int = 12) -> st.SearchStrategy[str]:
    return st.text(st.characters(exclude_categories=("Cs",)), max_size=size)


def values(leaves: int = 8) -> st.SearchStrategy[Value]:
    """Any value; maps whose keys are text or unsigned ints, never the key `secret` with something else."""
    scalars = (
        st.none()
        | st.booleans()
        | st.integers(-MAX_INT, MAX_INT)
        | st.floats(allow_nan=False, allow_infinity=False)
        | texts()
        | st.binary(max_size=8)
    )
    keys = texts(6).filter(lambda key: key != "secret")
    return st.recursive(
        scalars | st.builds(lambda name: {"secret": name}, st.sampled_from(("KEY", "A_1"))),
        lambda inner: (
            st.lists(inner, max_size=4)
            | st.dictionaries(keys, inner, max_size=4)
            | st.dictionaries(st.integers(0, 300), inner, max_size=4)
        ),
        max_leaves=leaves,
    )


def flags() -> st.SearchStrategy[dict[str, Value]]:
    limits = {"steps": st.integers(1, 1_000_000), "kv": st.integers(1, 64), "seconds": st.integers(1, 86_400)}
    return st.fixed_dictionaries({}, optional={"disabled": st.just(True), **limits})


def nodes(ident: str) -> st.SearchStrategy[Node]:
    params = st.dictionaries(st.sampled_from(NAMES), values(4), max_size=3)
    return st.builds(Node, st.just(ident), st.sampled_from(COMPONENTS), st.integers(1, 3), params, flags())


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    """Any valid graph. Few ids are in use, so that two of them share nodes, edges and slots."""
    idents = draw(st.lists(st.sampled_from([f"000000000{c}" for c in LETTERS[:6]]), max_size=5, unique=True))
    place = st.tuples(st.integers(-1_000_000, 1_000_000), st.integers(-9, 9))
    taken: dict[tuple[str, str, int], Edge] = {}
    for _ in range(draw(st.integers(0, 5)) if len(idents) > 1 else 0):
        a, b = sorted(draw(st.lists(st.integers(0, len(idents) - 1), min_size=2, max_size=2, unique=True)))
        output, entry, slot = draw(st.sampled_from(NAMES)), draw(st.sampled_from(NAMES)), draw(st.integers(0, 2))
        taken.setdefault((idents[b], entry, slot), Edge(idents[a], output, idents[b], entry, slot))
    members = st.sets(st.sampled_from(idents), min_size=1).map(lambda found: tuple(sorted(found))) if idents else None
    some = st.sampled_from(idents) if idents else st.nothing()
    free = st.sampled_from(["000000000x", "000000000y"])
    notes = st.tuples(st.integers(-9, 9), st.integers(-9, 9), st.integers(1, 9), st.integers(1, 9), texts())
    graph = Graph(
        {name: draw(nodes(name)) for name in sorted(idents)},
        tuple(sorted(taken.values())),
        draw(st.dictionaries(texts(3).filter(lambda key: key != "secret"), values(3), max_size=2)),
        draw(st.dictionaries(some, place, max_size=3)) if idents else {},
        draw(st.dictionaries(some, texts().filter(bool), max_size=3)) if idents else {},
        draw(st.dictionaries(free, notes, max_size=2)),
        draw(st.dictionaries(free, st.tuples(texts(), members), max_size=2)) if members is not None else {},
        draw(st.dictionaries(st.sampled_from([69, 70, 300]), values(3), max_size=2)),
    )
    return igb.read(igb.write(graph))


@st.composite
def flows(draw: st.DrawFn) -> Graph:
    """A graph that has no diagnostics: text components in random order, each input fed by an earlier output."""
    count = draw(st.integers(1, 9))
    made: dict[str, Node] = {"0000000000": Node("0000000000", "text.input", 1, {})}
    edges: list[Edge] = []
    texts_at = [("0000000000", "text")]
    anything = list(texts_at)
    order = draw(st.permutations(range(1, count + 1)))
    for number in order:
        ident = f"{number:010d}"
        kind = draw(st.sampled_from(("text.input", "text.clean", "text.template", "llm.generate", "flow.output")))
        off: dict[str, Value] = {"disabled": True} if draw(st.integers(0, 9)) == 0 else {}
        params: dict[str, Value] = {"name": f"n{number}"} if kind in ("text.input", "flow.output") else {}
        if kind == "text.template":
            names = draw(st.lists(st.sampled_from(("a", "b", "c")), max_size=3))
            params = {"template": " ".join(f"{{{name}}}" for name in names)}
            edges += [Edge(*draw(st.sampled_from(anything)), ident, name, 0) for name in sorted(set(names))]
        elif kind == "flow.output":
            edges.append(Edge(*draw(st.sampled_from(anything)), ident, "value", 0))
        elif kind != "text.input":
            entry = "prompt" if kind == "llm.generate" else "text"
            edges.append(Edge(*draw(st.sampled_from(texts_at)), ident, entry, 0))
        made[ident] = Node(ident, kind, 1, params, off)
        if kind != "flow.output":
            texts_at.append((ident, "text"))
            anything.append((ident, "text"))
        if kind == "llm.generate":
            anything.append((ident, "usage"))
    return Graph(dict(sorted(made.items())), tuple(sorted(edges)))
