"""Matrices as the kernels read them: sixteen rows interleaved, four columns of each at a time.

A tile is 16 rows. For each block of 32 columns it holds, in order, columns 0-3 of row 0, columns 0-3 of row 1, …, then
columns 4-7 of each row, and so on; a 4-bit byte carries columns c and c + 16. Scales lie beside, sixteen at a time.
Everything comes straight from the mapped file by transposition; formats that are not blocks are quantised to 8 bits.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dots.models.gguf import Tensor

BLOCK = 32  # columns that share a scale
ROWS = 16  # of a tile
FOUR_BIT, EIGHT_BIT = ("Q4_0", "Q4_1"), "Q8_0"


@dataclass(frozen=True, slots=True)
class Packed:
    """Stacked over layers. bits 4: value = d * q + m; bits 8: value = d * q."""

    bits: int
    weights: NDArray[np.uint8]  # (layers, tiles, blocks, 64 * bits)
    scales: NDArray[np.uint16]  # (layers, tiles, blocks, 2 or 1, 16): bits of the half-precision d and m, or d


def fits(tensor: Tensor) -> bool:
    rows, columns = tensor.shape
    return rows % ROWS == 0 and columns % BLOCK == 0


def pack(layers: Sequence[Sequence[Tensor]]) -> Packed:
    """One matrix a layer, each the rows of some tensors on top of each other."""
    bits = 4 if all(t.format.name in FOUR_BIT for parts in layers for t in parts) else 8
    blocks = four_bit_blocks if bits == 4 else eight_bit_blocks
    rows = sum(t.shape[0] for t in layers[0])
    columns = layers[0][0].shape[1]
    shape = (len(layers), rows // ROWS, columns // BLOCK)
    weights = np.empty((*shape, 64 * bits), np.uint8)
    scales = np.empty((*shape, 2 if bits == 4 else 1, ROWS), np.float16)
    for i, parts in enumerate(layers):
        quants, factors = zip(*map(blocks, parts), strict=True)
        interleave(np.concatenate(quants), weights[i])
        tiles = np.concatenate(factors).reshape(shape[1], ROWS, shape[2], -1)
        scales[i] = tiles.transpose(0, 2, 3, 1)
    return Packed(bits, weights, scales.view(np.uint16))


def interleave(quants: NDArray[np.uint8], out: NDArray[np.uint8]) -> None:
    """(rows, blocks, bytes of a block) to (tiles, blocks, bytes / 4, 16 rows, 4)"""
    rows, blocks, size = quants.shape
    tiles = quants.reshape(rows // ROWS, ROWS, blocks, size // 4, 4)
    out.reshape(rows // ROWS, blocks, size // 4, ROWS, 4)[:] = tiles.transpose(0, 2, 3, 1, 4)


def four_bit_blocks(tensor: Tensor) -> tuple[NDArray[np.uint8], NDArray[np.float16]]:
    """Nibbles (rows, blocks, 16) and d, m (rows, blocks, 2)."""
    raw = tensor.data.reshape(tensor.shape[0], -1, tensor.format.bytes)
    if tensor.format.name == "Q4_1":
        return raw[..., 4:], raw[..., :4].copy().view(np.float16)
    d = raw[..., :2].copy().view(np.float16)
    return raw[..., 2:], np.concatenate([d, d * np.float16(-8)], axis=-1)


def eight_bit_blocks(tensor: Tensor) -> tuple[NDArray[np.uint8], NDArray[np.float16]]:
    """Signed bytes (rows, blocks, 32) and d (rows, blocks, 1)."""
    if tensor.format.name == EIGHT_BIT:
        raw = tensor.data.reshape(tensor.shape[0], -1, tensor.format.bytes)
        return raw[..., 2:], raw[..., :2].copy().view(np.float16)
    values = tensor.floats().reshape(tensor.shape[0], -1, BLOCK)
    d = (np.abs(values).max(axis=-1, keepdims=True) / np.float32(127)).astype(np.float16)
    steps = np.where(d > 0, d, np.float16(1)).astype(np.float32)
    return np.clip(np.rint(values / steps), -127, 127).astype(np.int8).view(np.uint8), d
