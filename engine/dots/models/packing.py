"""Matrices as the kernels read them: sixteen rows interleaved, four columns of each at a time.

A tile is 16 rows. For each block of 32 columns it holds, in order, columns 0-3 of row 0, columns 0-3 of row 1, …, then
columns 4-7 of each row, and so on; a 4-bit byte carries columns c and c + 16. Scales lie beside, sixteen at a time.

Q4_0 and Q4_1 are 4 bits as they are, Q4_0 alone without minima, Q4_K with its scales multiplied out and rounded to half
precision. Q8_0, Q5_0 and Q4_0 beside another kind are 8 bits as they are; everything else is quantised to 8 bits anew.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dots.errors import Code, Failure, Refused
from dots.models.gguf import Tensor
from dots.models.layout import Form
from dots.models.quant import STEPS, q4_k_scales, q4_k_steps

BLOCK = 32  # columns that share a scale
ROWS = 16  # of a tile
FOUR_BIT = ("Q4_0", "Q4_1", "Q4_K")

Halves = NDArray[np.float16]


@dataclass(frozen=True, slots=True)
class Packed:
    """Stacked over layers."""

    form: Form
    weights: NDArray[np.uint8]  # (layers, tiles, blocks, 64 * form.bits)
    scales: NDArray[np.uint16]  # (layers, tiles, blocks, form.scales, 16): bits of half-precision numbers


def fits(tensor: Tensor) -> bool:
    rows, columns = tensor.shape
    return rows % ROWS == 0 and columns % BLOCK == 0


def empty(layers: Sequence[Sequence[Tensor]]) -> Packed:
    """Room for what these will be packed into."""
    names = {t.format.name for parts in layers for t in parts}
    form = Form.Q4 if names == {"Q4_0"} else Form.Q4_MIN if names <= set(FOUR_BIT) else Form.Q8
    rows = sum(t.shape[0] for t in layers[0])
    columns = layers[0][0].shape[1]
    shape = (len(layers), rows // ROWS, columns // BLOCK)
    weights = np.empty((*shape, 64 * form.bits), np.uint8)
    return Packed(form, weights, np.empty((*shape, form.scales, ROWS), np.uint16))


def pack(layers: Sequence[Sequence[Tensor]]) -> Packed:
    """One matrix a layer, each the rows of some tensors on top of each other."""
    packed = empty(layers)
    blocks = four_bit_blocks if packed.form.bits == 4 else eight_bit_blocks
    _, tiles, columns, _ = packed.weights.shape
    scales = packed.scales.view(np.float16)
    for i, parts in enumerate(layers):
        for part in parts:
            part.require_finite()
        quants, factors = zip(*map(blocks, parts), strict=True)
        interleave(np.concatenate(quants), packed.weights[i])
        kept = np.concatenate(factors)[..., : packed.form.scales]
        scales[i] = kept.reshape(tiles, ROWS, columns, -1).transpose(0, 2, 3, 1)
    return packed


def interleave(quants: NDArray[np.uint8], out: NDArray[np.uint8]) -> None:
    """(rows, blocks, bytes of a block) to (tiles, blocks, bytes / 4, 16 rows, 4)"""
    rows, blocks, size = quants.shape
    tiles = quants.reshape(rows // ROWS, ROWS, blocks, size // 4, 4)
    out.reshape(rows // ROWS, blocks, size // 4, ROWS, 4)[:] = tiles.transpose(0, 2, 3, 1, 4)


def four_bit_blocks(tensor: Tensor) -> tuple[NDArray[np.uint8], Halves]:
    """Nibbles (rows, blocks, 16) and d, m (rows, blocks, 2)."""
    rows = tensor.shape[0]
    raw = tensor.data.reshape(rows, -1, tensor.format.bytes)
    if tensor.format.name == "Q4_1":
        return raw[..., 4:], raw[..., :4].copy().view(np.float16)
    if tensor.format.name == "Q4_0":
        d = raw[..., :2].copy().view(np.float16).astype(np.float32)
        return raw[..., 2:], halves(tensor, np.concatenate([d, d * np.float32(-8)], axis=-1))
    blocks = tensor.data.reshape(-1, tensor.format.bytes)
    steps = q4_k_steps(blocks)
    quants = (steps[..., :16] | steps[..., 16:] << 4).astype(np.uint8, copy=False)
    factors = np.stack(q4_k_scales(blocks), axis=-1)
    return quants.reshape(rows, -1, 16), halves(tensor, factors.reshape(rows, -1, 2))


def eight_bit_blocks(tensor: Tensor) -> tuple[NDArray[np.uint8], Halves]:
    """Signed bytes (rows, blocks, 32) and d (rows, blocks, 1)."""
    rows = tensor.shape[0]
    if tensor.format.name in STEPS:
        blocks = tensor.data.reshape(-1, tensor.format.bytes)
        steps = STEPS[tensor.format.name](blocks).view(np.uint8)
        return steps.reshape(rows, -1, BLOCK), blocks[:, :2].copy().view(np.float16).reshape(rows, -1, 1)
    values = tensor.floats().reshape(rows, -1, BLOCK)
    d = halves(tensor, np.abs(values).max(axis=-1, keepdims=True) / np.float32(127))
    step = np.where(d > 0, d, np.float16(1)).astype(np.float32)
    return np.clip(np.rint(values / step), -127, 127).astype(np.int8).view(np.uint8), d


def halves(tensor: Tensor, factors: NDArray[np.float32]) -> Halves:
    """Scales in half precision, where that holds them."""
    most = int(np.finfo(np.float16).max)
    peak = np.abs(factors).max()
    if peak > most:
        where = f"model file, {tensor.name}"
        raise Refused(Failure(Code.INVALID_VALUE, where, f"scales of 32 weights up to {most}", f"{peak:g}"))
    return factors.astype(np.float16)
