"""Block formats of quantised tensors: how each is laid out, and its plain translation to fp32.

A row is a whole number of blocks. Owned by the readers of model files; the fast kernels work on the same bytes and
are tested against `dequantise`. Nothing here guesses: a format that is not listed is refused by name.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Bytes = NDArray[np.uint8]
Floats = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Format:
    name: str
    values: int  # per block
    bytes: int  # per block
    unpack: Callable[[Bytes], Floats]  # (blocks, bytes) -> (blocks, values)


def f32(blocks: Bytes) -> Floats:
    return blocks.view("<f4").astype(np.float32, copy=False)


def f16(blocks: Bytes) -> Floats:
    return blocks.view("<f2").astype(np.float32)


def bf16(blocks: Bytes) -> Floats:
    return (blocks.view("<u2").astype(np.uint32) << 16).view(np.float32)


def nibbles(packed: Bytes) -> Floats:
    """Sixteen bytes hold 32 values: the low nibbles come first."""
    return np.concatenate([packed & 15, packed >> 4], axis=1).astype(np.float32)


def q4_0(blocks: Bytes) -> Floats:
    """d * (q - 8)"""
    return f16(blocks[:, :2].copy()) * (nibbles(blocks[:, 2:]) - np.float32(8))


def q4_1(blocks: Bytes) -> Floats:
    """d * q + m"""
    return f16(blocks[:, :2].copy()) * nibbles(blocks[:, 4:]) + f16(blocks[:, 2:4].copy())


def q8_0(blocks: Bytes) -> Floats:
    """d * q"""
    return f16(blocks[:, :2].copy()) * blocks[:, 2:].view(np.int8).astype(np.float32)


FORMATS: dict[int, Format] = {
    0: Format("F32", 1, 4, f32),
    1: Format("F16", 1, 2, f16),
    2: Format("Q4_0", 32, 18, q4_0),
    3: Format("Q4_1", 32, 20, q4_1),
    8: Format("Q8_0", 32, 34, q8_0),
    30: Format("BF16", 1, 2, bf16),
}

UNSUPPORTED: dict[int, str] = {
    6: "Q5_0", 7: "Q5_1", 9: "Q8_1", 10: "Q2_K", 11: "Q3_K", 12: "Q4_K", 13: "Q5_K", 14: "Q6_K", 15: "Q8_K",
    16: "IQ2_XXS", 17: "IQ2_XS", 18: "IQ3_XXS", 19: "IQ1_S", 20: "IQ4_NL", 21: "IQ3_S", 22: "IQ2_S", 23: "IQ4_XS",
    24: "I8", 25: "I16", 26: "I32", 27: "I64", 28: "F64", 29: "IQ1_M", 34: "TQ1_0", 35: "TQ2_0", 39: "MXFP4",
}  # fmt: skip


def format_name(code: int) -> str:
    return FORMATS[code].name if code in FORMATS else UNSUPPORTED.get(code, f"tensor type {code}")


def dequantise(rows: Bytes, fmt: Format) -> Floats:
    """Bytes of shape (rows, bytes a row) to fp32 of shape (rows, values a row)."""
    blocks = np.ascontiguousarray(rows).reshape(-1, fmt.bytes)
    return fmt.unpack(blocks).reshape(len(rows), -1)
