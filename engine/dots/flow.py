"""One running program: slots, what is ready, what is skipped, and the events that tell of it.

The runtime's thread owns it. Fused steps are units like the anchor they surround, so that their nodes tell the same
story fused or not. A failed unit makes its outputs ABSENT; other branches go on and the run ends failed.
"""

from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from time import monotonic
from typing import Any, Final, Protocol

from dots import codec
from dots.arena import KIB
from dots.components import Catalogue
from dots.dot import Dot, State, Work
from dots.engine import Usage
from dots.errors import Code, Failure, Refused
from dots.events import Event
from dots.excerpts import cut, excerpts, facts, said
from dots.grammar import Matcher
from dots.language import Language
from dots.program import Program
from dots.request import ModelRequest, ModelResult
from dots.slots import Slots
from dots.spec import Effect, Values
from dots.unit import Absent, Handle, Unit, gathered, mistyped, parts, raised, unencodable, unit, unusable
from dots.worker import Call, Log

QUIET: Final = 0.033  # seconds between two token events of a node
QUIET_PLACE: Final = 0.5  # and between two places in the queue
SLICE: Final = 0.005  # seconds of inline work before the engine gets its turn

Emit = Callable[[Event], None]


@dataclass(frozen=True, slots=True)
class Prepared:
    """A request in the engine's terms: what takes time and no model is done."""

    prompt: list[int]
    matcher: Matcher | None  # of the request's grammar; whoever gets it closes it


class Services(Protocol):
    """What a flow asks of the runtime. Answers come back on the runtime's own thread."""

    def submit(self, work: Work, on_change: Callable[[Dot], None], matcher: Matcher | None) -> Dot: ...

    def cancel_dot(self, dot: Dot) -> None: ...

    def usage(self) -> Usage: ...

    def language(self) -> Language | Failure: ...

    def prepare(self, request: ModelRequest, done: Callable[[Prepared | Failure], None]) -> Handle: ...

    def call(self, call: Call, log: Log, done: Callable[[Values | Failure], None]) -> Handle: ...

    def post(self, work: Callable[[], None]) -> None: ...

    def ended(self, flow: "Flow") -> None: ...


class Flow:
    """Raises Refused when the program cannot be run here at all."""

    def __init__(
        self,
        run: str,
        program: Program,
        inputs: Values,
        space: str,
        secrets: Mapping[str, str],
        catalogue: Catalogue,
        services: Services,
        emit: Emit,
    ) -> None:
        self.run, self.space, self.secrets = run, space, secrets
        self.program, self.services, self._emit = program, services, emit
        block = program.blocks[0]
        self.units = [unit(step, limits, catalogue) for i in block.instructions for step, limits in parts(i)]
        self.readers: dict[int, list[Unit]] = {}
        for u in self.units:
            for slot in u.reads:
                self.readers.setdefault(slot, []).append(u)
        readers = {slot: len(units) for slot, units in self.readers.items()}
        self.slots = Slots(block.slots, readers, program.outputs.values())
        self.given = checked_inputs(program, inputs)
        self.ready: deque[Unit] = deque()
        self.left = len(self.units)  # not ended
        self.dots: set[Dot] = set()  # live
        self.advancing = False
        self.failures: list[tuple[str, Failure]] = []
        self.status: str | None = None  # of the ended run
        self.started_at = monotonic()
        self.told_pool = 0.0

    @property
    def needs_model(self) -> bool:
        return any(u.component.spec.effect is Effect.ANCHOR for u in self.units)

    def outputs(self) -> dict[str, Any]:
        """The run's outputs that have a value, whole."""
        found = {name: self.slots[slot] for name, slot in self.program.outputs.items()}
        return {name: value for name, value in found.items() if not isinstance(value, Absent)}

    def start(self, facts: Mapping[str, Any]) -> None:
        """Begin; `facts` says on what: device, executor, model, digest."""
        self.emit(None, "started", {**facts, "nodes": [u.node for u in self.units]})
        self.ready.extend(u for u in self.units if not u.missing)
        for name, slot in self.program.inputs.items():
            self._resolve(slot, self.given[name] if name in self.given else Absent("input"))
        self._advance()

    def cancel(self) -> None:
        """End everything between two steps; a second call does nothing."""
        if self.status is not None:
            return
        for u in self.units:
            if not u.ended:
                self._stop(u)
                self._close(u)
                self.emit(u.node, "cancelled", so_far(u))
        self._end("cancelled", None)

    def tell_pool(self, now: float) -> None:
        """The pool's numbers, at most ten times a second while the flow has dots."""
        if self.status is None and now - self.told_pool >= 0.1 and self.dots:
            self._pool(now)

    def emit(self, node: str | None, kind: str, data: Mapping[str, Any]) -> None:
        self._emit(Event(self.run, node, kind, data, round(monotonic() - self.started_at, 6)))

    # ---- what is ready ----------

    def _resolve(self, slot: int, value: object) -> None:
        self.slots[slot] = value
        for u in self.readers.get(slot, ()):
            u.missing -= 1
            if not u.missing:
                self.ready.append(u)

    def _advance(self) -> None:
        """Begin what is ready; after a slice of time the rest waits for the engine's next step."""
        if self.advancing:
            return  # an inline step answers while it is begun
        self.advancing = True
        end = monotonic() + SLICE
        while self.ready and self.status is None:
            self._begin(self.ready.popleft())
            if self.ready and monotonic() > end:
                self.services.post(self._advance)
                break
        self.advancing = False
        if self.status is None and not self.left:
            failed = self.failures[:1]
            self._end("failed" if failed else "done", said(f"{failed[0][0]}: {failed[0][1]}") if failed else None)

    def _begin(self, u: Unit) -> None:
        inputs, why = gathered(u, self.slots)
        if why is not None:
            self._skip(u, *why)
            return
        wrong = mistyped(u, inputs)
        if wrong:
            self._fail(u, wrong)
            return
        u.inputs, u.began = inputs, monotonic()
        if u.component.spec.effect is Effect.ANCHOR:
            self._ask(u)
            return
        u.state = "running"
        self.emit(u.node, "running", {"steps_limit": None, "kv_limit": None, "seconds_limit": None})
        seconds = u.limits.seconds if u.limits else u.component.spec.budget.seconds
        needed = {name: self.secrets[name] for name in u.component.spec.secrets if name in self.secrets}
        call = Call(u.component, u.params, u.step.params, inputs, seconds, needed)
        u.stop = self.services.call(
            call,
            lambda level, message: None if u.ended else self.emit(u.node, "log", {"level": level, "message": message}),
            lambda answer: self._answered(u, answer),
        )

    def _answered(self, u: Unit, answer: Values | Failure) -> None:
        u.stop = None
        if u.ended:
            return
        if isinstance(answer, Failure):
            self._fail(u, answer)
        else:
            self._done(u, answer, {"steps": 0, "prompt_tokens": 0, "finish": None, "kv_committed": 0})
        self._advance()

    # ---- the model ----------

    def _ask(self, u: Unit) -> None:
        language = self.services.language()
        if isinstance(language, Failure):
            self._fail(u, language)
            return
        try:
            request: ModelRequest = u.component.module.request(u.params, u.inputs)
        except Exception as error:
            self._fail(u, raised(u, error))
            return
        if request.model != language.name:
            self._fail(u, Failure(Code.NOT_FOUND, "model", language.name, request.model))
            return
        u.stop = self.services.prepare(request, lambda prepared: self._submit(u, request, prepared))

    def _submit(self, u: Unit, request: ModelRequest, prepared: Prepared | Failure) -> None:
        u.stop = None
        if u.ended:
            return
        if isinstance(prepared, Failure):
            self._fail(u, prepared)
            self._advance()
            return
        assert u.limits is not None
        work = Work(
            space=self.space,
            prompt=tuple(prepared.prompt),
            limits=u.limits,
            sampling=request.sampling,
            stop=request.stop,
            max_tokens=request.max_tokens,
            end_tokens=request.end_tokens,
        )
        try:
            u.dot = self.services.submit(work, lambda dot: self._changed(u, dot), prepared.matcher)
            self.dots.add(u.dot)
        except Refused as refused:
            if prepared.matcher:
                prepared.matcher.close()
            self._fail(u, refused.failure)
            self._advance()

    def _changed(self, u: Unit, dot: Dot) -> None:
        now = monotonic()
        if u.ended:
            return
        if dot.state is State.QUEUED:
            if u.state == "waiting" or now - u.told >= QUIET_PLACE:
                u.state, u.told = "queued", now
                self.emit(u.node, "queued", {"place": dot.place, "reason": dot.reason})
            return
        if u.state != "running":
            u.state, u.told = "running", 0.0
            limits = dot.work.limits
            data = {"steps_limit": limits.steps, "kv_limit": limits.kv * KIB, "seconds_limit": limits.seconds}
            self.emit(u.node, "running", data)
        u.text.append(dot.stream.take())
        if not dot.live:
            self._dot_ended(u, dot)
        elif now - u.told >= QUIET:
            self._progress(u, dot, now)

    def _progress(self, u: Unit, dot: Dot, now: float) -> None:
        """Prompt or tokens so far, as one event."""
        u.told = now
        if not dot.steps:
            self.emit(u.node, "prefill", {"done": dot.computed, "total": len(dot.work.prompt)})
            return
        if not u.first:
            u.first = now
            self.emit(u.node, "prefill", {"done": len(dot.work.prompt), "total": len(dot.work.prompt)})
        rate = (dot.steps - 1) / (now - u.first) if now > u.first else 0.0
        text, u.text = "".join(u.text), []
        data = {"text": cut(text)[0], "steps": dot.steps, "rate": round(rate, 1)}
        self.emit(u.node, "tokens", data | {"kv_used": dot.kv_used, "kv_committed": dot.kv_committed})

    def _dot_ended(self, u: Unit, dot: Dot) -> None:
        if dot.steps:
            self._progress(u, dot, monotonic())
        if dot.failure:
            self._fail(u, dot.failure)
        else:
            result = ModelResult(dot.stream.text, len(dot.work.prompt), dot.steps, dot.finish or "end")
            self._finish(u, dot, result)
        self._advance()

    def _finish(self, u: Unit, dot: Dot, result: ModelResult) -> None:
        try:
            outputs = u.component.module.finish(u.params, result)
            wrong = unencodable(outputs, {})
        except Exception as error:
            self._fail(u, raised(u, error))
            return
        if wrong:
            self._fail(u, wrong)
            return
        usage = {"steps": result.steps, "prompt_tokens": result.prompt_tokens, "finish": result.finish}
        self._done(u, outputs, usage | {"kv_committed": dot.kv_committed})

    # ---- how a unit ends ----------

    def _done(self, u: Unit, outputs: Values, usage: Mapping[str, Any]) -> None:
        wrong = unusable(u, outputs) or self.slots.overfull(outputs.values())
        if wrong:
            self._fail(u, wrong)
            return
        self._close(u)
        told, was_cut = excerpts(outputs)
        data = {"outputs": told, "seconds": round(monotonic() - u.began, 6), **usage}
        self.emit(u.node, "done", data | ({"cut": True} if was_cut else {}))
        for port, slot in u.step.outputs.items():
            self._resolve(slot, outputs[port] if port in outputs else Absent("input", u.node))

    def _fail(self, u: Unit, failure: Failure) -> None:
        self._close(u)
        self.failures.append((u.node, failure))
        self.emit(u.node, "failed", facts(failure) | so_far(u))
        for slot in u.step.outputs.values():
            self._resolve(slot, Absent("upstream", u.node))

    def _skip(self, u: Unit, port: str, absent: Absent) -> None:
        self._close(u)
        source = {"source": absent.source} if absent.source else {}
        self.emit(u.node, "skipped", {"reason": absent.reason, "port": port, **source})
        for slot in u.step.outputs.values():
            self._resolve(slot, Absent(absent.reason, absent.source or u.node))

    def _close(self, u: Unit) -> None:
        u.state, u.inputs = "ended", {}
        self.left -= 1
        self.slots.read(u.reads)
        if u.dot is not None:
            self.dots.discard(u.dot)

    def _stop(self, u: Unit) -> None:
        if u.dot is not None:
            self.services.cancel_dot(u.dot)
        if u.stop is not None:
            u.stop()

    def _end(self, status: str, reason: str | None) -> None:
        self.status = status
        if any(u.dot for u in self.units):
            self._pool(monotonic())
        outputs, was_cut = excerpts({} if status == "cancelled" else self.outputs())
        data = {
            "status": status,
            "outputs": outputs,
            "reason": reason,
            "seconds": round(monotonic() - self.started_at, 6),
        }
        self.emit(None, "ended", data | ({"cut": True} if was_cut else {}))
        self.services.ended(self)

    def _pool(self, now: float) -> None:
        self.told_pool = now
        self.emit(None, "pool", asdict(self.services.usage()))


def so_far(u: Unit) -> dict[str, Any]:
    """What a unit that ends early has to show."""
    return {"text": cut(u.dot.stream.text)[0], "steps": u.dot.steps} if u.dot else {"text": "", "steps": 0}


def checked_inputs(program: Program, inputs: Values) -> Values:
    """The given inputs, each known and representable; raises Refused."""
    unknown = sorted(set(inputs) - set(program.inputs))
    if unknown:
        known = ", ".join(sorted(program.inputs)) or "no inputs"
        raise Refused(Failure(Code.INVALID_VALUE, "inputs", known, ", ".join(unknown)))
    try:
        codec.encode(dict(inputs))
    except codec.Unencodable as error:
        raise Refused(Failure(Code.INVALID_VALUE, f"inputs.{error.path}", error.expected, error.got)) from None
    return dict(inputs)
