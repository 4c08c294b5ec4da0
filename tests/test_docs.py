"""The documents stay true: links lead somewhere, named files exist, events, targets and components are documented,
the commands that they show are the commands that there are."""

import os
import re
import shlex
import subprocess
import sys
from argparse import ArgumentParser
from collections.abc import Callable
from pathlib import Path

import pytest

from dots import cli as dots
from dots import errors, events
from dots.components import Component, catalogue
from dots.models.model import KNOWN
from igc import cli as igc
from igc import igb
from spaces import cli as spaces
from spaces import templates

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


@pytest.mark.parametrize("component", catalogue().values(), ids=lambda one: one.spec.name)
def test_every_component_is_in_the_guide_under_its_name_in_the_palette_with_its_ports(component: Component) -> None:
    spec = component.spec
    rows = re.findall(rf"^\| `{spec.name}` \| (.+?) \| .+? \| (.+?) \|$", GUIDE.read_text("utf-8"), re.M)
    before = "one per placeholder" if spec.template else ", ".join(p.name for p in spec.inputs if not p.hidden)
    after = ", ".join(p.name for p in spec.outputs if not p.hidden)
    assert rows == [(spec.label.en, f"{before} → {after}".strip())]


# Commands -----------------------------------------------------------------------------------------------------------

GUIDE = ROOT / "docs/guide.md"
PARSERS: dict[str, Callable[[], ArgumentParser]] = {"dots": dots.parser, "igc": igc.parser, "spaces": spaces.parser}
SHOWN = (ROOT / "README.md", ROOT / "CONTRIBUTING.md", GUIDE)


def fenced(page: Path) -> list[str]:
    blocks = re.findall(r"^```\n(.+?)^```$", page.read_text("utf-8"), re.M | re.S)
    return [line for block in blocks for line in block.splitlines()]


def commands() -> list[list[str]]:
    """The words of each command that a page shows, alone on a line or in the text; lists of commands have a dot."""
    found = []
    for page in SHOWN:
        inline = re.findall(r"`([^`\n]+)`", page.read_text("utf-8"))
        lines = [one for one in (*fenced(page), *inline) if "·" not in one and one.split()[0] in (*PARSERS, "make")]
        found += [shlex.split(line, comments=True) for line in lines]
    return [
        ["spaces", "serve", *more[5:].split()] if (more := words[-1]).startswith("ARGS=") else words for words in found
    ]


@pytest.mark.parametrize(
    "words", [words for words in commands() if words[0] in PARSERS and len(words) > 1], ids=" ".join
)
def test_every_command_that_a_page_shows_is_understood(words: list[str]) -> None:
    given = PARSERS[words[0]]().parse_args(words[1:])
    assert getattr(given, "model", next(iter(KNOWN))) in KNOWN


@pytest.mark.model
def test_the_guides_commands_do_what_it_says(tmp_path: Path) -> None:
    """From the folder that a reader is in: the graph of the first start, checked, shown, compiled and run."""
    built = templates.build(templates.TEMPLATES[templates.FIRST], catalogue())
    (tmp_path / "flow.igb").write_bytes(igb.write(built))
    lines = [line for line in fenced(GUIDE) if not line.startswith("export ")]
    assert [line.split()[:2] for line in lines] == [
        ["igc", "check"],
        ["igc", "show"],
        ["igc", "compile"],
        ["dots", "exec"],
    ]
    here = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    made = [
        subprocess.run(["bash", "-c", line], cwd=tmp_path, env=here, capture_output=True, text=True) for line in lines
    ]
    assert [one.returncode for one in made] == [0, 0, 0, 0], [one.stderr for one in made]
    assert made[0].stdout == "flow.igb: fine\n"
    assert "llm.generate" in made[1].stdout
    assert made[3].stdout.strip()
    (run,) = re.findall(r"^`(dots run [^`]+)`", GUIDE.read_text("utf-8"), re.M)
    limited = subprocess.run(["bash", "-c", run], cwd=tmp_path, env=here, capture_output=True, text=True)
    assert (limited.returncode, "usage 8/8 steps" in limited.stderr, "(701)" in limited.stderr) == (65, True, True)


def test_the_guide_names_every_exit_code() -> None:
    said = GUIDE.read_text("utf-8").split("Exit codes:")[1]
    codes = {0, igc.FINDINGS, dots.USAGE, dots.INTERNAL, dots.INTERRUPTED, *errors.EXIT.values()}
    assert {int(number) for number in re.findall(r"\b\d+\b", said)} == codes


# Recipes ------------------------------------------------------------------------------------------------------------

RECIPES = ROOT / "CONTRIBUTING.md"
BOUNDS = {"minimum", "maximum", "exclusiveMinimum", "minLength", "maxLength", "maxItems"}
STANDARD = {"type", "title", "default", "properties", "items", "enum"} | BOUNDS


def test_the_recipe_names_every_key_that_the_forms_read() -> None:
    source = (ROOT / "frontend/src/state/catalogue.ts").read_text("utf-8")
    read = set(re.findall(r"^  (\w+)\?: ", source.split("export interface JsonSchema")[1], re.M)) - STANDARD
    step = re.search(
        r"json_schema_extra=\{\"(\w+)\": …\}`\. Optional keys there: (.+?)\.\n4\.", RECIPES.read_text("utf-8"), re.S
    )
    assert step is not None
    listed = re.sub(r"\([^)]*\)", "", step[2])
    assert {step[1], *re.findall(r"`(\w+)`", listed)} == read


def test_the_recipe_names_every_widget_that_the_forms_know() -> None:
    source = (ROOT / "frontend/src/forms/fields.ts").read_text("utf-8")
    (widgets,) = re.findall(r"`widget`\s+\(([^)]+)\)", RECIPES.read_text("utf-8"))
    known = set(re.findall(r'widget === "(\w+)"', source)) | {"list"}  # of an array there is one widget
    assert set(re.findall(r"`(\w+)`", widgets)) == known


def test_the_recipe_names_every_section_of_the_palette_and_no_component_is_outside() -> None:
    source = (ROOT / "frontend/src/canvas/finder.ts").read_text("utf-8")
    (groups,) = re.findall(r"GROUPS = \[(.+?)\]", source)
    (named,) = re.findall(r"palette's section: (.+?)\. ", RECIPES.read_text("utf-8"))
    sections = re.findall(r'"(\w+)"', groups)
    assert re.findall(r"`(\w+)`", named) == sections
    assert {one.spec.group for one in catalogue().values()} <= set(sections)


def test_every_glyph_of_a_component_is_drawn() -> None:
    drawn = set(re.findall(r"^  (\w+): \{", (ROOT / "frontend/src/look/glyphs.ts").read_text("utf-8"), re.M))
    assert {one.spec.glyph for one in catalogue().values()} <= drawn


def test_the_changelog_speaks_to_users() -> None:
    text = (ROOT / "CHANGELOG.md").read_text("utf-8")
    assert re.search(r"^## \d+\.\d+\.\d+", text, re.M)


def test_lock_files_name_no_host() -> None:
    locks = [*ROOT.glob("*.lock"), ROOT / "frontend/package-lock.json"]
    assert [path.name for path in locks if "://" in path.read_text("utf-8")] == []
