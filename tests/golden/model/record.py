"""Records what transformers in fp32 says of the model, into vectors.json beside this file. Not part of the tests' run.

It needs its own environment, outside the project's:

    python -m venv ENV && ENV/bin/pip install torch==2.13.0 transformers==5.24.0 accelerate gguf
    HF_HUB_OFFLINE=1 ENV/bin/python tests/golden/model/record.py PATH/TO/SmolLM2-135M-Instruct.Q4_1.gguf

transformers reads this file's tokenizer without the step that the model was published with and that the file names
(`smollm`: every digit is a word of its own), so the script puts it back.
"""

import hashlib
import json
import sys
from pathlib import Path

import tokenizers
import torch
import transformers
from tokenizers import pre_tokenizers

STEPS = 24

PROMPTS = [
    [{"role": "user", "content": "What is the capital of France?"}],
    [{"role": "user", "content": "Write one sentence about rain on a tin roof."}],
    [{"role": "system", "content": "You answer with a list."}, {"role": "user", "content": "Name three tools."}],
    [{"role": "user", "content": "Explain why the sky looks blue to a child of six."}],
    [
        {"role": "user", "content": "My parcel is late."},
        {"role": "assistant", "content": "I am sorry. What is its number?"},
        {"role": "user", "content": "It is 4711. Please be brief."},
    ],
]

TEXTS = [
    "",
    "The quick brown fox jumps over the lazy dog.",
    "It's what they'd've said, isn't it? I'll ask; we're done.",
    "数据流图把每个组件连在一起，运行时逐步显示结果。",
    "日本語のテキストと한국어 문장도 섞여 있습니다.",
    "Grüße aus Zürich — naïve façade, œuvre, Ωmega, Привет",
    "👍🏽 👨‍👩‍👧‍👦 🇨🇭 😀😀 ok",
    "e\u0301 versus \u00e9, ﬁ, ①, ٣٤٥, ½",
    "def f(x: int) -> int:\n    if x == 0:\n\t\treturn 1\n    return x * f(x - 1)  # recursion\n",
    'for (let i = 0; i < n; ++i) { a[i] += "\\n" + b[i]; }',
    "0 1 12 123 1234567890 3.14159 1,000,000 -7 0x1F 2026-11-30",
    "   leading, trailing   ",
    "tabs\t\tand  double   triple    spaces\n\n\nnew lines\r\n\r\nmixed \n \t \n end",
    "\n",
    " ",
    "\u00a0\u2003wide\u200bspaces\ufeff",
    "a" * 200,
    "<|im_end|>",
    "before<|im_start|>system\nyou are free<|im_end|> after <|endoftext|>",
    "<|im_<|im_end|>end|> < |im_end| > <|im_end|",
    "<repo_name>x<file_sep>y<jupyter_code>z",
    "https://example.org/a?b=c&d=%20e#f user@example.org",
    "SELECT * FROM t WHERE name = 'O''Brien' AND id IN (1,2,3);",
    "ALLCAPS mixedCase snake_case kebab-case CamelCase2Go",
]

CHATS = [
    *PROMPTS,
    [{"role": "user", "content": "你好，请介绍一下你自己。😀"}],
    [{"role": "user", "content": "  spaces kept  \n\nand lines\n"}],
    [{"role": "system", "content": ""}, {"role": "user", "content": "x = 10; y = 2"}],
    [{"role": "user", "content": ""}],
    [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}, {"role": "user", "content": "<c> | d|>"}],
]

PASSAGE = (
    "The lamp on the harbour wall was older than the town. Each evening a keeper climbed the forty steps, trimmed the "
    "wick and wrote one line in a book: the wind, the height of the water, and the name of the last boat to come in. "
    "Nobody had asked for the book. When the lamp became electric the keeper stayed, because somebody had to read the "
    "wind, and when a machine learned to read the wind the keeper stayed because of the boats. Years later a student "
    "found the shelf with its two hundred volumes and began to count. She found that storms in spring came nine days "
    "earlier than they had a century before, and that the herring had left in the same decade as the ice. The lines "
    "were short, and most of them were dull. Together they were the only record anyone had, and they were enough to "
    "change what the town believed about its own sea."
)


def main(path: Path) -> None:
    folder, file = str(path.parent), path.name
    model = transformers.AutoModelForCausalLM.from_pretrained(folder, gguf_file=file, dtype=torch.float32).eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder, gguf_file=file)
    backend = tokenizer.backend_tokenizer
    digits = pre_tokenizers.Digits(individual_digits=True)
    backend.pre_tokenizer = pre_tokenizers.Sequence([digits, pre_tokenizers.ByteLevel(add_prefix_space=False)])

    def chat(messages: list[dict[str, str]]) -> dict[str, object]:
        rendered = tokenizer.apply_chat_template(messages, add_generation_prompt=True, tokenize=False)
        return {"messages": messages, "rendered": rendered, "ids": backend.encode(rendered).ids}

    def greedy(ids: list[int]) -> list[int]:
        """Greedy with end tokens as ordinary tokens; `generate` would suppress them."""
        made: list[int] = []
        with torch.no_grad():
            past = model(torch.tensor([ids]), use_cache=True)
            while True:
                made.append(int(past.logits[0, -1].argmax()))
                if len(made) == STEPS:
                    return made
                past = model(torch.tensor([made[-1:]]), past_key_values=past.past_key_values, use_cache=True)

    chats = [chat(messages) for messages in CHATS]
    runs = [{"ids": c["ids"], "tokens": greedy(c["ids"])} for c in chats[: len(PROMPTS)]]
    backend.encode_special_tokens = True
    texts = [{"text": t, "ids": backend.encode(t).ids} for t in TEXTS]
    passage = backend.encode(PASSAGE).ids
    with torch.no_grad():
        logits = model(torch.tensor([passage])).logits[0, :-1].double()
    nll = torch.nn.functional.cross_entropy(logits, torch.tensor(passage[1:])).item()
    vectors = {
        "made_with": {
            "transformers": transformers.__version__,
            "torch": torch.__version__,
            "tokenizers": tokenizers.__version__,
        },
        "model_sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
        "greedy": runs,
        "texts": texts,
        "chats": chats,
        "passage": {"text": PASSAGE, "ids": passage, "nll": nll},
    }
    out = Path(__file__).with_name("vectors.json")
    out.write_text(json.dumps(vectors, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    print(len(passage), "passage tokens, nll", nll, "->", out.name)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
