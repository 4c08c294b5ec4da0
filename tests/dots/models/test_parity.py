"""The real model requantised to each type: the kernels against the oracle on the same file, llama.cpp beside them.

The files are too large to keep, so llama.cpp makes them. With -s each test prints its line of the table in
`docs/performance.md`.
"""

import json
import subprocess
from pathlib import Path

import numpy as np
import pytest

from dots.models.gguf import open_model
from dots.models.isa import available
from dots.models.model import KNOWN, find_file, make_executor

ROOT = Path(__file__).parents[3]
TEXTS = ROOT / "tests" / "golden" / "model" / "parity.txt"
PEER = ROOT / ".peers" / "llama-cpp" / "bin" / "python"
HERE = Path(__file__).parent

SHIPPED = "Q4_1"
KINDS = ["Q4_0", SHIPPED, "Q5_0", "Q8_0", "Q4_K", "Q4_K_M", "Q6_K", "F16", "BF16", "F32"]

pytestmark = [
    pytest.mark.model,
    pytest.mark.long,
    pytest.mark.skipif(not PEER.exists(), reason="llama.cpp makes the files; `make bench` compiles it"),
    pytest.mark.skipif(not available(), reason="a processor without the kernels' instructions"),
]


@pytest.fixture(scope="module")
def texts(oracle, vectors):
    recorded = TEXTS.read_text(encoding="utf-8").split("-----\n")
    return [vectors["passage"]["ids"], *(oracle.tokenizer.encode(t.strip()) for t in recorded)]


def ask_peer(*arguments, given=""):
    command = [str(PEER), str(HERE / "peer.py"), *map(str, arguments)]
    return subprocess.run(command, input=given, capture_output=True, text=True, check=True).stdout


def surprises(logits, ids):
    before = logits[:-1].astype(np.float64)
    above = before - before[np.arange(len(ids) - 1), ids[1:]][:, None]
    return np.log(np.exp(above).sum(axis=1))


@pytest.mark.parametrize("kind", KINDS)
def test_kernels_say_what_the_oracle_says_of_the_recorded_texts(kind, texts, sequences, tmp_path):
    path = find_file(KNOWN["smollm2-135m-instruct"])
    if kind != SHIPPED:
        source, path = path, tmp_path / f"{kind}.gguf"
        ask_peer("requantise", source, path, kind)
    try:
        peer = json.loads(ask_peer("read", path, given=json.dumps(texts)))
        file = open_model(path)
        said = []
        for name in ("numpy-f32", f"numba-{available()[0]}"):
            executor = make_executor(file, name)
            logits = [sequences(executor, len(ids)).feed({0: ids}, want="all") for ids in texts]
            said.append(
                (
                    np.concatenate([surprises(x, ids) for x, ids in zip(logits, texts, strict=True)]),
                    np.concatenate([x.argmax(axis=1) for x in logits]),
                )
            )
    finally:
        if kind != SHIPPED:
            path.unlink(missing_ok=True)  # half a gigabyte
    said.append(tuple(np.concatenate([p[what] for p in peer]) for what in ("surprise", "likeliest")))
    (slow, right), (quick, likeliest), (other, others) = said
    more, agreed = quick.mean() - slow.mean(), (likeliest == right).mean()
    peers = f"{other.mean() - slow.mean():+.4f} | {(others == right).mean():.1%}"
    print(f"\n| {kind} | {slow.mean():.4f} | {more:+.4f} | {agreed:.1%} | {peers} |")
    assert abs(more) < 0.02
    assert agreed >= 0.95
