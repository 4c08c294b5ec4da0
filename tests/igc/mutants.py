"""Drops one check of the readers at a time: a mutant is a module with one guard, one call or one bound gone."""

import ast
import copy
import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

from tests.igc.test_spec import SPEC
from tests.spec.case import data_of

MODULES = ("dots.codec", "dots.template", "dots.shape", "igc.graph", "igc.igb", "igc.ops", "igc.draft", "igc.patch")
VALUE_CHECKS = {
    *("array", "text_map", "uint_map", "integer", "text", "node_id", "component", "port", "digest", "distinct"),
    *(
        "no_raw_secret",
        "flags_of",
        "position_of",
        "label_of",
        "note_of",
        "group_of",
        "extra_of",
        "_filled",
        "_flag_name",
    ),
}
SKIPPED = {
    "encode",
    "_Writer",
    "_whole",
    "_finite",
    "_text",
    "_number",
    "_head",
    "same",
    "shown",
    "write",
    "pieces",
    "slots",
}
SKIPPED |= {
    "deletion",
    "apply_op",
    "_overtaking",
    "diff_ops",
    "diff",
    "to_value",
    "sections_of",
    "hashes_of",
    "place_of",
}
FREE = ast.Constant(2**62)


@dataclass(frozen=True)
class Mutant:
    module: str
    name: str  # function, what was dropped
    code: CodeType

    def __str__(self) -> str:
        return f"{self.module} {self.name}"


def source(module: str) -> str:
    file = import_module(module).__file__
    assert file is not None
    return Path(file).read_text("utf-8")


def mutants(module: str) -> Iterator[Mutant]:
    """Every mutant of a module, told apart by the function and the code that is gone."""
    tree = ast.parse(source(module))
    seen: dict[str, int] = {}
    for where, path, change, what in sites(tree):
        mutated = copy.deepcopy(tree)
        change(at(mutated, path))
        name = f"{where}: {what}"
        seen[name] = seen.get(name, 0) + 1
        if seen[name] > 1:
            name += f" #{seen[name]}"
        yield Mutant(module, name, compile(ast.fix_missing_locations(mutated), f"<{module}>", "exec"))


Path_ = tuple[tuple[str, int | None], ...]


def at(tree: ast.AST, path: Path_) -> Any:
    node: Any = tree
    for field, index in path:
        node = getattr(node, field)
        if index is not None:
            node = node[index]
    return node


def walk(node: ast.AST, path: Path_ = (), where: str = "") -> Iterator[tuple[str, Path_, ast.AST]]:
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        where = f"{where}.{node.name}" if where else node.name
        if node.name in SKIPPED or node.name == "__init__":
            return
    yield where, path, node
    for field, value in ast.iter_fields(node):
        if isinstance(value, ast.AST):
            yield from walk(value, (*path, (field, None)), where)
        elif isinstance(value, list):
            for index, entry in enumerate(value):
                if isinstance(entry, ast.AST):
                    yield from walk(entry, (*path, (field, index)), where)


def sites(tree: ast.AST) -> Iterator[tuple[str, Path_, Any, str]]:
    for where, path, node in walk(tree):
        if not where:
            continue
        if isinstance(node, ast.If) and refuses(node):
            yield where, path, never, f"if {ast.unparse(node.test)}"
            yield from conditions(where, (*path, ("test", None)), node.test)
        if isinstance(node, ast.ExceptHandler) and isinstance(node.body[0], ast.Raise):
            yield where, path, swallow, f"except {ast.unparse(node.type) if node.type else ''}"
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            yield from calls(where, path, node)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and "check" in ast.unparse(node.value.func):
            yield where, path, skip, ast.unparse(node)


def refuses(node: ast.If) -> bool:
    return isinstance(node.body[0], ast.Raise) or (
        isinstance(node.body[0], ast.Return) and ast.unparse(node.body[0]) == "return False"
    )


def conditions(where: str, path: Path_, test: ast.expr) -> Iterator[tuple[str, Path_, Any, str]]:
    """Parts of a condition: each operand of `or`, each side of a double comparison."""
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.Or):
        for index, part in enumerate(test.values):
            yield (
                where,
                path,
                lambda node, index=index: node.values.__setitem__(index, ast.Constant(False)),
                f"or {ast.unparse(part)}",
            )
            yield from conditions(where, (*path, ("values", index)), part)
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
        for index, part in enumerate(test.values):
            yield from conditions(where, (*path, ("values", index)), part)
    if isinstance(test, ast.UnaryOp):
        yield from conditions(where, (*path, ("operand", None)), test.operand)
    if isinstance(test, ast.Compare) and len(test.ops) == 2:
        yield where, path, low_free, f"low of {ast.unparse(test)}"
        yield where, path, high_free, f"high of {ast.unparse(test)}"


def calls(where: str, path: Path_, node: ast.Call) -> Iterator[tuple[str, Path_, Any, str]]:
    name = ast.unparse(node.func)
    if name not in VALUE_CHECKS:
        return
    yield where, path, first_argument, ast.unparse(node)
    if name == "integer":
        yield (
            where,
            path,
            lambda node: node.args.__setitem__(2, ast.UnaryOp(ast.USub(), FREE)),
            f"low of {ast.unparse(node)}",
        )
        yield where, path, lambda node: node.args.__setitem__(3, FREE), f"high of {ast.unparse(node)}"
    if name == "text" and len(node.args) == 4:
        if ast.unparse(node.args[2]) != "0":
            yield where, path, lambda node: node.args.__setitem__(2, ast.Constant(0)), f"low of {ast.unparse(node)}"
        yield where, path, lambda node: node.args.pop(), f"high of {ast.unparse(node)}"
    if name == "array" and len(node.args) == 3:
        yield where, path, lambda node: node.args.pop(), f"count of {ast.unparse(node)}"


def never(node: ast.If) -> None:
    node.test = ast.Constant(False)


def swallow(node: ast.ExceptHandler) -> None:
    node.body = [ast.Return(ast.Constant(None))]


def skip(node: ast.Expr) -> None:
    node.value = ast.Constant(None)


def first_argument(node: ast.Call) -> None:
    node.func = ast.Name("_first", ast.Load())


def low_free(node: ast.Compare) -> None:
    node.left, node.ops, node.comparators = node.comparators[0], node.ops[1:], node.comparators[1:]


def high_free(node: ast.Compare) -> None:
    node.ops, node.comparators = node.ops[:1], node.comparators[:1]


# Running -------------------------------------------------------------------------------------------------------------

World = dict[str, ModuleType]
ORIGINAL: dict[str, CodeType] = {name: compile(source(name), f"<{name}>", "exec") for name in MODULES}


def first(value: Any, *_: Any) -> Any:
    return value


def world(mutant: Mutant | None = None) -> World:
    """Fresh modules of the readers, one of them the mutant; the real ones stay as they are."""
    kept = {name: sys.modules[name] for name in MODULES}
    made: World = {}
    try:
        for name in MODULES:
            module = ModuleType(name)
            module.__dict__["_first"] = first
            bind(name, module)
            made[name] = module
            exec(mutant.code if mutant is not None and mutant.module == name else ORIGINAL[name], module.__dict__)
    finally:
        for name, module in kept.items():
            bind(name, module)
    return made


def bind(name: str, module: ModuleType) -> None:
    """What `import` finds under a name: the module's entry and its package's attribute."""
    package, _, attribute = name.rpartition(".")
    sys.modules[name] = module
    setattr(sys.modules[package], attribute, module)


def cases() -> list[dict[str, Any]]:
    """Every vector, short ones first."""
    found = []
    for kind in ("codec", "igb", "patch", "apply", "slots"):
        for case in json.loads((SPEC / f"{kind}.json").read_text("utf-8")):
            made = {name: data_of(case[name]) for name in ("hex", "parts", "graph", "ops", "patch") if name in case}
            found.append({"kind": kind, **case, **made})
    return sorted(found, key=lambda case: any(len(data) > 10_000 for data in case.values() if isinstance(data, bytes)))


def verdict(modules: World, case: dict[str, Any]) -> tuple[object, ...]:
    """What the readers say to a vector; a crash is a verdict too."""
    codec, template, igb, patch = (modules[name] for name in ("dots.codec", "dots.template", "igc.igb", "igc.patch"))
    data = case.get("parts", case.get("hex"))
    try:
        if case["kind"] == "codec":
            return "accept", codec.encode(codec.decode(data))
        if case["kind"] == "slots":
            return tuple(template.slots(case["template"]))
        if case["kind"] == "igb":
            return "accept", igb.write(igb.read(data))
        if case["kind"] == "patch":
            return "accept", patch.write(patch.read(data))
        graph = igb.read(case["graph"])
        if "patch" in case:
            return "accept", igb.write(patch.apply(patch.read(case["patch"]), graph))
        ops = [patch.op_from_value(op) for op in codec.decode(case["ops"])]
        return "accept", igb.write(patch.apply_ops(graph, ops))
    except codec.Malformed as error:
        return "malformed", error.code, error.offset
    except modules["dots.shape"].Invalid as error:
        return "invalid", error.code, error.path
    except Exception as error:
        return "crash", type(error).__name__


TOLD_BY = {
    "dots.codec": ("codec",),
    "dots.template": ("slots", "igb"),
    "dots.shape": ("igb", "patch", "apply"),
    "igc.graph": ("igb", "patch", "apply"),
    "igc.igb": ("igb", "patch", "apply"),
    "igc.ops": ("patch", "apply"),
    "igc.draft": ("apply",),
    "igc.patch": ("patch", "apply"),
}
"""Kinds of vectors that a module's checks are about."""


def survivors(modules: tuple[str, ...]) -> tuple[int, list[str]]:
    """How many mutants there were, and those that no vector tells from the reader."""
    reader = world()
    baseline = [(case, verdict(reader, case)) for case in cases()]
    total, alive = 0, []
    for module in modules:
        told = [(case, right) for case, right in baseline if case["kind"] in TOLD_BY[module]]
        for mutant in mutants(module):
            total += 1
            made = world(mutant)
            if all(verdict(made, case) == right for case, right in told):
                alive.append(str(mutant))
    return total, alive
