"""The text of a growing token sequence: whole characters only, and nothing that may still become a stop string.

Where tokens begin and end cannot be seen in the text: the stop string that is complete first ends it, and of several
that are complete with the same character the longest.
"""

import codecs
from dataclasses import dataclass, field

UTF8 = codecs.getincrementaldecoder("utf-8")


@dataclass(slots=True)
class TextStream:
    """Takes the bytes of tokens, gives out text that will not change. Owned by one dot."""

    stop: tuple[str, ...] = ()
    stopped: bool = False
    _decoder: codecs.IncrementalDecoder = field(default_factory=lambda: UTF8("replace"))
    _parts: list[str] = field(default_factory=list)  # given out or ready to be
    _taken: int = 0  # parts already given out
    _held: str = ""  # may be the start of a stop string

    def push(self, piece: bytes) -> bool:
        """Add a token's bytes; True when a stop string is complete (the text ends before it)."""
        return self._add(self._decoder.decode(piece))

    def close(self) -> None:
        """No more tokens: give out what was held back. An unfinished character becomes U+FFFD."""
        if not self.stopped and not self._add(self._decoder.decode(b"", final=True)):
            self._parts.append(self._held)
            self._held = ""

    def take(self) -> str:
        """The text that became certain since the last call."""
        new = "".join(self._parts[self._taken :])
        self._taken = len(self._parts)
        return new

    @property
    def text(self) -> str:
        """All certain text."""
        return "".join(self._parts)

    def _add(self, text: str) -> bool:
        held = self._held + text
        found = [(at + len(s), at) for s in self.stop if (at := held.find(s)) >= 0]
        if found:
            _, start = min(found)
            self._parts.append(held[:start])
            self._held = ""
            self.stopped = True
            return True
        keep = max((_overlap(held, s) for s in self.stop), default=0)
        self._parts.append(held[: len(held) - keep])
        self._held = held[len(held) - keep :]
        return False


def _overlap(text: str, stop: str) -> int:
    """Length of the longest end of `text` that begins `stop` and is not all of it."""
    for size in range(min(len(text), len(stop) - 1), 0, -1):
        if stop.startswith(text[-size:]):
            return size
    return 0
