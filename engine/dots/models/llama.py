"""The Llama family, in plain NumPy and fp32: slow, small, and the judge of every faster executor.

Reads the model's shape and weights from a GGUF file. `NumpyExecutor.forward` is the paper's forward pass; the KV rows
it reads and writes belong to the runtime.
"""

import ctypes
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dots.errors import Code, Failure, Refused
from dots.models.device import Batch, Geometry
from dots.models.gguf import ModelFile, Tensor

Floats = NDArray[np.float32]
Angles = NDArray[np.complex64]


@dataclass(frozen=True, slots=True)
class Config:
    layers: int
    width: int
    hidden: int  # of the feed-forward
    heads: int
    kv_heads: int
    head_dim: int
    vocab: int
    context: int
    epsilon: float
    rope_base: float

    def geometry(self, kv_itemsize: int) -> Geometry:
        row = self.layers * 2 * self.kv_heads * self.head_dim * kv_itemsize
        return Geometry(self.layers, self.kv_heads, self.head_dim, self.vocab, self.context, row)


def read_config(file: ModelFile) -> Config:
    if file.text("general.architecture") != "llama":
        raise wrong("general.architecture", "'llama'", repr(file.text("general.architecture")))
    if file.text("llama.rope.scaling.type", "none") != "none":
        raise wrong("llama.rope.scaling.type", "none", file.text("llama.rope.scaling.type"))

    def size(key: str, most: int, default: int | None = None) -> int:
        value = file.integer("llama." + key, default)
        if not 1 <= value <= most:
            raise wrong("llama." + key, f"1 to {most}", str(value))
        return value

    width, heads = size("embedding_length", 1 << 16), size("attention.head_count", 1 << 10)
    kv_heads = size("attention.head_count_kv", 1 << 10, heads)
    head_dim = size("attention.key_length", 1 << 10, width // heads)
    if heads % kv_heads or head_dim % 2 or size("rope.dimension_count", 1 << 10, head_dim) != head_dim:
        raise wrong("llama.attention", "grouped heads of an even size, rotated whole", f"{heads}/{kv_heads}x{head_dim}")
    return Config(
        layers=size("block_count", 1 << 10),
        width=width,
        hidden=size("feed_forward_length", 1 << 18),
        heads=heads,
        kv_heads=kv_heads,
        head_dim=head_dim,
        vocab=file.count_texts("tokenizer.ggml.tokens"),  # the embedding may have padding rows beyond
        context=size("context_length", 1 << 24),
        epsilon=file.number("llama.attention.layer_norm_rms_epsilon"),
        rope_base=file.number("llama.rope.freq_base", 10_000.0),
    )


def wrong(key: str, expected: str, got: str) -> Refused:
    return Refused(Failure(Code.INVALID_VALUE, f"model file, {key}", expected, got))


@dataclass(frozen=True, slots=True)
class LayerWeights:
    attn_norm: Tensor
    attn_q: Tensor
    attn_k: Tensor
    attn_v: Tensor
    attn_output: Tensor
    ffn_norm: Tensor
    ffn_gate: Tensor
    ffn_up: Tensor
    ffn_down: Tensor


@dataclass(frozen=True, slots=True)
class Weights:
    """A model's tensors, still in the file's own formats, of the shapes that its config promises."""

    embedding: Tensor
    layers: tuple[LayerWeights, ...]
    output_norm: Tensor
    output: Tensor  # the embedding itself where the file ties them


def read_weights(file: ModelFile, c: Config) -> Weights:
    left = dict(file.tensors)

    def take(name: str, *shape: int) -> Tensor:
        tensor = left.pop(name + ".weight", None)
        if tensor is None or tensor.shape != shape:
            raise wrong(name + ".weight", f"shape {shape}", "nothing" if tensor is None else str(tensor.shape))
        return tensor

    rows = file.tensors["token_embd.weight"].shape[0] if "token_embd.weight" in file.tensors else c.vocab
    if rows < c.vocab:
        raise wrong("token_embd.weight", f"at least {c.vocab} rows", str(rows))
    q, kv = c.heads * c.head_dim, c.kv_heads * c.head_dim
    embedding = take("token_embd", rows, c.width)
    output = take("output", rows, c.width) if "output.weight" in left else embedding
    layers = tuple(
        LayerWeights(
            attn_norm=take(f"blk.{i}.attn_norm", c.width),
            attn_q=take(f"blk.{i}.attn_q", q, c.width),
            attn_k=take(f"blk.{i}.attn_k", kv, c.width),
            attn_v=take(f"blk.{i}.attn_v", kv, c.width),
            attn_output=take(f"blk.{i}.attn_output", c.width, q),
            ffn_norm=take(f"blk.{i}.ffn_norm", c.width),
            ffn_gate=take(f"blk.{i}.ffn_gate", c.hidden, c.width),
            ffn_up=take(f"blk.{i}.ffn_up", c.hidden, c.width),
            ffn_down=take(f"blk.{i}.ffn_down", c.width, c.hidden),
        )
        for i in range(c.layers)
    )
    weights = Weights(embedding, layers, take("output_norm", c.width), output)
    if left:  # biases, rope factors, experts: a model that this forward would run wrongly
        raise wrong("tensors", "the tensors of a plain Llama", f"also {sorted(left)[:3]}")
    return weights


def rope_angles(c: Config, positions: NDArray[np.int32]) -> Angles:
    """(n, head_dim / 2) unit complex numbers; a pair of neighbours turns by one of them."""
    frequency = c.rope_base ** (-np.arange(0, c.head_dim, 2) / c.head_dim)
    angles: Angles = np.exp(1j * positions[:, None].astype(np.float64) * frequency).astype(np.complex64)
    return angles


def rms_norm(x: Floats, gain: Floats, epsilon: float) -> Floats:
    scale: Floats = 1 / np.sqrt(np.mean(x * x, axis=-1, keepdims=True) + np.float32(epsilon))
    return x * scale * gain


def rotate(x: Floats, angles: Angles) -> Floats:
    """GGUF stores the rows of q and k so that the two halves of a pair are neighbours: one complex product."""
    return (np.ascontiguousarray(x).view(np.complex64) * angles[:, None]).view(np.float32)


def softmax(x: Floats) -> Floats:
    e: Floats = np.exp(x - x.max(axis=-1, keepdims=True))
    e /= e.sum(axis=-1, keepdims=True)
    return e


def silu(x: Floats) -> Floats:
    y: Floats = x / (1 + np.exp(-x))
    return y


def attend(q: Floats, keys: Floats, values: Floats, positions: NDArray[np.int32]) -> Floats:
    """q (n, heads, dim) over keys and values (rows, kv_heads, dim); a token sees the rows up to its own position."""
    n, heads, dim = q.shape
    rows, kv_heads, _ = keys.shape
    grouped = q.reshape(n, kv_heads, heads // kv_heads, dim).transpose(1, 2, 0, 3)  # kv_heads, group, n, dim
    scores = grouped @ keys.transpose(1, 2, 0)[:, None] / np.float32(np.sqrt(dim))
    scores += np.where(np.arange(rows) > positions[:, None], np.float32(-np.inf), np.float32(0))
    mixed = softmax(scores) @ values.transpose(1, 0, 2)[:, None]
    return mixed.transpose(2, 0, 1, 3).reshape(n, heads * dim)


@dataclass(frozen=True, slots=True)
class Layer:
    attn_norm: Floats
    q: Floats
    k: Floats
    v: Floats
    out: Floats
    ffn_norm: Floats
    gate: Floats
    up: Floats
    down: Floats


class NumpyExecutor:
    """The oracle. Any number of sequences, any chunks; called by one thread at a time."""

    name = "numpy-f32"

    def __init__(self, config: Config, weights: Weights) -> None:
        self.config = config
        self.geometry = config.geometry(kv_itemsize=4)
        self.embedding = weights.embedding.floats()
        tied = weights.output is weights.embedding
        self.output = self.embedding if tied else weights.output.floats()
        self.output_norm = weights.output_norm.floats()
        self.layers = [
            Layer(
                w.attn_norm.floats(),
                w.attn_q.floats(),
                w.attn_k.floats(),
                w.attn_v.floats(),
                w.attn_output.floats(),
                w.ffn_norm.floats(),
                w.ffn_gate.floats(),
                w.ffn_up.floats(),
                w.ffn_down.floats(),
            )
            for w in weights.layers
        ]

    def forward(self, batch: Batch) -> Floats:
        c = self.config
        caches, common = self._caches(batch)
        angles = rope_angles(c, batch.positions)
        x: Floats = self.embedding[batch.tokens]
        for i, w in enumerate(self.layers):
            h = rms_norm(x, w.attn_norm, c.epsilon)
            q = rotate((h @ w.q.T).reshape(-1, c.heads, c.head_dim), angles)
            k = rotate((h @ w.k.T).reshape(-1, c.kv_heads, c.head_dim), angles)
            v = (h @ w.v.T).reshape(-1, c.kv_heads, c.head_dim)
            mixed = np.empty((len(x), c.heads * c.head_dim), np.float32)
            for s, cache in caches.items():
                own = np.flatnonzero(batch.sequence == s)
                cache[batch.positions[own], i, 0] = k[own]
                cache[batch.positions[own], i, 1] = v[own]
                rows = np.concatenate([common[s][:, i], cache[len(common[s]) :, i]])
                mixed[own] = attend(q[own], rows[:, 0], rows[:, 1], batch.positions[own])
            x += mixed @ w.out.T
            h = rms_norm(x, w.ffn_norm, c.epsilon)
            x += (silu(h @ w.gate.T) * (h @ w.up.T)) @ w.down.T
        last = rms_norm(x[batch.want], self.output_norm, c.epsilon)
        return last @ self.output[: c.vocab].T

    def _caches(self, batch: Batch) -> tuple[dict[int, Floats], dict[int, Floats]]:
        """Of each sequence the runtime's KV rows, up to its newest token, and those that it has in common with others:
        (rows, layers, K|V, kv_heads, head_dim)."""
        own, common = {}, {}
        for s in map(int, np.unique(batch.sequence)):
            own[s] = self._rows(batch.rows[s], int(batch.positions[batch.sequence == s].max()) + 1)
            common[s] = own[s][:0]
            if batch.shared is not None and batch.border is not None:
                common[s] = self._rows(batch.shared[s], int(batch.border[s]))
        return own, common

    def _rows(self, address: np.uint64, count: int) -> Floats:
        g = self.geometry
        memory = (ctypes.c_char * (count * g.kv_bytes)).from_address(int(address))
        return np.frombuffer(memoryview(memory), np.float32).reshape(count, g.layers, 2, g.kv_heads, g.head_dim)
