"""The KV rows of one sequence: a contiguous range of addresses, as long as the dot may ever need.

Row t lies at `address + t * row_bytes`. Growth commits pages and never moves a row. It knows no queues and no models.
"""

from dataclasses import dataclass, field

from dots.arena import PAGE, Region
from dots.pages import Pool, Range


def pages_for(rows: int, row_bytes: int) -> int:
    return -(-rows * row_bytes // PAGE)


@dataclass(slots=True)
class Sequence:
    pool: Pool
    range: Range
    row_bytes: int
    limit: int  # rows
    address: int
    rows: int = field(default=0, init=False)  # rows that may be read or written

    @property
    def used(self) -> int:
        """Bytes of rows in use."""
        return 0 if self.range.released else self.rows * self.row_bytes

    @property
    def committed(self) -> int:
        """Bytes of committed pages; what the quota is charged."""
        return 0 if self.range.released else self.range.held * PAGE

    def grow(self, rows: int) -> None:
        """Make `rows` rows usable. Beyond the limit is our mistake; OSError when the system has no memory."""
        if rows > self.limit:
            raise IndexError(f"{self.range.owner}: expected at most {self.limit} KV rows, got {rows}")
        self.pool.commit(self.range, pages_for(rows, self.row_bytes))
        self.rows = max(self.rows, rows)

    def release(self) -> None:
        self.pool.release(self.range)


def sequence(pool: Pool, region: Region, owner: str, rows: int, row_bytes: int) -> Sequence:
    """Reserve a range for `rows` rows; raises PoolFull."""
    taken = pool.reserve(owner, pages_for(rows, row_bytes))
    return Sequence(pool, taken, row_bytes, rows, region.address + taken.first * PAGE)
