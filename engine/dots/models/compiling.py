"""Numba, as the kernels use it. Only the process that compiles loads it: see `image.py`.

Compiled functions call no Python and allocate nothing, so the machine code stands alone.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any, TypeVar, cast

import numba
from numba.core import event, types
from numba.extending import intrinsic
from numba.np.arrayobj import make_array, populate_array

from dots.models.lanes import addresses

F = TypeVar("F", bound=Callable[..., Any])

OUTSIDE = frozenset({"sched_yield", "memset", "memcpy", "memmove"})  # of the C library: what compiled code may call


def compiled(function: F) -> F:
    return cast(F, jit()(function))


def jit(**options: bool) -> Any:
    """Without Numba's counting of references, for which compiled code would need Numba in its process."""
    return cast(Any, numba.njit)(error_model="numpy", _nrt=False, **options)


def emitted(function: Callable[..., Any]) -> Any:
    """An intrinsic: the function's inner one writes LLVM instructions."""
    return intrinsic(function)


def array_at(kind: Any, dimensions: int) -> Any:
    """The array of (address, size of each dimension): a view of the caller's memory."""
    array = types.Array(kind, dimensions, "C")

    def codegen(context: Any, b: Any, signature: Any, args: Any) -> Any:
        made = make_array(array)(context, b)  # type: ignore[no-untyped-call]
        size = context.get_abi_sizeof(context.get_data_type(kind))
        steps = [context.get_constant(types.intp, size)]
        for length in reversed(args[2:]):
            steps.insert(0, b.mul(steps[0], length))
        data = b.inttoptr(args[0], context.get_data_type(kind).as_pointer())
        populate_array(made, data, list(args[1:]), steps, context.get_constant(types.intp, size), None)  # type: ignore[no-untyped-call]
        return made._getvalue()

    signature = array(types.intp, *[types.intp] * dimensions)
    if dimensions == 1:
        return emitted(lambda typing, address, length: (signature, codegen))
    if dimensions == 2:
        return emitted(lambda typing, address, rows, columns: (signature, codegen))
    return emitted(lambda typing, address, rows, columns, depth: (signature, codegen))


def machine_code(forward: Callable[..., None]) -> tuple[str, bytes]:
    """A pass, compiled for this processor: its name in an object file, and the object file.

    Numba's own calling convention is (result, exception, arguments…) -> status; nothing here raises, and a wrapper that
    could tell would call Python.
    """
    made = jit(no_cpython_wrapper=True, no_cfunc_wrapper=True)(forward)
    made.compile(addresses(3))
    (result,) = made.overloads.values()
    foreign = {f.name for f in result.library._final_module.functions if f.is_declaration}
    foreign = {name for name in foreign - OUTSIDE if not name.startswith("llvm.")}
    if foreign:
        raise AssertionError(f"compiled code stands alone, but calls {sorted(foreign)}")
    return result.fndesc.llvm_func_name, bytes(result.library._get_compiled_object())


class Compiled(event.Listener):
    """Tells of each function that is compiled, when it is ready."""

    def __init__(self, tell: Callable[[], None]) -> None:
        self.tell = tell

    def on_start(self, event: object) -> None:
        pass

    def on_end(self, event: object) -> None:
        self.tell()


def watched(tell: Callable[[], None]) -> AbstractContextManager[None]:
    return event.install_listener("numba:compile", Compiled(tell))
