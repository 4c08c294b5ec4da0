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
Signed = NDArray[np.int8]

HALF, BRAIN, SINGLE = np.uint16(0x7C00), np.uint16(0x7F80), np.uint32(0x7F80_0000)  # exponents of infinity and NaN


@dataclass(frozen=True, slots=True)
class Format:
    name: str
    values: int  # per block
    bytes: int  # per block
    unpack: Callable[[Bytes], Floats]  # (blocks, bytes) -> (blocks, values)
    reals: slice  # the bytes of a block that are real numbers: its scales, or the value itself
    exponent: np.uint16 | np.uint32 = HALF  # of those numbers, where they are not finite


def f32(blocks: Bytes) -> Floats:
    return blocks.view("<f4").astype(np.float32, copy=False)


def f16(blocks: Bytes) -> Floats:
    return blocks.view("<f2").astype(np.float32)


def bf16(blocks: Bytes) -> Floats:
    return (blocks.view("<u2").astype(np.uint32) << 16).view(np.float32)


def half(blocks: Bytes, at: int) -> Floats:
    """The half-precision number at a byte of each block: (blocks, 1)."""
    return f16(blocks[:, at : at + 2].copy())


def nibbles(packed: Bytes) -> Bytes:
    """The low halves of some bytes, then the high ones."""
    return np.concatenate([packed & 15, packed >> 4], axis=-1)


def q4_0_steps(blocks: Bytes) -> Signed:
    return nibbles(blocks[:, 2:]).view(np.int8) - np.int8(8)


def q5_0_steps(blocks: Bytes) -> Signed:
    """The fifth bits lie before the nibbles, one for each value in order."""
    fifth = np.unpackbits(blocks[:, 2:6], axis=1, bitorder="little")
    return (nibbles(blocks[:, 6:]) | fifth << 4).view(np.int8) - np.int8(16)


def q8_0_steps(blocks: Bytes) -> Signed:
    return blocks[:, 2:].view(np.int8)


def q4_0(blocks: Bytes) -> Floats:
    return half(blocks, 0) * q4_0_steps(blocks)


def q4_1(blocks: Bytes) -> Floats:
    """d * q + m"""
    return half(blocks, 0) * nibbles(blocks[:, 4:]) + half(blocks, 2)


def q5_0(blocks: Bytes) -> Floats:
    return half(blocks, 0) * q5_0_steps(blocks)


def q8_0(blocks: Bytes) -> Floats:
    return half(blocks, 0) * q8_0_steps(blocks)


def q4_k_scales(blocks: Bytes) -> tuple[Floats, Floats]:
    """d and m of each 32 values, (blocks, 8): six bits each in twelve bytes, times the block's own two scales.

    The first four of both take the low bits of a byte; the others have four bits in the last bytes and two on top of
    the first ones.
    """
    d, m, last = blocks[:, 4:8], blocks[:, 8:12], blocks[:, 12:16]
    scales = np.concatenate([d & 63, last & 15 | d >> 6 << 4], axis=1)
    minima = np.concatenate([m & 63, last >> 4 | m >> 6 << 4], axis=1)
    return half(blocks, 0) * scales, -half(blocks, 2) * minima


def q4_k_steps(blocks: Bytes) -> Bytes:
    """(blocks, 8, 32): 32 bytes carry two neighbours."""
    return nibbles(blocks[:, 16:].reshape(-1, 4, 32)).reshape(-1, 8, 32)


def q4_k(blocks: Bytes) -> Floats:
    """d * q + m, d and m of each 32 values"""
    d, m = q4_k_scales(blocks)
    return (d[..., None] * q4_k_steps(blocks) + m[..., None]).reshape(-1, 256)


def q6_k(blocks: Bytes) -> Floats:
    """d * scale * (q - 32), an 8-bit scale for each 16 values.

    Each half of a block, 128 values, has their four low bits in 64 bytes, the first 64 values in the low nibbles, and
    their two high bits in 32 bytes, 32 values to each pair of bits.
    """
    low = nibbles(blocks[:, :128].reshape(-1, 2, 64)).reshape(-1, 2, 4, 32)
    high = blocks[:, 128:192].reshape(-1, 2, 1, 32) >> np.arange(0, 8, 2, dtype=np.uint8)[:, None] & 3
    steps = (low | high << 4).view(np.int8) - np.int8(32)
    scales = half(blocks, 208) * blocks[:, 192:208].view(np.int8)
    return (scales[..., None] * steps.reshape(-1, 16, 16)).reshape(-1, 256)


FORMATS: dict[int, Format] = {
    0: Format("F32", 1, 4, f32, slice(4), SINGLE),
    1: Format("F16", 1, 2, f16, slice(2)),
    2: Format("Q4_0", 32, 18, q4_0, slice(2)),
    3: Format("Q4_1", 32, 20, q4_1, slice(4)),
    6: Format("Q5_0", 32, 22, q5_0, slice(2)),
    8: Format("Q8_0", 32, 34, q8_0, slice(2)),
    12: Format("Q4_K", 256, 144, q4_k, slice(4)),
    14: Format("Q6_K", 256, 210, q6_k, slice(208, 210)),
    30: Format("BF16", 1, 2, bf16, slice(2), BRAIN),
}

STEPS: dict[str, Callable[[Bytes], Signed]] = {"Q4_0": q4_0_steps, "Q5_0": q5_0_steps, "Q8_0": q8_0_steps}
"""Formats whose 32 values are d times one signed byte each: (blocks, 32)."""

UNSUPPORTED: dict[int, str] = {
    7: "Q5_1", 9: "Q8_1", 10: "Q2_K", 11: "Q3_K", 13: "Q5_K", 15: "Q8_K",
    16: "IQ2_XXS", 17: "IQ2_XS", 18: "IQ3_XXS", 19: "IQ1_S", 20: "IQ4_NL", 21: "IQ3_S", 22: "IQ2_S", 23: "IQ4_XS",
    24: "I8", 25: "I16", 26: "I32", 27: "I64", 28: "F64", 29: "IQ1_M", 34: "TQ1_0", 35: "TQ2_0", 39: "MXFP4",
    40: "NVFP4", 41: "Q1_0", 42: "Q2_0",
}  # fmt: skip


def format_name(code: int) -> str:
    return FORMATS[code].name if code in FORMATS else UNSUPPORTED.get(code, f"tensor type {code}")


def dequantise(rows: Bytes, fmt: Format) -> Floats:
    """Bytes of shape (rows, bytes a row) to fp32 of shape (rows, values a row)."""
    blocks = np.ascontiguousarray(rows).reshape(-1, fmt.bytes)
    return fmt.unpack(blocks).reshape(len(rows), -1)


def first_broken_row(rows: Bytes, fmt: Format) -> int | None:
    """The first row with a scale or a value that is infinite or not a number; all others translate to finite ones."""
    blocks = rows.reshape(len(rows), -1, fmt.bytes)
    bits = blocks[..., fmt.reals].copy().view(fmt.exponent.dtype)
    broken = (bits & fmt.exponent) == fmt.exponent
    return int(broken.any(axis=(1, 2)).argmax()) if broken.any() else None
