"""Packed matrices against the tensors they were made from: what is exact, what is rounded and by how much, and what
is refused."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dots.errors import Refused
from dots.models.gguf import Tensor
from dots.models.layout import Form
from dots.models.packing import BLOCK, ROWS, pack
from dots.models.quant import FORMATS
from tests.dots.models.made import CODES, random_tensor


def unpacked(packed):
    """Back to fp32, (layers, rows, columns), by the words of the module's docstring."""
    layers, tiles, blocks, _ = packed.weights.shape
    scales = packed.scales.view(np.float16).astype(np.float32)
    values = np.empty((layers, tiles, ROWS, blocks, BLOCK), np.float32)
    for column in range(BLOCK):
        byte = column if packed.form.bits == 8 else column % 16
        at = 64 * (byte // 4) + byte % 4  # of row 0; the next row's lies four bytes on
        steps = packed.weights[..., at : at + 64 : 4][..., :ROWS]
        if packed.form.bits == 8:
            number = steps.view(np.int8) * scales[..., 0, :]
        else:
            nibble = steps >> 4 if column >= 16 else steps & 15
            if packed.form is Form.Q4:
                number = (nibble.astype(np.int8) - 8) * scales[..., 0, :]
            else:
                number = nibble * scales[..., 0, :] + scales[..., 1, :]
        values[..., column] = number.swapaxes(2, 3)
    return values.reshape(layers, tiles * ROWS, blocks * BLOCK)


@pytest.fixture
def rng():
    return np.random.default_rng(11)


@pytest.mark.parametrize("kind", ["Q4_0", "Q4_1", "Q5_0", "Q8_0"])
def test_blocks_of_32_are_packed_without_a_change(rng, kind):
    layers = [[random_tensor(rng, kind, rows, 96) for rows in (32, 16)] for _ in range(2)]
    packed = pack(layers)
    assert packed.form.bits == (4 if kind in ("Q4_0", "Q4_1") else 8)
    expected = [np.concatenate([t.floats() for t in parts]) for parts in layers]
    np.testing.assert_array_equal(unpacked(packed), expected)


def test_q4_k_stays_4_bits_and_its_scales_are_rounded_to_half_precision(rng):
    tensor = random_tensor(rng, "Q4_K", 32, 512)
    packed = pack([[tensor]])
    assert packed.form.bits == 4
    got, expected = unpacked(packed)[0], tensor.floats()
    assert np.abs(got - expected).max() < np.abs(expected).max() * 2.0**-10
    assert np.sqrt(np.mean((got - expected) ** 2)) < expected.std() * 5e-4


@pytest.mark.parametrize("kind", ["Q6_K", "F16", "BF16", "F32"])
def test_other_types_are_quantised_to_8_bits_within_half_a_step(rng, kind):
    tensor = random_tensor(rng, kind, 32, 512)
    packed = pack([[tensor]])
    assert packed.form.bits == 8
    got, expected = unpacked(packed)[0].reshape(32, -1, BLOCK), tensor.floats().reshape(32, -1, BLOCK)
    step = np.abs(expected).max(axis=-1, keepdims=True) / 127
    assert (np.abs(got - expected) <= 0.57 * step).all()  # half a step, and the step's own rounding at the ends


def test_a_mixture_is_packed_in_8_bits_and_what_fits_is_exact(rng):
    kinds = ["Q4_0", "Q5_0", "Q8_0", "Q4_1", "Q4_K"]
    parts = [random_tensor(rng, kind, 16, 256) for kind in kinds]
    packed = pack([parts])
    assert packed.form.bits == 8
    got = dict(zip(kinds, np.split(unpacked(packed)[0], 5), strict=True))
    for kind, tensor in zip(kinds, parts, strict=True):
        if kind in ("Q4_1", "Q4_K"):
            np.testing.assert_allclose(got[kind], tensor.floats(), atol=0.57 / 127 * np.abs(tensor.floats()).max())
        else:
            np.testing.assert_array_equal(got[kind], tensor.floats())


@pytest.mark.parametrize("kind", CODES)
def test_a_matrix_of_zeros_is_packed_as_zeros(kind):
    fmt = FORMATS[CODES[kind]]
    zeros = Tensor("t", (16, 256), fmt, np.zeros((16, 256 // fmt.values * fmt.bytes), np.uint8))
    np.testing.assert_array_equal(unpacked(pack([[zeros]])), np.zeros((1, 16, 256)))


@pytest.mark.parametrize("kind", CODES)
def test_a_broken_number_is_refused_when_the_matrix_is_packed(rng, kind):
    tensor = random_tensor(rng, kind, 16, 256)
    at = tensor.format.reals.start or 0
    number = b"\x80\x7f" if kind in ("F32", "BF16") else b"\x00\x7c"
    last = tensor.data[9].reshape(-1, tensor.format.bytes)[-1]
    last[at + (kind == "F32") * 2 :][:2] = np.frombuffer(number, np.uint8)
    with pytest.raises(Refused, match="model file, t: expected finite numbers, got infinity or NaN in row 9 of 16"):
        pack([[tensor]])


def huge(kind):
    """A matrix of the largest finite numbers that its type holds."""
    fmt = FORMATS[CODES[kind]]
    data = np.full((16, 256 // fmt.values * fmt.bytes), 0x7F, np.uint8)
    if kind in ("F32", "BF16"):
        data.reshape(-1, fmt.bytes)[:, -2:] = [0x7F, 0x7F]
    else:
        width = fmt.reals.stop - (fmt.reals.start or 0)
        data.reshape(-1, fmt.bytes)[:, fmt.reals] = [0xFF, 0x7B] * (width // 2)
    return Tensor("t", (16, 256), fmt, data)


@pytest.mark.parametrize("kind", ["Q4_0", "Q4_K", "Q6_K", "BF16", "F32"])
def test_scales_that_half_precision_cannot_hold_are_refused_and_never_infinite(kind):
    tensor = huge(kind)
    assert np.isfinite(tensor.floats()).all()
    with pytest.raises(Refused, match="model file, t: expected scales of 32 weights up to 65504"):
        pack([[tensor]])


@pytest.mark.parametrize("kind", ["Q4_1", "Q5_0", "Q8_0", "F16"])
def test_the_largest_scales_of_other_types_are_packed(kind):
    tensor = huge(kind)
    np.testing.assert_allclose(unpacked(pack([[tensor]]))[0], tensor.floats(), rtol=1e-3)


@pytest.mark.parametrize("kind", ["Q4_K", "Q6_K", "F16", "BF16", "F32"])
def test_weights_too_small_for_half_precision_scales_become_nearly_or_wholly_nothing(rng, kind):
    tensor = random_tensor(rng, kind, 16, 256, spread=1e-6)
    got = unpacked(pack([[tensor]]))[0]
    assert np.abs(got - tensor.floats()).max() < 2e-5


@settings(max_examples=60, deadline=None)
@given(kind=st.sampled_from(list(CODES)), seed=st.integers(0, 2**32), beside=st.booleans())
def test_any_bytes_at_all_are_packed_as_finite_numbers_or_refused(kind, seed, beside):
    fmt = FORMATS[CODES[kind]]
    data = np.random.default_rng(seed).integers(0, 256, (16, 256 // fmt.values * fmt.bytes), np.uint8)
    if kind in ("F16", "BF16", "F32"):
        data[:, fmt.bytes - 1 :: fmt.bytes] &= 0xBF  # nearly every row would hold an infinity
    parts = [Tensor("t", (16, 256), fmt, data)]
    parts += [random_tensor(np.random.default_rng(seed), "Q8_0", 16, 256)] if beside else []
    try:
        packed = pack([parts])
    except Refused as refused:
        assert refused.failure.where == "model file, t"
    else:
        assert np.isfinite(unpacked(packed)).all()
