"""The text form of a `.dotbin`: one fact per line, for people to read, compare and write. Exact in both directions.

It turns the file's map into lines and lines into a map that `dots.program` checks. Two spaces a level:

    program 1.0
    source h'...'
    igc "0.1.0"
    catalogue h'...'
    fusion exact
    pass "resolve"
    input "text" = %0
    output "result" = %5
    block 6
      llm.generate@1 #0123456789
        dot steps=256 kv=8192 seconds=120
        param max_tokens = 8
        in prompt = %2
        out text = %3
        before text.input@1 #0123456789
          ...
        after flow.output@1 #0123456789
          ...

Empty lines and lines that begin with `;` say nothing.
"""

import re
from typing import Final

from dots import notation
from dots.codec import Value
from dots.shape import Invalid, shown

HEAD: Final = re.compile(r"(?:(?P<place>before|after) )?(?P<name>\S+)@(?P<version>[0-9]{1,9}) #(?P<node>\S+)")
DOT: Final = re.compile(r"dot steps=([0-9]{1,16}) kv=([0-9]{1,16}) seconds=([0-9]{1,16})")
SLOTS: Final = re.compile(r"%[0-9]{1,16}(?: %[0-9]{1,16})*")
HEADERS: Final = ("program", "source", "igc", "catalogue", "fusion")

Lines = list[tuple[int, int, str]]
"""Number, level and what the line says."""


def show(sections: dict[int, Value]) -> str:
    """The lines of a valid program's map."""
    lines = [
        f"program {'.'.join(map(str, _list(sections[0])))}",
        f"source {notation.show(sections[1])}",
        f"igc {notation.show(sections[2])}",
        f"catalogue {notation.show(sections[3])}",
        f"fusion {sections[4]!s}",
    ]
    lines += [f"pass {notation.show(name)}" for name in _list(sections[5])]
    for word, key in (("input", 6), ("output", 7)):
        lines += [f"{word} {notation.show(name)} = {_slot(slot)}" for name, slot in _map(sections[key]).items()]
    for block in _list(sections[8]):
        slots, instructions = _list(block)
        lines.append(f"block {slots!s}")
        for instruction in _list(instructions):
            lines += _instruction(_list(instruction))
    return "".join(f"{line}\n" for line in lines)


def _instruction(parts: list[Value]) -> list[str]:
    kind, version, params, inputs, before, after, outputs, dot, node = parts
    lines = [f"  {_head(kind, version, node)}"]
    if dot:
        lines.append("    dot steps={} kv={} seconds={}".format(*map(str, _list(dot))))
    lines += _body(params, inputs, outputs, "    ")
    for place, steps in (("before", before), ("after", after)):
        for step in _list(steps):
            kind, version, params, inputs, outputs, node = _list(step)
            lines.append(f"    {place} {_head(kind, version, node)}")
            lines += _body(params, inputs, outputs, "      ")
    return lines


def _body(params: Value, inputs: Value, outputs: Value, indent: str) -> list[str]:
    lines = [f"{indent}param {_name(name)} = {notation.show(value)}" for name, value in _map(params).items()]
    for name, slots in _map(inputs).items():
        lines.append(f"{indent}in {_name(name)} = {' '.join(map(_slot, _list(slots)))}")
    return lines + [f"{indent}out {_name(name)} = {_slot(slot)}" for name, slot in _map(outputs).items()]


def _head(kind: Value, version: Value, node: Value) -> str:
    return f"{kind!s}@{version!s} #{node!s}"


def _slot(slot: Value) -> str:
    return f"%{slot!s}"


def _name(name: str) -> str:
    """A plain name as it is, any other in quotes."""
    return name if re.fullmatch(r"\w+", name) and name.isprintable() else notation.quoted(name)


def _list(value: Value) -> list[Value]:
    assert isinstance(value, list)
    return value


def _map(value: Value) -> dict[str, Value]:
    assert isinstance(value, dict)
    return value  # type: ignore[return-value]  # maps of a program have text keys


def parse(source: str) -> Value:
    """The map that the lines stand for; raises Invalid with the line. Ranges and slots are left to the reader."""
    lines: Lines = []
    for number, line in enumerate(source.split("\n"), 1):
        said = line.strip(" \r")
        if said and not said.startswith(";"):
            indent = len(line) - len(line.lstrip(" "))
            if indent % 2:
                raise _fail(number, "two spaces a level", line)
            lines.append((number, indent // 2, said))
    return _Parser(lines).program()


def _fail(number: int, expected: str, got: str) -> Invalid:
    return Invalid("text", f"line {number}", expected, shown(got))


class _Parser:
    def __init__(self, lines: Lines) -> None:
        self.lines = lines
        self.at = 0

    def take(self, level: int) -> tuple[int, str] | None:
        """The next line if it stands at this level."""
        if self.at < len(self.lines) and self.lines[self.at][1] == level:
            number, _, said = self.lines[self.at]
            self.at += 1
            return number, said
        return None

    def program(self) -> Value:
        head: dict[str, Value] = {}
        for word in HEADERS:
            number, rest = self.after(word)
            head[word] = rest if word in ("fusion", "program") else notation.parse(rest, f"line {number}")
        version = re.fullmatch(r"([0-9]{1,9})\.([0-9]{1,9})", str(head["program"]))
        if version is None:
            raise _fail(1, "program MAJOR.MINOR", str(head["program"]))
        passes: list[Value] = []
        ends: dict[str, dict[str, Value]] = {"input": {}, "output": {}}
        blocks: list[Value] = []
        while (line := self.take(0)) is not None:
            number, said = line
            word, _, rest = said.partition(" ")
            if word == "block" and re.fullmatch(r"[0-9]{1,9}", rest):
                blocks.append([int(rest), self.instructions()])
            elif word == "pass" and not blocks:
                passes.append(notation.parse(rest, f"line {number}"))
            elif word in ends and not blocks:
                name, slots = self.slots(number, rest)
                self.put(number, ends[word], name, slots[0] if len(slots) == 1 else slots)
            else:
                raise _fail(number, "pass, input, output or block", said)
        if self.at < len(self.lines):
            number, _, said = self.lines[self.at]
            raise _fail(number, "a line further left", said)
        sections: dict[int, Value] = {
            0: [int(part) for part in version.groups()],
            1: head["source"],
            2: head["igc"],
            3: head["catalogue"],
            4: head["fusion"],
            5: passes,
            6: ends["input"],
            7: ends["output"],
            8: blocks,
        }
        return sections

    def after(self, word: str) -> tuple[int, str]:
        line = self.take(0)
        if line is None or not line[1].startswith(f"{word} "):
            number = self.lines[-1][0] + 1 if self.at >= len(self.lines) and self.lines else line[0] if line else 1
            raise _fail(number, f"{word} ...", line[1] if line else "another level, or the end")
        return line[0], line[1][len(word) + 1 :]

    def instructions(self) -> Value:
        found: list[Value] = []
        while (line := self.take(1)) is not None:
            number, said = line
            match = HEAD.fullmatch(said)
            if match is None or match["place"]:
                raise _fail(number, "COMPONENT@VERSION #NODE", said)
            dot: Value = []
            if self.at < len(self.lines) and self.lines[self.at][2].startswith("dot "):
                dot = self.dot()
            params, inputs, outputs = self.body(2)
            before, after = self.steps("before"), self.steps("after")
            name, version, node = match["name"], int(match["version"]), match["node"]
            found.append([name, version, params, inputs, before, after, outputs, dot, node])
        return found

    def dot(self) -> Value:
        number, _, said = self.lines[self.at]
        match = DOT.fullmatch(said)
        if match is None or self.take(2) is None:
            raise _fail(number, "dot steps=N kv=N seconds=N", said)
        return [int(part) for part in match.groups()]

    def steps(self, place: str) -> Value:
        found: list[Value] = []
        while self.at < len(self.lines) and self.lines[self.at][1] == 2:
            number, _, said = self.lines[self.at]
            match = HEAD.fullmatch(said)
            if match is None or not match["place"]:
                raise _fail(number, "before or after COMPONENT@VERSION #NODE", said)
            if match["place"] != place:
                break
            self.at += 1
            params, inputs, outputs = self.body(3)
            found.append([match["name"], int(match["version"]), params, inputs, outputs, match["node"]])
        return found

    def body(self, level: int) -> tuple[Value, Value, Value]:
        facts: dict[str, dict[str, Value]] = {"param": {}, "in": {}, "out": {}}
        while self.at < len(self.lines) and self.lines[self.at][1] == level:
            number, _, said = self.lines[self.at]
            word, _, rest = said.partition(" ")
            if word not in facts:
                break
            self.at += 1
            if word == "param":
                name, value = self.named(number, rest)
                self.put(number, facts[word], name, notation.parse(value, f"line {number}"))
            else:
                name, slots = self.slots(number, rest)
                self.put(number, facts[word], name, slots if word == "in" else slots[0] if len(slots) == 1 else slots)
        return facts["param"], facts["in"], facts["out"]

    def named(self, number: int, rest: str) -> tuple[str, str]:
        """A name and what stands behind the equals sign."""
        match = re.match(r'(?:(\w+)|("(?:[^"\\]|\\.)*")) = ', rest)
        if match is None:
            raise _fail(number, "NAME = ...", rest)
        name = match[1] or notation.parse(match[2], f"line {number}")
        return str(name), rest[match.end() :]

    def slots(self, number: int, rest: str) -> tuple[str, list[Value]]:
        name, ends = self.named(number, rest)
        if not SLOTS.fullmatch(ends):
            raise _fail(number, "slots such as %0", ends)
        return name, [int(slot[1:]) for slot in ends.split(" ")]

    def put(self, number: int, facts: dict[str, Value], name: str, value: Value) -> None:
        if name in facts:
            raise _fail(number, "each name once", name)
        facts[name] = value
