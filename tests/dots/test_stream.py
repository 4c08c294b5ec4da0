"""Text of tokens: whole characters, and stop strings that lie across tokens."""

import random
from itertools import pairwise

import pytest

from dots.stream import TextStream


def spoken(pieces: list[bytes], *stop: str) -> tuple[list[str], str, bool]:
    """What each token gives out, all text, and whether a stop string ended it."""
    stream = TextStream(stop)
    given = []
    for piece in pieces:
        stopped = stream.push(piece)
        given.append(stream.take())
        if stopped:
            break
    stream.close()
    return [*given, stream.take()], stream.text, stream.stopped


@pytest.mark.parametrize(
    ("pieces", "stop", "given", "stopped"),
    [
        ([b"ab", b"cd"], (), ["ab", "cd", ""], False),
        ([b"ab", b"EN", b"D.", b"x"], ("END",), ["ab", "", "", ""], True),
        ([b"ab", b"EN", b"x"], ("END",), ["ab", "", "ENx", ""], False),
        ([b"ab", b"EN"], ("END",), ["ab", "", "EN"], False),
        ([b"aE", b"EEND"], ("END",), ["a", "EE", ""], True),
        ([b"xabab", b"ac"], ("ababac",), ["x", "", ""], True),
        ([b"one two"], ("two", "one"), ["", ""], True),
        ([b"\xe4\xbd", b"\xa0", b"\xf0\x9f"], (), ["", "你", "", "\ufffd"], False),
        ([b"\xff", b"a"], (), ["\ufffd", "a", ""], False),
        ([b"a\xe4", b"\xbd\xa0b"], ("你",), ["a", "", ""], True),
    ],
)
def test_a_stream_gives_out_what_is_certain(
    pieces: list[bytes], stop: tuple[str, ...], given: list[str], stopped: bool
) -> None:
    assert spoken(pieces, *stop) == (given, "".join(given), stopped)


def test_tokens_cut_anywhere_give_the_text_up_to_the_first_stop() -> None:
    chance = random.Random(7)
    for _ in range(300):
        text = "".join(chance.choices("ab你🌊", k=chance.randrange(30)))
        stop = tuple("".join(chance.choices("ab你🌊", k=chance.randrange(1, 4))) for _ in range(chance.randrange(3)))
        data = text.encode()
        cuts = sorted({0, len(data), *(chance.randrange(len(data) + 1) for _ in range(12))})
        pieces = [data[a:b] for a, b in pairwise(cuts)]
        places = [at for s in stop if (at := text.find(s)) >= 0]
        _, got, stopped = spoken(pieces, *stop)
        # A shorter stop may end inside a longer one that begins before it, when they end at different tokens.
        assert stopped == bool(places)
        assert text.startswith(got)
        assert not any(s in got for s in stop)
        if not places:
            assert got == text
