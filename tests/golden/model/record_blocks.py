"""Records what llama.cpp reads in blocks of every type, into blocks.json beside this file. Not part of the tests' run.

It needs llama.cpp's own environment, which `make bench` makes:

    .peers/llama-cpp/bin/python tests/golden/model/record_blocks.py

A type's blocks are quantised normal values, random bytes with sane scales, and extremes: scales that are zero, the
least subnormal, negative and the largest, with random steps, with the smallest steps and with the largest.
"""

import base64
import ctypes
import json
from pathlib import Path

import llama_cpp
import numpy as np

LIBRARY = ctypes.CDLL(str(Path(llama_cpp.__file__).parent / "lib" / "libggml-base.so"))

# name: type's number, values and bytes of a block, where its half-precision scales lie, what translates it
TYPES = {
    "F32": (0, 1, 4, [], None),
    "F16": (1, 1, 2, [0], "ggml_fp16_to_fp32_row"),
    "BF16": (30, 1, 2, [], "ggml_bf16_to_fp32_row"),
    "Q4_0": (2, 32, 18, [0], "dequantize_row_q4_0"),
    "Q4_1": (3, 32, 20, [0, 2], "dequantize_row_q4_1"),
    "Q5_0": (6, 32, 22, [0], "dequantize_row_q5_0"),
    "Q8_0": (8, 32, 34, [0], "dequantize_row_q8_0"),
    "Q4_K": (12, 256, 144, [0, 2], "dequantize_row_q4_K"),
    "Q6_K": (14, 256, 210, [208], "dequantize_row_q6_K"),
}
EXTREMES = (0x0000, 0x8000, 0x0001, 0x8001, 0x03FF, 0x0400, 0x7BFF, 0xFBFF, 0xBC00)  # of half precision
SINGLES = (0, -0.0, 1e-45, -1e-45, 1.1754942e-38, 3.4028235e38, -3.4028235e38, 1, -2, 0.1)


def translate(name: str, blocks: bytes) -> bytes:
    _, values, size, _, function = TYPES[name]
    if function is None:
        return blocks
    count = len(blocks) // size * values
    out = np.empty(count, np.float32)
    raw = ctypes.create_string_buffer(blocks, len(blocks))
    getattr(LIBRARY, function)(raw, out.ctypes.data_as(ctypes.c_void_p), ctypes.c_int64(count))
    assert np.isfinite(out).all()
    return out.tobytes()


def quantised(name: str, values: np.ndarray) -> bytes:
    number, per_block, size, _, _ = TYPES[name]
    out = ctypes.create_string_buffer(len(values) // per_block * size)
    source = np.ascontiguousarray(values, np.float32).ctypes.data_as(ctypes.c_void_p)
    columns = max(256, per_block)
    rows = len(values) // columns
    LIBRARY.ggml_quantize_chunk.restype = ctypes.c_size_t
    args = [ctypes.c_int64(0), ctypes.c_int64(rows), ctypes.c_int64(columns), None]
    assert LIBRARY.ggml_quantize_chunk(ctypes.c_int(number), source, out, *args) == len(out)
    return out.raw


def with_scales(name: str, block: np.ndarray, scales: list[int]) -> bytes:
    for at, bits in zip(TYPES[name][3], scales, strict=True):
        block[at : at + 2] = np.array([bits], "<u2").view(np.uint8)
    return block.tobytes()


def blocks_of(name: str, rng: np.random.Generator) -> bytes:
    _, values, size, places, _ = TYPES[name]
    normal = rng.normal(0, 0.05, 256).astype(np.float32)
    if name == "F32":
        return normal[:32].tobytes() + np.array(SINGLES, "<f4").tobytes()
    if name == "BF16":
        singles = np.concatenate([normal[:32], np.array(SINGLES, "<f4")])
        return (singles.view("<u4") >> 16).astype("<u2").tobytes()
    if name == "F16":
        return normal[:32].astype("<f2").tobytes() + np.array(EXTREMES, "<u2").tobytes()
    made = [quantised(name, normal if values == 256 else normal[: 4 * 64])]
    for _ in range(2):
        scales = rng.normal(0, 0.01, len(places)).astype("<f2").view("<u2")
        made.append(with_scales(name, rng.integers(0, 256, size, np.uint8), list(scales)))
    few = EXTREMES if values == 32 else (0x8001, 0x7BFF)
    for i, bits in enumerate(few):
        fill = [rng.integers(0, 256, size, np.uint8), np.zeros(size, np.uint8), np.full(size, 255, np.uint8)]
        made += [with_scales(name, block, [bits, EXTREMES[i - 1]][: len(places)]) for block in fill]
    return b"".join(made)


def main() -> None:
    rng = np.random.default_rng(4)
    recorded = {}
    for name in TYPES:
        blocks = blocks_of(name, rng)
        as_text = (base64.b64encode(raw).decode() for raw in (blocks, translate(name, blocks)))
        recorded[name] = dict(zip(("blocks", "floats"), as_text, strict=True))
    vectors = {"made_with": {"llama_cpp_python": llama_cpp.__version__}, "types": recorded}
    out = Path(__file__).with_name("blocks.json")
    out.write_text(json.dumps(vectors, indent=1) + "\n", encoding="utf-8")
    print({name: len(base64.b64decode(r["floats"])) // 4 for name, r in recorded.items()}, "values ->", out.name)


if __name__ == "__main__":
    main()
