"""Block formats against their definitions, value by value."""

import struct

import numpy as np
import pytest

from dots.models.quant import FORMATS, dequantise, format_name

NIBBLES = bytes(i | (15 - i) << 4 for i in range(16))  # 0..15, then 15..0
RAMP = [*range(16), *reversed(range(16))]

CASES = {
    "F32": (struct.pack("<3f", 1.5, -2, 0.25), [1.5, -2, 0.25]),
    "F16": (struct.pack("<3e", 1.5, -2, 0.25), [1.5, -2, 0.25]),
    "BF16": (b"".join(struct.pack("<f", v)[2:] for v in (1.5, -2, 0.25)), [1.5, -2, 0.25]),
    "Q4_0": (struct.pack("<e", 0.5) + NIBBLES, [0.5 * (q - 8) for q in RAMP]),
    "Q4_1": (struct.pack("<2e", 0.5, -3) + NIBBLES, [0.5 * q - 3 for q in RAMP]),
    "Q8_0": (struct.pack("<e32b", 0.25, *range(-128, 128, 8)), [0.25 * q for q in range(-128, 128, 8)]),
}


@pytest.mark.parametrize("fmt", FORMATS.values(), ids=lambda f: f.name)
def test_a_block_is_what_its_definition_says(fmt):
    raw, values = CASES[fmt.name]
    rows = np.frombuffer(raw * 2, np.uint8).reshape(2, -1)
    np.testing.assert_array_equal(dequantise(rows, fmt), [values, values])


def test_every_type_has_a_name():
    assert [format_name(code) for code in (3, 14, 999)] == ["Q4_1", "Q6_K", "tensor type 999"]
