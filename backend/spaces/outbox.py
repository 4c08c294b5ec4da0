"""Frames that wait for a slow peer, encoded and bounded; of some kinds only the newest waits. A connection owns it."""

from collections import deque

MOST_BYTES = 8 << 20
MOST_FRAMES = 10_000
MOST_NEWEST = 256


class Outbox:
    def __init__(self) -> None:
        self.frames: deque[tuple[bytes, int]] = deque()  # with what each counts
        self.newest: dict[str, bytes] = {}
        self.size = 0
        self.full = False

    def put(self, data: bytes, counted: bool = True) -> None:
        weight = len(data) if counted else 0
        self.frames.append((data, weight))
        self.size += weight
        self.full = self.full or self.size > MOST_BYTES or len(self.frames) > MOST_FRAMES

    def put_newest(self, about: str, data: bytes) -> None:
        """In place of what waits about the same; of too many the oldest is left out."""
        self.newest[about] = data
        if len(self.newest) > MOST_NEWEST:
            del self.newest[next(iter(self.newest))]

    def take(self) -> bytes | None:
        if self.frames:
            data, weight = self.frames.popleft()
            self.size -= weight
            return data
        return self.newest.pop(next(iter(self.newest))) if self.newest else None
