"""transformers on torch under measurement, in its own environment.

`python torch_contender.py FILE THREADS STREAMS KIND`: the file is read to float32 or bfloat16 by transformers itself.
"""

import sys
from pathlib import Path
from typing import Any

import torch
from contender import serve  # the folder of a script is on its path
from transformers import AutoModelForCausalLM, DynamicCache


class Transformers:
    def __init__(self, file: Path, threads: int, streams: int, kind: str) -> None:
        torch.set_num_threads(threads)
        self.model: Any = AutoModelForCausalLM.from_pretrained(
            file.parent, gguf_file=file.name, dtype=getattr(torch, kind), local_files_only=True
        ).eval()
        self.clear()

    def clear(self) -> None:
        self.caches: dict[int, Any] = {}
        self.joined: Any = None

    @torch.inference_mode()
    def prefill(self, stream: int, prompt: list[int]) -> int:
        self.caches[stream] = DynamicCache()
        out = self.model(torch.tensor([prompt]), past_key_values=self.caches[stream], logits_to_keep=1)
        return int(out.logits[0, -1].argmax())

    @torch.inference_mode()
    def step(self, tokens: list[int]) -> list[int]:
        """All streams have the same length here, so that no padding is needed."""
        if self.joined is None:
            self.joined = self.caches[0] if len(tokens) == 1 else joined([self.caches[s] for s in range(len(tokens))])
        out = self.model(torch.tensor(tokens)[:, None], past_key_values=self.joined, logits_to_keep=1)
        return [int(i) for i in out.logits[:, -1].argmax(dim=-1)]


def joined(caches: list[Any]) -> Any:
    """The caches of single sequences as one of a batch."""
    whole = DynamicCache()
    for i in range(len(caches[0].layers)):
        keys, values = (torch.cat([getattr(c.layers[i], part) for c in caches]) for part in ("keys", "values"))
        whole.update(keys, values, i)
    return whole


if __name__ == "__main__":
    file, threads, streams, kind = sys.argv[1:]
    serve(Transformers(Path(file), int(threads), int(streams), kind))
