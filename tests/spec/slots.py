"""The vectors of the slots that a template names (docs/formats.md §4)."""

from tests.spec.case import Case

SLOTS: list[tuple[str, list[str]]] = [
    ("", []),
    ("plain", []),
    ("{a}", ["a"]),
    ("{a} and {b} and {a}", ["a", "b"]),
    ("{b}{a}", ["b", "a"]),
    ("{{a}}", []),
    ("{{{a}}}", ["a"]),
    ("{{{{a}}}}", []),
    ("{}", []),
    ("{ a }", []),
    ("{a b}", []),
    ("{a\n}", []),
    ("{a", []),
    ("a}", []),
    ("{a{b}", ["b"]),
    ("{a}}", ["a"]),
    ("{{a}", []),
    ("{a}{{b}}{c}", ["a", "c"]),
    ("{问题}", ["问题"]),
    ("{\U0001f600}", ["\U0001f600"]),
    ("{" + "a" * 64 + "}", ["a" * 64]),
    ("{" + "a" * 65 + "}", []),
    ("{" + "é" * 32 + "}", ["é" * 32]),
    ("{" + "é" * 33 + "}", []),
    ("{a\u3000}", []),
    ("{a\ufeff}", ["a\ufeff"]),
    ("{a\x85}", []),
    ('{"json": 1}', []),
    ('{"json":1}', ['"json":1']),
    ("{__proto__}", ["__proto__"]),
    ("{1}{0}", ["1", "0"]),
]


def cases() -> list[Case]:
    return [{"name": f"template {at}", "template": text, "slots": names} for at, (text, names) in enumerate(SLOTS)]
