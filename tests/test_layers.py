"""Imports only point down, and each room keeps out what it must not know (docs/architecture.md)."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = {
    "spaces": ROOT / "backend/spaces",
    "igc": ROOT / "backend/igc",
    "dots": ROOT / "engine/dots",
    "sol": ROOT / "engine/sol",
}
BELOW = {"spaces": {"igc", "dots"}, "igc": {"dots"}, "dots": {"sol"}, "sol": set()}
# What the editor's rooms without a screen may import; all others draw, and stand above them.
EDITOR = {"igb": set(), "wire": {"igb"}, "state": {"igb", "wire"}}
LIGHT = {
    "dots.codec",
    "dots.shape",
    "dots.notation",
    "dots.program",
    "dots.spec",
    "dots.request",
    "dots.template",
    "dots.components",
}
HEAVY = {"numpy", "numba", "llvmlite", "tokenizers", "llguidance", "cupy"}

Import = tuple[str, int]


def imports(path: Path, nested: bool = False) -> Iterator[Import]:
    """Modules that a file imports, with lines; only those inside functions when `nested`."""
    tree = ast.parse(path.read_text("utf-8"))
    inside = {
        id(child)
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        for child in ast.walk(node)
    }
    for node in ast.walk(tree):
        if nested and id(node) not in inside:
            continue
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno}: expected an absolute import, got a relative one"
            base = node.module or ""
            yield from ((f"{base}.{alias.name}", node.lineno) for alias in node.names)


def rooms_imported(path: Path) -> Iterator[Import]:
    """Rooms of the editor that a file of another room imports, with lines."""
    for line, text in enumerate(path.read_text("utf-8").splitlines(), 1):
        if (found := re.search(r'from "\.\./([a-z0-9]+)/', text)) is not None:
            yield found[1], line


def files(package: str) -> list[Path]:
    return sorted(PACKAGES[package].rglob("*.py"))


def module(path: Path, package: str) -> str:
    parts = (package, *path.relative_to(PACKAGES[package]).with_suffix("").parts)
    return ".".join(part for part in parts if part != "__init__")


def below(name: str, of: str) -> bool:
    return name == of or name.startswith(of + ".")


@pytest.mark.parametrize("package", PACKAGES)
def test_a_package_imports_only_packages_below_it(package: str) -> None:
    allowed = BELOW[package] | {package}
    wrong = [
        f"{path.relative_to(ROOT)}:{line} imports {name}"
        for path in files(package)
        for name, line in imports(path)
        if (top := name.split(".")[0]) in PACKAGES and top not in allowed
    ]
    assert wrong == []


@pytest.mark.parametrize("room", EDITOR)
def test_what_draws_stands_above_what_does_not(room: str) -> None:
    found = sorted((ROOT / "frontend/src" / room).glob("*.ts*"))
    assert found
    wrong = [
        f"{path.relative_to(ROOT)}:{line} imports {name}"
        for path in found
        for name, line in rooms_imported(path)
        if name not in EDITOR[room]
    ]
    assert wrong == []


def test_the_graph_language_sees_only_the_light_part_of_the_runtime() -> None:
    wrong = [
        f"{path.relative_to(ROOT)}:{line} imports {name}"
        for path in files("igc")
        for name, line in imports(path)
        if name.split(".")[0] in HEAVY
        or (
            (below(name, "dots") and name != "dots" and not any(below(name, light) for light in LIGHT))
            and not (path.name == "cases.py" and below(name, "dots.client"))
        )
    ]
    assert wrong == []


def test_the_server_reaches_the_engine_through_its_client_and_values() -> None:
    allowed = LIGHT | {"dots.client", "dots.errors", "dots.events"}
    wrong = [
        f"{path.relative_to(ROOT)}:{line} imports {name}"
        for path in files("spaces")
        for name, line in imports(path)
        if below(name, "dots") and not any(below(name, a) or (below(a, name) and name != "dots") for a in allowed)
    ]
    assert wrong == []


def test_only_two_files_call_both_compiler_and_engine() -> None:
    both = {
        str(path.relative_to(ROOT))
        for package in ("spaces", "igc")
        for path in files(package)
        if any(below(name, "igc.compile") for name, _ in imports(path))
        and any(below(name, "dots.client") for name, _ in imports(path))
    }
    assert both <= {"backend/spaces/runs.py", "backend/igc/cases.py"}


@pytest.mark.parametrize("folder", ["components", "passes"])
def test_siblings_of_a_registry_never_import_each_other(folder: str) -> None:
    package, home = ("dots", PACKAGES["dots"] / folder) if folder == "components" else ("igc", PACKAGES["igc"] / folder)
    names = {module(path, package) for path in home.glob("*.py")} - {f"{package}.{folder}"}
    wrong = [
        f"{path.relative_to(ROOT)}:{line} imports {name}"
        for path in home.glob("*.py")
        if path.name != "__init__.py"
        for name, line in imports(path)
        if any(below(name, other) for other in names)
    ]
    assert wrong == []


LATE = {
    "engine/dots/cli.py": {"dots.execution", "importlib.metadata"},  # a prompt's first token waits for neither
    "engine/dots/models/model.py": {
        "dots.models.text",  # its libraries take as long as the rest of a start, which runs without text
        *("dots.models.isa", "dots.models.llama", "dots.models.quantised"),  # while the file's digest is worked out
    },
}
"""What may be imported inside a function, because it was measured to make a start quicker."""


@pytest.mark.parametrize("package", PACKAGES)
def test_no_import_stands_inside_a_function(package: str) -> None:
    wrong = [
        f"{path.relative_to(ROOT)}:{line} imports {name}"
        for path in files(package)
        for name, line in imports(path, nested=True)
        if not any(below(name, late) for late in LATE.get(str(path.relative_to(ROOT)), ()))
    ]
    assert wrong == []


@pytest.mark.parametrize("package", PACKAGES)
def test_modules_of_a_package_do_not_import_in_a_circle(package: str) -> None:
    names = {module(path, package): path for path in files(package)}
    graph = {
        name: {
            target
            for full, _ in imports(path)
            if full.split(".")[0] == package
            for target in (full, full.rpartition(".")[0])
            if target in names and target != name
        }
        for name, path in names.items()
    }
    # A package's __init__ is reached by every module in it; only the edges that name a module count.
    done: set[str] = set()

    def visit(name: str, trail: tuple[str, ...]) -> None:
        assert name not in trail, " → ".join((*trail[trail.index(name) :], name))
        if name in done:
            return
        for target in graph[name]:
            if not below(name, target):
                visit(target, (*trail, name))
        done.add(name)

    for name in names:
        visit(name, ())


def test_every_module_says_what_it_is() -> None:
    silent = [
        str(path.relative_to(ROOT))
        for package in PACKAGES
        for path in files(package)
        if not ast.get_docstring(ast.parse(path.read_text("utf-8")))
    ]
    assert silent == []


def test_migrations_import_only_the_tables() -> None:
    wrong = [
        f"{path.relative_to(ROOT)}:{line} imports {name}"
        for path in sorted((ROOT / "migrations").rglob("*.py"))
        for name, line in imports(path)
        if name.split(".")[0] in PACKAGES and not below(name, "spaces.tables")
    ]
    assert wrong == []


def test_the_catalogue_loads_no_array_library() -> None:
    code = "import sys, dots.components as c; c.catalogue(); print(sorted(set(sys.modules) & set(sys.argv[1:])))"
    out = subprocess.run([sys.executable, "-c", code, *sorted(HEAVY)], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"
