"""llama.cpp under measurement, in its own environment, by its C interface: no Python stands in the measured loop
that ours has not too. `python llama_contender.py FILE THREADS STREAMS ROWS EXTRA_BUFFERS`."""

import ctypes
import sys

import llama_cpp.llama_cpp as llama
import numpy as np
from contender import serve


@llama.llama_log_callback
def silent(level: int, text: bytes, data: object) -> None:
    pass


class LlamaCpp:
    def __init__(self, file: str, threads: int, streams: int, rows: int, extra_buffers: bool) -> None:
        llama.llama_log_set(silent, ctypes.c_void_p(0))
        llama.llama_backend_init()
        model_params = llama.llama_model_default_params()
        model_params.n_gpu_layers = 0
        model_params.use_extra_bufts = extra_buffers  # repacked weights, and AMX where there is any
        self.model = llama.llama_model_load_from_file(file.encode(), model_params)
        params = llama.llama_context_default_params()
        params.n_ctx = streams * rows
        params.n_batch = params.n_ubatch = 512
        params.n_seq_max = streams
        params.n_threads = params.n_threads_batch = threads
        params.no_perf = True
        self.context = llama.llama_init_from_model(self.model, params)
        self.batch = llama.llama_batch_init(512, 0, 1)
        self.vocab = llama.llama_vocab_n_tokens(llama.llama_model_get_vocab(self.model))
        self.clear()

    def clear(self) -> None:
        llama.llama_memory_clear(llama.llama_get_memory(self.context), True)
        self.lengths: dict[int, int] = {}

    def feed(self, tokens: list[int], streams: list[int], want: list[int]) -> list[int]:
        b = self.batch
        b.n_tokens = len(tokens)
        for i, (token, stream) in enumerate(zip(tokens, streams, strict=True)):
            position = self.lengths.get(stream, 0)
            self.lengths[stream] = position + 1
            b.token[i], b.pos[i], b.n_seq_id[i], b.seq_id[i][0], b.logits[i] = token, position, 1, stream, i in want
        if llama.llama_decode(self.context, b):
            raise RuntimeError("llama_decode failed")
        logits = [llama.llama_get_logits_ith(self.context, i) for i in want]
        return [int(np.ctypeslib.as_array(row, (self.vocab,)).argmax()) for row in logits]

    def prefill(self, stream: int, prompt: list[int]) -> int:
        return self.feed(prompt, [stream] * len(prompt), [len(prompt) - 1])[0]

    def step(self, tokens: list[int]) -> list[int]:
        return self.feed(tokens, list(range(len(tokens))), list(range(len(tokens))))


def requantise(source: str, target: str) -> None:
    """To Q4_0, for which llama.cpp has its best kernels."""
    llama.llama_log_set(silent, ctypes.c_void_p(0))
    params = llama.llama_model_quantize_default_params()
    params.ftype = llama.LLAMA_FTYPE_MOSTLY_Q4_0
    params.allow_requantize = True
    if llama.llama_model_quantize(source.encode(), target.encode(), ctypes.byref(params)):
        raise RuntimeError("llama_model_quantize failed")


if __name__ == "__main__":
    if sys.argv[1] == "requantise":
        requantise(sys.argv[2], sys.argv[3])
    else:
        file, threads, streams, rows, extra = sys.argv[1:]
        serve(LlamaCpp(file, int(threads), int(streams), int(rows), extra == "1"))
