"""Jinja for templates that strangers wrote: a small language, and a meter on everything that can grow.

`MeteredEnvironment` is Jinja's immutable sandbox with less in it. Whoever renders gives it a fresh `Meter` first; what
is made is paid for before it is made, and every loop turn looks at the clock. No signal, no second process.
"""

import json
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from jinja2 import TemplateError, Undefined, nodes, pass_context
from jinja2.ext import LoopControlExtension
from jinja2.runtime import Context, LoopContext
from jinja2.sandbox import ImmutableSandboxedEnvironment
from jinja2.utils import Namespace
from jinja2.visitor import NodeTransformer

SECONDS = 1.0
WORK = 4 << 20  # characters and loop turns one rendering may spend, plus 16 a character of the messages
MAX_DEPTH = 8  # of values written as JSON

TEXT_METHODS = frozenset(
    (
        *("strip", "lstrip", "rstrip", "removeprefix", "removesuffix", "replace", "split", "rsplit", "splitlines"),
        *("startswith", "endswith", "find", "count", "lower", "upper", "title", "capitalize", "isdigit", "isspace"),
    )
)
MAP_METHODS = frozenset({"items", "keys", "values", "get"})

LANGUAGE: tuple[type[nodes.Node], ...] = (
    nodes.Template, nodes.Output, nodes.TemplateData, nodes.For, nodes.If, nodes.Assign, nodes.AssignBlock,
    nodes.Macro, nodes.Break, nodes.Continue, nodes.Name, nodes.NSRef, nodes.Const, nodes.List, nodes.Tuple,
    nodes.Dict, nodes.Pair, nodes.Filter, nodes.Test, nodes.Getattr, nodes.Getitem, nodes.Slice, nodes.Call,
    nodes.Keyword, nodes.Concat, nodes.Add, nodes.Sub, nodes.Mul, nodes.Mod, nodes.FloorDiv, nodes.Neg, nodes.Pos,
    nodes.And, nodes.Or, nodes.Not, nodes.Compare, nodes.Operand, nodes.CondExpr,
)  # fmt: skip


class TooMuch(TemplateError):
    """The template asked for more than its bounds."""


class Meter:
    """What one rendering has left."""

    def __init__(self, work: int) -> None:
        self.left = work
        self.deadline = time.monotonic() + SECONDS

    def spend(self, amount: int) -> None:
        self.left -= amount
        if self.left < 0:
            raise TooMuch("it makes too much text or turns too often")
        if time.monotonic() > self.deadline:
            raise TooMuch(f"it runs longer than {SECONDS:g} s")

    def measure(self, value: object, depth: int = 0) -> None:
        """Pay for writing a value out, before it is written."""
        if isinstance(value, str):
            self.spend(len(value) + 1)
            return
        self.spend(8)
        if isinstance(value, int) and abs(value) >> 64:
            raise TooMuch("it makes a number of more than 64 bits")
        if isinstance(value, Mapping | list | tuple) and depth == MAX_DEPTH:
            raise TooMuch(f"it writes values deeper than {MAX_DEPTH}")
        if isinstance(value, Mapping):
            for key, item in value.items():
                self.measure(key, depth + 1)
                self.measure(item, depth + 1)
        elif isinstance(value, list | tuple):
            for item in value:
                self.measure(item, depth + 1)


def plain(value: object) -> str:
    """The text of a scalar; containers are written with `tojson` only."""
    if isinstance(value, str | int | float | Undefined) or value is None:
        return str(value)
    raise TemplateError(f"cannot write a {type(value).__name__} as text")


def replace(meter: Meter, text: str, old: str, new: str) -> str:
    text, old, new = plain(text), plain(old), plain(new)
    meter.spend(len(text) + text.count(old) * len(new))
    return text.replace(old, new)


def join(meter: Meter, items: Iterable[object], separator: str = "") -> str:
    parts = [plain(item) for item in items]
    meter.spend(len(separator) * len(parts))
    return separator.join(parts)


def to_json(meter: Meter, value: object, indent: int | None = None, ensure_ascii: bool = False) -> str:
    if indent is not None and not 0 <= indent <= 8:
        raise TemplateError(f"an indent of 0 to 8 is expected, got {indent}")
    return json.dumps(value, ensure_ascii=ensure_ascii, indent=indent)


def default(_: Meter, value: object, other: object = "", falsy_too: bool = False) -> object:
    return other if isinstance(value, Undefined) or (falsy_too and not value) else value


FILTERS: dict[str, Callable[..., Any]] = {
    "trim": lambda _, text, chars=None: plain(text).strip(chars),
    "upper": lambda _, text: plain(text).upper(),
    "lower": lambda _, text: plain(text).lower(),
    "capitalize": lambda _, text: plain(text).capitalize(),
    "title": lambda _, text: plain(text).title(),
    "string": lambda _, value: plain(value),
    "int": lambda _, value: int(value),
    "length": lambda _, value: len(value),
    "count": lambda _, value: len(value),
    "first": lambda _, value: next(iter(value)),
    "last": lambda _, value: value[-1],
    "list": lambda _, value: list(value),
    "items": lambda _, value: list(value.items()),
    "default": default,
    "d": default,
    "join": join,
    "replace": replace,
    "tojson": to_json,
}


def metered(work: Callable[..., Any]) -> Callable[..., Any]:
    """A filter that pays for what it is given and for what it makes. Taking the context keeps it from being folded
    while the template compiles, where no meter runs."""

    @pass_context
    def paid(context: Context, value: object, *args: object, **options: object) -> object:
        meter = context.environment.meter  # type: ignore[attr-defined]
        meter.measure(value)
        made = work(meter, value, *args, **options)
        meter.measure(made)
        return made

    return paid


@pass_context
def turns(context: Context, items: Iterable[object]) -> Iterator[object]:
    """Every loop goes through this one."""
    for item in items:
        context.environment.meter.spend(16)  # type: ignore[attr-defined]
        yield item


class Instrument(NodeTransformer):
    """Refuses what is outside the language, and puts the meter where text is written and loops turn."""

    def generic_visit(self, node: nodes.Node, *args: Any, **kwargs: Any) -> nodes.Node:
        if not isinstance(node, LANGUAGE):
            raise TemplateError(f"line {node.lineno}: {type(node).__name__} is not allowed")
        target = isinstance(node, nodes.Tuple) and node.ctx == "store"
        container = isinstance(node, nodes.List | nodes.Dict | nodes.Tuple) and not target
        if container and any(node.find_all((nodes.Name, nodes.Call))):
            # Values that hold one value twice, forty deep, would take forever to compare.
            raise TemplateError(f"line {node.lineno}: lists and maps of constants only")
        return super().generic_visit(node, *args, **kwargs)

    def visit_For(self, node: nodes.For) -> nodes.Node:
        if node.recursive:
            raise TemplateError(f"line {node.lineno}: recursive loops are not allowed")
        self.generic_visit(node)
        node.iter = through("turns", node.iter)
        return node

    def visit_Output(self, node: nodes.Output) -> nodes.Node:
        self.generic_visit(node)
        node.nodes = [n if isinstance(n, nodes.TemplateData) else through("string", n) for n in node.iter_child_nodes()]
        return node

    def visit_Concat(self, node: nodes.Concat) -> nodes.Node:
        self.generic_visit(node)
        total: nodes.Expr = through("string", node.nodes[0])
        for other in node.nodes[1:]:
            total = nodes.Add(total, through("string", other), lineno=node.lineno)
        return total


def through(name: str, value: nodes.Node) -> nodes.Filter:
    return nodes.Filter(value, name, [], [], None, None, lineno=value.lineno)


class MeteredEnvironment(ImmutableSandboxedEnvironment):
    intercepted_binops = frozenset({"+", "-", "*", "%", "//"})

    def __init__(self) -> None:
        super().__init__(trim_blocks=True, lstrip_blocks=True, extensions=[LoopControlExtension])
        self.meter = Meter(0)
        self.filters = {name: metered(work) for name, work in FILTERS.items()} | {"turns": turns}
        self.globals = {"range": self.globals["range"], "namespace": Namespace, "raise_exception": raise_exception}

    def _parse(self, source: str, name: str | None, filename: str | None) -> nodes.Template:
        tree: nodes.Template = Instrument().visit(super()._parse(source, name, filename))
        return tree

    def is_safe_attribute(self, obj: object, attr: str, value: object) -> bool:
        if isinstance(obj, str):
            return attr in TEXT_METHODS
        if isinstance(obj, Mapping):
            return attr in MAP_METHODS
        return isinstance(obj, LoopContext | Namespace) and not attr.startswith("_")

    def wrap_str_format(self, value: Any) -> None:
        """No `format`: Jinja would allow a wrapped one, which pads without bounds."""

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:
        if operator == "%" and not isinstance(left, int | float):
            raise TemplateError("formatting with % is not allowed")
        if operator == "*" and not (isinstance(left, int | float) and isinstance(right, int | float)):
            raise TemplateError("only numbers can be multiplied")
        self.meter.measure(left)
        self.meter.measure(right)
        return super().call_binop(context, operator, left, right)

    def call(self, context: Context, function: Any, /, *args: Any, **kwargs: Any) -> Any:
        self.meter.spend(64)
        owner = getattr(function, "__self__", None)
        if isinstance(owner, str):
            self.meter.measure(owner)
            if function.__name__ == "replace":
                return replace(self.meter, owner, *args)
        made = super().call(context, function, *args, **kwargs)
        self.meter.measure(made)
        return made


def raise_exception(message: str) -> None:
    raise TemplateError(str(message)[:500])


MISTAKES = (
    TemplateError, RecursionError, MemoryError, SyntaxError, TypeError, ValueError, ArithmeticError, LookupError,
    AttributeError, StopIteration, RuntimeError,
)  # fmt: skip
