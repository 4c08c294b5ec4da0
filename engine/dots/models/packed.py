"""Packed matrices kept on disk: packing takes most of a start, and always makes the same of the same file.

A file is named by everything that shapes it: the model file's digest, the sources that pack, and which tensors lie in
which order. Its size and its shapes are what the model demands, never what the file says, so no damage can lead outside
of an array; a sum over each MiB shows damage, and what is damaged is packed anew. Whoever can write into the user's own
folder could forge the sums: against them nothing here protects.
"""

import hashlib
import logging
import mmap
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from dots.models.cache import cache_folder, tidy, write_whole
from dots.models.device import Tell
from dots.models.digest import Digest
from dots.models.gguf import Tensor
from dots.models.packing import Packed, empty, pack
from dots.models.quant import Bytes

log = logging.getLogger(__name__)

Stack = Sequence[Sequence[Tensor]]
"""One matrix a layer, each the rows of some tensors on top of each other."""

Sums = NDArray[np.uint64]

MAGIC = b"spaces packed 2 "
CHUNK = 1 << 20  # bytes under one sum
LINE = 64  # bytes of a cache line
KEPT = 4  # files, of as many models or versions
SOURCES = ("packing", "quant")


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
        return matrices
    tidy(folder, path.suffix, KEPT)
    return read_packed(path, key, stacks) or matrices  # as every later start has them


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


def arrays(matrices: Sequence[Packed]) -> Iterator[Bytes]:
    for matrix in matrices:
        yield matrix.weights.reshape(-1)
        yield matrix.scales.reshape(-1).view(np.uint8)


def checksums(matrices: Sequence[Packed]) -> Sums:
    """Of each MiB of each array. An array is whole tiles, so it is whole words too."""
    chunks = (flat[at : at + CHUNK] for flat in arrays(matrices) for at in range(0, len(flat), CHUNK))
    return np.array([chunk.view(np.uint64).sum() for chunk in chunks], np.uint64)


def padding(size: int) -> int:
    return -size % LINE


def parts(key: str, matrices: Sequence[Packed]) -> Iterator[bytes | memoryview]:
    """The file: a head, the sums, the arrays, each from a cache line's start."""
    head = MAGIC + key.encode() + checksums(matrices).tobytes()
    yield head + bytes(padding(len(head)))
    for flat in arrays(matrices):
        yield flat.data
        yield bytes(padding(len(flat)))


def read_packed(path: Path, key: str, stacks: Sequence[Stack]) -> list[Packed] | None:
    """None where there is none, or only a damaged one. What is returned is a view of the file.

    Files are replaced, never changed, so a mapping stays as it was. It needs no memory of its own, and processes share
    it; a step over it takes as long as over memory.
    """
    try:
        with path.open("rb") as file:
            data = np.frombuffer(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ), np.uint8)
        path.touch()  # the newest are kept
    except (OSError, ValueError):  # none, or nothing in it
        return None
    rooms = [empty(stack) for stack in stacks]  # never written, so they take no memory
    start = len(MAGIC) + len(key)
    at = start + sum(-(-len(flat) // CHUNK) for flat in arrays(rooms)) * np.dtype(np.uint64).itemsize
    sums = data[start:at]
    at += padding(at)
    if len(data) != at + sum(len(flat) + padding(len(flat)) for flat in arrays(rooms)):
        return None
    found: list[Packed] = []
    for room in rooms:
        weights, at = data[at : at + room.weights.nbytes], at + room.weights.nbytes + padding(room.weights.nbytes)
        scales, at = data[at : at + room.scales.nbytes], at + room.scales.nbytes + padding(room.scales.nbytes)
        scaled = scales.view(np.uint16).reshape(room.scales.shape)
        found.append(Packed(room.form, weights.reshape(room.weights.shape), scaled))
    whole = data[:start].tobytes() == MAGIC + key.encode() and checksums(found).tobytes() == sums.tobytes()
    return found if whole else None
