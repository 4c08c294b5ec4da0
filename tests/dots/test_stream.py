"""Text of tokens: whole characters, and stop strings that lie across tokens."""

from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

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


def first_stop(text: str, stop: tuple[str, ...]) -> int | None:
    """Where the text ends, read character by character: before the first stop string to be complete."""
    for end in range(1, len(text) + 1):
        starts = [end - len(s) for s in stop if text[:end].endswith(s)]
        if starts:
            return min(starts)
    return None


TEXT = st.text("ab你🌊é\ufffd\u0301", max_size=24)
STOPS = st.lists(st.text("ab你🌊é", min_size=1, max_size=5), max_size=4)


@given(text=TEXT, stops=STOPS, cuts=st.lists(st.integers(0, 96), max_size=16))
@example(text="xaab", stops=["aab", "ab"], cuts=[])
@example(text="xabc", stops=["xabc", "ab"], cuts=[])  # the longer one begins before the shorter and ends after it
@example(text="abababac", stops=["ababac"], cuts=[3, 5])
@example(text="a你b", stops=["你b"], cuts=[2, 3])
@example(text="🌊🌊🌊", stops=["🌊🌊🌊🌊", "🌊🌊"], cuts=[1, 2, 3, 5, 7])
def test_a_stop_string_is_found_wherever_tokens_are_cut(text: str, stops: list[str], cuts: list[int]) -> None:
    """Also inside a character, and inside a stop string that overlaps itself or another."""
    given, whole, stopped = spoken(cut_at(text.encode(), cuts), *stops)
    end = first_stop(text, tuple(stops))
    assert stopped == (end is not None)
    assert whole == "".join(given) == text[:end]


@given(
    data=st.lists(
        st.sampled_from([b"\xe4", b"\xbd", b"\xa0", b"\xf0\x9f", b"\x8c", b"a", b"\xff", b"\xc0"]), max_size=24
    )
)
def test_whatever_the_bytes_what_is_given_out_is_text_and_joins_to_the_whole(data: list[bytes]) -> None:
    """A character comes out once, whole; bytes that are none come out as the replacement character."""
    given, whole, _ = spoken(data)
    assert [part.encode().decode() for part in given] == given
    assert whole == "".join(given) == b"".join(data).decode("utf-8", "replace")


def cut_at(data: bytes, cuts: list[int]) -> list[bytes]:
    places = sorted({0, len(data), *(cut % (len(data) + 1) for cut in cuts)})
    return [data[a:b] for a, b in pairwise(places)]
