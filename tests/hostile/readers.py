"""Every reader of bytes from outside, as one shape: a corpus, and a function that reads bytes or refuses them.

`read` gives what the reader would write again (None where it has no writer); it raises nothing but the types in
`refusals`. What an accepted input must equal is checked inside `read`.
"""

import json
import socket
import struct
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from dots import codec, errors, frames, program
from dots.codec import Malformed
from dots.models import gguf
from dots.models.llama import read_config, read_weights
from dots.models.text import read_text
from dots.request import Message
from dots.shape import Invalid
from igc import igb, patch
from igc.ops import op_from_value
from spaces import wire
from spaces.errors import Refused
from tests.dots.program_text import TEXT
from tests.spec.case import data_of

TESTS = Path(__file__).resolve().parents[1]
LONGEST = 20_000  # bytes of a corpus entry: mutants of longer ones cost more than they find
MAGIC = 8


@dataclass(frozen=True)
class Reader:
    corpus: Callable[[], Sequence[bytes]]
    read: Callable[[bytes], bytes | None]
    refusals: tuple[type[Exception], ...]
    magic: int | None = None  # a CBOR item stands behind so many bytes


@cache
def accepted(kind: str) -> tuple[bytes, ...]:
    cases = json.loads((TESTS / "spec" / f"{kind}.json").read_text("utf-8"))
    found = [data_of(case["hex"]) for case in cases if case["verdict"] == "accept" and "hex" in case]
    return tuple(data for data in found if len(data) <= LONGEST)


def again(name: str, data: bytes, written: bytes) -> bytes:
    """An accepted file is written again as it came; only a higher minor of the format is not kept."""
    if name != "codec" and data != written:
        value = codec.decode(data[MAGIC:])
        assert isinstance(value, dict)
        data = data[:MAGIC] + codec.encode({**value, 0: [1, 0]})
    assert written == data, f"{name}: read and written again, {data.hex()} became {written.hex()}"
    return written


def read_codec(data: bytes) -> bytes:
    return again("codec", data, codec.encode(codec.decode(data)))


def read_igb(data: bytes) -> bytes:
    return again("igb", data, igb.write(igb.read(data)))


def read_patch(data: bytes) -> bytes:
    return again("patch", data, patch.write(patch.read(data)))


# Apply: [graph, patch or ops], one CBOR item of two byte strings.


@cache
def applications() -> tuple[bytes, ...]:
    found = []
    for case in json.loads((TESTS / "spec" / "apply.json").read_text("utf-8")):
        graph = data_of(case["graph"])
        if isinstance(case["graph"], str) and isinstance(case.get("ops"), str):
            found.append(codec.encode([codec.decode(graph[MAGIC:]), codec.decode(data_of(case["ops"]))]))
        if isinstance(case["graph"], str) and isinstance(case.get("patch"), str):
            sections = codec.decode(data_of(case["patch"])[MAGIC:])
            assert isinstance(sections, dict)
            found.append(codec.encode([codec.decode(graph[MAGIC:]), sections[3]]))
    return tuple(data for data in found if len(data) <= LONGEST)


def read_apply(data: bytes) -> bytes:
    """A result is a valid graph, the graph that was given stays as it was, and the difference of both leads back."""
    match codec.decode(data):
        case [dict() as sections, list() as values]:
            file = igb.MAGIC + codec.encode(sections)
        case other:
            raise Invalid("section", "pair", "a graph and ops", type(other).__name__)
    graph = igb.read(file)
    before = igb.write(graph)
    try:
        result = patch.apply_ops(graph, [op_from_value(op, f"ops[{at}]") for at, op in enumerate(values)])
    finally:
        assert igb.write(graph) == before, "ops changed the graph that they were applied to"
    written = igb.write(result)
    assert igb.write(igb.read(written)) == written
    change = patch.diff(graph, result)
    assert igb.write(patch.apply(change, graph)) == written
    assert igb.write(patch.apply(patch.invert(change), result)) == before
    return written


LISTING = TEXT.replace('pass "order"\n', 'pass "order"\npass "fuse"\n')
PLAIN = (
    LISTING[: LISTING.index("block 5")].replace("exact", "none").replace("%4", "%1")
    + """\
block 2
  text.template@1 #0000000001
    param template = "{text}: \\"x\\""
    param deep = [1, -2, 0.5, 1e300, true, null, {"a": []}]
    in text = %0
    out text = %1
block 1
"""
)


def listings() -> tuple[bytes, ...]:
    return LISTING.encode(), PLAIN.encode()


@cache
def programs() -> tuple[bytes, ...]:
    return tuple(program.write(program.parse(one.decode())) for one in listings())


def read_dotbin(data: bytes) -> bytes:
    return again("dotbin", data, program.write(program.read(data)))


def read_listing(data: bytes) -> bytes:
    """The text that is shown of what was read reads as the same program."""
    found = program.load(data)
    shown = program.show(found)
    assert program.write(program.parse(shown)) == program.write(found)
    return shown.encode()


CLIENT, RUN = "c000000001", "r000000001"
FRAMES: tuple[dict[str, object], ...] = (
    {"type": "hello", "protocol": 1, "client": CLIENT, "resume": {RUN: 3}},
    {"type": "push", "id": [CLIENT, 1], "base_seq": 0, "ops": [["move", ["n000000001"], [], [[0, 1]]]]},
    {"type": "save", "id": [CLIENT, 2], "seq": 1, "base_version": None, "message": "é"},
    {"type": "run", "run": RUN, "igb": b"x"},
    {"type": "run", "run": RUN, "version": 1, "inputs": {"a": [1]}, "targets": ["n000000001"]},
    {"type": "cancel", "run": RUN},
    {"type": "resume", "run": RUN, "after_seq": 7},
    {"type": "presence", "data": {"at": [1, 2.5]}},
    {"type": "part", "transfer": RUN, "offset": 0, "total": 1, "bytes": b"x"},
)


def messages() -> tuple[bytes, ...]:
    return tuple(map(codec.encode, FRAMES))


def read_message(data: bytes) -> None:
    frame = wire.decode(data)
    assert codec.decode(data)["type"] == frame.type  # type: ignore[index, call-overload]


def packed() -> tuple[bytes, ...]:
    return tuple(frames.pack(frame) for frame in FRAMES)


def read_packed(data: bytes) -> None:
    """As the engine's socket reads it: the other side sends these bytes and closes."""
    here, there = socket.socketpair()
    with here, there:
        here.settimeout(5)
        there.settimeout(5)
        there.sendall(data[: 64 << 10])
        there.shutdown(socket.SHUT_WR)
        found = frames.receive(here)
    assert found is None or frames.pack(found) == data[: len(frames.pack(found))]


# Model files -------------------------------------------------------------------------------------------------------

U32, F32, BOOL, STRING, ARRAY = 4, 6, 7, 8, 9


def text(value: str) -> bytes:
    raw = value.encode()
    return struct.pack("<Q", len(raw)) + raw


def metadatum(value: object) -> bytes:
    match value:
        case bool():
            return struct.pack("<I?", BOOL, value)
        case int():
            return struct.pack("<II", U32, value)
        case float():
            return struct.pack("<If", F32, value)
        case str():
            return struct.pack("<I", STRING) + text(value)
        case [str(), *_]:
            return struct.pack("<IIQ", ARRAY, STRING, len(value)) + b"".join(map(text, value))
        case list():
            return struct.pack("<IIQ", ARRAY, U32, len(value)) + struct.pack(f"<{len(value)}I", *value)
    raise TypeError(f"no GGUF form for {value!r}")


TOKENS = ["<|s|>", "<|im_end|>", "a", "b", "ab", "Ġ", "Ġa", "c"]
METADATA: dict[str, object] = {
    "general.architecture": "llama",
    "general.alignment": 32,
    "llama.block_count": 1,
    "llama.embedding_length": 4,
    "llama.feed_forward_length": 8,
    "llama.attention.head_count": 2,
    "llama.attention.head_count_kv": 1,
    "llama.context_length": 64,
    "llama.attention.layer_norm_rms_epsilon": 1e-5,
    "llama.rope.freq_base": 10_000.0,
    "llama.rope.dimension_count": 2,
    "tokenizer.ggml.model": "gpt2",
    "tokenizer.ggml.pre": "smollm",
    "tokenizer.ggml.tokens": TOKENS,
    "tokenizer.ggml.token_type": [3, 3, 1, 1, 1, 1, 1, 4],
    "tokenizer.ggml.merges": ["a b", "Ġ a"],
    "tokenizer.ggml.bos_token_id": 0,
    "tokenizer.ggml.eos_token_id": 1,
    "tokenizer.ggml.add_bos_token": True,
    "tokenizer.chat_template": "{% for m in messages %}<|s|>{{ m['role'] + ': ' + m['content'] | trim }}{% endfor %}",
}
SHAPES = {"token_embd": (8, 4), "output_norm": (4,)} | {
    f"blk.0.{name}": shape
    for name, shape in {
        **{"attn_norm": (4,), "attn_q": (4, 4), "attn_k": (2, 4), "attn_v": (2, 4), "attn_output": (4, 4)},
        **{"ffn_norm": (4,), "ffn_gate": (8, 4), "ffn_up": (8, 4), "ffn_down": (4, 8)},
    }.items()
}


def model_file(metadata: dict[str, object]) -> bytes:
    entries, data = b"", b""
    for name, shape in SHAPES.items():
        entries += text(f"{name}.weight") + struct.pack(f"<I{len(shape)}Q", len(shape), *shape[::-1])
        entries += struct.pack("<IQ", 0, len(data))
        values = np.zeros(shape, np.float32).tobytes()
        data += values + bytes(-len(values) % 32)
    raw = b"GGUF" + struct.pack("<IQQ", 3, len(SHAPES), len(metadata))
    raw += b"".join(text(key) + metadatum(value) for key, value in metadata.items()) + entries
    return raw + bytes(-len(raw) % 32) + data


@cache
def model_files() -> tuple[bytes, ...]:
    bare = {key: value for key, value in METADATA.items() if "chat" not in key and "bos" not in key}
    return model_file(METADATA), model_file(bare | {"tokenizer.ggml.pre": "llama-bpe", "extra": [1, 2, 3], "f": 0.5})


def read_header(data: bytes) -> None:
    found = gguf.parse(data)
    for tensor in found.tensors.values():
        assert tensor.floats().shape == tensor.shape


def read_model(data: bytes) -> None:
    """What loading a model does with a file, up to its first forward."""
    file = gguf.parse(data)
    said = read_text(file)
    tokenizer, template = said.tokenizer, said.template
    weights = read_weights(file, read_config(file))
    assert weights.embedding.shape[0] >= len(tokenizer.vocabulary.tokens)
    ids = tokenizer.encode("ab a c")
    assert all(0 <= one < len(tokenizer.vocabulary.tokens) for one in ids)
    tokenizer.decode(ids)
    if template is not None:
        template.tokens([Message("user", "a <|s|> b")])


Plain = Callable[[bytes], object]


def largest(name: str) -> Iterator[tuple[Plain, bytes]]:
    """Inputs at the budgets of the codec (16 MiB, 200,000 items) where it takes any value, and the reader alone."""
    head = b"\xa4\x00\x82\x01\x00" + b"".join(at + b"\x82" + 2 * (b"\x58\x20" + bytes(32)) for at in (b"\x01", b"\x02"))
    before: dict[str, tuple[Plain, bytes]] = {
        "codec": (codec.decode, b""),
        "igb": (igb.read, igb.MAGIC + b"\xa5\x00\x82\x01\x00\x03\x80\x04\x80\x05\x80\x06\xa1\x61a"),
        "patch": (patch.read, patch.MAGIC + head + b"\x03\x81\x84\x65graph\x81\x61a\x80\x81"),
    }
    for entry, count in (
        (b"\x78\x50" + b"x" * 80, 199_900),
        (b"\x80", 199_900),
        (b"\x78\x50" + b"\xf0\x9f\x98\x80" + b"x" * 76, 199_900),
    ):
        if name in before:
            read, start = before[name]
            yield read, b"".join((start, b"\x9a", struct.pack(">I", count), *[entry] * count))
        if name == "patch":  # two values that differ at their ends only
            half = (b"\x81\x9a", struct.pack(">I", count // 2), *[entry] * (count // 2 - 1))
            yield read, b"".join((start[:-2], *half, b"\xf4", *half, b"\xf5"))


TYPED = (Malformed, Invalid)
READERS: dict[str, Reader] = {
    "codec": Reader(lambda: accepted("codec"), read_codec, TYPED, 0),
    "igb": Reader(lambda: accepted("igb"), read_igb, TYPED, MAGIC),
    "patch": Reader(lambda: accepted("patch"), read_patch, TYPED, MAGIC),
    "apply": Reader(applications, read_apply, TYPED, 0),
    "dotbin": Reader(programs, read_dotbin, TYPED, MAGIC),
    "listing": Reader(listings, read_listing, TYPED),
    "wire": Reader(messages, read_message, (Refused,), 0),
    "frames": Reader(packed, read_packed, (frames.BadFrame,), 4),
    "gguf": Reader(model_files, read_header, (errors.Refused,)),
    "model": Reader(model_files, read_model, (errors.Refused,)),
}
