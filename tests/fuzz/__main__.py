"""Coverage-guided fuzzing of the readers: `python -m tests.fuzz NAME --seconds 120`; without a name, of all of them.

The fuzzer is installed on demand into an environment of its own under `.peers/`; it is never a dependency. Prints
executions and coverage (edges of the instrumented modules), and leaves with 1 when an input crashed a reader.
"""

import argparse
import os
import re
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

from tests.hostile.readers import READERS

ROOT = Path(__file__).resolve().parents[2]
HOME = ROOT / ".peers" / "atheris"
ATHERIS = "3.0.0"
PROGRESS = re.compile(r"^#(\d+)\s.*?cov: (\d+) ft: (\d+) corp: (\d+)", re.MULTILINE)


def fuzzer() -> Path:
    """The Python that has the fuzzer."""
    python = HOME / "bin" / "python"
    if not list(HOME.glob("lib/*/site-packages/atheris")):
        print(f"installing atheris {ATHERIS} into .peers/: once", file=sys.stderr)
        subprocess.run([sys.executable, "-m", "venv", HOME], check=True)
        subprocess.run([python, "-m", "pip", "install", "-q", f"atheris=={ATHERIS}"], check=True)
    return python


def fuzz(name: str, seconds: int, out: Path) -> bool:
    """Whether no input crashed the reader."""
    corpus, crashes = out / "corpus", out / "crash-"
    corpus.mkdir()
    for number, data in enumerate(READERS[name].corpus()):
        (corpus / f"{number}").write_bytes(data)
    paths = [str(ROOT), sysconfig.get_path("purelib"), str(ROOT / "backend"), str(ROOT / "engine")]
    command = [
        str(fuzzer()),
        "-m",
        "tests.fuzz.target",
        name,
        f"-max_total_time={seconds}",
        "-timeout=5",
        "-rss_limit_mb=2048",
    ]
    command += ["-max_len=4096", f"-artifact_prefix={crashes}", str(corpus)]
    done = subprocess.run(
        command,
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(paths)},
        capture_output=True,
        text=True,
        check=False,
    )
    progress = PROGRESS.findall(done.stderr)
    if done.returncode == 0 and progress:
        before, (runs, coverage, features, kept) = progress[0][1], progress[-1]
        print(f"{name}: {runs} executions, {coverage} edges (at the start {before}), {features} features, {kept} kept")
        return True
    print(f"{name}: failed with {done.returncode}\n{(done.stdout + done.stderr)[-4000:]}")
    for crash in out.glob("crash-*"):
        print(f"{name}: crashed by {crash.read_bytes().hex()}")
    return False


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {' '.join(READERS)}; all by default")
    parser.add_argument("--seconds", type=int, default=120, help="for each reader")
    options = parser.parse_args()
    if unknown := set(options.names) - READERS.keys():
        parser.error(f"expected {' '.join(READERS)}, got {' '.join(sorted(unknown))}")
    fine = True
    for name in options.names or READERS:
        with tempfile.TemporaryDirectory() as out:
            fine &= fuzz(name, options.seconds, Path(out))
    return 0 if fine else 1


if __name__ == "__main__":
    sys.exit(main())
