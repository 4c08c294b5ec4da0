"""How text becomes tokens of a model and tokens become text: its tokenizer, its template, its end tokens.

Read from the model's file when text first comes: an executor that is given token ids needs none of it.
"""

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from dots.models.chat import ChatTemplate
from dots.models.gguf import ModelFile
from dots.models.tokenizer import BytePairTokenizer, read_vocabulary


@dataclass(frozen=True, slots=True)
class Text:
    tokenizer: BytePairTokenizer
    template: ChatTemplate | None  # None: a base model that takes raw text only


def read_text(file: ModelFile) -> Text:
    with uncollected():
        tokenizer = BytePairTokenizer(read_vocabulary(file))
        return Text(tokenizer, read_template(file, tokenizer))


@contextmanager
def uncollected() -> Iterator[None]:
    """A hundred thousand objects that are made and stay: the collector would walk all there is, again and again."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()


def read_template(file: ModelFile, tokenizer: BytePairTokenizer) -> ChatTemplate | None:
    if "tokenizer.chat_template" not in file.metadata:
        return None
    v = tokenizer.vocabulary
    eos = file.integer("tokenizer.ggml.eos_token_id", -1)
    bos_text = "" if v.bos is None else v.tokens[v.bos]
    return ChatTemplate(file.text("tokenizer.chat_template"), tokenizer, bos_text, "" if eos < 0 else v.tokens[eos])
