"""`make bench`: how fast the model runs here, against llama.cpp in the same minutes. Prints a table and the ratios, and
writes them to `build/bench/` as JSON and Markdown."""

import argparse
import json
import sys
from pathlib import Path

from dots.models.isa import available, physical_cores
from dots.models.model import KNOWN, find_file
from tests.bench.machine import facts
from tests.bench.measure import Running, Task, compete, spread
from tests.bench.peers import HERE, ROOT, llama_cpp, q4_0

MODEL = "smollm2-135m-instruct"
STREAMS, ROWS = 8, 320
TASKS = (
    Task("decode, 1 stream", "decode", 1, 64, prompt=128),
    Task(f"decode, {STREAMS} streams", "decode", STREAMS, 16, prompt=128),
    Task("prefill", "prefill", 1, 0, prompt=177),
)


def ours() -> list[Running]:
    names = [f"numba-{isa}" for isa in available()] or ["numpy-f32"]
    script = str(HERE / "spaces_contender.py")
    return [Running(f"Spaces {n}", [sys.executable, script, n, str(STREAMS), str(ROWS)]) for n in names]


def theirs() -> list[Running]:
    """The same file with and without llama.cpp's extra buffer types, and requantised to what it likes best."""
    python = llama_cpp()
    if python is None:
        return []
    file = find_file(KNOWN[MODEL])
    requantised = q4_0(python, file)
    files = [("Q4_1", file, "0"), ("Q4_1, extra buffers", file, "1")]
    files += [("requantised to Q4_0, extra buffers", requantised, "1")] if requantised else []
    script, rest = str(HERE / "llama_contender.py"), [str(physical_cores()), str(STREAMS), str(ROWS)]
    return [Running(f"llama.cpp {name}", [str(python), script, str(f), *rest, extra]) for name, f, extra in files]


def table(contenders: list[Running]) -> list[str]:
    lines = ["| tokens a second, median (least–most) | " + " | ".join(t.name for t in TASKS) + " |"]
    lines.append("|---" * (len(TASKS) + 1) + "|")
    for contender in contenders:
        cells = []
        for task in TASKS:
            if task.name not in contender.speeds:
                cells.append(contender.failed or "–")
                continue
            s = spread(contender.speeds[task.name])
            cells.append(f"{s.median:.0f} ({s.least:.0f}–{s.most:.0f})")
        lines.append(f"| {contender.name} | " + " | ".join(cells) + " |")
    return lines


def ratios(contenders: list[Running]) -> list[str]:
    """Our first executor against each peer, and against the best of them."""
    first, peers = contenders[0], [c for c in contenders if c.name.startswith("llama.cpp") and not c.failed]
    lines = []
    for task in TASKS if peers else ():
        own = spread(first.speeds[task.name]).median
        speeds = {p.name: spread(p.speeds[task.name]).median for p in peers}
        best = max(speeds, key=lambda name: speeds[name])
        each = ", ".join(f"{own / speed:.2f}x {name}" for name, speed in speeds.items())
        lines.append(f"- {task.name}: **{own / speeds[best]:.2f}x** the best peer ({best}); {each}")
    return lines or ["- no peer ran, so there is no ratio"]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--no-peers", action="store_true", help="measure this project alone")
    options = parser.parse_args()
    machine = facts()
    prompt = json.loads((ROOT / "tests/golden/model/vectors.json").read_text(encoding="utf-8"))["passage"]["ids"]
    contenders = ours() + ([] if options.no_peers else theirs())
    disturbed = compete(contenders, TASKS, prompt, options.rounds)
    machine["measurements that began on a busy machine"] = str(disturbed)
    report = [
        *(f"- {key}: {value}" for key, value in machine.items()),
        f"- {MODEL}, {physical_cores()} threads, {options.rounds} interleaved rounds, "
        "contexts from 128 tokens, a prompt of 177",
        "",
        *table(contenders),
        "",
        *ratios(contenders),
    ]
    out = ROOT / "build" / "bench"
    out.mkdir(parents=True, exist_ok=True)
    (out / "decode.md").write_text("\n".join(report) + "\n", encoding="utf-8")
    speeds = {c.name: c.failed or c.speeds for c in contenders}
    (out / "decode.json").write_text(json.dumps({"machine": machine, "speeds": speeds}, indent=1), encoding="utf-8")
    print("\n".join(report))
    print(f"written to {Path('build/bench')}")


if __name__ == "__main__":
    main()
