"""How functions are compiled and where the machine code is kept, so that a second start need not compile.

Numba keys its cache by a function's own source. What kernels close over (tiles, other kernels, an instruction set) is
named here by what it is made from, and the folder is named by the digest of every source that shapes the code. A vector
type must not be a global of an inner function: it would be part of the key, and it changes when it is first used.
"""

import fcntl
import hashlib
import itertools
import os
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import RLock
from typing import Any, TypeVar, cast

import numba
from numba.core.bytecode import FunctionIdentity
from numba.extending import intrinsic

F = TypeVar("F", bound=Callable[..., Any])
SOURCES = ("compiling.py", "lanes.py", "packing.py", "tile.py", "softmax.py", "kernels.py")


def source_digest() -> str:
    digest = hashlib.sha256(numba.__version__.encode())
    for name in SOURCES:
        digest.update(Path(__file__).with_name(name).read_bytes())
    return digest.hexdigest()[:16]


def cache_folder() -> Path | None:
    """NUMBA_CACHE_DIR or the user's cache; None where nothing can be kept."""
    base = os.environ.get("NUMBA_CACHE_DIR") or os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    folder = Path(base) / "spaces" / f"kernels-{source_digest()}"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError:
        return None
    return folder if os.access(folder, os.W_OK) else None


FOLDER = cache_folder()
if FOLDER is not None:
    numba.config.CACHE_DIR = str(FOLDER)  # type: ignore[attr-defined]

# A number is part of each symbol's name. Numba counts from 1 in every process, so code that two processes compiled has
# the same names, and a third process that loads both calls the first in place of the second. No two begin alike here.
FunctionIdentity._unique_ids = itertools.count(secrets.randbits(60))

_turn = RLock()
_depth = 0
_listeners: list[Callable[[], None]] = []


@contextmanager
def alone() -> Iterator[None]:
    """One process at a time in the cache. Numba reads an index, picks the next file's number and writes both back: two
    processes that compile variants of one function at once would each read the other's code as its own."""
    global _depth
    with _turn:
        _depth += 1
        try:
            if FOLDER is None or _depth > 1:
                yield
            else:
                with (FOLDER / "lock").open("w") as lock:
                    fcntl.flock(lock, fcntl.LOCK_EX)
                    yield
        finally:
            _depth -= 1


@contextmanager
def counted(tell: Callable[[int], None]) -> Iterator[None]:
    """Tell, with their number, of kernels as they are compiled; of none where they are found compiled."""
    made = itertools.count(1)

    def one_more() -> None:
        tell(next(made))

    _listeners.append(one_more)
    try:
        yield
    finally:
        _listeners.remove(one_more)


def guarded(jit: Any) -> Any:
    """The function with its cache's reads and writes under the lock, and who counts told of the writes."""

    def under_lock(act: Callable[..., Any]) -> Callable[..., Any]:
        def acting(*arguments: Any) -> Any:
            with alone():
                return act(*arguments)

        return acting

    if FOLDER is not None:
        cache = jit._cache
        save = cache.save_overload

        def save_and_tell(*arguments: Any) -> None:
            save(*arguments)
            for listener in list(_listeners):
                listener()

        cache.load_overload, cache.save_overload = under_lock(cache.load_overload), under_lock(save_and_tell)
    return jit


def named(made: Any, name: str, *parameters: object) -> Any:
    """The same name in every process for what is made from the same parameters; Numba would draw a random one."""
    known = f"dots {name} {parameters}"
    if known in type(made)._memo:
        return type(made)._memo[known]
    made._set_uuid(known)
    return made


def compiled(function: F, *parameters: object) -> F:
    """One thread; `parameters` is what a function made inside another closes over."""
    jit = numba.njit(cache=FOLDER is not None, error_model="numpy")
    return cast(F, named(guarded(jit(function)), function.__qualname__, *parameters))


def parallel(function: F, *parameters: object) -> F:
    """`prange` is shared out over the cores."""
    jit = numba.njit(cache=FOLDER is not None, error_model="numpy", parallel=True)
    return cast(F, named(guarded(jit(function)), function.__qualname__, *parameters))


def emitted(function: Callable[..., Any], *parameters: object) -> Any:
    """An intrinsic: the function's inner one writes LLVM instructions."""
    return named(intrinsic(function), function.__qualname__, *parameters)
