"""The compiled program: blocks of instructions over numbered slots. Frozen values; `docs/formats.md` §5 is its file.

The compiler builds it, the loader (`read`) checks every fact again and trusts nothing, the engine runs it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


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
