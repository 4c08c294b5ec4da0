"""Where the threads of a pass meet: none goes on until all have come. LLVM instructions behind a Numba intrinsic.

Threads meet up to three hundred times a pass, each time for about a microsecond, so who comes first spins. Where
another process has taken a thread's core that would only keep it from coming back: after a while each look lets others
run.
"""

from typing import Any

from llvmlite import ir
from numba.core import cgutils

from dots.models.compiling import emitted
from dots.models.lanes import I32, I64, addresses, offset
from dots.models.layout import BARRIER

PATIENCE = 4000  # looks, about 50 microseconds, before the core is offered to others


@emitted
def meet(typing: Any, barrier: Any, threads: Any) -> Any:
    """barrier: the number of those who have come, and half-way behind it the number of meetings; both zero at first"""

    def codegen(context: Any, b: Any, signature: Any, args: Any) -> Any:
        barrier, threads = args
        come, met = (b.inttoptr(at, I64.as_pointer()) for at in (barrier, offset(b, barrier, BARRIER // 2)))
        with b.if_then(b.icmp_signed(">", threads, I64(1))):
            meeting = b.load_atomic(met, "acquire", 8)
            before = b.atomic_rmw("add", come, I64(1), "acq_rel")
            last = b.icmp_signed("==", b.add(before, I64(1)), threads)
            with b.if_else(last) as (is_last, is_not):
                with is_last:
                    b.store_atomic(I64(0), come, "monotonic", 8)
                    b.store_atomic(b.add(meeting, I64(1)), met, "release", 8)
                with is_not:
                    wait_for_change(b, met, meeting)
        return context.get_dummy_value()

    return addresses(2), codegen


def wait_for_change(b: Any, number: Any, old: Any) -> None:
    looks = cgutils.alloca_once_value(b, I64(0))  # type: ignore[no-untyped-call]
    look, again, done = (b.append_basic_block(name) for name in ("look", "again", "done"))
    b.branch(look)
    b.position_at_end(look)
    b.cbranch(b.icmp_signed("==", b.load_atomic(number, "acquire", 8), old), again, done)
    b.position_at_end(again)
    count = b.add(b.load(looks), I64(1))
    b.store(count, looks)
    pause = cgutils.get_or_insert_function(b.module, ir.FunctionType(ir.VoidType(), []), "llvm.x86.sse2.pause")  # type: ignore[no-untyped-call]
    b.call(pause, [])
    with b.if_then(b.icmp_signed(">", count, I64(PATIENCE))):
        offer = cgutils.get_or_insert_function(b.module, ir.FunctionType(I32, []), "sched_yield")  # type: ignore[no-untyped-call]
        b.call(offer, [])
    b.branch(look)
    b.position_at_end(done)
