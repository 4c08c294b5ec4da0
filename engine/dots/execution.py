"""One program run to its end in this process, without a server. The command line holds it; nothing here prints."""

import queue
from collections.abc import Callable

from dots.components import catalogue
from dots.events import END_KINDS, Event
from dots.flow import Flow
from dots.models.model import load
from dots.program import Program
from dots.runtime import Runtime
from dots.spec import Values


def executed(made: Program, inputs: Values, executor: str, default_model: str, say: Callable[[str], None]) -> Flow:
    """Run a program to its end in this process; an interrupt cancels it. `say` hears of each node that ends."""
    named = (
        [i.params.get("model", default_model) for i in made.blocks[0].instructions if i.limits] if made.blocks else []
    )
    model = str(named[0]) if named else default_model
    told: queue.SimpleQueue[Event | BaseException] = queue.SimpleQueue()
    runtime = Runtime(
        catalogue(), model, lambda tell: load(model, executor, tell=tell), region="low", on_crash=told.put
    )
    try:
        flow = runtime.run("exec", made, inputs, "cli", {}, told.put)
        runtime.start(model=flow.needs_model)
        while True:
            try:
                event = told.get()
            except KeyboardInterrupt:
                runtime.cancel(flow)
                continue
            if isinstance(event, BaseException):
                raise event
            if event.kind == "ended":
                return flow
            if event.kind in END_KINDS:
                say(f"{event.time:8.3f} s  {event.node} {event.kind}")
    finally:
        runtime.close()
