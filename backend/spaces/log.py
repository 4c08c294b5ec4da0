"""A run's log: what a run told, coalesced once, numbered, bounded; every reader keeps only a cursor.

Owned by `runs.py`; one event loop writes and reads it, and it knows no connection. Progress of a node within 33 ms
becomes one entry. A reader far behind gets its backlog folded: the tokens of a node joined, other progress as it
stands last. Old entries are folded in place too. A folded entry stands where its first part stood and bears that
number, so a reader that is cut off in the middle misses nothing; what it may get twice is text, and `at` says where
in the node's text an entry begins.
"""

from bisect import bisect_right
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any, NamedTuple

from dots import codec
from dots.events import Event

NEVER = float("-inf")
QUIET = 0.033  # seconds between two kept entries of one node's progress
PROGRESS = frozenset(("prefill", "tokens", "pool"))
TAIL = 2048  # entries kept apart, older ones are folded in place; a reader further behind gets its backlog folded
LOG_LINES = 1000  # `log` entries that stay among the older ones
TEXT_LIMIT = 4 << 20  # characters of streamed text one run keeps
VALUE_LIMIT = 64 << 10  # bytes of a text in an event too long for a frame
EVENT_LIMIT = 900 << 10  # bytes of one event's data

Key = tuple[str | None, str]


def units(text: str) -> int:
    """Length in UTF-16 code units, as a browser counts."""
    return len(text) + sum(c > "\uffff" for c in text)


@dataclass(frozen=True, slots=True)
class Entry:
    """A kept event. A folded one covers `seq` to `last`; `seqs` and `starts` say where the text of each part begins."""

    seq: int
    node: str | None
    kind: str
    data: dict[str, Any]
    time: float
    last: int = 0
    seqs: list[int] = field(default_factory=list)
    starts: list[int] = field(default_factory=list)

    def after(self, cursor: int) -> "Entry":
        """This entry without what a reader at `cursor` has."""
        if self.seq > cursor:
            return self
        if self.kind != "tokens":
            return replace(self, seq=self.last)
        place = bisect_right(self.seqs, cursor)
        text, start = self.data["text"], self.starts[place]
        data = self.data | {"text": text[start:], "at": self.data["at"] + units(text[:start])}
        starts = [at - start for at in self.starts[place:]]
        return replace(self, seq=self.seqs[place], data=data, seqs=self.seqs[place:], starts=starts)


def fold(entries: Iterable[Entry]) -> list[Entry]:
    """Join the progress of each node at the place of its first part; everything else stays."""
    places: dict[Key, int] = {}
    parts: list[list[Entry]] = []
    for entry in entries:
        key = (entry.node, entry.kind)
        if entry.kind in PROGRESS and key in places:
            parts[places[key]].append(entry)
            continue
        places[key] = len(parts)
        parts.append([entry])
    return [together(part) for part in parts]


def together(part: list[Entry]) -> Entry:
    """Several entries of one node's progress as one."""
    first, last = part[0], part[-1]
    if len(part) == 1:
        return first
    if first.kind != "tokens":
        return replace(last, seq=first.seq)
    seqs: list[int] = []
    starts: list[int] = []
    texts: list[str] = []
    length = 0
    for entry in part:
        seqs += entry.seqs or [entry.seq]
        starts += [length + start for start in (entry.starts or [0])]
        texts.append(entry.data["text"])
        length += len(texts[-1])
    data = last.data | {"text": "".join(texts), "at": first.data["at"]}
    return Entry(first.seq, first.node, first.kind, data, last.time, last.last, seqs, starts)


def fitting(data: dict[str, Any]) -> dict[str, Any]:
    """Event data that a frame can carry: long texts are cut, what cannot be encoded is left out and named."""
    try:
        if len(codec.encode(data)) <= EVENT_LIMIT:
            return data
        cut: dict[str, Any] = shortened(data) | {"cut": True}
        return cut if len(codec.encode(cut)) <= EVENT_LIMIT else small_facts(data) | {"cut": True}
    except codec.Unencodable as error:
        return small_facts(data) | {"reason": f"a value cannot be shown: {error}"}


def small_facts(data: dict[str, Any]) -> dict[str, Any]:
    """Numbers and short texts of an event; its outputs left out."""
    kept = {k: v for k, v in data.items() if v is None or type(v) in (bool, int) or (type(v) is str and len(v) < 1000)}
    return kept | {name: {} for name in ("outputs",) if name in data} | {name: "" for name in ("text",) if name in data}


def shortened(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "replace")[:VALUE_LIMIT].decode("utf-8", "ignore")
    if isinstance(value, dict):
        return {name: shortened(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [shortened(item) for item in value]
    return value


class Told(NamedTuple):
    """An entry as a reader gets it: it stands for the numbers `first` to `entry.seq`, without gap or overlap."""

    first: int
    entry: Entry


def covering(entries: Iterable[Entry], cursor: int) -> list[Told]:
    """Entries in order, each standing for all numbers since the one before."""
    told = []
    for entry in entries:
        told.append(Told(cursor + 1, entry))
        cursor = entry.seq
    return told


class Log:
    """One run's entries, growing until `ended`. `notify` is called when a reader has something to read."""

    def __init__(self, run: str, notify: Callable[[], None]) -> None:
        self.run = run
        self.notify = notify
        self.seq = 0
        self.entries: list[Entry] = []
        self.folded = 0  # how many entries at the front were folded in place
        self.room = 2 * TAIL
        self.held: dict[Key, Event] = {}  # progress that waits for its node to be quiet long enough
        self.kept_at: dict[Key, float] = {}
        self.lengths: dict[str | None, int] = {}  # of each node's text, in UTF-16 units
        self.text = 0  # characters held
        self.ended = False

    @classmethod
    def stored(cls, run: str, tail: bytes) -> "Log":
        """An ended run as `tail` kept it. Every number before its first entry is covered by that one."""
        rows: Any = codec.decode(tail)
        log = cls(run, lambda: None)
        log.entries = [Entry(seq, node, kind, data, time, seq) for seq, node, kind, data, time in rows]
        log.folded = len(log.entries)
        log.seq, log.ended = log.entries[-1].seq, True
        return log

    def add(self, event: Event, clock: float) -> float | None:
        """Take an event; returns when `flush` is due for what is held, or None when nothing is."""
        if event.kind in PROGRESS:
            key = (event.node, event.kind)
            waiting = self.held.get(key)
            if waiting is not None and event.kind == "tokens":
                event = replace(event, data={**event.data, "text": waiting.data["text"] + event.data["text"]})
            self.held[key] = event
            return self.flush(clock)
        for waiting_key in [key for key in self.held if key[0] == event.node or event.kind == "ended"]:
            self.keep(self.held.pop(waiting_key), clock)
        self.keep(event, clock)
        self.notify()
        return self.due()

    def due(self) -> float | None:
        return min((self.kept_at.get(key, NEVER) + QUIET for key in self.held), default=None)

    def flush(self, clock: float) -> float | None:
        """Keep what has waited long enough; returns when to call again."""
        ready = [key for key in self.held if clock >= self.kept_at.get(key, NEVER) + QUIET]
        for key in ready:
            self.keep(self.held.pop(key), clock)
        if ready:
            self.notify()
        return self.due()

    def keep(self, event: Event, clock: float) -> None:
        self.seq += 1
        data = fitting(dict(event.data))
        if event.kind == "tokens":
            data["at"] = self.lengths.get(event.node, 0)
            self.lengths[event.node] = data["at"] + units(data["text"])
            self.text += len(data["text"])
        self.entries.append(Entry(self.seq, event.node, event.kind, data, round(event.time, 6), self.seq))
        self.kept_at[(event.node, event.kind)] = clock
        self.ended = self.ended or event.kind == "ended"
        if len(self.entries) > self.room:
            self.compact()
        if self.text > 2 * TEXT_LIMIT:
            self.forget_text()

    def compact(self) -> None:
        """Fold the older entries in place and forget the oldest log lines among them."""
        old = fold(self.entries[:-TAIL])
        surplus = sum(entry.kind == "log" for entry in old) - LOG_LINES
        if surplus > 0:
            gone = set(islice((place for place, entry in enumerate(old) if entry.kind == "log"), surplus))
            old = [entry for place, entry in enumerate(old) if place not in gone]
        self.folded = len(old)
        self.entries = old + self.entries[-TAIL:]
        self.room = 2 * len(self.entries)

    def forget_text(self) -> None:
        """Drop the oldest streamed text; what a node ends with stands in its `done`."""
        for place, entry in enumerate(self.entries):
            if self.text <= TEXT_LIMIT:
                break
            if entry.kind == "tokens":
                self.text -= len(entry.data["text"])
                data = entry.data | {"text": "", "at": entry.data["at"] + units(entry.data["text"])}
                self.entries[place] = replace(entry, data=data, starts=[0] * len(entry.starts))

    def read(self, cursor: int) -> list[Told]:
        """What a reader at `cursor` has not seen; afterwards its cursor is the last one's `seq`."""
        start = bisect_right(self.entries, cursor, lo=self.folded, key=lambda entry: entry.seq)
        folded = (entry for entry in islice(self.entries, self.folded) if entry.last > cursor)
        behind = sorted((entry.after(cursor) for entry in folded), key=lambda entry: entry.seq)
        rest = self.entries[start:]
        if not behind and len(rest) <= TAIL:
            return [Told(entry.seq, entry) for entry in rest]
        found = fold([*behind, *rest])
        found[-1] = replace(found[-1], seq=self.seq)
        return covering(found, cursor)

    def tail(self) -> bytes:
        """The whole run, folded, for the database."""
        entries = fold(self.entries)
        entries[-1] = replace(entries[-1], seq=self.seq)
        while True:
            try:
                return codec.encode([[e.seq, e.node, e.kind, e.data, e.time] for e in entries])
            except codec.Unencodable:  # beyond a file's budget: the newest half says how it ended
                entries = entries[len(entries) // 2 + 1 :]
