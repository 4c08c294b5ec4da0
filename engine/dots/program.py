"""The compiled program: blocks of instructions over numbered slots. Frozen values; `docs/formats.md` §5 is its file.

The compiler builds it, the loader (`read`, or `parse` for the text form) checks every fact again and trusts nothing,
the engine runs it.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from dots import codec, listing
from dots.codec import Malformed, Value
from dots.shape import (
    LIMITS,
    MAX_VERSION,
    Invalid,
    array,
    component,
    digest,
    integer,
    no_raw_secret,
    node_id,
    port,
    section,
    text,
    text_map,
    uint_map,
)

MAGIC: Final = b"\x89DOT\r\n\x1a\n"
MAX_SLOTS: Final = codec.MAX_ITEMS


@dataclass(frozen=True, slots=True)
class Limits:
    """Hard limits of one dot."""

    steps: int
    kv: int  # KiB of committed pages
    seconds: int


@dataclass(frozen=True, slots=True)
class Step:
    """A pure component run inside an instruction."""

    component: str
    version: int
    params: Mapping[str, Any]
    inputs: Mapping[str, tuple[int, ...]]
    outputs: Mapping[str, int]
    node: str


@dataclass(frozen=True, slots=True)
class Instruction:
    component: str
    version: int
    params: Mapping[str, Any]
    inputs: Mapping[str, tuple[int, ...]]
    outputs: Mapping[str, int]
    node: str
    prologue: tuple[Step, ...] = ()
    epilogue: tuple[Step, ...] = ()
    limits: Limits | None = None  # None: makes no dot


@dataclass(frozen=True, slots=True)
class Block:
    slots: int
    instructions: tuple[Instruction, ...]


@dataclass(frozen=True, slots=True)
class Program:
    source: bytes  # sem hash of the graph, 32 bytes
    igc: str
    catalogue: bytes  # digest of the components used, 32 bytes
    fusion: str  # none or exact
    passes: tuple[str, ...]
    inputs: Mapping[str, int]
    outputs: Mapping[str, int]
    blocks: tuple[Block, ...] = field(default_factory=tuple)


# The file ------------------------------------------------------------------------------------------------------------


def write(program: Program) -> bytes:
    return MAGIC + codec.encode(to_value(program))


def read(data: bytes) -> Program:
    """The program in a file; raises Malformed or Invalid."""
    if data[: len(MAGIC)] != MAGIC:
        raise Invalid("magic", "file", MAGIC.hex(" "), data[: len(MAGIC)].hex(" ") or "no bytes")
    try:
        return from_value(codec.decode(data[len(MAGIC) :]))
    except Malformed as error:
        raise Malformed(error.code, error.offset + len(MAGIC), error.expected, error.got) from None


def show(program: Program) -> str:
    """The text form, one fact per line."""
    return listing.show(from_written(program))


def parse(source: str) -> Program:
    """The program in a text form; raises Invalid with the line or the path."""
    return from_value(listing.parse(source))


def load(data: bytes) -> Program:
    """Either form."""
    if data.startswith(MAGIC[:1]):
        return read(data)
    if len(data) > codec.MAX_SIZE:
        raise Invalid("size", "file", f"at most {codec.MAX_SIZE} bytes", f"{len(data)}")
    try:
        return parse(data.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise Invalid("text", "file", "a .dotbin, or its text form in UTF-8", error.reason) from error


def from_written(program: Program) -> dict[int, Value]:
    """The map of a program with values as the file keeps them."""
    return uint_map(codec.decode(codec.encode(to_value(program))), "file")


def to_value(program: Program) -> dict[int, object]:
    return {
        0: [1, 0],
        1: program.source,
        2: program.igc,
        3: program.catalogue,
        4: program.fusion,
        5: program.passes,
        6: program.inputs,
        7: program.outputs,
        8: [[block.slots, [_instruction_value(one) for one in block.instructions]] for block in program.blocks],
    }


def _instruction_value(one: Instruction) -> list[object]:
    dot = [] if one.limits is None else [one.limits.steps, one.limits.kv, one.limits.seconds]
    steps = [[_step_value(step) for step in steps] for steps in (one.prologue, one.epilogue)]
    return [one.component, one.version, one.params, one.inputs, *steps, one.outputs, dot, one.node]


def _step_value(step: Step) -> list[object]:
    return [step.component, step.version, step.params, step.inputs, step.outputs, step.node]


def from_value(value: Value) -> Program:
    """The program that a map stands for, every fact checked; raises Invalid."""
    sections = uint_map(value, "file")
    for key in sections:
        if key > 8:
            raise Invalid("key", str(key), "keys 0 to 8", f"key {key}")
    for key in range(9):
        if key not in sections:
            raise Invalid("key", str(key), f"key {key}", "none")
    major, minor = array(sections[0], "format", 2)
    if integer(major, "format", 0, codec.MAX_INT) != 1:
        raise Invalid("version", "format", "major 1", str(major))
    integer(minor, "format", 0, codec.MAX_INT)
    if sections[4] not in ("none", "exact"):
        raise section("fusion", "none or exact", sections[4])
    blocks = [_block(entry, f"blocks[{at}]") for at, entry in enumerate(array(sections[8], "blocks"))]
    if not blocks:
        raise section("blocks", "at least one block", blocks)
    program = Program(
        digest(sections[1], "source"),
        text(sections[2], "igc", 1, 64),
        digest(sections[3], "catalogue"),
        str(sections[4]),
        tuple(text(name, f"passes[{at}]", 1, 64) for at, name in enumerate(array(sections[5], "passes"))),
        _ends(sections[6], "inputs", blocks[0].slots),
        _ends(sections[7], "outputs", blocks[0].slots),
        tuple(blocks),
    )
    _check_slots(program)
    return program


def _ends(value: Value, path: str, slots: int) -> dict[str, int]:
    return {
        text(name, path, 1, 256): integer(slot, f"{path}.{name}", 0, slots - 1)
        for name, slot in text_map(value, path).items()
    }


def _block(value: Value, path: str) -> Block:
    count, entries = array(value, path, 2)
    slots = integer(count, f"{path}.slots", 0, MAX_SLOTS)
    return Block(
        slots,
        tuple(
            _instruction(entry, f"{path}.instructions[{at}]", slots)
            for at, entry in enumerate(array(entries, f"{path}.instructions"))
        ),
    )


def _instruction(value: Value, path: str, slots: int) -> Instruction:
    kind, version, params, inputs, before, after, outputs, dot, node = array(value, path, 9)
    own = _step([kind, version, params, inputs, outputs, node], path, slots)
    return Instruction(
        own.component,
        own.version,
        own.params,
        own.inputs,
        own.outputs,
        own.node,
        _steps(before, f"{path}.prologue", slots),
        _steps(after, f"{path}.epilogue", slots),
        _limits(array(dot, f"{path}.dot"), f"{path}.dot"),
    )


def _steps(value: Value, path: str, slots: int) -> tuple[Step, ...]:
    return tuple(_step(entry, f"{path}[{at}]", slots) for at, entry in enumerate(array(value, path)))


def _step(value: Value, path: str, slots: int) -> Step:
    kind, version, params, inputs, outputs, node = array(value, path, 6)
    given = text_map(params, f"{path}.params")
    for name, entry in given.items():
        no_raw_secret(entry, f"{path}.params.{port(name, f'{path}.params')}")
    return Step(
        component(kind, f"{path}.component"),
        integer(version, f"{path}.version", 1, MAX_VERSION),
        given,
        {
            port(name, f"{path}.inputs"): _sources(ends, f"{path}.inputs.{name}", slots)
            for name, ends in text_map(inputs, f"{path}.inputs").items()
        },
        {
            port(name, f"{path}.outputs"): integer(slot, f"{path}.outputs.{name}", 0, slots - 1)
            for name, slot in text_map(outputs, f"{path}.outputs").items()
        },
        node_id(node, f"{path}.node"),
    )


def _sources(value: Value, path: str, slots: int) -> tuple[int, ...]:
    ends = array(value, path)
    if not ends:
        raise section(path, "at least one slot", ends)
    return tuple(integer(slot, path, 0, slots - 1) for slot in ends)


def _limits(dot: list[Value], path: str) -> Limits | None:
    if not dot:
        return None
    return Limits(*(integer(n, path, 1, LIMITS[name]) for n, name in zip(array(dot, path, 3), LIMITS, strict=True)))


def _check_slots(program: Program) -> None:
    """A slot is written once, and before it is read."""
    for at, block in enumerate(program.blocks):
        given = program.inputs.values() if at == 0 else ()
        written = set(given)
        if len(written) != len(given):
            raise Invalid("slot", "inputs", "a slot for each run input", "one slot twice")
        for place, one in enumerate(block.instructions):
            path = f"blocks[{at}].instructions[{place}]"
            _check_steps(one.prologue, f"{path}.prologue", written)
            _check_steps((one,), path, written)
            _check_steps(one.epilogue, f"{path}.epilogue", written)
        if at == 0:
            for name, slot in program.outputs.items():
                if slot not in written:
                    raise Invalid("slot", f"outputs.{name}", "a slot that is written", str(slot))


def _check_steps(steps: Iterable[Step | Instruction], path: str, written: set[int]) -> None:
    for step in steps:
        for name, ends in step.inputs.items():
            for slot in ends:
                if slot not in written:
                    raise Invalid("slot", f"{path}.inputs.{name}", "a slot written before", str(slot))
        for name, slot in step.outputs.items():
            if slot in written:
                raise Invalid("slot", f"{path}.outputs.{name}", "a slot of its own", f"{slot}, written before")
            written.add(slot)
