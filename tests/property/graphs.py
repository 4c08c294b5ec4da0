"""Strategies: any value of the codec, any valid graph, and graphs of the catalogue's components that compile."""

from functools import cache

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from dots.codec import MAX_INT, Value
from igc import igb
from igc.graph import Edge, Graph, Node
from tests.spec.case import ALPHABET

law = settings(max_examples=60, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
many = settings(law, max_examples=200)
"""How laws are tried: the same examples every time, however slow the machine is."""

NAMES = ("text", "prompt", "a", "b", "aa", "value", "\uff5e", "\U0001f600", "secret")
COMPONENTS = ("text.clean", "text.input", "llm.generate", "x.y_1.z")


@cache
def texts(size: int = 12) -> st.SearchStrategy[str]:
    return st.text(st.characters(exclude_categories=("Cs",)), max_size=size)


@cache
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


@cache
def flags() -> st.SearchStrategy[dict[str, Value]]:
    limits = {"steps": st.integers(1, 1_000_000), "kv": st.integers(1, 64), "seconds": st.integers(1, 86_400)}
    return st.fixed_dictionaries({}, optional={"disabled": st.just(True), **limits})


@cache
def nodes(ident: str) -> st.SearchStrategy[Node]:
    params = st.dictionaries(st.sampled_from(NAMES), values(4), max_size=3)
    return st.builds(Node, st.just(ident), st.sampled_from(COMPONENTS), st.integers(1, 3), params, flags())


IDENTS = [f"000000000{c}" for c in ALPHABET[:6]]
SOME = st.sampled_from(IDENTS)
FREE = st.sampled_from(["000000000x", "000000000y"])
NINE = st.integers(-9, 9)
SIZE = st.integers(1, 9)
ENDS = st.lists(
    st.tuples(st.integers(0, 5), st.integers(0, 5), st.sampled_from(NAMES), st.sampled_from(NAMES), st.integers(0, 2)),
    min_size=2,
    max_size=8,
)
SETTINGS = st.dictionaries(texts(3).filter(lambda key: key != "secret"), values(3), max_size=2)
POSITIONS = st.dictionaries(SOME, st.tuples(st.integers(-1_000_000, 1_000_000), NINE), max_size=4)
LABELS = st.dictionaries(SOME, texts().filter(bool), max_size=4)
NOTES = st.dictionaries(FREE, st.tuples(NINE, NINE, SIZE, SIZE, texts()), max_size=2)
GROUPS = st.dictionaries(FREE, st.tuples(texts(), st.sets(SOME)), max_size=2)
EXTRA = st.dictionaries(st.sampled_from([69, 70, 300]), values(3), max_size=2)
CHOSEN = st.lists(SOME, max_size=1) | st.lists(SOME, min_size=3, max_size=5, unique=True)


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    """Any valid graph. Few ids are in use, so that two of them share nodes, edges and slots."""
    idents = draw(CHOSEN)
    taken: dict[tuple[str, str, int], Edge] = {}
    for a, b, output, entry, slot in draw(ENDS) if len(idents) > 1 else ():
        a, b = sorted((a % len(idents), b % len(idents)))
        if a != b:
            taken.setdefault((idents[b], entry, slot), Edge(idents[a], output, idents[b], entry, slot))
    graph = Graph(
        {name: draw(nodes(name)) for name in sorted(idents)},
        tuple(sorted(taken.values())),
        draw(SETTINGS),
        {name: at for name, at in draw(POSITIONS).items() if name in idents},
        {name: label for name, label in draw(LABELS).items() if name in idents},
        draw(NOTES),
        {
            name: (label, tuple(sorted(found)))
            for name, (label, members) in draw(GROUPS).items()
            if (found := members & set(idents))
        },
        draw(EXTRA),
    )
    return igb.read(igb.write(graph))


@st.composite
def flows(draw: st.DrawFn) -> Graph:
    """A graph that has no diagnostics: text components in random order, each input fed by an earlier output."""
    count = draw(st.integers(1, 9) | st.just(9))
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
            edges.append(Edge(*draw(st.sampled_from(anything) | st.just(anything[-1])), ident, "value", 0))
        elif kind != "text.input":
            entry = "prompt" if kind == "llm.generate" else "text"
            edges.append(Edge(*draw(st.sampled_from(texts_at) | st.just(texts_at[-1])), ident, entry, 0))
        made[ident] = Node(ident, kind, 1, params, off)
        if kind != "flow.output":
            texts_at.append((ident, "text"))
            anything.append((ident, "text"))
        if kind == "llm.generate":
            anything.append((ident, "usage"))
    return Graph(dict(sorted(made.items())), tuple(sorted(edges)))
