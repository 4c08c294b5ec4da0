"""Templates of a new Space, as graphs made in code. Nodes stand left to right on the 8 px grid."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from dots.components import Catalogue
from igc.graph import Edge, Graph, Node
from spaces.ids import new_id

Language = Literal["en", "zh"]
LANGUAGES: tuple[Language, ...] = ("en", "zh")

GRID = 8
COLUMN = 272  # a card is at most 248 wide, and counts stand on the wires between
ROW = 320

NOTICE = """<h1>Reading room</h1>
<p>From <b>Monday</b>, the reading room opens at nine and closes at six.&nbsp; Bags stay in the lockers by the
entrance; a locker takes one coin, which comes back.</p>
<p>Please order books from the store before three if you want them the same day.</p>
"""


@dataclass(frozen=True, slots=True)
class Template:
    name: str
    label: tuple[str, str]  # English, Chinese
    help: tuple[str, str]
    build: Callable[["Builder"], None]


class Builder:
    """A graph in the making: nodes get ids and places as they come."""

    def __init__(self, catalogue: Catalogue, language: Language) -> None:
        self.catalogue = catalogue
        self.language = language
        self.nodes: dict[str, Node] = {}
        self.edges: list[Edge] = []
        self.positions: dict[str, tuple[int, int]] = {}
        self.labels: dict[str, str] = {}

    def node(
        self,
        component: str,
        column: float,
        row: float = 0,
        label: tuple[str, str] | None = None,  # English, Chinese
        params: Mapping[str, Any] | None = None,
    ) -> str:
        name = new_id()
        self.nodes[name] = Node(name, component, self.catalogue[component].spec.version, dict(params or {}))
        self.positions[name] = (round(column * COLUMN / GRID) * GRID, round(row * ROW / GRID) * GRID)
        if label:
            self.labels[name] = label[LANGUAGES.index(self.language)]
        return name

    def edge(self, source: str, output: str, target: str, entry: str) -> None:
        self.edges.append(Edge(source, output, target, entry))

    def graph(self) -> Graph:
        return Graph(self.nodes, tuple(sorted(self.edges)), positions=self.positions, labels=self.labels)


def empty(build: Builder) -> None:
    """Nothing."""


def first(build: Builder) -> None:
    """Text, cleaned, put into a prompt, and answered. Two lines, so that it is readable on a laptop at full size."""
    text = build.node("text.input", 0, params={"name": "text", "text": NOTICE})
    clean = build.node("text.clean", 1)
    prompt = build.node(
        "text.template",
        2,
        params={"template": "Write one short sentence that says what matters in this notice.\n\n{notice}"},
    )
    answer = build.node("llm.generate", 0.5, 0.7, params={"max_tokens": 64})
    result = build.node("flow.output", 1.7, 0.7, params={"name": "summary"})
    build.edge(text, "text", clean, "text")
    build.edge(clean, "text", prompt, "notice")
    build.edge(prompt, "text", answer, "prompt")
    build.edge(answer, "text", result, "value")


def parallel(build: Builder) -> None:
    """One subject, two prompts answered at once, one text made of both. In four columns, for a laptop."""
    subject = build.node("text.input", 0, 0.4, ("Subject", "主题"), {"name": "subject", "text": "a lighthouse"})
    both = build.node("text.template", 3.2, 0, params={"template": "{description}\n\n{story}"})
    for row, (port, label, ask) in enumerate(
        (
            ("description", ("Describe", "描述"), "Describe {subject} in one sentence."),
            ("story", ("Tell a story", "讲故事"), "Write the first sentence of a story about {subject}."),
        )
    ):
        prompt = build.node("text.template", 1, row * 0.9, params={"template": ask})
        answer = build.node("llm.generate", 2, row * 0.9, label, {"max_tokens": 48})
        build.edge(subject, "text", prompt, "subject")
        build.edge(prompt, "text", answer, "prompt")
        build.edge(answer, "text", both, port)
    result = build.node("flow.output", 3.2, 0.8, params={"name": "texts"})
    build.edge(both, "text", result, "value")


TEMPLATES: Mapping[str, Template] = {
    template.name: template
    for template in (
        Template(
            "summary",
            ("Summarise a notice", "概括一则通知"),
            ("Cleans a text, puts it into a prompt and asks the model.", "清洗文本，填入提示词，再让模型回答。"),
            first,
        ),
        Template(
            "parallel",
            ("Two answers at once", "同时生成两段"),
            ("Two prompts about one subject run side by side.", "围绕同一主题的两个提示词并行运行。"),
            parallel,
        ),
        Template("empty", ("Empty", "空白"), ("Starts with nothing.", "从空白开始。"), empty),
    )
}
FIRST = "summary"


def build(template: Template, catalogue: Catalogue, language: Language = "en") -> Graph:
    builder = Builder(catalogue, language)
    template.build(builder)
    return builder.graph()
