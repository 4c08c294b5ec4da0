"""Machine code on disk: found by the next process, made again where it is damaged, and never in the way."""

import os
import subprocess
import sys

import pytest

from dots.models import image
from dots.models.device import quietly
from dots.models.isa import available
from dots.models.layout import Form, Shape

SHAPE = Shape(heads=2, kv_heads=1, head_dim=16, forms=(Form.Q4_MIN,) * 5)


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("SPACES_CACHE", str(tmp_path))
    return tmp_path / "kernels"


@pytest.fixture
def compiler(monkeypatch):
    """Stands in for the compiler, which is slow, and counts: the code of a function that returns at once."""
    made = []
    code = image.compile_pass(available()[0], SHAPE, quietly) if available() else None
    monkeypatch.setattr(image, "compile_pass", lambda *what: made.append(what) or code)
    return made


needs_kernels = pytest.mark.skipif(not available(), reason="not this processor")


@needs_kernels
def test_what_was_compiled_once_is_found_and_each_damage_is_made_good(cache, compiler):
    def load():
        return image.load_pass(available()[0], SHAPE, quietly)

    load()
    (path,) = cache.iterdir()
    whole = path.read_bytes()
    load()
    assert len(compiler) == 1
    head = whole.index(b"\n")
    for damaged in (b"", whole[:-1], whole[:head], b"[]" + whole[head:], b"{}" + whole[head:], whole[:-9] + b"x" * 9):
        before = len(compiler)
        path.write_bytes(damaged)
        load()
        assert len(compiler) == before + 1
        assert path.read_bytes() == whole


@needs_kernels
def test_another_shape_instruction_set_or_processor_is_another_image(monkeypatch):
    keys = {image.image_key(isa, shape) for isa in available() for shape in (SHAPE, Shape(4, 1, 16, SHAPE.forms))}
    monkeypatch.setenv("NUMBA_CPU_NAME", "haswell")
    keys.add(image.image_key(available()[0], SHAPE))
    assert len(keys) == 2 * len(available()) + 1


@needs_kernels
def test_code_that_others_could_have_written_is_not_run(cache, compiler):
    image.load_pass(available()[0], SHAPE, quietly)
    cache.chmod(0o777)
    image.load_pass(available()[0], SHAPE, quietly)
    assert len(compiler) == 2


@needs_kernels
def test_images_that_nobody_uses_are_removed(cache, compiler, monkeypatch):
    monkeypatch.setattr(image, "KEPT", 2)
    for heads in range(1, 5):
        image.load_pass(available()[0], Shape(heads, 1, 16, SHAPE.forms), quietly)
    assert len(list(cache.iterdir())) == 2


@needs_kernels
def test_where_nothing_can_be_kept_it_is_compiled_each_time(tmp_path, monkeypatch, compiler):
    blocked = tmp_path / "a file"
    blocked.touch()
    monkeypatch.setenv("SPACES_CACHE", str(blocked))
    for count in (1, 2):
        image.load_pass(available()[0], SHAPE, quietly)
        assert len(compiler) == count


@needs_kernels
@pytest.mark.slow
@pytest.mark.model
def test_a_second_process_compiles_nothing_and_none_loads_the_compiler(tmp_path):
    load = "from dots.models.model import load; load('smollm2-135m-instruct'); print('numba' in sys.modules)"
    env = os.environ | {"SPACES_CACHE": str(tmp_path), "SPACES_EXECUTOR": f"numba-{available()[0]}"}
    for forbidden in ("", "image.compile_pass = None;"):
        code = f"import sys; from dots.models import image; {forbidden} {load}"
        assert (
            subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, check=True).stdout == b"False\n"
        )
