"""The members of an open Space: the connections that hear of it. Owned by `open_space.py`; knows no Room."""

from collections.abc import Iterator
from typing import Protocol

from spaces import wire
from spaces.errors import Reason
from spaces.log import Log


class Member(Protocol):
    """A connection, as an open Space sees it; `send` never blocks."""

    client: str
    name: str

    def send(self, frame: wire.ServerFrame) -> None: ...
    def begin(self, log: Log) -> None: ...
    def wake(self) -> None: ...
    def leave(self, reason: Reason, why: str) -> None: ...


class Members:
    def __init__(self) -> None:
        self.by_client: dict[str, Member] = {}

    def __len__(self) -> int:
        return len(self.by_client)

    def __iter__(self) -> Iterator[Member]:
        # A copy: who is told something may leave at that.
        return iter(list(self.by_client.values()))

    def join(self, member: Member) -> None:
        """Add a member; a connection that had its client id before is replaced."""
        before = self.by_client.pop(member.client, None)
        if before is not None:
            before.leave(Reason.CONFLICT, "another connection of this client took over")
        self.by_client[member.client] = member

    def leave(self, member: Member) -> None:
        # A connection that was replaced must not take its successor along.
        if self.by_client.get(member.client) is member:
            del self.by_client[member.client]

    def tell(self, frame: wire.ServerFrame, without: Member | None = None) -> None:
        for member in self:
            if member is not without:
                member.send(frame)
