"""The arena's addresses: where it lies, what is never mapped, and what its memory holds."""

import ctypes
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest

from dots.arena import BASES, GUARD, HIGH, LOW, MIB, PAGE, Arena, OutOfRegion, Region
from dots.kv import pages_for, sequence
from dots.pages import Pool


@pytest.fixture
def arena() -> object:
    made = Arena(64 * MIB)
    yield made
    made.close()


def mapped(address: int) -> str:
    """The protection of an address of this process, such as rw-p; empty when nothing is there."""
    for line in Path("/proc/self/maps").read_text().splitlines():
        span, protection, *_ = line.split()
        low, high = (int(part, 16) for part in span.split("-"))
        if low <= address < high:
            return protection
    return ""


def resident(address: int) -> int:
    """KiB of memory behind the mapping that holds an address."""
    found = False
    for line in Path("/proc/self/smaps").read_text().splitlines():
        head = line.split(" ")[0]
        if "-" in head and ":" not in head:
            low, high = (int(part, 16) for part in head.split("-"))
            found = low <= address < high
        elif found and line.startswith("Rss:"):
            return int(line.split()[1])
    return 0


def test_the_regions_lie_as_the_map_says(arena: Arena) -> None:
    assert (arena.low.address - arena.base, arena.low.pages * PAGE) == (0x200000, 0xFE00000 - 0x200000)
    assert (arena.high.address - arena.base, arena.high.pages * PAGE) == (0x10000000, 64 * MIB)
    assert (LOW[1], GUARD[1]) == (GUARD[0], HIGH)


def test_nothing_is_accessible_until_it_is_committed(arena: Arena) -> None:
    assert {mapped(arena.base + at) for at in (0, LOW[0], GUARD[0], HIGH)} == {"---p"}
    arena.high.commit(3, 2)
    assert [mapped(arena.high.address + n * PAGE) for n in (2, 3, 4, 5)] == ["---p", "rw-p", "rw-p", "---p"]


def test_a_decommitted_page_gives_its_memory_back_and_reads_as_zeros_later(arena: Arena) -> None:
    arena.high.commit(0, 16)
    ctypes.memset(arena.high.address, 0xAA, 16 * PAGE)
    assert resident(arena.high.address) == 16 * PAGE // 1024
    arena.high.decommit(0, 16)
    assert (resident(arena.high.address), mapped(arena.high.address)) == (0, "---p")
    arena.high.commit(0, 16)
    assert ctypes.string_at(arena.high.address, 16 * PAGE) == bytes(16 * PAGE)


@pytest.mark.parametrize(("page", "count"), [(-1, 1), (0, 0), (0, 1025), (1024, 1), (1000, 25)])
def test_pages_outside_a_region_are_refused_before_any_memory_is_touched(arena: Arena, page: int, count: int) -> None:
    for act in (arena.high.commit, arena.high.decommit, arena.high.zero):
        with pytest.raises(OutOfRegion, match=r"high: expected pages within 0..1024"):
            act(page, count)


def test_a_taken_base_is_passed_over() -> None:
    first = Arena(PAGE)
    second = Arena(PAGE)
    third = Arena(PAGE)
    try:
        bases = [a.base for a in (first, second, third)]
        spans = sorted((base, base + first.size) for base in bases)
        assert all(end <= start for (_, end), (start, _) in pairwise(spans))
        assert not {bases[2]} & set(BASES)
    finally:
        for a in (first, second, third):
            a.close()


def test_the_first_arena_of_a_process_gets_a_preferred_base() -> None:
    code = "from dots.arena import Arena, BASES; print(Arena(4 << 30).base in BASES)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "True\n"


def test_a_guard_page_stops_the_process_that_touches_it() -> None:
    code = (
        "from dots.arena import *; import ctypes; a = Arena(PAGE)\n"
        "a.low.commit(a.low.pages - 1, 1); a.high.commit(0, 1)\n"
    )
    for at, status in ((LOW[1] - 1, 0), (GUARD[0], -11), (GUARD[1] - 1, -11), (HIGH, 0)):
        touch = f"ctypes.memset(a.base + {at}, 1, 1)"
        assert subprocess.run([sys.executable, "-c", code + touch], check=False).returncode == status


def test_a_sequence_grows_in_place_and_stops_at_its_limit(arena: Arena) -> None:
    pool = Pool(arena.high, 100)
    kv = sequence(pool, arena.high, "dot", 100, 5000)
    address = kv.address
    for rows in (1, 13, 14, 100):
        kv.grow(rows)
        assert (kv.address, kv.used, kv.committed) == (address, rows * 5000, pages_for(rows, 5000) * PAGE)
        ctypes.memset(address, 1, rows * 5000)
    with pytest.raises(IndexError, match="at most 100 KV rows, got 101"):
        kv.grow(101)
    kv.release()
    kv.release()
    assert (kv.used, kv.committed, pool.free) == (0, 0, 100)


def test_a_commit_that_the_system_refuses_says_where() -> None:
    nowhere = Region("nowhere", 0x5000_0000_0000, 4)
    with pytest.raises(OSError, match=r"commit 1 pages of nowhere at \+0x20000"):
        nowhere.commit(2, 1)
