"""Packed weights on disk: found, made, and never trusted further than their sums and the model's own shapes reach."""

import multiprocessing
import os
import time

import numpy as np
import pytest

from dots.errors import Refused
from dots.models import packed as kept
from dots.models.device import quietly
from dots.models.digest import Digest
from dots.models.gguf import map_file, parse
from dots.models.isa import available
from dots.models.model import make_executor
from dots.models.packed import CHUNK, KEPT, LINE, MAGIC, packed_key, packed_matrices
from dots.models.packing import pack
from tests.dots.models.made import random_tensor, small_llama


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("SPACES_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "packed"


@pytest.fixture
def digest(tmp_path):
    (tmp_path / "m.gguf").write_bytes(b"any file")
    return Digest("m.gguf", map_file(tmp_path / "m.gguf"), None)


def stacks(seed=5):
    """One of four bits and more than one chunk, one of eight bits."""
    rng = np.random.default_rng(seed)
    large = [[random_tensor(rng, "Q4_1", 1024, 2048)] for _ in range(2)]
    return [large, [[random_tensor(rng, "Q8_0", 32, 96), random_tensor(rng, "Q4_0", 16, 96)]]]


def same(got, expected):
    assert [m.form for m in got] == [m.form for m in expected]
    for a, b in zip(got, expected, strict=True):
        np.testing.assert_array_equal(a.weights, b.weights)
        np.testing.assert_array_equal(a.scales, b.scales)


def never(stack):
    raise AssertionError("packed although it was kept")


def test_what_was_packed_once_is_read_and_not_packed_again(folder, digest, monkeypatch):
    given, told = stacks(), []
    first = packed_matrices(given, digest, told.append)
    assert told == [0.5, 1.0]
    monkeypatch.setattr(kept, "pack", never)
    again = packed_matrices(given, digest, told.append)
    assert told == [0.5, 1.0, 1.0]
    same(again, first)
    same(again, [pack(stack) for stack in given])
    assert folder.stat().st_mode & 0o777 == 0o700


def test_without_a_digest_nothing_is_kept(folder):
    same(packed_matrices(stacks(), None, quietly), list(map(pack, stacks())))
    assert not folder.exists()


def damages():
    size = len(MAGIC) + 32
    yield "empty", lambda raw: b""
    yield "other magic", lambda raw: b"S" + raw[1:]
    yield "other key", lambda raw: raw[: size - 1] + bytes([raw[size - 1] ^ 1]) + raw[size:]
    yield "cut in its head", lambda raw: raw[: size - 2]
    yield "cut in its sums", lambda raw: raw[: size + 9]
    yield "cut in its weights", lambda raw: raw[: len(raw) // 2]
    yield "a byte short", lambda raw: raw[:-1]
    yield "a byte long", lambda raw: raw + b"\0"
    yield "a sum", lambda raw: raw[:size] + bytes([raw[size] ^ 1]) + raw[size + 1 :]
    yield "a bit of a weight", lambda raw: raw[:-CHUNK] + bytes([raw[-CHUNK] ^ 16]) + raw[-CHUNK + 1 :]
    yield "a bit of a scale", lambda raw: raw[:-LINE] + bytes([raw[-LINE] ^ 1]) + raw[-LINE + 1 :]
    yield "a hole", lambda raw: raw[:-CHUNK] + bytes(4096) + raw[-CHUNK + 4096 :]
    yield "two chunks exchanged", lambda raw: (
        raw[: (start := len(raw) - body())]
        + raw[start + CHUNK : start + 2 * CHUNK] + raw[start : start + CHUNK] + raw[start + 2 * CHUNK :]
    )  # fmt: skip


def body():
    return sum(m.weights.nbytes + m.scales.nbytes for m in map(pack, stacks()))


@pytest.mark.parametrize(("damage"), [pytest.param(do, id=name) for name, do in damages()])
def test_a_damaged_file_is_packed_anew_and_replaced(folder, digest, damage):
    first = packed_matrices(stacks(), digest, quietly)
    (path,) = folder.iterdir()
    whole = path.read_bytes()
    damaged = damage(whole)
    assert damaged != whole
    path.unlink()  # `first` is a view of it
    path.write_bytes(damaged)
    same(packed_matrices(stacks(), digest, quietly), first)
    assert path.read_bytes() == whole


@pytest.mark.parametrize("change", ["digest", "source", "a tensor's name", "the order"])
def test_the_name_changes_with_everything_that_shapes_the_file(change, monkeypatch, tmp_path):
    given = stacks()
    before = packed_key(given, "d")
    if change == "source":
        for name in kept.SOURCES:
            (tmp_path / f"{name}.py").write_text("another")
        monkeypatch.setattr(kept, "__file__", str(tmp_path / "packed.py"))
    elif change == "a tensor's name":
        object.__setattr__(given[1][0][1], "name", "another")
    elif change == "the order":
        given[0].reverse()
        object.__setattr__(given[0][0][0], "name", "first")
    assert packed_key(given, "e" if change == "digest" else "d") != before


def test_a_cache_that_cannot_be_written_changes_nothing(tmp_path, monkeypatch, digest):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("SPACES_CACHE", str(tmp_path / "file"))  # a folder cannot lie below a file
    same(packed_matrices(stacks(), digest, quietly), list(map(pack, stacks())))


def test_a_disk_without_room_is_told_and_leaves_nothing(folder, digest, monkeypatch, caplog):
    monkeypatch.setattr(kept, "write_whole", lambda path, *parts: False)
    same(packed_matrices(stacks(), digest, quietly), list(map(pack, stacks())))
    assert list(folder.iterdir()) == []
    assert "packed weights are not kept" in caplog.text


def test_only_the_newest_are_kept_and_what_others_write_is_left(folder, digest):
    folder.mkdir(parents=True)
    now = time.time()
    for i in range(KEPT + 2):
        (folder / f"{i}.packed").write_bytes(b"")
        os.utime(folder / f"{i}.packed", (now - 100 + i,) * 2)
    for name, age in (("x.packed.7", 10), ("y.packed.8", 10_000)):
        (folder / name).write_bytes(b"")
        os.utime(folder / name, (now - age,) * 2)
    packed_matrices(stacks(), digest, quietly)
    mine = packed_key(stacks(), digest.proven())
    newest = {f"{i}.packed" for i in range(3, KEPT + 2)}
    assert {path.name for path in folder.iterdir()} == {f"{mine}.packed", "x.packed.7", *newest}


def test_a_wrong_file_is_refused_and_not_kept_under_the_right_ones_name(folder, tmp_path):
    (tmp_path / "m.gguf").write_bytes(b"another file")
    digest = Digest("m.gguf", map_file(tmp_path / "m.gguf"), "0" * 64)
    with pytest.raises(Refused, match=f"model file m.gguf: expected {'0' * 64}, got "):
        packed_matrices(stacks(), digest, quietly)
    assert list(folder.iterdir()) == []


def pack_here(path, ready, results):
    ready.wait()
    matrices = packed_matrices(stacks(), Digest("m.gguf", map_file(path), None), quietly)
    results.put([int(m.weights.sum()) for m in matrices])


def test_two_processes_at_once_leave_one_whole_file(folder, tmp_path, monkeypatch):
    (tmp_path / "m.gguf").write_bytes(b"any file")
    spawn = multiprocessing.get_context("spawn")
    ready, results = spawn.Event(), spawn.Queue()
    both = [spawn.Process(target=pack_here, args=(tmp_path / "m.gguf", ready, results)) for _ in range(2)]
    for one in both:
        one.start()
    ready.set()
    assert results.get(timeout=60) == results.get(timeout=60) == [int(pack(s).weights.sum()) for s in stacks()]
    for one in both:
        one.join()
    monkeypatch.setattr(kept, "pack", never)
    packed_matrices(stacks(), Digest("m.gguf", map_file(tmp_path / "m.gguf"), None), quietly)
    assert len(list(folder.iterdir())) == 1


@pytest.mark.skipif(not available(), reason="no fast kernels on this processor")
def test_logits_are_equal_bit_by_bit_with_and_without_what_was_kept(tmp_path, monkeypatch, sequences):
    (folder := tmp_path / "packed").mkdir()
    monkeypatch.setattr(kept, "cache_folder", lambda name: folder)  # compiled kernels stay where they are
    (tmp_path / "m.gguf").write_bytes(small_llama({"others": "Q4_K", "ffn_down": "Q6_K"}))
    data = map_file(tmp_path / "m.gguf")
    name, ids = f"numba-{available()[0]}", list(range(5, 25))
    fresh, made, read = (
        sequences(make_executor(parse(data), name, digest=digest), len(ids)).feed({0: ids})
        for digest in (None, Digest("m", data, None), Digest("m", data, None))
    )
    np.testing.assert_array_equal(made, fresh)
    np.testing.assert_array_equal(read, fresh)
    assert len(list(folder.iterdir())) == 1
