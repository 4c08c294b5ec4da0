"""Golden files of the passes: a graph, a line of dashes, and the module after all passes up to the folder's."""

from pathlib import Path

from dots.components import catalogue
from igc.compile import PIPELINE, lower
from igc.module import show
from tests.igc.build import parse

FOLDER = Path(__file__).resolve().parent.parent / "golden" / "igc"
LINE = "-----\n"


def files() -> list[Path]:
    return sorted(FOLDER.glob("*/*.txt"))


def given(path: Path) -> str:
    return path.read_text("utf-8").split(LINE)[0]


def answer(path: Path) -> str:
    graph, targets = parse(given(path))
    names = [one.name for one in PIPELINE]
    module = lower(graph, catalogue(), PIPELINE[: names.index(path.parent.name) + 1], targets)
    assert not isinstance(module, list), module
    return show(module)
