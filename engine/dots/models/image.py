"""The compiled pass as a file of machine code: loaded in a few milliseconds where a process before has compiled it.

An image is named by everything that shapes it: the kernels' sources, the compiler's version, the processor, the model's
shape. Only where none is found is the compiler started; loading it alone takes longer than all the rest of a start.
"""

import ctypes
import hashlib
import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import asdict
from importlib.util import find_spec
from pathlib import Path

import llvmlite
from llvmlite import binding

from dots.models.cache import cache_folder, tidy, write_whole
from dots.models.device import Tell
from dots.models.isa import Isa, cpu_features, cpu_name
from dots.models.layout import Shape

SOURCES = ("layout", "packing", "compiler", "compiling", "lanes", "barrier", "tile", "softmax", "kernels", "forward")
KEPT = 64  # images, of as many shapes, instruction sets or versions
FUNCTIONS = 27  # that are compiled

Pass = Callable[[int, int, int], None]
"""(address of an ORDER, number of this thread, how many there are); every thread must call it."""

PROTOTYPE = ctypes.CFUNCTYPE(  # Numba's convention: result, exception, arguments -> status
    ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64, ctypes.c_int64
)


def image_key(isa: Isa, shape: Shape) -> str:
    digest = hashlib.sha256(repr((isa.value, shape, llvmlite.__version__, cpu_name(), sorted(cpu_features()))).encode())
    spec = find_spec("numba")  # its version, without importing it
    if spec is not None and spec.origin is not None:
        digest.update(Path(spec.origin).with_name("_version.py").read_bytes())
    for name in SOURCES:
        digest.update(Path(__file__).with_name(f"{name}.py").read_bytes())
    return digest.hexdigest()[:32]


def load_pass(isa: Isa, shape: Shape, tell: Tell) -> Pass:
    """Found compiled, or compiled now and kept for the next time; `tell` hears of the compiling only."""
    folder = cache_folder("kernels")
    path = folder / f"{image_key(isa, shape)}.image" if folder else None
    found = read_image(path) if path else None
    if found is None:
        found = compile_pass(isa, shape, tell)
        name, data = found
        head = {"name": name, "sha256": hashlib.sha256(data).hexdigest()}
        if path and write_whole(path, json.dumps(head).encode(), b"\n", data):
            tidy(path.parent, path.suffix, KEPT)
    return Code(*found)


def compile_pass(isa: Isa, shape: Shape, tell: Tell) -> tuple[str, bytes]:
    """The code's name and the code, from another process, so that this one never loads the compiler."""
    command = [sys.executable, "-m", "dots.models.compiler"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as compiler:
        assert compiler.stdin is not None and compiler.stdout is not None
        compiler.stdin.write(json.dumps({"isa": isa.value, "shape": asdict(shape)}).encode())
        compiler.stdin.close()
        ready = 0
        while compiler.stdout.read(1) == b".":
            ready += 1
            tell(min(1.0, ready / FUNCTIONS))
        name, _, code = compiler.stdout.read().partition(b"\n")
    if compiler.returncode:
        raise RuntimeError(f"kernels: expected machine code, got a compiler that ended with {compiler.returncode}")
    return name.decode(), code


class Code:
    """Machine code in this process; it lives as long as this does."""

    def __init__(self, name: str, data: bytes) -> None:
        binding.initialize_native_target()
        binding.initialize_native_asmprinter()
        machine = binding.Target.from_default_triple().create_target_machine()
        self._engine = binding.create_mcjit_compiler(binding.parse_assembly(""), machine)
        self._engine.add_object_file(binding.ObjectFileRef.from_data(data))
        self._engine.finalize_object()
        self._function = PROTOTYPE(self._engine.get_function_address(name))
        self._unused = ctypes.create_string_buffer(16)  # where a result and an exception would go

    def __call__(self, order: int, part: int, parts: int) -> None:
        """Other Python threads run meanwhile."""
        self._function(ctypes.addressof(self._unused), ctypes.addressof(self._unused) + 8, order, part, parts)


def read_image(path: Path) -> tuple[str, bytes] | None:
    """None where there is none, or only a damaged one."""
    try:
        head, _, data = path.read_bytes().partition(b"\n")
        path.touch()  # the newest are kept
        told = json.loads(head)
        whole = hashlib.sha256(data).hexdigest() == told["sha256"]
        return (str(told["name"]), data) if whole else None
    except (OSError, ValueError, KeyError, TypeError):
        return None
