"""The arena: one reserved range of addresses, its regions, and the host memory committed in it. One per engine host.

It maps and unmaps pages of a region and checks bounds. It knows no dots and no quotas; `pages.py` decides which page is
whose. Between the regions lies a guard that is never mapped.
"""

import ctypes
import errno
import os
from dataclasses import dataclass
from typing import Final

KIB: Final = 1024
MIB: Final = 1024 * KIB
PAGE: Final = 64 * KIB  # a property of the driver; this one is the CPU's
BASES: Final = (0x7F4A_0000_0000, 0x1F00_0000_0000)  # preferred, in this order; then any
LOW: Final = (0x0020_0000, 0x0FE0_0000)
GUARD: Final = (0x0FE0_0000, 0x1000_0000)
HIGH: Final = 0x1000_0000

NONE, READ_WRITE = 0, 3
PRIVATE_ANONYMOUS_NORESERVE: Final = 0x02 | 0x20 | 0x4000
FIXED_NOREPLACE: Final = 0x10_0000
DONTNEED: Final = 4
MAP_FAILED: Final = ctypes.c_void_p(-1).value

_libc = ctypes.CDLL(None, use_errno=True)
_libc.mmap.restype = ctypes.c_void_p
_libc.mmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long)
_libc.munmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t)
_libc.mprotect.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
_libc.madvise.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)


def _checked(result: int, what: str) -> None:
    if result:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")


class OutOfRegion(IndexError):
    """An address outside its region: our mistake, stopped before any memory is touched."""


@dataclass(frozen=True, slots=True)
class Region:
    """A part of the arena. Pages are numbered from its start; all of them are inaccessible until committed."""

    name: str
    address: int
    pages: int

    def at(self, page: int, count: int) -> tuple[int, int]:
        """Address and bytes of `count` pages, checked against the region."""
        if page < 0 or count <= 0 or page + count > self.pages:
            raise OutOfRegion(f"{self.name}: expected pages within 0..{self.pages}, got {page}..{page + count}")
        return self.address + page * PAGE, count * PAGE

    def commit(self, page: int, count: int) -> None:
        """Make pages readable and writable; fresh ones read as zeros. Raises OSError when the system has no more."""
        address, size = self.at(page, count)
        _checked(_libc.mprotect(address, size, READ_WRITE), f"commit {count} pages of {self.name} at +{page * PAGE:#x}")

    def decommit(self, page: int, count: int) -> None:
        """Give the memory back and make the pages inaccessible again."""
        address, size = self.at(page, count)
        _checked(_libc.madvise(address, size, DONTNEED), f"discard {count} pages of {self.name}")
        _checked(_libc.mprotect(address, size, NONE), f"protect {count} pages of {self.name}")

    def zero(self, page: int, count: int) -> None:
        """Overwrite committed pages with zeros: stale rows must reach neither another dot nor a masked sum."""
        address, size = self.at(page, count)
        ctypes.memset(address, 0, size)


class Arena:
    """The reserved range. `base` is where it really lies; every stored address is base + offset."""

    def __init__(self, high: int, bases: tuple[int, ...] = BASES) -> None:
        if high <= 0 or high % PAGE:
            raise ValueError(f"high region: expected a positive multiple of {PAGE} bytes, got {high}")
        self.size = HIGH + high
        self.base = _reserve(self.size, bases)
        self.low = Region("low", self.base + LOW[0], (LOW[1] - LOW[0]) // PAGE)
        self.high = Region("high", self.base + HIGH, high // PAGE)
        self._open = True

    def close(self) -> None:
        """Return the range to the system. No view into it may be used afterwards."""
        if self._open:
            self._open = False
            _checked(_libc.munmap(self.base, self.size), "release the arena")


def _reserve(size: int, bases: tuple[int, ...]) -> int:
    """Reserve addresses without memory, at the first free base; older kernels take the base as a hint, so compare."""
    for base in bases:
        got = _libc.mmap(base, size, NONE, PRIVATE_ANONYMOUS_NORESERVE | FIXED_NOREPLACE, -1, 0)
        if got == base:
            return base
        if got not in (None, MAP_FAILED):
            _checked(_libc.munmap(got, size), "release a misplaced range")
    got = _libc.mmap(None, size, NONE, PRIVATE_ANONYMOUS_NORESERVE, -1, 0)
    if got in (None, MAP_FAILED):
        number = ctypes.get_errno() or errno.ENOMEM
        raise OSError(number, f"reserve {size} bytes of addresses: {os.strerror(number)}")
    return int(got)
