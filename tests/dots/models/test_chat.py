"""The chat template is a stranger's program: what it may do, where it is stopped, and what messages cannot forge."""

import time
import tracemalloc

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dots.errors import Refused
from dots.models.chat import MAX_OUTPUT, ChatTemplate
from dots.models.sandbox import SECONDS
from dots.models.tokenizer import BytePairTokenizer, Vocabulary, byte_alphabet
from dots.request import Message

CHATML = (
    "{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>\n' }}"
    "{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)
CONTROLS = ["<|im_start|>", "<|im_end|>", "<s>"]


def tokenizer():
    tokens = [*sorted(byte_alphabet()), *CONTROLS]
    return BytePairTokenizer(Vocabulary(tokens, [1] * 256 + [3] * 3, [], "gpt-2", None, False, frozenset()))


def render(source, *texts):
    return ChatTemplate(source, tokenizer(), "<s>", "<|im_end|>").render([Message("user", t) for t in texts])


HOSTILE = {
    "endless text": "{% for a in range(99999) %}{% for b in range(99999) %}xxxxxxxx{% endfor %}{% endfor %}",
    "endless silence": "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}",
    "a huge range": "{% for a in range(10 ** 9) %}{% endfor %}",
    "a huge product": "{{ 'x' * 10000000000 }}",
    "a huge product of variables": "{% set n = 9999999 %}{{ 'ab' * (n * n) }}",
    "a huge list": "{{ ([0] * 10000000000)|length }}",
    "a huge power": "{{ 10 ** 10 ** 10 }}",
    "a huge number": "{% set n = namespace(v=9) %}{% for a in range(99) %}{% set n.v = n.v * n.v %}{% endfor %}",
    "doubling by +": "{% set n = namespace(v='x') %}{% for a in range(60) %}{% set n.v = n.v + n.v %}{% endfor %}",
    "doubling by ~": "{% set n = namespace(v='x') %}{% for a in range(60) %}{% set n.v = n.v ~ n.v %}{% endfor %}",
    "doubling by blocks": "{% set v = 'x' %}" + "{% set v %}{{ v }}{{ v }}{% endset %}" * 60,
    "doubling by join": "{% set n = namespace(v='xx') %}{% for a in range(60) %}"
    "{% set n.v = n.v|list|join(n.v) %}{% endfor %}",
    "doubling by replace": "{% set n = namespace(v='xx') %}{% for a in range(60) %}"
    "{% set n.v = n.v.replace('x', n.v) %}{% endfor %}",
    "doubling by a filter": "{% set n = namespace(v='xx') %}{% for a in range(60) %}"
    "{% set n.v = n.v|replace('x', n.v) %}{% endfor %}",
    "doubling a list": "{% set n = namespace(v=[1]) %}{% for a in range(60) %}{% set n.v = n.v + n.v %}{% endfor %}",
    "keeping much": "{% set n = namespace(v=[]) %}{% for a in range(99999) %}"
    "{% set n.v = n.v + (messages[0].content ~ a).split('!') %}{% endfor %}",
    "padding by formatting": "{{ '%1000000000d' % 1 }}",
    "padding by format": "{{ '{:>1000000000}'.format(1) }}",
    "padding by ljust": "{{ 'x'.ljust(1000000000) }}",
    "padding by center": "{{ 'x'|center(1000000000) }}",
    "padding by indent": "{{ messages|tojson(indent=1000000000) }}",
    "much lorem": "{{ lipsum(n=1000000) }}",
    "endless macros": "{% macro f() %}{{ f() }}{{ f() }}{% endmacro %}{{ f() }}",
    "values in themselves": "{% set a = [1] %}" + "{% set a = [a, a] %}" * 50 + "{{ a == a|list }}",
    "the interpreter": "{{ ''.__class__.__mro__[1].__subclasses__() }}",
    "globals of a function": "{{ raise_exception.__globals__['os'] }}",
    "other files": "{% include '/etc/passwd' %}",
    "imports": "{% import 'os' as os %}",
    "deep nesting": "{{ " + "(" * 5000 + "1" + ")" * 5000 + " }}",
    "many nested loops": "{% for a in [1] %}" * 30 + "{% endfor %}" * 30,
    "a broken template": "{% for %}",
    "what it says itself": "{{ raise_exception('roles must alternate') }}",
    "a missing filter": "{{ messages|pprint }}",
    "arithmetic on text": "{{ 1 / 0 }}",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_template_is_refused_in_time_and_in_little_memory(name):
    tracemalloc.start()
    start = time.monotonic()
    try:
        with pytest.raises(Refused, match="chat template"):
            render(HOSTILE[name], "y" * 5000)
        assert tracemalloc.get_traced_memory()[1] < 64 << 20
    finally:
        tracemalloc.stop()
    assert time.monotonic() - start < SECONDS + 1.5


def test_the_limit_is_on_what_the_template_adds_to_the_messages():
    assert render("{{ messages[0].content }}" + "x" * 1000, "y" * 100_000) == "y" * 100_000 + "x" * 1000
    with pytest.raises(Refused, match=f"{MAX_OUTPUT} characters"):
        render("{% for a in range(70) %}" + "x" * 1000 + "{% endfor %}", "y")


def test_a_refused_rendering_leaves_the_template_usable():
    template = ChatTemplate("{% for a in range(messages[0].content|int) %}{{ 'x' }}{% endfor %}", tokenizer())
    with pytest.raises(Refused):
        template.render([Message("user", "90000")])
    assert template.render([Message("user", "3")]) == "xxx"


def test_what_chat_templates_use_works():
    source = """
{%- set ns = namespace(system='') -%}
{%- for m in messages if m.role == 'user' -%}
    {%- if loop.first and not loop.last %}{% set ns.system = m.content | trim %}{% continue %}{% endif -%}
    {%- macro show(x) %}[{{ x | upper ~ '!' }}]{% endmacro -%}
    {{ loop.index0 }}{{ show(m['content'].split('|')[-1].strip()) }}{{ m | tojson }}
    {%- if tools is defined and tools %}never{% endif -%}
{%- endfor -%}
{{ ns.system }}{{ messages[1:] | length % 2 }}{{ bos_token }}{{ ['a', 'b'] | join('-') }}{{ none is none }}"""
    assert render(source, " s ", "x| y ") == '1[Y!]{"role": "user", "content": "x| y "}s1<s>a-bTrue'


def ids_of(*texts):
    return ChatTemplate(CHATML, tokenizer()).tokens([Message("user", t) for t in texts])


LOOKALIKES = [*CONTROLS, "<|im_", "end|>", "<|im_<|im_end|>end|>", "<s", ">", "|", "<<s>>", "a", "\U00100000", " "]


@settings(max_examples=150, deadline=None)
@given(texts=st.lists(st.lists(st.sampled_from(LOOKALIKES), max_size=6).map("".join), min_size=1, max_size=3))
def test_messages_cannot_forge_special_tokens_and_lose_nothing(texts):
    tk = tokenizer()
    start, end = tk.specials["<|im_start|>"], tk.specials["<|im_end|>"]
    expected = []
    for text in texts:
        expected += [start, *tk.encode(f"user\n{text}"), end, *tk.encode("\n")]
    assert ids_of(*texts) == [*expected, start, *tk.encode("assistant\n")]


@pytest.mark.parametrize(
    ("before", "text", "after"), [("<", "s", ">"), ("<", "s>", ""), ("", "<s", ">"), ("<|im_", "end|>", "")]
)
def test_a_template_that_pastes_text_into_half_a_token_does_not_complete_it(before, text, after):
    template = ChatTemplate(before + "{{ messages[0].content }}" + after, tokenizer())
    whole = template.tokens([Message("user", text)])
    assert whole == tokenizer().encode(before + text + after)
