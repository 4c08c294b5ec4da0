"""The loader of programs: it checks every fact of a `.dotbin` or of its text again and trusts nothing."""

import copy
from collections.abc import Callable
from typing import Any

import pytest

from dots import codec, program
from dots.codec import Malformed
from dots.program import MAGIC, Block, Instruction, Limits, Program, Step
from dots.shape import Invalid
from tests.dots.program_text import TEXT

PARAMS = {"stop": ["\u202e", "\n"], "min_p": 0.05, "top_k": 40, "top_p": 0.5, "repetition_penalty": 1.3}
TABLE = {1: b"\x00\xff", 2: None}
VALUE: dict[int, Any] = {
    0: [1, 0],
    1: bytes(32),
    2: "0.1.0",
    3: b"\x11" * 32,
    4: "exact",
    5: ["order"],
    6: {"text": 0},
    7: {"result": 4},
    8: [
        [
            5,
            [
                [
                    "llm.generate",
                    1,
                    PARAMS,
                    {"prompt": [1, 0]},
                    [
                        [
                            "text.template",
                            1,
                            {"a.b": TABLE},
                            {"text": [0]},
                            {"text": 1},
                            "0000000001",
                        ]
                    ],
                    [["flow.output", 1, {}, {"value": [2]}, {"value": 4}, "0000000003"]],
                    {"text": 2, "usage": 3},
                    [16, 64, 9],
                    "0000000002",
                ]
            ],
        ]
    ],
}
PROGRAM = Program(
    source=bytes(32),
    igc="0.1.0",
    catalogue=b"\x11" * 32,
    fusion="exact",
    passes=("order",),
    inputs={"text": 0},
    outputs={"result": 4},
    blocks=(
        Block(
            5,
            (
                Instruction(
                    "llm.generate",
                    1,
                    PARAMS,
                    {"prompt": (1, 0)},
                    {"text": 2, "usage": 3},
                    "0000000002",
                    (
                        Step(
                            "text.template",
                            1,
                            {"a.b": TABLE},
                            {"text": (0,)},
                            {"text": 1},
                            "0000000001",
                        ),
                    ),
                    (Step("flow.output", 1, {}, {"value": (2,)}, {"value": 4}, "0000000003"),),
                    Limits(16, 64, 9),
                ),
            ),
        ),
    ),
)


def test_the_file_and_the_text_stand_for_the_same_program() -> None:
    data = MAGIC + codec.encode(VALUE)
    assert program.read(data) == program.parse(TEXT) == program.load(data) == program.load(TEXT.encode()) == PROGRAM
    assert program.write(PROGRAM) == data
    assert program.show(PROGRAM) == TEXT


def test_comments_empty_lines_and_other_orders_of_facts_are_read() -> None:
    by_hand = TEXT.replace("    param top_p = 0.5\n", "\n    ; a remark\n").replace(
        "    out usage = %3\n", "    out usage = %3\n    param top_p = 5e-1\n"
    )
    assert program.parse(by_hand) == PROGRAM


def change(path: tuple[Any, ...], value: object) -> Callable[[], bytes]:
    def made() -> bytes:
        sections: Any = copy.deepcopy(VALUE)
        at = sections
        for step in path[:-1]:
            at = at[step]
        at[path[-1]] = value
        return MAGIC + codec.encode(sections)

    return made


OWN = (8, 0, 1, 0)
BEFORE = (*OWN, 4, 0)


@pytest.mark.parametrize(
    ("path", "value", "code", "where"),
    [
        ((9,), 0, "key", "9"),
        ((0,), [2, 0], "version", "format"),
        ((0,), [1], "section", "format"),
        ((0, 1), -1, "section", "format"),
        ((1,), bytes(31), "section", "source"),
        ((2,), "", "section", "igc"),
        ((2,), "x" * 65, "section", "igc"),
        ((0, 0), "1", "section", "format"),
        ((3,), "x" * 32, "section", "catalogue"),
        ((4,), "approx", "section", "fusion"),
        ((5,), "order", "section", "passes"),
        ((5,), [1], "section", "passes[0]"),
        ((5,), [""], "section", "passes[0]"),
        ((5,), ["x" * 65], "section", "passes[0]"),
        ((6,), [], "section", "inputs"),
        ((6,), {"x" * 257: 0}, "section", "inputs"),
        ((6,), {1: 0}, "section", "inputs"),
        ((6,), {"text": 5}, "section", "inputs.text"),
        ((6,), {"text": 0, "more": 0}, "slot", "inputs"),
        ((7,), {"result": -1}, "section", "outputs.result"),
        ((7,), {"": 4}, "section", "outputs"),
        ((8,), [], "section", "blocks"),
        ((8,), {1: 2}, "section", "blocks"),
        ((8, 0), [5], "section", "blocks[0]"),
        ((8, 0, 0), -1, "section", "blocks[0].slots"),
        ((8, 0, 0), 200_001, "section", "blocks[0].slots"),
        ((8, 0, 0), 4, "section", "blocks[0].instructions[0].epilogue[0].outputs.value"),
        ((8, 0, 1), {}, "section", "blocks[0].instructions"),
        ((*OWN,), [], "section", "blocks[0].instructions[0]"),
        ((*OWN, 0), "llm", "section", "blocks[0].instructions[0].component"),
        ((*OWN, 1), 0, "section", "blocks[0].instructions[0].version"),
        ((*OWN, 2), [], "section", "blocks[0].instructions[0].params"),
        ((*OWN, 2), {"a b": 1}, "section", "blocks[0].instructions[0].params"),
        ((*OWN, 2), {"key": {"secret": "sk-live"}}, "secret", "blocks[0].instructions[0].params.key"),
        ((*OWN, 3), {"prompt": []}, "section", "blocks[0].instructions[0].inputs.prompt"),
        ((*OWN, 3), {"prompt": 1}, "section", "blocks[0].instructions[0].inputs.prompt"),
        ((*OWN, 3), [], "section", "blocks[0].instructions[0].inputs"),
        ((*OWN, 3), {"prompt": [-1]}, "section", "blocks[0].instructions[0].inputs.prompt"),
        ((*OWN, 3), {"prompt": [5]}, "section", "blocks[0].instructions[0].inputs.prompt"),
        ((*OWN, 3), {"pro mpt": [1]}, "section", "blocks[0].instructions[0].inputs"),
        ((*OWN, 3), {"prompt": [2]}, "slot", "blocks[0].instructions[0].inputs.prompt"),
        ((*OWN, 4), {}, "section", "blocks[0].instructions[0].prologue"),
        (BEFORE, 0, "section", "blocks[0].instructions[0].prologue[0]"),
        (BEFORE, [], "section", "blocks[0].instructions[0].prologue[0]"),
        ((*BEFORE, 0), "x", "section", "blocks[0].instructions[0].prologue[0].component"),
        ((*BEFORE, 3), {"text": [4]}, "slot", "blocks[0].instructions[0].prologue.inputs.text"),
        ((*BEFORE, 4), {"text": 0}, "slot", "blocks[0].instructions[0].prologue.outputs.text"),
        ((*BEFORE, 5), "x", "section", "blocks[0].instructions[0].prologue[0].node"),
        ((*OWN, 5, 0, 4), {"value": 2}, "slot", "blocks[0].instructions[0].epilogue.outputs.value"),
        ((*OWN, 5, 0, 4), {}, "slot", "outputs.result"),
        ((*OWN, 6), {"text": 2, "usage": 2}, "slot", "blocks[0].instructions[0].outputs.usage"),
        ((*OWN, 6), [], "section", "blocks[0].instructions[0].outputs"),
        ((*OWN, 6), {"text": -1}, "section", "blocks[0].instructions[0].outputs.text"),
        ((*OWN, 6), {"text": True}, "section", "blocks[0].instructions[0].outputs.text"),
        ((*OWN, 6), {"te xt": 2}, "section", "blocks[0].instructions[0].outputs"),
        ((*OWN, 7), [16], "section", "blocks[0].instructions[0].dot"),
        ((*OWN, 7), [0, 64, 9], "section", "blocks[0].instructions[0].dot"),
        ((*OWN, 7), [1_000_001, 64, 9], "section", "blocks[0].instructions[0].dot"),
        ((*OWN, 7), [16, 16_777_217, 9], "section", "blocks[0].instructions[0].dot"),
        ((*OWN, 7), [16, 64, 86_401], "section", "blocks[0].instructions[0].dot"),
        ((*OWN, 7), 0, "section", "blocks[0].instructions[0].dot"),
        ((*OWN, 8), 1, "section", "blocks[0].instructions[0].node"),
    ],
    ids=lambda value: repr(value)[:40],
)
def test_a_wrong_fact_is_refused_where_it_stands(path: tuple[Any, ...], value: object, code: str, where: str) -> None:
    with pytest.raises(Invalid) as error:
        program.read(change(path, value)())
    assert (error.value.code, error.value.path) == (code, where)


@pytest.mark.parametrize("key", range(9))
def test_a_missing_fact_is_refused(key: int) -> None:
    with pytest.raises(Invalid) as error:
        program.read(MAGIC + codec.encode({k: v for k, v in VALUE.items() if k != key}))
    assert (error.value.code, error.value.path) == ("key", str(key))


def test_other_files_and_broken_bytes_are_refused() -> None:
    with pytest.raises(Invalid, match="magic at file"):
        program.read(b"\x89IGB\r\n\x1a\n\xa0")
    with pytest.raises(Malformed) as error:
        program.read(MAGIC + b"\xa0\x00")
    assert (error.value.code, error.value.offset) == ("trailing", 9)
    with pytest.raises(Invalid, match="section at file"):
        program.read(MAGIC + b"\x80")
    with pytest.raises(Invalid, match="text at file"):
        program.load(b"\xff")


@pytest.mark.parametrize(
    ("old", "new", "where"),
    [
        ("program 1.0\n", "", "line 1"),
        ("program 1.0", "program 1", "line 1"),
        ("program 1.0", "program 2.0", "format"),
        ("fusion exact", "fusion  exact", "fusion"),
        ('igc "0.1.0"', "igc 0.1.0x", "line 3"),
        ("source h'00", "source h'0", "line 2"),
        ('pass "order"', 'pass "order" 1', "line 6"),
        ('pass "order"', "pause 1", "line 6"),
        ('input "text" = %0', 'input "text" = 0', "line 7"),
        ('input "text" = %0', 'input "text" = %0 %1', "inputs.text"),
        ('input "text" = %0', 'input "text" = %0\ninput "text" = %0', "line 8"),
        ("block 5", "block -5", "line 9"),
        ("block 5\n", "", "line 9"),
        ("  llm.generate@1 #0000000002", " llm.generate@1 #0000000002", "line 10"),
        ("  llm.generate@1 #0000000002", "    llm.generate@1 #0000000002", "line 10"),
        ("  llm.generate@1 #0000000002", "  llm.generate #0000000002", "line 10"),
        ("llm.generate@1", "llm.generate@99999", "blocks[0].instructions[0].version"),
        ("  llm.generate@1", "  before llm.generate@1", "line 10"),
        ("dot steps=16", "dot step=16", "line 11"),
        ("    param stop", "     param stop", "line 12"),
        ("param stop =", "param stop", "line 12"),
        ("param stop =", "param top_p =", "line 15"),
        ("top_p = 0.5", "top_p = 0.5 0.5", "line 15"),
        ("top_p = 0.5", "top_p = 1e999", "line 15"),
        ("top_p = 0.5", "top_p = 9007199254740992", "line 15"),
        ("top_p = 0.5", "top_p = " + "9" * 5000, "line 15"),
        ("top_p = 0.5", "top_p = " + "[" * 40 + "]" * 40, "line 15"),
        ("top_p = 0.5", "top_p = " + "[" * 5000, "line 15"),
        ("top_p = 0.5", "top_p = {[]: 1}", "line 15"),
        ("top_p = 0.5", "top_p = [1", "line 15"),
        ("top_p = 0.5", "top_p = [1 2]", "line 15"),
        ("top_p = 0.5", "top_p = ,", "line 15"),
        ("top_p = 0.5", "top_p =  ", "line 15"),
        ("top_p = 0.5", 'top_p = "\\x"', "line 15"),
        ("top_p = 0.5", 'top_p = "\\ud800"', "line 15"),
        ("top_p = 0.5", "top_p = {1: 1, 1: 2}", "line 15"),
        ("top_p = 0.5", 'top_p = {1: 1, "a": 2}', "line 15"),
        ("top_p = 0.5", "top_p = {true: 1}", "line 15"),
        ("top_p = 0.5", "top_p = {-1: 1}", "line 15"),
        ("top_p = 0.5", "top_p = h'0", "line 15"),
        ("in prompt = %1 %0", "in prompt = %1,%0", "line 17"),
        ("in prompt = %1 %0", "in prompt = %5", "blocks[0].instructions[0].inputs.prompt"),
        ("    before text", "    besides text", "line 20"),
        ("    before text", "    text", "line 20"),
        ("      in text = %0", "        in text = %0", "line 22"),
        ("    after flow", "    before flow", "blocks[0].instructions[0].prologue.inputs.value"),
    ],
    ids=lambda value: value[:30],
)
def test_a_mistake_in_the_text_is_named_by_its_line(old: str, new: str, where: str) -> None:
    assert old in TEXT
    with pytest.raises(Invalid) as error:
        program.parse(TEXT.replace(old, new, 1))
    assert error.value.path == where


def test_a_text_longer_than_any_file_is_refused_before_it_is_read() -> None:
    with pytest.raises(Invalid) as caught:
        program.load(TEXT.encode() + b";\n" * (codec.MAX_SIZE // 2))
    assert (caught.value.code, caught.value.path) == ("size", "file")
