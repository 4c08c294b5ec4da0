"""Calls of components: a short built-in step runs at once, everything else in a worker process beside the engine.

The runtime owns it and calls it on its own thread; answers and logs of workers come back through `post`.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Final

from dots.components import Component
from dots.errors import Code, Failure
from dots.excerpts import weight
from dots.spec import Effect, Values
from dots.unit import Handle, unencodable
from dots.worker import Call, Log, Worker

INLINE: Final = 4096  # characters and items of params and inputs that a built-in step may work on beside the engine
WORKERS: Final = 8  # calls at once
IDLE: Final = 2  # workers kept for the next pure step


class Calls:
    def __init__(self, post: Callable[[Callable[[], None]], None]) -> None:
        self.post = post
        self.workers: set[Worker] = set()
        self.idle: list[Worker] = []
        self.threads = ThreadPoolExecutor(WORKERS, "dots-call")

    def begin(self, call: Call, log: Log, done: Callable[[Values | Failure], None]) -> Handle:
        """Make a call; `done` gets its outputs or why there are none. The handle ends it."""
        if is_inline(call):
            done(computed(call))
            return lambda: None
        pure = call.component.spec.effect is not Effect.OPAQUE
        worker = self.idle.pop() if pure and self.idle else Worker()
        self.workers.add(worker)

        def answered(answer: Values | Failure) -> None:
            self._give_back(worker, pure)
            done(answer)

        def work() -> None:
            answer = worker.call(call, lambda level, message: self.post(lambda: log(level, message)))
            self.post(lambda: answered(answer))

        self.threads.submit(work)
        return worker.cancel

    def kill(self) -> None:
        """End every worker at once; calls in progress report it."""
        for worker in self.workers:
            worker.kill()

    def close(self) -> None:
        """Wait for the threads and give everything back. From any thread, once nothing begins any more."""
        self.threads.shutdown(cancel_futures=True)
        for worker in self.workers:
            worker.close()

    def _give_back(self, worker: Worker, pure: bool) -> None:
        """An opaque call gets a process of its own; pure steps leave nothing behind and may share one."""
        if pure and worker.alive and len(self.idle) < IDLE:
            self.idle.append(worker)
        else:
            self.workers.discard(worker)
            worker.close()


def is_inline(call: Call) -> bool:
    if call.component.spec.effect is Effect.OPAQUE or not is_built_in(call.component):
        return False
    only_hands_on = call.component.spec.group == "io"
    return only_hands_on or weight([call.raw, call.inputs], INLINE) <= INLINE


def is_built_in(component: Component) -> bool:
    return component.module.__name__.startswith("dots.components.")


def computed(call: Call) -> Values | Failure:
    try:
        outputs: Values = call.component.module.run(call.params, call.inputs)
        return unencodable(outputs, call.inputs) or outputs
    except Exception as error:
        name = call.component.spec.name
        return Failure(Code.INVALID_VALUE, name, "outputs", f"{type(error).__name__}: {error}"[:4096])
