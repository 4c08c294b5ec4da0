"""What parity asks of llama.cpp, in its own environment (`tests/bench/peers.py`): a model file of another type, and
what it makes of recorded tokens: the likeliest next ones, and how unlikely each was that came.

    python peer.py requantise SOURCE TARGET TYPE
    python peer.py read FILE < LISTS.json
"""

import ctypes
import json
import sys

import llama_cpp.llama_cpp as llama
import numpy as np

TYPES = {
    "F32": llama.LLAMA_FTYPE_ALL_F32,
    "F16": llama.LLAMA_FTYPE_MOSTLY_F16,
    "BF16": llama.LLAMA_FTYPE_MOSTLY_BF16,
    "Q4_0": llama.LLAMA_FTYPE_MOSTLY_Q4_0,
    "Q5_0": llama.LLAMA_FTYPE_MOSTLY_Q5_0,
    "Q8_0": llama.LLAMA_FTYPE_MOSTLY_Q8_0,
    "Q4_K": llama.LLAMA_FTYPE_MOSTLY_Q4_K_S,
    "Q4_K_M": llama.LLAMA_FTYPE_MOSTLY_Q4_K_M,
    "Q6_K": llama.LLAMA_FTYPE_MOSTLY_Q6_K,
}
CONTEXT = 512


@llama.llama_log_callback
def silent(level: int, text: bytes, data: object) -> None:
    pass


def requantise(source: str, target: str, kind: str) -> None:
    params = llama.llama_model_quantize_default_params()
    params.ftype = TYPES[kind]
    params.allow_requantize = True
    params.pure = kind == "Q4_K"  # without it some tensors are of another type, and the kernels take all in 8 bits
    params.nthread = 1
    if llama.llama_model_quantize(source.encode(), target.encode(), ctypes.byref(params)):
        raise RuntimeError(f"llama_model_quantize to {kind} failed")


def read(file: str, texts: list[list[int]]) -> list[dict[str, list[float]]]:
    model_params = llama.llama_model_default_params()
    model_params.n_gpu_layers = 0
    model_params.use_extra_bufts = False
    model = llama.llama_model_load_from_file(file.encode(), model_params)
    params = llama.llama_context_default_params()
    params.n_ctx = params.n_batch = params.n_ubatch = CONTEXT
    params.n_threads = params.n_threads_batch = 1
    context = llama.llama_init_from_model(model, params)
    vocab = llama.llama_vocab_n_tokens(llama.llama_model_get_vocab(model))
    b = llama.llama_batch_init(CONTEXT, 0, 1)
    said = []
    for ids in texts:
        llama.llama_memory_clear(llama.llama_get_memory(context), True)
        b.n_tokens = len(ids)
        for i, token in enumerate(ids):
            b.token[i], b.pos[i], b.n_seq_id[i], b.seq_id[i][0], b.logits[i] = token, i, 1, 0, True
        if llama.llama_decode(context, b):
            raise RuntimeError("llama_decode failed")
        rows = [np.ctypeslib.as_array(llama.llama_get_logits_ith(context, i), (vocab,)) for i in range(len(ids))]
        logits = np.stack(rows).astype(np.float64)
        above = logits[:-1] - logits[np.arange(len(ids) - 1), ids[1:]][:, None]
        surprise = np.log(np.exp(above).sum(axis=1))
        said.append({"likeliest": logits.argmax(axis=1).tolist(), "surprise": surprise.tolist()})
    return said


if __name__ == "__main__":
    llama.llama_log_set(silent, ctypes.c_void_p(0))
    llama.llama_backend_init()
    if sys.argv[1] == "requantise":
        requantise(*sys.argv[2:])
    else:
        json.dump(read(sys.argv[2], json.load(sys.stdin)), sys.stdout)
