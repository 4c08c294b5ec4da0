"""What is asked of a model, and what it answers: messages or text in, sampling, grammar, and the text that came of it.

Values only, and nothing is imported for them: whoever computes with a model needs no component and no form of one.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Message:
    role: str  # system, user or assistant
    text: str


@dataclass(frozen=True, slots=True)
class Sampling:
    """temperature 0 is greedy. Draws are Philox, keyed by (seed, step): the same alone and in a batch. What each number
    means, and in which order, stands in `dots.models.sampling`; the defaults change nothing."""

    temperature: float = 0.0  # 0 to 2
    top_p: float = 1.0  # above 0, to 1
    seed: int = 0
    top_k: int = 0  # 0: all
    min_p: float = 0.0  # 0 to 1
    repetition_penalty: float = 1.0  # 1 to 2


@dataclass(frozen=True, slots=True)
class Grammar:
    """What a text must look like: a JSON Schema, or a grammar in llguidance's variation of Lark."""

    kind: str  # json_schema or lark
    text: str


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """What an anchor asks of the model; exactly one of `messages` (chat template) and `text` (raw) is set."""

    model: str
    messages: tuple[Message, ...] | None = None
    text: str | None = None
    sampling: Sampling = Sampling()
    stop: tuple[str, ...] = ()
    max_tokens: int | None = None  # soft: the node ends `cut` and its text passes on
    end_tokens: bool = True  # False: end tokens are ordinary tokens
    grammar: Grammar | None = None  # every token follows it; the text ends where it does


@dataclass(frozen=True, slots=True)
class ModelResult:
    text: str
    prompt_tokens: int
    steps: int
    finish: str  # end, stop or cut
