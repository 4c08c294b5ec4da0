"""Renders a conversation with the chat template that came with a model, as token ids.

The template is a program from a file: it runs in `sandbox.py`, bounded in output, work and time.

Message text cannot forge special tokens: lookalikes in it are broken by a character that no message holds, the
template's own special tokens are split off, and the character is dropped again. What is left tokenises as if the
messages had been pasted into the template.
"""

import threading
from collections.abc import Iterable, Sequence

from dots.errors import Code, Failure, Refused
from dots.models.sandbox import MISTAKES, WORK, Meter, MeteredEnvironment, TooMuch
from dots.models.tokenizer import BytePairTokenizer
from dots.request import Message

MAX_SOURCE = 64 << 10
MAX_OUTPUT = 64 << 10  # beyond the messages' own text


class ChatTemplate:
    """One model's template, compiled once. Renderings take turns."""

    def __init__(self, source: str, tokenizer: BytePairTokenizer, bos: str = "", eos: str = "") -> None:
        self._tokenizer = tokenizer
        self._names = {"bos_token": bos, "eos_token": eos}
        self._turn = threading.Lock()
        self._environment = MeteredEnvironment()
        if len(source) > MAX_SOURCE:
            raise refused(f"at most {MAX_SOURCE} characters", str(len(source)))
        try:
            self._template = self._environment.from_string(source)
        except MISTAKES as e:
            raise refused("a template this sandbox can compile", str(e)) from None

    def tokens(self, messages: Sequence[Message]) -> list[int]:
        """The conversation up to where the assistant speaks."""
        hidden = unused_character(messages)
        shield = Shield(self._tokenizer.specials, hidden)
        text = self.render([Message(m.role, shield(m.text)) for m in messages])
        return self._tokenizer.encode_template(text, hidden)

    def render(self, messages: Sequence[Message]) -> str:
        given = [{"role": m.role, "content": m.text} for m in messages]
        size = sum(len(m.text) for m in messages)
        parts: list[str] = []
        room = MAX_OUTPUT + size
        with self._turn:
            self._environment.meter = Meter(WORK + 16 * size)
            try:
                for part in self._template.generate(messages=given, add_generation_prompt=True, **self._names):
                    room -= len(part)
                    if room < 0:
                        raise TooMuch(f"it makes more than {MAX_OUTPUT} characters besides the messages")
                    parts.append(part)
            except MISTAKES as e:
                raise refused("a conversation the template accepts", str(e) or type(e).__name__) from None
        return "".join(parts)


def refused(expected: str, got: str) -> Refused:
    return Refused(Failure(Code.INVALID_VALUE, "chat template", expected, got))


def unused_character(messages: Sequence[Message]) -> str:
    """A private-use character that is in no message."""
    used = {c for m in messages for c in m.text if c >= "\U00100000"}
    return next(c for c in map(chr, range(0x100000, 0x10FFFE)) if c not in used)


class Shield:
    """Breaks every special token in a text, whole or cut by the text's ends, with a character to be dropped later."""

    def __init__(self, specials: Iterable[str], hidden: str) -> None:
        self._specials = sorted(specials, key=len, reverse=True)
        self._hidden = hidden

    def __call__(self, text: str) -> str:
        core = text.strip()  # templates trim, so the ends that count are those without white space
        at = text.index(core)
        return text[:at] + self._break(core) + text[at + len(core) :]

    def _break(self, text: str) -> str:
        if any(text in special for special in self._specials):
            return text[:1] + self._hidden + text[1:] if text else text
        for special in self._specials:
            text = text.replace(special, special[:1] + self._hidden + special[1:])
        return self._start(self._end(text))

    def _end(self, text: str) -> str:
        """A special token that begins in the text and would end behind it."""
        for special in self._specials:
            for n in range(len(special) - 1, 0, -1):
                if text.endswith(special[:n]):
                    text = text[: len(text) - n + 1] + self._hidden + text[len(text) - n + 1 :]
                    break
        return text

    def _start(self, text: str) -> str:
        """A special token that would begin before the text and end in it."""
        for special in self._specials:
            for n in range(len(special) - 1, 0, -1):
                if text.startswith(special[-n:]):
                    text = text[: n - 1] + self._hidden + text[n - 1 :]
                    break
        return text
