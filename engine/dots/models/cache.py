"""Where things are kept that can be made again: compiled kernels, packed weights."""

import os
from pathlib import Path


def cache_folder(name: str) -> Path | None:
    """A folder of the user's own in SPACES_CACHE, or else in the user's cache; None where nothing can be kept."""
    told = os.environ.get("SPACES_CACHE")
    base = Path(told) if told else Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "spaces"
    folder = base / name
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError:
        return None
    return folder if os.access(folder, os.W_OK) else None


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
