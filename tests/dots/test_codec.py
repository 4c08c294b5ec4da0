"""The codec against an oracle, and what it refuses to write; verdicts on bytes are in `tests/spec/codec.json`."""

import io
import math
import time
from enum import StrEnum

import cbor2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dots import codec
from dots.codec import MAX_INT, Malformed, Unencodable
from tests.property.graphs import law, values


@law
@given(values())
def test_what_is_written_is_read_back_and_the_oracle_agrees(value: object) -> None:
    data = codec.encode(value)
    assert codec.encode(codec.decode(data)) == data
    assert codec.encode(cbor2.loads(data)) == data


@law
@given(st.binary(max_size=40))
def test_bytes_are_refused_or_are_the_only_encoding_of_their_value(data: bytes) -> None:
    try:
        value = codec.decode(data)
    except Malformed as error:
        assert 0 <= error.offset <= len(data)
        return
    assert codec.encode(value) == data


@law
@given(values(), st.data())
def test_one_byte_away_from_an_encoding_nothing_else_is_accepted(value: object, data: st.DataObject) -> None:
    encoded = codec.encode(value)
    place = data.draw(st.integers(0, len(encoded) - 1))
    for byte in range(256):
        changed = encoded[:place] + bytes([byte]) + encoded[place + 1 :]
        try:
            assert codec.encode(codec.decode(changed)) == changed
        except Malformed:
            continue


@law
@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_float_takes_the_shortest_form_that_keeps_it(value: float) -> None:
    if value.is_integer() and abs(value) <= MAX_INT:
        assert codec.encode(value) == codec.encode(int(value))
        return
    data = codec.encode(value)
    assert codec.decode(data) == value
    assert data == cbor2.dumps(value, canonical=True)


def test_one_and_true_and_text_are_three_values_and_one_is_one() -> None:
    assert len({codec.encode(value) for value in (1, True, "1")}) == 3
    assert codec.encode(1.0) == codec.encode(1)
    assert codec.encode(-0.0) == codec.encode(0)
    assert not codec.same({"a": 1}, {"a": True})


class Word(StrEnum):
    HELLO = "hello"


def test_tuples_mappings_and_text_enums_are_written_as_what_they_stand_for() -> None:
    assert codec.decode(codec.encode({"b": (1, Word.HELLO)})) == {"b": [1, "hello"]}


cycle: list[object] = []
cycle.append(cycle)


@pytest.mark.parametrize(
    ("value", "path", "expected"),
    [
        ({"a": [0, math.nan]}, "a[1]", "a finite number"),
        ([math.inf], "[0]", "a finite number"),
        (2**53, "", f"an int within ±{MAX_INT}"),
        (-(2**53), "", f"an int within ±{MAX_INT}"),
        ({"a": {"b": "\ud800"}}, "a.b", "text without lone surrogates"),
        ({"\ud800": 1}, "", "text without lone surrogates"),
        ({"a": 1, 2: 3}, "", "keys all unsigned ints or all text"),
        ({-1: 0}, "", "keys all unsigned ints or all text"),
        ({True: 0}, "", "keys all unsigned ints or all text"),
        ({1: {b"x": 0}}, "1", "keys all unsigned ints or all text"),
        ({"a": {1, 2}}, "a", "null, bool, int, float, text, bytes, array or map"),
        ([object()], "[0]", "null, bool, int, float, text, bytes, array or map"),
        (cycle, "[0]" * 32, "at most 32 levels"),
        ([0] * 200_000, "[199999]", "at most 200000 items"),
        (b"\0" * (16 * 1024 * 1024), "", "at most 16777216 bytes"),
    ],
    ids=lambda value: None if isinstance(value, str) else type(value).__name__,
)
def test_what_has_no_encoding_is_refused_with_its_path(value: object, path: str, expected: str) -> None:
    with pytest.raises(Unencodable) as error:
        codec.encode(value)
    assert (error.value.path, error.value.expected) == (path, expected)


def test_thirty_two_levels_and_all_items_are_written() -> None:
    deep: object = []
    for _ in range(31):
        deep = [deep]
    assert codec.encode(deep) == b"\x81" * 31 + b"\x80"
    assert codec.decode(codec.encode([0] * 199_999)) == [0] * 199_999


def test_the_largest_inputs_take_less_than_two_seconds() -> None:
    head = io.BytesIO()
    cbor2.dump([{"k": "x" * 300}] * 49_000, head)
    began = time.process_time()
    value = codec.decode(head.getvalue())
    assert codec.encode(value) == head.getvalue()
    assert len(head.getvalue()) > 14_000_000
    assert time.process_time() - began < 2
