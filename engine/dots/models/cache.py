"""Where things are kept that can be made again: compiled kernels, packed weights."""

import logging
import os
import time
from pathlib import Path

log = logging.getLogger(__name__)

OTHERS_WRITE = 0o022
ABANDONED = 3600  # seconds after which an unfinished file has no writer


def cache_folder(name: str) -> Path | None:
    """A folder of the user's own in SPACES_CACHE, or else in the user's cache; None where nothing can be kept.

    What lies there is run and computed with, so one that somebody else owns or may write into is not used.
    """
    told = os.environ.get("SPACES_CACHE")
    base = Path(told) if told else Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "spaces"
    folder = base / name
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        status = folder.stat()
    except OSError:
        return None
    own = status.st_uid == os.getuid() and not status.st_mode & OTHERS_WRITE
    return folder if own and os.access(folder, os.W_OK) else None


def write_whole(path: Path, *parts: bytes | memoryview) -> bool:
    """All or nothing, whoever else writes the same; False where the disk allows none of it."""
    unfinished = path.with_name(f"{path.name}.{os.getpid()}")
    try:
        with unfinished.open("wb") as file:
            for part in parts:
                file.write(part)
        unfinished.replace(path)
    except OSError:
        unfinished.unlink(missing_ok=True)
        return False
    return True


def tidy(folder: Path, suffix: str, kept: int) -> None:
    """The newest few files stay, and what others are writing."""
    try:
        found = sorted(((path.stat().st_mtime, path) for path in folder.iterdir()), reverse=True)
        whole = [path for _, path in found if path.suffix == suffix]
        left = [path for written, path in found if path.suffix != suffix and time.time() - written > ABANDONED]
        for path in (*whole[kept:], *left):
            path.unlink(missing_ok=True)
    except OSError as error:  # another process tidies too, or something else lies there
        log.info("cache %s: %s", folder.name, error)
