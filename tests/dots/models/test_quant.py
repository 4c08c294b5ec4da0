"""Block formats against their definitions, value by value, and against what llama.cpp reads in the same bytes."""

import base64
import json
import struct
from pathlib import Path

import numpy as np
import pytest

from dots.errors import Refused
from dots.models.gguf import Tensor
from dots.models.quant import FORMATS, dequantise, first_broken_row, format_name
from tests.dots.models.made import CODES, SCALES, random_rows

GOLDEN = Path(__file__).parents[2] / "golden" / "model" / "blocks.json"
RECORDED = json.loads(GOLDEN.read_text(encoding="utf-8"))["types"]

NIBBLES = bytes(i | (15 - i) << 4 for i in range(16))  # 0..15, then 15..0
RAMP = [*range(16), *reversed(range(16))]

CASES = {
    "F32": (struct.pack("<3f", 1.5, -2, 0.25), [1.5, -2, 0.25]),
    "F16": (struct.pack("<3e", 1.5, -2, 0.25), [1.5, -2, 0.25]),
    "BF16": (b"".join(struct.pack("<f", v)[2:] for v in (1.5, -2, 0.25)), [1.5, -2, 0.25]),
    "Q4_0": (struct.pack("<e", 0.5) + NIBBLES, [0.5 * (q - 8) for q in RAMP]),
    "Q4_1": (struct.pack("<2e", 0.5, -3) + NIBBLES, [0.5 * q - 3 for q in RAMP]),
    "Q5_0": (struct.pack("<eI", 0.5, 0xFFFF) + NIBBLES, [0.5 * (q + 16 * (i < 16) - 16) for i, q in enumerate(RAMP)]),
    "Q8_0": (struct.pack("<e32b", 0.25, *range(-128, 128, 8)), [0.25 * q for q in range(-128, 128, 8)]),
}


@pytest.mark.parametrize("name", CASES)
def test_a_block_is_what_its_definition_says(name):
    raw, values = CASES[name]
    rows = np.frombuffer(raw * 2, np.uint8).reshape(2, -1)
    np.testing.assert_array_equal(dequantise(rows, FORMATS[CODES[name]]), [values, values])


@pytest.mark.parametrize("fmt", FORMATS.values(), ids=lambda f: f.name)
def test_blocks_hold_bit_for_bit_what_llama_cpp_reads_in_them(fmt):
    """Quantised, random and extreme ones: zero, subnormal, negative and the largest scales."""
    blocks, floats = (base64.b64decode(RECORDED[fmt.name][part]) for part in ("blocks", "floats"))
    got = dequantise(np.frombuffer(blocks, np.uint8).reshape(1, -1), fmt)
    np.testing.assert_array_equal(got.view(np.uint32), [np.frombuffer(floats, "<u4")])
    assert first_broken_row(np.frombuffer(blocks, np.uint8).reshape(1, -1), fmt) is None


def broken(kind):
    """Each way to make one number of a block infinite or not a number: where it lies, and its bytes."""
    infinities = (np.inf, -np.inf, np.nan)
    if kind in ("F32", "BF16"):
        return [(0, struct.pack("<f", v)[4 - FORMATS[CODES[kind]].bytes :]) for v in infinities]
    at, sizes = SCALES.get(kind, (0, [1]))
    return [(at + 2 * i, struct.pack("<e", v)) for i in range(len(sizes)) for v in infinities]


@pytest.mark.parametrize("kind", CODES)
def test_a_scale_that_is_no_number_is_refused_by_the_tensors_name_and_row(kind):
    fmt = FORMATS[CODES[kind]]
    for at, number in broken(kind):
        rows = random_rows(np.random.default_rng(1), kind, 5, 512, 1.0)
        place = rows[3].reshape(-1, fmt.bytes)[1]
        place[at : at + len(number)] = np.frombuffer(number, np.uint8)
        with pytest.raises(Refused, match=r"model file, t: expected finite numbers, got infinity or NaN in row 3 of 5"):
            Tensor("t", (5, 512), fmt, rows).floats()


def test_every_type_has_a_name():
    assert [format_name(code) for code in (3, 13, 999)] == ["Q4_1", "Q5_K", "tensor type 999"]
