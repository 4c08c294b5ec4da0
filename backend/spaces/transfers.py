"""Values longer than a frame, in parts: cut up for sending, put together on arrival within a connection's cap."""

from collections.abc import Iterator

from spaces import wire
from spaces.errors import Reason, Refused

MAX_OPEN = 4


def parts(transfer: str, data: bytes) -> Iterator[wire.Part]:
    for offset in range(0, len(data), wire.PART_SIZE):
        yield wire.Part(transfer, offset, len(data), data[offset : offset + wire.PART_SIZE])


class Transfers:
    """What one connection sends in parts. Nothing is set aside for what has not arrived."""

    def __init__(self) -> None:
        self.open: dict[str, tuple[int, bytearray]] = {}

    def add(self, part: wire.Part) -> None:
        """Take a part; parts of a transfer come in order.

        Raises Refused, and forgets the transfer, when this one does not fit.
        """
        total, data = self.open.pop(part.transfer, (part.total, bytearray()))
        if part.total != total or part.offset != len(data) or len(data) + len(part.bytes) > total:
            expected = f"offset {len(data)} of {total}"
            raise Refused(Reason.INVALID, "part", "part.offset", expected, f"{part.offset} of {part.total}")
        if len(self.open) >= MAX_OPEN:
            raise Refused(Reason.TOO_LARGE, "size", "part.transfer", f"at most {MAX_OPEN} open transfers", "one more")
        held = sum(promised for promised, _ in self.open.values())
        if held + total > wire.TRANSFER_LIMIT:
            expected = f"at most {wire.TRANSFER_LIMIT} bytes in open transfers"
            raise Refused(Reason.TOO_LARGE, "size", "part.total", expected, str(held + total))
        data += part.bytes
        self.open[part.transfer] = (total, data)

    def take(self, transfer: str) -> bytes:
        """The bytes of a complete transfer, which is then forgotten.

        Raises Refused.
        """
        total, data = self.open.pop(transfer, (0, bytearray()))
        if not total or len(data) != total:
            raise Refused(Reason.INVALID, "part", "transfer", "all its parts ahead", f"{len(data)} of {total} bytes")
        return bytes(data)
