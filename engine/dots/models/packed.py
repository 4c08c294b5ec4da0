"""Packed matrices kept on disk: packing takes most of a start, and always makes the same of the same file.

A file is named by everything that shapes it: the model file's digest, the sources that pack, and which tensors lie in
which order. Its size and its shapes are what the model demands, never what the file says, so no damage can lead outside
of an array; a sum over each MiB shows damage, and what is damaged is packed anew. Whoever can write into the user's own
folder could forge the sums: against them nothing here protects.
"""

import hashlib
import logging
import time
from collections.abc import Iterator, Sequence
from io import FileIO
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from dots.models.cache import cache_folder, write_whole
from dots.models.device import Tell
from dots.models.digest import Digest
from dots.models.gguf import Tensor
from dots.models.packing import Packed, empty, pack

log = logging.getLogger(__name__)

Stack = Sequence[Sequence[Tensor]]
"""One matrix a layer, each the rows of some tensors on top of each other."""

MAGIC = b"spaces packed 1 "
CHUNK = 1 << 20  # bytes under one sum
KEPT = 4  # files, of as many models or versions
SOURCES = ("packing", "quant")
ABANDONED = 3600  # seconds after which an unfinished file has no writer


def packed_matrices(stacks: Sequence[Stack], digest: Digest | None, tell: Tell) -> list[Packed]:
    """Found, or packed now and kept for the next time; without a digest nothing is looked for and nothing kept.

    `tell` hears of each matrix.
    """
    folder = cache_folder("packed") if digest else None
    if digest is None or folder is None:
        return pack_all(stacks, tell)
    key = packed_key(stacks, digest.likely())
    path = folder / f"{key}.packed"
    matrices = read_packed(path, key, stacks)
    if matrices is not None:
        tell(1.0)
        return matrices
    matrices = pack_all(stacks, tell)
    digest.proven()  # or the wrong file's weights would be kept under the right one's name
    if not write_whole(path, *parts(key, matrices)):
        log.warning("packed weights are not kept: no room or no right to write in %s", folder)
    tidy(folder)
    return matrices


def pack_all(stacks: Sequence[Stack], tell: Tell) -> list[Packed]:
    matrices: list[Packed] = []
    for stack in stacks:
        matrices.append(pack(stack))
        tell(len(matrices) / len(stacks))
    return matrices


def packed_key(stacks: Sequence[Stack], digest: str) -> str:
    hashed = hashlib.sha256(digest.encode())
    for name in SOURCES:
        hashed.update(Path(__file__).with_name(f"{name}.py").read_bytes())
    order = [[[(t.name, t.format.name, t.shape) for t in layer] for layer in stack] for stack in stacks]
    hashed.update(repr(order).encode())
    return hashed.hexdigest()[:32]


def chunks(matrices: Sequence[Packed]) -> Iterator[NDArray[np.uint8]]:
    """All bytes in the order of the file."""
    for matrix in matrices:
        for array in (matrix.weights, matrix.scales):
            flat = array.reshape(-1).view(np.uint8)
            yield from (flat[at : at + CHUNK] for at in range(0, len(flat), CHUNK))


def checksum(chunk: NDArray[np.uint8]) -> int:
    """Every array is a whole number of tiles, so it is a whole number of these words too."""
    return int(chunk.view(np.uint64).sum())


def parts(key: str, matrices: Sequence[Packed]) -> list[memoryview]:
    sums = np.array([checksum(chunk) for chunk in chunks(matrices)], np.uint64)
    return [memoryview(MAGIC + key.encode()), sums.data, *(chunk.data for chunk in chunks(matrices))]


def read_packed(path: Path, key: str, stacks: Sequence[Stack]) -> list[Packed] | None:
    """None where there is none, or only a damaged one.

    Read, not mapped: a mapping has small pages, and each step would pay for them.
    """
    matrices = [empty(stack) for stack in stacks]
    sums = np.empty(sum(1 for _ in chunks(matrices)), np.uint64)
    head = bytearray(len(MAGIC) + len(key))
    try:
        with path.open("rb", buffering=0) as file:
            if not fill(file, head) or head != MAGIC + key.encode() or not fill(file, sums.data.cast("B")):
                return None
            for chunk, expected in zip(chunks(matrices), sums, strict=True):
                if not fill(file, chunk.data) or checksum(chunk) != expected:
                    return None
            if file.read(1):
                return None
        path.touch()  # the newest are kept
    except OSError:
        return None
    return matrices


def fill(file: FileIO, into: bytearray | memoryview) -> bool:
    """Whether the file had as much."""
    return file.readinto(into) == len(into)


def tidy(folder: Path) -> None:
    """The newest few stay, and what others are writing."""
    try:
        found = sorted(((path.stat().st_mtime, path) for path in folder.iterdir()), reverse=True)
    except OSError:  # another process tidies
        return
    whole = [path for _, path in found if path.suffix == ".packed"]
    left = [path for written, path in found if path.suffix != ".packed" and time.time() - written > ABANDONED]
    for path in (*whole[KEPT:], *left):
        path.unlink(missing_ok=True)
