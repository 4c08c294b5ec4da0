"""`make bench`: how fast the model runs here, against llama.cpp and transformers in the same minutes. Prints tables and
ratios, and writes them to `build/bench/` as JSON and Markdown."""

import argparse
import json
import sys
from pathlib import Path

from dots.models.isa import available, physical_cores
from dots.models.model import KNOWN, find_file
from tests.bench.machine import facts
from tests.bench.measure import Running, Spread, Task, compete, spread
from tests.bench.peers import HERE, ROOT, llama_cpp, q4_0, transformers
from tests.bench.start import PROMPT, Starting, race

MODEL = "smollm2-135m-instruct"
REQUANTISED = "requantised to Q4_0"
STREAMS, ROWS = 8, 320
ONE = Task("decode, 1 stream", "decode", 1, 64, prompt=128)
EIGHT = Task(f"decode, {STREAMS} streams", "decode", STREAMS, 16, prompt=128)
PREFILL = Task("prefill", "prefill", 1, 0, prompt=177)
TASKS = (ONE, EIGHT, PREFILL)


def ours(wanted: set[str]) -> list[Running]:
    """The default model on each instruction set, and what llama.cpp likes best on the first."""
    names = [f"numba-{isa}" for isa in available()] or ["numpy-f32"]
    script = [sys.executable, str(HERE / "spaces_contender.py")]
    shape = [str(STREAMS), str(ROWS)]
    found = [Running(f"Spaces {n}", [*script, n, *shape]) for n in names]
    if "llama" in wanted and (python := llama_cpp()) is not None and (file := q4_0(python, find_file(KNOWN[MODEL]))):
        found.append(Running(f"Spaces {names[0]}, {REQUANTISED}", [*script, names[0], *shape, str(file)]))
    return found


def bound() -> list[Running]:
    """What no one-stream decoder that reads these weights can exceed."""
    names = [f"numba-{isa}" for isa in available()][:1]
    script = str(HERE / "reading_contender.py")
    return [Running("the weights read, nothing computed", [sys.executable, script, n], only=[ONE.name]) for n in names]


def llama_files(python: Path) -> list[tuple[str, Path, str]]:
    """The same file with and without llama.cpp's extra buffer types, and requantised to what it likes best."""
    file = find_file(KNOWN[MODEL])
    files = [("Q4_1", file, "0"), ("Q4_1, extra buffers", file, "1")]
    requantised = q4_0(python, file)
    if requantised is not None:
        files += [(REQUANTISED, requantised, "0"), (f"{REQUANTISED}, extra buffers", requantised, "1")]
    return files


def theirs(wanted: set[str]) -> list[Running]:
    found = []
    shape = [str(physical_cores()), str(STREAMS)]
    if "llama" in wanted and (python := llama_cpp()) is not None:
        script = str(HERE / "llama_contender.py")
        for name, file, extra in llama_files(python):
            found.append(Running(f"llama.cpp {name}", [str(python), script, str(file), *shape, str(ROWS), extra]))
    if "torch" in wanted and (python := transformers()) is not None:
        script, file = str(HERE / "torch_contender.py"), str(find_file(KNOWN[MODEL]))
        for kind in ("float32", "bfloat16"):
            found.append(Running(f"transformers {kind}", [str(python), script, file, *shape, kind]))
    return found


def starters(wanted: set[str]) -> list[Starting]:
    prompt = [str(i) for i in passage()[:PROMPT]]
    found = [Starting("Spaces", [sys.executable, str(HERE / "spaces_start.py"), *prompt])]
    if "llama" in wanted and (python := llama_cpp()) is not None:
        script, threads = str(HERE / "llama_start.py"), str(physical_cores())
        for name, file, extra in llama_files(python):
            command = [str(python), script, str(file), threads, extra, *prompt]
            found.append(Starting(f"llama.cpp {name}", command))
    return found


def passage() -> list[int]:
    recorded = json.loads((ROOT / "tests/golden/model/vectors.json").read_text(encoding="utf-8"))
    return [int(i) for i in recorded["passage"]["ids"]]


def cell(s: Spread, digits: int = 0) -> str:
    return f"{s.median:.{digits}f} ({s.least:.{digits}f}–{s.most:.{digits}f})"


def speed_table(contenders: list[Running]) -> list[str]:
    lines = ["| tokens a second, median (least–most) | " + " | ".join(t.name for t in TASKS) + " |"]
    lines.append("|---" * (len(TASKS) + 1) + "|")
    for c in contenders:
        cells = [cell(spread(c.speeds[t.name])) if t.name in c.speeds else c.failed or "–" for t in TASKS]
        lines.append(f"| {c.name} | " + " | ".join(cells) + " |")
    return lines


def start_table(entrants: list[Starting]) -> list[str]:
    lines = [f"| seconds to the first token after {PROMPT}, median (least–most) | |", "|---|---|"]
    return lines + [f"| {e.name} | {cell(spread(e.seconds), 2) if e.seconds else e.failed or '–'} |" for e in entrants]


def ratios(contenders: list[Running]) -> list[str]:
    """Our first executor against each kind of peer's best, and against the bound."""

    def speed(contender: Running, task: Task) -> float:
        return spread(contender.speeds[task.name]).median if task.name in contender.speeds else 0.0

    lines: list[str] = []
    first, *others = (c for c in contenders if c.name.startswith("Spaces"))
    pairs = [(first, kind) for kind in ("llama.cpp Q4_1", "llama.cpp", "transformers float32", "transformers bfloat16")]
    pairs += [(c, f"llama.cpp {REQUANTISED}") for c in others if c.name.endswith(REQUANTISED)]
    for own, kind in pairs:
        peers = [c for c in contenders if c.name.startswith(kind) and not c.failed]
        for task in TASKS if peers else ():
            best = max(peers, key=lambda c: speed(c, task))
            lines.append(f"- {own.name}, {task.name}: **{speed(own, task) / speed(best, task):.2f}x** {best.name}")
        if peers:
            best = max(peers, key=lambda c: speed(c, ONE))
            ratio = speed(own, EIGHT) / speed(best, ONE)
            lines.append(f"- {own.name}, {EIGHT.name}: **{ratio:.2f}x** one stream of {best.name}")
    for reading in (c for c in contenders if ONE.name in c.speeds and list(c.only) == [ONE.name]):
        lines.append(f"- {ONE.name}: **{speed(first, ONE) / speed(reading, ONE):.0%}** of the bound that reading sets")
    return lines or ["- no peer ran, so there is no ratio"]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--peers", default="llama,torch", help="of llama, torch; empty: this project alone")
    parser.add_argument("--only", choices=["speed", "start"], help="one kind of measurement")
    options = parser.parse_args()
    wanted = set(filter(None, options.peers.split(",")))
    machine, report, figures = facts(), [], {}
    disturbed = 0
    if options.only != "start":
        contenders = [*ours(wanted), *bound(), *theirs(wanted)]
        disturbed += compete(contenders, TASKS, passage(), options.rounds)
        report += [*speed_table(contenders), "", *ratios(contenders), ""]
        figures["speeds"] = {c.name: c.failed or c.speeds for c in contenders}
    if options.only != "speed":
        entrants = starters(wanted)
        disturbed += race(entrants, options.rounds)
        report += start_table(entrants)
        figures["starts"] = {e.name: e.failed or e.seconds for e in entrants}
    machine["measurements that began on a busy machine"] = str(disturbed)
    head = [f"- {key}: {value}" for key, value in machine.items()]
    head.append(f"- {MODEL}, {physical_cores()} threads, {options.rounds} interleaved rounds")
    out = ROOT / "build" / "bench"
    out.mkdir(parents=True, exist_ok=True)
    text = "\n".join([*head, "", *report])
    (out / "bench.md").write_text(text + "\n", encoding="utf-8")
    (out / "bench.json").write_text(json.dumps({"machine": machine, **figures}, indent=1), encoding="utf-8")
    print(text)
    print(f"written to {Path('build/bench')}")


if __name__ == "__main__":
    main()
