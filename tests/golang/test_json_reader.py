"""JSON as Go reads it, mistakes in Go's words."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podium.golang.json_reader import (
    JSONSyntaxError,
    WrittenFloat,
    mend_surrogates,
    read_first,
    read_whole,
)


def refusal(text: str) -> JSONSyntaxError:
    with pytest.raises(JSONSyntaxError) as caught:
        read_whole(text)
    return caught.value


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("no", "'o' in literal null (expecting 'u')"),
        ("[nulL]", "'L' in literal null (expecting 'l')"),
        ("trUe", "'U' in literal true (expecting 'u')"),
        ("[f ]", "' ' in literal false (expecting 'a')"),
        ("<", "'<' looking for beginning of value"),
        ("[1,]", "']' looking for beginning of value"),
        ("{a: 1}", "'a' looking for beginning of object key string"),
        ('{"a": 1,}', "'}' looking for beginning of object key string"),
        ('{"a" 1}', "'1' after object key"),
        ('{"a": 1 "b"}', "'\"' after object key:value pair"),
        ('[{"a": 1 ]', "']' after object key:value pair"),
        ('{"a": [1 2]}', "'2' after array element"),
        ('{"a": [{}, {"b": "]"} "x"]}', "'\"' after array element"),
        ("{} x", "'x' after top-level value"),
        ("-x", "'x' in numeric literal"),
        ("-Infinity", "'I' in numeric literal"),
        ("NaN", "'N' looking for beginning of value"),
        ("[1.x]", "'x' after decimal point in numeric literal"),
        ("[1e+x]", "'x' in exponent of numeric literal"),
        ('"\x01"', "'\\x01' in string literal"),
        ('"a\n"', "'\\n' in string literal"),
        ('"\\q"', "'q' in string escape code"),
        ('"\\u12g4"', "'g' in \\u hexadecimal character escape"),
        ("é", "'Ã' looking for beginning of value"),
        ("\x80", "'Â' looking for beginning of value"),
        ("\\", "'\\\\' looking for beginning of value"),
        ("'", "'\\'' looking for beginning of value"),
    ],
)
def test_mistakes_are_told_as_go_tells_them(text: str, said: str) -> None:
    error = refusal(text)
    assert str(error) == f"invalid character {said}"
    assert not error.ended


@pytest.mark.parametrize(
    "text",
    ["", " ", "[", "{", '{"a"', '{"a":', '{"a":1', "[1,", "nul", "-", "[1.", "[1e", "[1e-",
     '"abc', '"\\', '"\\u12'],
)  # fmt: skip
def test_a_text_that_stops_too_early_is_told_apart(text: str) -> None:
    error = refusal(text)
    assert str(error) == "unexpected end of JSON input"
    assert error.ended


def test_the_line_of_a_mistake_is_known() -> None:
    assert refusal('{\n"a": 1,\nb}').line == 3


@given(st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
))  # fmt: skip
def test_what_json_writes_is_read(value: Any) -> None:
    text = json.dumps(value)
    assert read_whole(text) == value
    assert read_first(f" \n{text} trailing") == value


@given(st.text(alphabet='{}[]",:ntfalserue01.5eE+-\\ \n', max_size=20))
def test_python_and_go_agree_on_what_is_json(text: str) -> None:
    try:
        expected: Any = json.loads(text)
    except json.JSONDecodeError:
        with pytest.raises(JSONSyntaxError):
            read_whole(text)
    else:
        assert read_whole(text) == expected


def test_numbers_keep_how_they_were_written() -> None:
    number = read_whole("1.50e3")
    assert isinstance(number, WrittenFloat)
    assert (number, number.text) == (1500.0, "1.50e3")
    huge = read_whole("1" * 5000)
    assert isinstance(huge, WrittenFloat)
    assert huge.text == "1" * 5000


def test_members_can_be_seen_as_pairs() -> None:
    assert read_whole('{"a": 1, "a": 2}', list) == [("a", 1), ("a", 2)]
    assert read_first('{"a": 1} x', list) == [("a", 1)]


def test_halves_of_surrogate_pairs_are_replaced() -> None:
    assert mend_surrogates("a\ud800b") == "a\N{REPLACEMENT CHARACTER}b"
    assert mend_surrogates("\ud83d\ude00") == "😀"
