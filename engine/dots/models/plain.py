"""The kernels again, in plain NumPy: what each one must compute, for the tests to hold the fast ones against."""

import numpy as np
from numpy.typing import NDArray

from dots.models.packing import BLOCK

Floats = NDArray[np.float32]
Quantised = tuple[NDArray[np.int8], Floats, Floats]
"""Values (n, columns); their scale (n, blocks); scale times sum, and the bits of -8 times the sum (n, blocks, 2)."""


def quantise(x: Floats) -> Quantised:
    """(n, columns) floats to 8 bits in blocks of 32."""
    blocks = x.reshape(len(x), -1, BLOCK)
    peak = np.abs(blocks).max(axis=-1)
    inverse = np.divide(np.float32(127), peak, out=np.zeros_like(peak), where=peak > 0)
    q = np.rint(blocks * inverse[..., None]).astype(np.int8)
    s = peak / np.float32(127)
    sums = q.sum(axis=-1, dtype=np.int32)
    su = np.stack([s * sums.astype(np.float32), (-8 * sums).view(np.float32)], axis=-1)
    return q.reshape(x.shape), s, su


def norm_quantise(x: Floats, gain: Floats, epsilon: float) -> Quantised:
    scale: Floats = 1 / np.sqrt(np.mean(x * x, axis=-1, keepdims=True) + np.float32(epsilon))
    return quantise(x * scale * gain)


def gate_quantise(h: Floats) -> Quantised:
    gate, up = np.split(h, 2, axis=-1)
    return quantise(gate / (1 + np.exp(-gate)) * up)


def matmul(weights: Floats, tokens: Quantised) -> Floats:
    """Dequantised weights (rows, columns) times dequantised tokens."""
    q, s, _ = tokens
    values: Floats = q.reshape(*s.shape, BLOCK) * s[..., None]
    return values.reshape(q.shape) @ weights.T


def rotate(y: Floats, heads: int, angles: NDArray[np.complex64]) -> Floats:
    """(n, heads * dim): neighbours in a head turn together."""
    pairs = np.ascontiguousarray(y).view(np.complex64).reshape(len(y), heads, -1)
    return (pairs * angles[:, None]).reshape(len(y), -1).view(np.float32)


def attend(q: Floats, keys: NDArray[np.float16], values: NDArray[np.float16]) -> Floats:
    """One token: q (kv_heads, group, dim), scaled, over rows (rows, kv_heads, dim)."""
    scores = np.einsum("hgd,rhd->hgr", q, keys.astype(np.float32))
    e: Floats = np.exp(scores - scores.max(axis=-1, keepdims=True))
    mixed: Floats = np.einsum("hgr,rhd->hgd", e / e.sum(axis=-1, keepdims=True), values.astype(np.float32))
    return mixed
