"""What the compiled pass and its caller agree on: what is fixed when it is compiled, and the record it is called with.

Nothing here needs the compiler, so that a start which finds compiled code need not load it.
"""

from dataclasses import dataclass
from enum import StrEnum

import numpy as np

SPAN = 64  # KV rows that the softmax takes at a time, by absolute position
ROOM = 64  # tokens that the working memory holds at least
BARRIER = 256  # bytes of the place where threads meet: two counts, each in cache lines of its own


class Form(StrEnum):
    """How weights of a block of 32 follow from its steps q, and what is kept beside them."""

    Q4 = "q4"  # d * (q - 8), steps of 4 bits
    Q4_MIN = "q4min"  # d * q + m, steps of 4 bits
    Q8 = "q8"  # d * q, steps of 8 bits, signed

    @property
    def bits(self) -> int:
        return 8 if self is Form.Q8 else 4

    @property
    def scales(self) -> int:
        """Half-precision numbers a block: d, or d and m."""
        return 2 if self is Form.Q4_MIN else 1


@dataclass(frozen=True, slots=True)
class Shape:
    """What is fixed when the kernels are compiled."""

    heads: int
    kv_heads: int
    head_dim: int
    forms: tuple[Form, ...]  # of MATRICES


MATRICES = ("qkv", "out", "gate_up", "down", "head")
NORMS = ("attn_norm", "ffn_norm", "output_norm")

ORDER = np.dtype(
    [
        # the model
        *((name, "i8") for name in MATRICES),
        *((f"{name}_scales", "i8") for name in MATRICES),
        *((name, "i8") for name in NORMS),
        ("epsilon", "f8"),
        ("layers", "i8"),
        ("width", "i8"),
        ("hidden", "i8"),
        ("vocab", "i8"),
        # the batch: n tokens, logits wanted of m; where only some are wanted, m more rows are these tokens' own
        ("n", "i8"),
        ("m", "i8"),
        ("rows", "i8"),  # (n + m,) i8: address of KV row 0 of the token's sequence
        ("shared", "i8"),  # (n + m,) i8: address of row 0 of the rows in common with other sequences
        ("border", "i8"),  # (n + m,) i8: how many first rows lie there, a multiple of SPAN
        ("positions", "i8"),  # (n + m,) i8
        ("cos", "i8"),  # (n, head_dim / 2) f4
        ("sin", "i8"),
        ("want", "i8"),  # (m,) i4
        ("logits", "i8"),  # (m, vocab) f4
        # working memory
        ("x", "i8"),  # (n + m, width) f4: embeddings at first, overwritten
        ("y", "i8"),  # (n + m, q + k + v) f4
        ("mixed", "i8"),  # (n + m, heads * head_dim) f4
        ("h", "i8"),  # (n + m, 2 * hidden) f4
        ("state", "i8"),  # (n + m, heads * 2) f4
        ("keys", "i8"),  # (threads, SPAN * head_dim) f4: a span's rows
        ("values", "i8"),
        ("scores", "i8"),  # (threads, heads a kv head * SPAN) f4
        ("q", "i8"),  # quantised tokens: (n + m, columns of the widest matrix) i1
        ("s", "i8"),  # (n + m, blocks) f4
        ("su", "i8"),  # (n + m, blocks, 2) f4 and i4: s times the block's sum, and -8 times its sum
        ("barrier", "i8"),  # BARRIER bytes, zero at first
    ]
)
"""One record, addresses and counts as 64-bit integers. Whoever fills it answers for every address."""
