"""Model files made in tests: their parts byte by byte, random weights of any type, and a whole small Llama."""

import struct

import numpy as np

from dots.models.gguf import Tensor
from dots.models.quant import FORMATS

U32, F32, BOOL, STRING, ARRAY, U64 = 4, 6, 7, 8, 9, 10
CODES = {fmt.name: code for code, fmt in FORMATS.items()}


def text(value):
    raw = value.encode() if isinstance(value, str) else value
    return struct.pack("<Q", len(raw)) + raw


def pair(key, kind, raw):
    return text(key) + struct.pack("<I", kind) + raw


def texts(values):
    return struct.pack("<IQ", STRING, len(values)) + b"".join(map(text, values))


def entry(name, shape, code, offset):
    dims = struct.pack(f"<I{len(shape)}Q", len(shape), *shape[::-1])
    return text(name) + dims + struct.pack("<IQ", code, offset)


def file(pairs=(), entries=(), data=b"", version=3, magic=b"GGUF", keys=None, tensors=None, align=32):
    head = magic + struct.pack(
        "<IQQ", version, len(entries) if tensors is None else tensors, len(pairs) if keys is None else keys
    )
    raw = head + b"".join(pairs) + b"".join(entries)
    return raw + bytes(-len(raw) % align) + data


# Where a block's scales lie and how large each is for random steps of a spread of about 1.
SCALES = {
    "Q4_0": (0, [1 / 4.6]),
    "Q4_1": (0, [1 / 4.6, -7.5 / 4.6]),
    "Q5_0": (0, [1 / 9.2]),
    "Q8_0": (0, [1 / 74]),
    "Q4_K": (0, [1 / 240, 7.5 / 240]),
    "Q6_K": (208, [1 / 1368]),
}


def random_rows(rng, kind, rows, columns, spread):
    """Bytes (rows, bytes a row): every pattern of steps, scales between a half and one and a half of their size."""
    fmt = FORMATS[CODES[kind]]
    if kind not in SCALES:
        values = rng.normal(0, spread, (rows, columns)).astype("<f2" if kind == "F16" else "<f4")
        bits = (values.view("<u4") >> 16).astype("<u2") if kind == "BF16" else values
        return bits.view(np.uint8)
    at, sizes = SCALES[kind]
    blocks = rng.integers(0, 256, (rows, columns // fmt.values, fmt.bytes), np.uint8)
    scales = rng.uniform(0.5, 1.5, (*blocks.shape[:2], 1)) * spread * np.array(sizes)
    blocks[..., at : at + 2 * len(sizes)] = scales.astype("<f2").view(np.uint8)
    return blocks.reshape(rows, -1)


def random_tensor(rng, kind, rows, columns, spread=0.05):
    return Tensor("t", (rows, columns), FORMATS[CODES[kind]], random_rows(rng, kind, rows, columns, spread))


LAYERS, WIDTH, HIDDEN, HEADS, KV_HEADS, WORDS = 2, 256, 512, 4, 2, 250
KV = WIDTH // HEADS * KV_HEADS
MATRICES = {
    "attn_q": (WIDTH, WIDTH),
    "attn_k": (KV, WIDTH),
    "attn_v": (KV, WIDTH),
    "attn_output": (WIDTH, WIDTH),
    "ffn_gate": (HIDDEN, WIDTH),
    "ffn_up": (HIDDEN, WIDTH),
    "ffn_down": (WIDTH, HIDDEN),
}


def small_llama(kinds, seed=0, tied=True):
    """A model file of two layers with random weights; `kinds` names the type of some tensors and of all `others`."""
    rng = np.random.default_rng(seed)
    numbers = {
        "embedding_length": WIDTH,
        "feed_forward_length": HIDDEN,
        "attention.head_count": HEADS,
        "attention.head_count_kv": KV_HEADS,
        "block_count": LAYERS,
        "context_length": 512,
    }
    pairs = [
        pair("general.architecture", STRING, text("llama")),
        pair("llama.attention.layer_norm_rms_epsilon", F32, struct.pack("<f", 1e-5)),
        pair("tokenizer.ggml.tokens", ARRAY, texts([f"w{i}" for i in range(WORDS)])),
        *(pair(f"llama.{k}", U32, struct.pack("<I", v)) for k, v in numbers.items()),
    ]
    shapes = {"token_embd": (256, WIDTH), "output_norm": (WIDTH,)}
    shapes |= {} if tied else {"output": (256, WIDTH)}
    for i in range(LAYERS):
        shapes |= {f"blk.{i}.attn_norm": (WIDTH,), f"blk.{i}.ffn_norm": (WIDTH,)}
        shapes |= {f"blk.{i}.{name}": shape for name, shape in MATRICES.items()}
    entries, data = [], b""
    for name, shape in shapes.items():
        if len(shape) == 1:
            kind, raw = "F32", rng.uniform(0.5, 1.5, shape).astype("<f4").tobytes()
        else:
            kind = kinds.get(name.split(".")[-1], kinds["others"])
            spread = 1.0 if name == "token_embd" else shape[1] ** -0.5
            raw = random_rows(rng, kind, *shape, spread).tobytes()
        entries.append(entry(f"{name}.weight", shape, CODES[kind], len(data)))
        data += raw + bytes(-len(raw) % 32)
    return file(pairs, entries, data)
