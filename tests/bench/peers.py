"""The peers, each installed on demand into an environment of its own under `.peers/`; never a dependency of ours."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
HERE = Path(__file__).parent
PEERS = ROOT / ".peers"
LLAMA_CPP = "0.3.36"  # of llama-cpp-python
TRANSFORMERS = {"torch": "2.13.0", "transformers": "5.24.0"}


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


def transformers() -> Path | None:
    """The interpreter of transformers' environment, installed at the first call (torch alone is about 1 GB)."""
    python = PEERS / "transformers" / "bin" / "python"
    versions = [f"{name}=={version}" for name, version in TRANSFORMERS.items()]
    check = [str(python), "-c", "import torch, transformers, gguf, accelerate"]
    if python.exists() and subprocess.run(check, capture_output=True).returncode == 0:
        return python
    print(f"installing {', '.join(versions)} into .peers/: some minutes, once", file=sys.stderr)
    venv = [sys.executable, "-m", "venv", str(python.parents[1])]
    for command in (venv, [str(python), "-m", "pip", "install", "-q", *versions, "gguf", "accelerate"]):
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
