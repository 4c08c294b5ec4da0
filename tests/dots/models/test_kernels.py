"""Every kernel against its plain twin, on each instruction set that this machine has."""

import ctypes
import mmap

import numpy as np
import pytest

from dots.models import kernels, plain
from dots.models.gguf import Tensor
from dots.models.isa import Isa, available
from dots.models.layout import SPAN, Form, Shape
from dots.models.llama import Config, rope_angles
from dots.models.packing import BLOCK, pack
from dots.models.quant import FORMATS

ISAS = [pytest.param(isa, marks=pytest.mark.skipif(isa not in available(), reason="not this processor")) for isa in Isa]
SHAPE = Shape(heads=6, kv_heads=2, head_dim=32, forms=(Form.Q4_MIN,) * 5)
Q4_0, Q4_1, Q8_0, F16 = 2, 3, 8, 1


@pytest.fixture
def rng():
    return np.random.default_rng(7)


def floats(rng, *shape):
    return rng.normal(0, 2, shape).astype(np.float32)


def tensor(rng, code, rows, columns):
    """Random blocks with sane scales; 8-bit weights reach both ends, -128 included."""
    fmt = FORMATS[code]
    data = rng.integers(0, 256, (rows, columns // fmt.values, fmt.bytes), np.uint8)
    halves = {Q4_0: 1, Q4_1: 2, Q8_0: 1, F16: 1}[code]
    small = rng.normal(0, 0.05, (*data.shape[:2], halves)).astype(np.float16)
    data[..., : 2 * halves] = small.view(np.uint8)
    return Tensor("t", (rows, columns), fmt, data.reshape(rows, -1))


def quantised_space(n, columns):
    blocks = columns // BLOCK
    return np.zeros((n, columns), np.int8), np.zeros((n, blocks), np.float32), np.zeros((n, blocks, 2), np.float32)


def on_threads(kernel, *arguments, parts=3):
    """What several threads do of it, one after the other: parts do not see each other."""
    for part in range(parts):
        kernel(*arguments, part, parts)


def assert_quantised_alike(fast, slow):
    """The last bit of a norm may tip a value over a rounding edge, so a few may differ by one step."""
    off = np.abs(fast[0].astype(int) - slow[0].astype(int))
    assert off.max() <= 1
    assert off.mean() < 0.01
    np.testing.assert_allclose(fast[1], slow[1], rtol=1e-5)
    sums = fast[0].reshape(*fast[1].shape, BLOCK).sum(axis=-1, dtype=np.int32)
    np.testing.assert_allclose(fast[2][..., 0], fast[1] * sums, rtol=1e-5, atol=1e-5)
    np.testing.assert_array_equal(fast[2].view(np.int32)[..., 1], -8 * sums)


@pytest.mark.parametrize("n", [1, 9])
def test_quantise_agrees(rng, n):
    x = floats(rng, n, 96)
    x[0, :32] = 0
    fast = quantised_space(n, 96)
    on_threads(kernels.quantise, x, *fast)
    for a, b in zip(fast, plain.quantise(x), strict=True):
        np.testing.assert_array_equal(a.view(np.uint8), b.view(np.uint8))


@pytest.mark.parametrize("n", [1, 9])
def test_norm_agrees(rng, n):
    x, gain = floats(rng, n, 96), floats(rng, 96)
    fast = quantised_space(n, 96)
    on_threads(kernels.norm_quantise, x, gain, np.float32(1e-5), *fast)
    assert_quantised_alike(fast, plain.norm_quantise(x, gain, 1e-5))


@pytest.mark.parametrize("n", [1, 9])
def test_gate_agrees(rng, n):
    h = floats(rng, n, 192)
    h[0, :4] = [-80, 80, 0, -20]
    fast = quantised_space(n, 96)
    on_threads(kernels.gate_quantise, h, *fast)
    assert_quantised_alike(fast, plain.gate_quantise(h))


@pytest.mark.parametrize("isa", ISAS)
@pytest.mark.parametrize("code", [Q4_0, Q4_1, Q8_0, F16])
def test_matmul_agrees(rng, isa, code):
    weights = tensor(rng, code, 48, 160)
    if code == F16:
        weights = Tensor("t", (48, 160), FORMATS[F16], rng.normal(0, 1, (48, 160)).astype(np.float16).view(np.uint8))
    if code == Q8_0:
        weights.data.reshape(48, 5, 34)[:, :, 2:4] = 128  # -128, which has no positive twin
    packed = pack([[tensor(rng, code, 48, 160)], [weights]])
    assert packed.form == {Q4_0: Form.Q4, Q4_1: Form.Q4_MIN}.get(code, Form.Q8)
    x = floats(rng, 13, 160)
    x[0] = 3.0  # every byte 127: the largest sums there are
    tokens = plain.quantise(x)
    y = floats(rng, 13, 48)
    expected = [plain.matmul(weights.floats(), tokens), y + plain.matmul(weights.floats(), tokens)]
    matmul = kernels.build_matmul(isa, packed.form)
    fresh = np.full_like(y, np.nan)
    places = packed.weights.ctypes.data, packed.scales.ctypes.data
    on_threads(matmul, *places, 1, *tokens, fresh, 0)
    on_threads(matmul, *places, 1, *tokens, y, 1)
    tolerance = 0.02 * np.abs(expected[0]).max() if code == F16 else 2e-3
    np.testing.assert_allclose(fresh, expected[0], atol=tolerance)
    np.testing.assert_allclose(y, expected[1], atol=tolerance)


@pytest.mark.parametrize("isa", ISAS)
@pytest.mark.parametrize("code", [Q4_0, Q4_1, Q8_0])
def test_a_token_is_bitwise_the_same_in_every_tile(rng, isa, code):
    packed = pack([[tensor(rng, code, 32, 96)]])
    tokens = plain.quantise(floats(rng, 13, 96))
    matmul = kernels.build_matmul(isa, packed.form)
    together = np.zeros((13, 32), np.float32)
    places = packed.weights.ctypes.data, packed.scales.ctypes.data
    on_threads(matmul, *places, 0, *tokens, together, 0)
    for t in range(13):
        alone = np.zeros((1, 32), np.float32)
        matmul(*places, 0, *(each[t : t + 1] for each in tokens), alone, 0, 0, 1)
        np.testing.assert_array_equal(alone[0], together[t])


def test_rotation_agrees_and_stores_half_precision_rows(rng):
    heads, kv, dim = SHAPE.heads, SHAPE.kv_heads, SHAPE.head_dim
    n, layers, layer = 5, 2, 1
    y = floats(rng, n, (heads + 2 * kv) * dim)
    c = Config(1, 1, 1, heads, kv, dim, 1, 1, 1e-5, 10_000.0)
    angles = rope_angles(c, 1234 + np.arange(n, dtype=np.int32))
    turned = plain.rotate(y[:, : (heads + kv) * dim], heads + kv, angles)
    values = y[:, (heads + kv) * dim :].copy()
    rows = np.zeros((n, layers, 2 * kv * dim), np.float16)
    row = 4 * kv * dim
    addresses, positions = np.full(n, rows.ctypes.data), np.arange(n)[::-1].copy()
    turns = np.ascontiguousarray(angles.real), np.ascontiguousarray(angles.imag)
    on_threads(kernels.build_rotate(SHAPE), y, *turns, addresses, positions, layer * row, layers * row)
    np.testing.assert_allclose(y[:, : heads * dim], turned[:, : heads * dim] / np.sqrt(dim), rtol=1e-5, atol=1e-6)
    expected = np.concatenate([turned[:, heads * dim :], values], axis=1).astype(np.float16)
    np.testing.assert_allclose(rows[positions, layer].astype(float), expected.astype(float), rtol=2e-3)
    assert not rows[:, 0].any()


def attention(y, rows, shared, border, position, layer, step):
    heads, kv, dim = SHAPE.heads, SHAPE.kv_heads, SHAPE.head_dim
    out, group = np.zeros((1, heads * dim), np.float32), heads // kv
    space = tuple(np.full(n * SPAN, np.nan, np.float32) for n in (dim, dim, group))
    where = (np.array([n]) for n in (rows, shared, border, position))
    state = np.zeros((1, 2 * heads), np.float32)
    on_threads(kernels.build_attention(SHAPE), y, tuple(where), layer, step, space, state, out, 0, 1)
    return out[0]


@pytest.mark.parametrize("length", [1, 63, 64, 65, 200])
def test_attention_agrees_across_span_borders(rng, length):
    heads, kv, dim = SHAPE.heads, SHAPE.kv_heads, SHAPE.head_dim
    layers, layer = 2, 1
    cache = rng.normal(0, 1, (length, layers, 2, kv, dim)).astype(np.float16)
    y = floats(rng, 1, (heads + 2 * kv) * dim)
    row = 4 * kv * dim
    out = attention(y, cache.ctypes.data, 0, 0, length - 1, layer * row, layers * row)
    q = y[0, : heads * dim].reshape(kv, heads // kv, dim)
    expected = plain.attend(q, cache[:, layer, 0], cache[:, layer, 1])
    np.testing.assert_allclose(out, expected.ravel(), rtol=2e-5, atol=2e-5)


def test_rows_that_are_shared_with_others_may_lie_elsewhere(rng):
    """The first whole spans of a sequence in one place, the rest in another: not a bit of the result tells."""
    kv, dim, length = SHAPE.kv_heads, SHAPE.head_dim, 150
    cache = rng.normal(0, 1, (length, 2, kv, dim)).astype(np.float16)
    y, row = floats(rng, 1, (SHAPE.heads + 2 * kv) * dim), 4 * kv * dim
    together = attention(y, cache.ctypes.data, 0, 0, length - 1, 0, row)
    for border in (SPAN, 2 * SPAN):
        shared, own = cache[:border].copy(), cache.copy()
        own[:border] = np.nan
        apart = attention(y, own.ctypes.data, shared.ctypes.data, border, length - 1, 0, row)
        np.testing.assert_array_equal(apart, together)


@pytest.mark.parametrize("length", [1, 15, 17, 63, 65])
def test_attention_touches_no_memory_behind_the_last_row(rng, length):
    """Pages behind it may not be committed: here they may not even be read, or the test process dies."""
    kv, dim, page = SHAPE.kv_heads, SHAPE.head_dim, mmap.PAGESIZE
    row = 4 * kv * dim
    size = -(-length * row // page) * page
    memory = mmap.mmap(-1, size + page)
    start = np.frombuffer(memory, np.uint8).ctypes.data
    assert ctypes.CDLL(None, use_errno=True).mprotect(ctypes.c_void_p(start + size), page, 0) == 0
    cache = np.frombuffer(memory, np.float16, length * row // 2, size - length * row)
    cache[:] = rng.normal(0, 1, len(cache))
    y = floats(rng, 1, (SHAPE.heads + 2 * kv) * dim)
    group = SHAPE.heads // kv
    out = attention(y, cache.ctypes.data, 0, 0, length - 1, 0, row)
    rows = cache.reshape(length, 2, kv, dim)
    expected = plain.attend(y[0, : SHAPE.heads * dim].reshape(kv, group, dim), rows[:, 0], rows[:, 1])
    np.testing.assert_allclose(out, expected.ravel(), rtol=2e-5, atol=2e-5)
