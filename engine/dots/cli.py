"""The command `dots`: run a program or a prompt in this process, and look at the model. Results go to standard output,
progress to standard error.

Each command holds a runtime of its own and gives it back at the end; no server is needed.
"""

import argparse
import dataclasses
import json
import os
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Final, NoReturn

from dots import program
from dots.arena import PAGE, Arena
from dots.codec import MAX_SIZE
from dots.dot import Dot, State, Work
from dots.engine import Engine
from dots.errors import Refused, exit_code
from dots.excerpts import facts
from dots.grammar import Grammars
from dots.models.model import KNOWN, load
from dots.pages import Pool
from dots.program import Limits
from dots.request import Grammar, Message, ModelRequest, Sampling

FINE, USAGE, INTERNAL, INTERRUPTED = 0, 2, 3, 130
DEFAULT_MODEL: Final = next(iter(KNOWN))


class BadInput(Exception):
    """What was asked or given cannot be used; exit status 2."""


def main(arguments: list[str] | None = None) -> int:
    given = parser().parse_args(arguments)
    try:
        status: int = given.command(given)
    except BrokenPipeError:  # the reader has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FINE
    except KeyboardInterrupt:  # before there was anything to cancel
        return INTERRUPTED
    except OSError as error:
        print(f"dots: {error.filename}: {error.strerror}" if error.filename else f"dots: {error}", file=sys.stderr)
        return USAGE
    except BadInput as error:
        print(f"dots: {error}", file=sys.stderr)
        return USAGE
    except Refused as refused:
        print(f"dots: {refused}", file=sys.stderr)
        return exit_code(refused.failure)
    except Exception:
        traceback.print_exc()
        return INTERNAL
    return status


class Version(argparse.Action):
    """Looks for the version only when it is asked for."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> NoReturn:
        from importlib.metadata import version  # here, because reading the environment's metadata takes a while

        _print(f"dots {version('spaces')}\n")
        parser.exit()


def parser() -> argparse.ArgumentParser:
    top = argparse.ArgumentParser(prog="dots", description="Run programs and prompts under hard limits.")
    top.add_argument("--version", action=Version, nargs=0, help="show program's version number and exit")
    commands = top.add_subparsers(required=True, metavar="COMMAND")

    one = commands.add_parser("exec", help="run a compiled program, binary or text, without a server")
    one.add_argument("flow", type=Path, metavar="FLOW.dotbin")
    one.add_argument(
        "--input", action="append", type=_text, default=[], metavar="NAME=TEXT", help="a run input; repeatable"
    )
    _common(one)
    one.set_defaults(command=exec_flow)

    one = commands.add_parser("run", help="let the model continue one prompt, as one dot")
    said = one.add_mutually_exclusive_group(required=True)
    said.add_argument("--prompt", type=_text, metavar="TEXT")
    said.add_argument("--prompt-file", type=Path, metavar="FILE")
    one.add_argument("--raw", action="store_true", help="continue the text itself, without the chat template")
    one.add_argument("--max-steps", type=_positive, default=128, help="hard limit on tokens (128)")
    one.add_argument("--kv-limit", type=_positive, default=16384, metavar="KIB", help="hard limit on KV pages (16384)")
    one.add_argument("--max-seconds", type=_positive, default=600, help="hard limit on time (600)")
    one.add_argument("--no-end-tokens", action="store_true", help="go on after the model's end tokens")
    one.add_argument(
        "--stop", action="append", type=_text, default=[], metavar="TEXT", help="end before it; repeatable"
    )
    form = one.add_mutually_exclusive_group()
    form.add_argument("--json-schema", type=Path, metavar="FILE", help="say only JSON that this schema allows")
    form.add_argument("--grammar", type=Path, metavar="FILE", help="say only what this Lark grammar allows")
    one.add_argument("--temperature", type=_number(0, 2), default=0.0, help="0 (greedy) to 2")
    one.add_argument("--top-p", type=_share, default=1.0, help="draw among the likeliest that reach this share; 1: all")
    one.add_argument("--top-k", type=_whole(1000), default=0, help="draw among so many of the likeliest; 0: all")
    one.add_argument(
        "--min-p", type=_number(0, 1), default=0.0, help="least part of the likeliest token's share; 0: any"
    )
    one.add_argument(
        "--repetition-penalty", type=_number(1, 2), default=1.0, help="against tokens that were there; 1: none"
    )
    one.add_argument("--seed", type=_whole(2**53 - 1), default=0)
    one.add_argument("--model", default=DEFAULT_MODEL, metavar="NAME")
    _common(one)
    one.set_defaults(command=run_prompt)

    one = commands.add_parser("model", help="load the model and say what it is")
    one.add_argument("--model", default=DEFAULT_MODEL, metavar="NAME")
    _common(one)
    one.set_defaults(command=show_model)
    return top


def _common(one: argparse.ArgumentParser) -> None:
    one.add_argument("--executor", default="auto", metavar="NAME")
    one.add_argument("--json", action="store_true", help="print one JSON object")


def _text(text: str) -> str:
    """Python keeps argument bytes that are no text as lone surrogates."""
    if any("\ud800" <= c <= "\udfff" for c in text):
        raise argparse.ArgumentTypeError(f"expected UTF-8, got {text!r}")
    return text


def _positive(text: str) -> int:
    if not text.isascii() or not text.isdecimal() or len(text) > 18 or int(text) < 1:
        raise argparse.ArgumentTypeError(f"expected a positive number, got {text!r}")
    return int(text)


def _whole(most: int) -> Callable[[str], int]:
    def whole(text: str) -> int:
        if not text.isascii() or not text.isdecimal() or len(text) > 18 or int(text) > most:
            raise argparse.ArgumentTypeError(f"expected 0 to {most}, got {text!r}")
        return int(text)

    return whole


def _number(low: float, high: float) -> Callable[[str], float]:
    def number(text: str) -> float:
        value = float(text)
        if not low <= value <= high:
            raise argparse.ArgumentTypeError(f"expected {low:g} to {high:g}, got {text}")
        return value

    return number


def _share(text: str) -> float:
    value = float(text)
    if not 0 < value <= 1:
        raise argparse.ArgumentTypeError(f"expected above 0, to 1, got {text}")
    return value


# ---- commands ----------


def exec_flow(given: argparse.Namespace) -> int:
    data = _bytes(given.flow)
    if data[1:4] == b"IGB":  # all that this package knows of a graph: it is no program
        raise BadInput(f"{given.flow} is a graph; compile it first: igc compile {given.flow} -o flow.dotbin")
    try:
        made = program.load(data)
    except ValueError as error:
        raise BadInput(f"{given.flow}: {error}") from None
    if len(made.outputs) != 1 and not given.json:
        raise BadInput(f"{given.flow} has {len(made.outputs)} outputs; --json prints them all")
    # Here, because one prompt needs neither components nor workers, and would wait for them.
    from dots.execution import executed

    flow = executed(made, dict(map(_pair, given.input)), given.executor, DEFAULT_MODEL, _say)
    outputs = flow.outputs()
    if given.json:
        failures = [{"node": node, **facts(failure), "retry": failure.retry} for node, failure in flow.failures]
        _print(_json({"status": flow.status, "outputs": outputs, "failures": failures}) + "\n")
    elif outputs:
        (value,) = outputs.values()
        _print(value if isinstance(value, str) else _json(value))
        if sys.stdout.isatty():
            _print("\n")
    for node, failure in flow.failures:
        _say(f"{node}: {failure}")
    if flow.status == "cancelled":
        return INTERRUPTED
    return exit_code(flow.failures[0][1]) if flow.failures else FINE


def run_prompt(given: argparse.Namespace) -> int:
    text = given.prompt if given.prompt_file is None else _read(given.prompt_file)
    request = ModelRequest(
        model=given.model,
        messages=None if given.raw else (Message("user", text),),
        text=text if given.raw else None,
        sampling=Sampling(
            given.temperature, given.top_p, given.seed, given.top_k, given.min_p, given.repetition_penalty
        ),
        grammar=_grammar(given),
    )
    model = load(given.model, given.executor)
    work = Work(
        space="cli",
        prompt=tuple(model.prompt_tokens(request)),
        limits=Limits(given.max_steps, given.kv_limit, given.max_seconds),
        sampling=request.sampling,
        stop=tuple(stop for stop in given.stop if stop),
        end_tokens=not given.no_end_tokens,
    )
    grammars = Grammars(model.tokenizer.pieces, model.end_tokens) if request.grammar else None
    matcher = grammars.matcher(request.grammar) if grammars and request.grammar else None
    arena = Arena(PAGE)
    try:
        engine = Engine(model, Pool(arena.low, arena.low.pages), arena.low)
        if matcher and (failure := matcher.compile()):
            raise Refused(failure)
        shown = print_nothing if given.json else print_new
        dot = engine.submit(work, shown, matcher)
        try:
            while engine.busy:
                engine.step()
        except KeyboardInterrupt:
            engine.cancel(dot)
            shown(dot)
    finally:
        if matcher:
            matcher.close()
        if grammars:
            grammars.close()
        arena.close()
    return _report(given, dot)


def _grammar(given: argparse.Namespace) -> Grammar | None:
    if given.json_schema is not None:
        return Grammar("json_schema", _read(given.json_schema))
    return Grammar("lark", _read(given.grammar)) if given.grammar is not None else None


def print_new(dot: Dot) -> None:
    _print(dot.stream.take())


def print_nothing(dot: Dot) -> None:
    """With --json the text is part of the one object at the end."""


def _report(given: argparse.Namespace, dot: Dot) -> int:
    usage = {
        "steps": dot.steps,
        "max_steps": given.max_steps,
        "prompt_tokens": len(dot.work.prompt),
        "kv_used": dot.kv_used,
        "kv_committed": dot.kv_committed,
        "kv_limit": given.kv_limit * 1024,
    }
    if given.json:
        failure = {**facts(dot.failure), "retry": dot.failure.retry} if dot.failure else None
        told = {"text": dot.stream.text, "usage": usage, "state": dot.state, "finish": dot.finish, "failure": failure}
        _print(_json(told) + "\n")
    else:
        _print("\n")
        _say(f"usage {dot.steps}/{given.max_steps} steps, {dot.kv_committed // 1024}/{given.kv_limit} KiB")
        if dot.failure:
            _say(str(dot.failure))
    if dot.state is State.CANCELLED:
        return INTERRUPTED
    return exit_code(dot.failure) if dot.failure else FINE


def show_model(given: argparse.Namespace) -> int:
    model = load(given.model, given.executor)
    told = {"name": model.name, "digest": model.digest, "executor": model.executor.name}
    geometry = dataclasses.asdict(model.executor.geometry)
    if given.json:
        _print(_json({**told, "geometry": geometry}) + "\n")
    else:
        _print("".join(f"{name:<10} {value}\n" for name, value in {**told, **geometry}.items()))
    return FINE


# ---- words ----------


def _pair(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not name or not equals:
        raise BadInput(f"--input: expected NAME=TEXT, got {text!r}")
    return name, value


def _bytes(path: Path) -> bytes:
    """A file's bytes, as many as a file of ours may have: a pipe or a device may have no end."""
    with path.open("rb") as file:
        data = file.read(MAX_SIZE + len(program.MAGIC) + 1)
    if len(data) > MAX_SIZE + len(program.MAGIC):
        raise BadInput(f"{path}: expected at most {MAX_SIZE} bytes, got more")
    return data


def _read(path: Path) -> str:
    try:
        return _bytes(path).decode("utf-8")
    except UnicodeDecodeError as error:
        raise BadInput(f"{path}: expected UTF-8, got {error}") from None


def _json(value: object) -> str:
    """One form for one value, so that the bytes of two runs can be compared."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def _print(text: str) -> None:
    """UTF-8 whatever the terminal says, and at once."""
    sys.stdout.buffer.write(text.encode("utf-8", "surrogateescape"))
    sys.stdout.buffer.flush()


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
