"""Text to token ids and back: byte-level BPE, built from a model file's metadata.

Text is encoded as plain text: what looks like a special token in it stays text, so nobody can forge the end of a
turn. Special tokens come only from `encode_template`, which the chat template's own output goes through.
"""

import codecs
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, pairwise, repeat
from operator import add

import numpy as np
from tokenizers import AddedToken, Regex, Tokenizer, models, pre_tokenizers

from dots.errors import Code, Failure, Refused
from dots.models.gguf import ModelFile

CONTROL, USER_DEFINED = 3, 4  # of tokenizer.ggml.token_type

LLAMA_SPLIT = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
QWEN_SPLIT = LLAMA_SPLIT.replace(r"\p{N}{1,3}", r"\p{N}")

END_NAMES = ("<|im_end|>", "<|endoftext|>", "<|eot_id|>", "<|end_of_text|>", "<|eom_id|>", "<end_of_turn>", "</s>")
END_KEYS = ("eos_token_id", "eot_token_id", "eom_token_id")


def splitter(pre: str) -> pre_tokenizers.PreTokenizer:
    """How text falls into words before merging. A wrong guess is fluent-looking damage: unknown names are refused."""
    if pre == "gpt-2":
        return pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)
    if pre == "smollm":
        digits = pre_tokenizers.Digits(individual_digits=True)
        return pre_tokenizers.Sequence([digits, pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)])
    patterns = {"llama-bpe": LLAMA_SPLIT, "qwen2": QWEN_SPLIT}
    if pre in patterns:
        words = pre_tokenizers.Split(Regex(patterns[pre]), "isolated")
        return pre_tokenizers.Sequence([words, pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])
    known = "gpt-2, smollm, llama-bpe or qwen2"
    raise Refused(Failure(Code.INVALID_VALUE, "model file, tokenizer.ggml.pre", known, repr(pre)))


def byte_alphabet() -> dict[str, int]:
    """The printable stand-ins that byte-level BPE writes bytes with."""
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    alphabet = {chr(b): b for b in printable}
    rest = [b for b in range(256) if b not in set(printable)]
    return alphabet | {chr(256 + i): b for i, b in enumerate(rest)}


@dataclass(frozen=True)
class Vocabulary:
    """The tokenizer's part of a model file, checked."""

    tokens: list[str]
    kinds: list[int]
    merges: list[tuple[str, str]]
    pre: str
    bos: int | None
    add_bos: bool
    ends: frozenset[int]


def read_vocabulary(file: ModelFile) -> Vocabulary:
    key = "tokenizer.ggml."
    if file.text(key + "model") != "gpt2":
        got = repr(file.text(key + "model"))
        raise Refused(Failure(Code.INVALID_VALUE, "model file, tokenizer.ggml.model", "'gpt2' (byte-level BPE)", got))
    tokens = file.texts(key + "tokens")
    kinds = file.integers(key + "token_type")
    merges = file.texts(key + "merges")
    if len(kinds) != len(tokens) or len(set(tokens)) != len(tokens):
        got = f"{len(tokens)} tokens, {len(set(tokens))} different, {len(kinds)} types"
        raise Refused(
            Failure(Code.INVALID_VALUE, "model file, tokenizer.ggml.tokens", "distinct, each with a type", got)
        )
    known = {name for name, kind in zip(tokens, kinds, strict=True) if kind != CONTROL}  # as the model has them
    pairs = read_merges(merges, known)
    ids = {name: i for i, name in enumerate(tokens)}
    ends = {file.integer(key + k) for k in END_KEYS if key + k in file.metadata}
    ends |= {ids[n] for n in END_NAMES if n in ids and kinds[ids[n]] == CONTROL}
    bos = file.integer(key + "bos_token_id") if key + "bos_token_id" in file.metadata else None
    for i in (*ends, *(() if bos is None else (bos,))):
        if not 0 <= i < len(tokens):
            raise Refused(Failure(Code.INVALID_VALUE, "model file, special token ids", f"below {len(tokens)}", str(i)))
    add_bos = file.flag(key + "add_bos_token", False) and bos is not None
    return Vocabulary(tokens, kinds, pairs, file.text(key + "pre"), bos, add_bos, frozenset(ends))


def read_merges(merges: list[str], known: set[str]) -> list[tuple[str, str]]:
    """Each is two known tokens, with a space between them, that make a known one."""
    # Whole lists at a time: one merge after the other takes three times as long, and text waits for it.
    halves = " ".join(merges).split(" ")
    first, second = halves[::2], halves[1::2]
    one_space = all(map("".__ne__, halves)) and set(map(str.count, merges, repeat(" "))) <= {1}
    if one_space and known.issuperset(halves) and known.issuperset(map(add, first, second)):
        return list(zip(first, second, strict=True))
    found = (merge.partition(" ") for merge in merges)
    pairs = [(a, b) for a, space, b in found if space and a in known and b in known and a + b in known]
    if len(pairs) != len(merges):
        got = f"{len(merges) - len(pairs)} that are not"
        raise Refused(Failure(Code.INVALID_VALUE, "model file, tokenizer.ggml.merges", "pairs of known tokens", got))
    return pairs


class BytePairTokenizer:
    """Immutable after construction, so any thread may use it."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self.vocabulary = vocabulary
        named = list(enumerate(zip(vocabulary.tokens, vocabulary.kinds, strict=True)))
        # One character cannot be broken up, so a control token that short would be forgeable: it is never matched.
        self.specials: dict[str, int] = {t: i for i, (t, kind) in named if kind == CONTROL and len(t) > 1}
        # Control tokens are left out of the model: plain text cannot become one, whatever the splitter does.
        words = {t: i for i, (t, kind) in named if kind != CONTROL}
        whole_words_first = vocabulary.pre == "llama-bpe"
        bpe = models.BPE(vocab=words, merges=vocabulary.merges, ignore_merges=whole_words_first)
        self._bpe = Tokenizer(bpe)
        self._bpe.pre_tokenizer = splitter(vocabulary.pre)
        defined = [t for _, (t, kind) in named if kind == USER_DEFINED]
        self._bpe.add_tokens([AddedToken(t, special=False, normalized=False) for t in defined])

    @cached_property
    def pieces(self) -> list[bytes]:
        """The bytes each token stands for."""
        return read_pieces(self.vocabulary.tokens, self.vocabulary.kinds)

    @cached_property
    def longest_piece(self) -> int:
        return max(map(len, self.pieces))

    def encode(self, text: str) -> list[int]:
        """Plain text; lookalikes of special tokens are ordinary text."""
        ids: list[int] = self._bpe.encode(text, add_special_tokens=False).ids
        return ids

    def encode_template(self, text: str, hidden: str = "") -> list[int]:
        """Text whose special tokens count. `hidden` marks broken-up lookalikes; it is dropped after the split."""
        ids: list[int] = []
        for part in self.split(text):
            if part in self.specials:
                ids.append(self.specials[part])
            else:
                ids += self.encode(part.replace(hidden, "") if hidden else part)
        return ids

    def split(self, text: str) -> Iterator[str]:
        """Special tokens and the text between them, in order; nothing empty."""
        return (part for part in self._special.split(text) if part)

    @cached_property
    def _special(self) -> re.Pattern[str]:
        longest_first = sorted(self.specials, key=len, reverse=True)
        return re.compile("(" + "|".join(map(re.escape, longest_first)) + ")" if longest_first else r"(?!)")

    def decode(self, ids: Sequence[int]) -> str:
        stream = self.detokenizer()
        return "".join([stream.push(i) for i in ids]) + stream.flush()

    def detokenizer(self) -> "Detokenizer":
        return Detokenizer(self.pieces)


BYTES = byte_alphabet()
STAND_INS, BYTE_OF = frozenset(BYTES), {ord(stand_in): byte for stand_in, byte in BYTES.items()}
TO_BYTES = np.full(max(BYTE_OF) + 2, -1, np.int16)  # by code point; the last is for all beyond
TO_BYTES[list(BYTE_OF)] = list(BYTE_OF.values())


def piece(token: str, kind: int) -> bytes:
    """The bytes a token stands for; a control token stands for none."""
    if kind == CONTROL:
        return b""
    if kind == USER_DEFINED or not STAND_INS.issuperset(token):
        return token.encode("utf-8", "replace")
    return token.translate(BYTE_OF).encode("latin-1")


def read_pieces(tokens: list[str], kinds: list[int]) -> list[bytes]:
    """`piece` of each; in one go where all ordinary tokens are written in stand-ins, as they nearly always are."""
    plain = ["" if kind in (CONTROL, USER_DEFINED) else token for token, kind in zip(tokens, kinds, strict=True)]
    letters = np.frombuffer("".join(plain).encode("utf-16-le", "surrogatepass"), "<u2")
    found = TO_BYTES[np.minimum(letters, len(TO_BYTES) - 1)]
    if (found < 0).any():
        return list(map(piece, tokens, kinds))
    joined = found.astype(np.uint8).tobytes()
    pieces = [joined[start:end] for start, end in pairwise([0, *accumulate(map(len, plain))])]
    for i, kind in enumerate(kinds):
        if kind in (CONTROL, USER_DEFINED):
            pieces[i] = piece(tokens[i], kind)
    return pieces


class Detokenizer:
    """Text of one growing sequence of tokens. A character comes out when its last byte is there, never in parts."""

    def __init__(self, pieces: Sequence[bytes]) -> None:
        self._pieces = pieces
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def push(self, token: int) -> str:
        return self._decoder.decode(self._pieces[token])

    def flush(self) -> str:
        """What an unfinished character at the very end is shown as."""
        return self._decoder.decode(b"", final=True)
