"""The documents stay true: links lead somewhere, named files exist, events, targets and components are documented."""

import re
from pathlib import Path

import pytest

from dots import events
from dots.components import catalogue

ROOT = Path(__file__).resolve().parent.parent
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")])


def ids(path: Path) -> str:
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("page", PAGES, ids=ids)
def test_every_link_of_a_page_leads_somewhere(page: Path) -> None:
    targets = re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", page.read_text("utf-8"))
    missing = [t for t in targets if "://" not in t and not (page.parent / t).exists()]
    assert missing == []


# Files that a recipe tells a contributor to make, and patterns.
TO_BE_MADE = {"engine/dots/components/text_upper.py", "backend/igc/passes/fold.py"}


@pytest.mark.parametrize("page", PAGES, ids=ids)
def test_every_file_that_a_page_names_exists(page: Path) -> None:
    named = set(
        re.findall(
            r"`((?:backend|engine|frontend|migrations|tests|tools|docs)/[\w./-]+\.\w+)`", page.read_text("utf-8")
        )
    )
    missing = sorted(name for name in named - TO_BE_MADE if not (ROOT / name).exists())
    assert missing == []


def test_every_event_kind_is_on_the_wire_page() -> None:
    page = (ROOT / "docs/wire.md").read_text("utf-8")
    assert [k for k in (*events.RUN_KINDS, *events.NODE_KINDS) if f"| `{k}` |" not in page] == []


def test_every_make_target_that_the_readme_names_exists() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.M))
    for page in PAGES:
        named = set(re.findall(r"`make ([a-z-]+)", page.read_text("utf-8")))
        assert named <= targets, f"{page.name} names {sorted(named - targets)}"


def test_every_component_is_in_the_guide() -> None:
    guide = (ROOT / "docs/guide.md").read_text("utf-8")
    assert [name for name in catalogue() if f"`{name}`" not in guide] == []


def test_the_changelog_speaks_to_users() -> None:
    text = (ROOT / "CHANGELOG.md").read_text("utf-8")
    assert re.search(r"^## \d+\.\d+\.\d+", text, re.M)
