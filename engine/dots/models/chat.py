"""Renders a conversation with the chat template that came with a model, as token ids.

The template is a program from a file, so it runs in Jinja's sandbox under a meter: only the language that chat
templates need is accepted, everything that can grow is paid for before it is made, and every loop turn looks at the
clock. There is no signal and no second process, so any thread may render.

Message text cannot forge special tokens: lookalikes in it are broken by a character that no message holds, the
template's own special tokens are split off, and the character is dropped again. What is left tokenises as if the
messages had been pasted into the template.
"""

import json
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from jinja2 import TemplateError, Undefined, nodes, pass_context
from jinja2.ext import LoopControlExtension
from jinja2.runtime import Context, LoopContext
from jinja2.sandbox import ImmutableSandboxedEnvironment
from jinja2.utils import Namespace
from jinja2.visitor import NodeTransformer

from dots.errors import Code, Failure, Refused
from dots.models.tokenizer import BytePairTokenizer
from dots.spec import Message

MAX_SOURCE = 64 << 10
MAX_OUTPUT = 64 << 10  # beyond the messages' own text
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


class ChatTemplate:
    """One model's template, compiled once. Renderings take turns."""

    def __init__(self, source: str, tokenizer: BytePairTokenizer, bos: str = "", eos: str = "") -> None:
        self._tokenizer = tokenizer
        self._names = {"bos_token": bos, "eos_token": eos}
        self._turn = threading.Lock()
        self._environment = MeteredEnvironment()
        if len(source) > MAX_SOURCE:
            raise refused(f"at most {MAX_SOURCE} characters", str(len(source)))
        try:
            self._template = self._environment.from_string(source)
        except MISTAKES as e:
            raise refused("a template this sandbox can compile", str(e)) from None

    def tokens(self, messages: Sequence[Message]) -> list[int]:
        """The conversation up to where the assistant speaks."""
        hidden = unused_character(messages)
        shield = Shield(self._tokenizer.specials, hidden)
        text = self.render([Message(m.role, shield(m.text)) for m in messages])
        return self._tokenizer.encode_template(text, hidden)

    def render(self, messages: Sequence[Message]) -> str:
        given = [{"role": m.role, "content": m.text} for m in messages]
        size = sum(len(m.text) for m in messages)
        parts: list[str] = []
        room = MAX_OUTPUT + size
        with self._turn:
            self._environment.meter = Meter(WORK + 16 * size)
            try:
                for part in self._template.generate(messages=given, add_generation_prompt=True, **self._names):
                    room -= len(part)
                    if room < 0:
                        raise TooMuch(f"it makes more than {MAX_OUTPUT} characters besides the messages")
                    parts.append(part)
            except MISTAKES as e:
                raise refused("a conversation the template accepts", str(e) or type(e).__name__) from None
        return "".join(parts)


def refused(expected: str, got: str) -> Refused:
    return Refused(Failure(Code.INVALID_VALUE, "chat template", expected, got))


def unused_character(messages: Sequence[Message]) -> str:
    """A private-use character that is in no message."""
    used = {c for m in messages for c in m.text if c >= "\U00100000"}
    return next(c for c in map(chr, range(0x100000, 0x10FFFE)) if c not in used)


class Shield:
    """Breaks every special token in a text, whole or cut by the text's ends, with a character to be dropped later."""

    def __init__(self, specials: Iterable[str], hidden: str) -> None:
        self._specials = sorted(specials, key=len, reverse=True)
        self._hidden = hidden

    def __call__(self, text: str) -> str:
        core = text.strip()  # templates trim, so the ends that count are those without white space
        at = text.index(core)
        return text[:at] + self._break(core) + text[at + len(core) :]

    def _break(self, text: str) -> str:
        if any(text in special for special in self._specials):
            return text[:1] + self._hidden + text[1:] if text else text
        for special in self._specials:
            text = text.replace(special, special[:1] + self._hidden + special[1:])
        return self._start(self._end(text))

    def _end(self, text: str) -> str:
        """A special token that begins in the text and would end behind it."""
        for special in self._specials:
            for n in range(len(special) - 1, 0, -1):
                if text.endswith(special[:n]):
                    text = text[: len(text) - n + 1] + self._hidden + text[len(text) - n + 1 :]
                    break
        return text

    def _start(self, text: str) -> str:
        """A special token that would begin before the text and end in it."""
        for special in self._specials:
            for n in range(len(special) - 1, 0, -1):
                if text.startswith(special[-n:]):
                    text = text[: n - 1] + self._hidden + text[n - 1 :]
                    break
        return text
