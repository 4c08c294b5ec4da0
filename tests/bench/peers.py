"""The peers, each installed on demand into an environment of its own under `.peers/`; never a dependency of ours."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
HERE = Path(__file__).parent
PEERS = ROOT / ".peers"
LLAMA_CPP = "0.3.36"  # of llama-cpp-python


def llama_cpp() -> Path | None:
    """The interpreter of llama.cpp's environment, compiled at the first call, which takes minutes. None: it failed."""
    python = PEERS / "llama-cpp" / "bin" / "python"
    check = [str(python), "-c", f"import llama_cpp; assert llama_cpp.__version__ == '{LLAMA_CPP}'"]
    if python.exists() and subprocess.run(check, capture_output=True).returncode == 0:
        return python
    print(f"compiling llama.cpp (llama-cpp-python {LLAMA_CPP}) into .peers/: some minutes, once", file=sys.stderr)
    venv = [sys.executable, "-m", "venv", str(python.parents[1])]
    build = [str(python), "-m", "pip", "install", "-q", "--no-binary", "llama-cpp-python"]
    for command in (venv, [*build, f"llama-cpp-python=={LLAMA_CPP}"]):
        if subprocess.run(command).returncode:
            return None
    return python


def q4_0(python: Path, source: Path) -> Path | None:
    target = PEERS / f"{source.stem}-as-Q4_0.gguf"
    if not target.exists():
        part = target.with_suffix(".part")
        made = subprocess.run([str(python), str(HERE / "llama_contender.py"), "requantise", str(source), str(part)])
        if made.returncode:
            return None
        part.rename(target)
    return target
