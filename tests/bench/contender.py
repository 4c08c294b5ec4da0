"""What is measured, as a process that waits for orders: one JSON object a line in, one out. Standard library only, so
that a peer's own environment can run it.

Every contender does the same work on the same token ids: `prefill` takes a prompt into an empty cache and returns the
likeliest next token; `decode` continues that cache by single tokens, in one stream or in several at once, and picks
the likeliest token of each. Times are of that work alone.
"""

import json
import sys
import time
from collections.abc import Callable
from typing import Protocol


class Contender(Protocol):
    def clear(self) -> None:
        """Forget every sequence."""

    def prefill(self, stream: int, prompt: list[int]) -> int:
        """Append a prompt to an empty sequence; the likeliest next token."""

    def step(self, tokens: list[int]) -> list[int]:
        """Append one token to each of the first sequences; the likeliest next one of each."""


def timed(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def obey(contender: Contender, order: dict[str, object]) -> dict[str, object]:
    prompt = [int(i) for i in list(order["prompt"])]  # type: ignore[call-overload]
    streams, steps = int(str(order["streams"])), int(str(order["steps"]))
    contender.clear()
    if order["do"] == "prefill":
        start = time.perf_counter()
        first = contender.prefill(0, prompt)
        return {"seconds": time.perf_counter() - start, "tokens": len(prompt), "first": first}
    tokens = [contender.prefill(s, prompt) for s in range(streams)]

    def decode() -> None:
        nonlocal tokens
        for _ in range(steps):
            tokens = contender.step(tokens)

    return {"seconds": timed(decode), "tokens": streams * steps, "first": tokens[0]}


def serve(contender: Contender) -> None:
    print(json.dumps({"ready": True}), flush=True)
    for line in sys.stdin:
        print(json.dumps(obey(contender, json.loads(line))), flush=True)
