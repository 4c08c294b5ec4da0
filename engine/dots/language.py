"""What the runtime needs of a language model: tokens of a prompt, bytes of tokens, and an executor.

`models.model.Model` is one.
"""

from collections.abc import Sequence
from typing import Protocol

from dots.models.device import Executor
from dots.request import ModelRequest


class Pieces(Protocol):
    @property
    def pieces(self) -> Sequence[bytes]:
        """The bytes each token stands for."""
        ...


class Language(Protocol):
    @property
    def name(self) -> str: ...

    @property
    def digest(self) -> str:
        """SHA-256 of the model's file, hex."""
        ...

    @property
    def tokenizer(self) -> Pieces: ...

    @property
    def end_tokens(self) -> frozenset[int]: ...

    @property
    def executor(self) -> Executor:
        """Only the engine's thread calls it."""
        ...

    def prompt_tokens(self, request: ModelRequest) -> list[int]:
        """Tokens of the request's messages or text. Any thread may call it; raises Refused."""
        ...
