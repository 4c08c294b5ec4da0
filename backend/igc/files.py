"""Writes what commands make: all of a file or nothing of it. Nothing that decides touches files."""

import os
import tempfile
from pathlib import Path


def write_file(path: Path, data: bytes) -> None:
    """A new file takes the place of the one that the path leads to; what is no file (a pipe, a device) is written to.

    Raises OSError with the path.
    """
    try:
        if path.exists() and not path.is_file():
            with path.open("wb") as place:
                place.write(data)
        else:
            replace_file(Path(os.path.realpath(path)), data)  # a link goes on leading to it
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from error


def replace_file(target: Path, data: bytes) -> None:
    with tempfile.NamedTemporaryFile(dir=target.parent, prefix=f".{target.name[:80]}.", delete=False) as file:
        try:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
            Path(file.name).chmod(0o666 & ~umask())
            Path(file.name).replace(target)
        except BaseException:
            Path(file.name).unlink(missing_ok=True)
            raise


def umask() -> int:
    """The mask of this process; it can only be read by setting it."""
    mask = os.umask(0)
    os.umask(mask)
    return mask
