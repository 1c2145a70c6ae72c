"""Bodies are read, or refused with Go's words."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podium.apiserver.bodies import Unreadable, read_json, read_yaml_body
from podium.golang.json_reader import syntax_error

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=10,
)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (b"", "unexpected end of JSON input"),
        (b"{nope", "invalid character 'n' looking for beginning of object key string"),
        (b"[1,]", "invalid character ']' looking for beginning of value"),
        (b'{"a":1 "b"}', "invalid character '\"' after object key:value pair"),
        (b'{"a" 1}', "invalid character '1' after object key"),
        (b"[1 2]", "invalid character '2' after array element"),
        (b"1 2", "invalid character '2' after top-level value"),
        (b"trx", "invalid character 'x' in literal true (expecting 'u')"),
        (b"1.x", "invalid character 'x' after decimal point in numeric literal"),
        (b"1ex", "invalid character 'x' in exponent of numeric literal"),
        (b"-x", "invalid character 'x' in numeric literal"),
        (b'"\\x"', "invalid character 'x' in string escape code"),
        (b'"\\u00g0"', "invalid character 'g' in \\u hexadecimal character escape"),
        (b'"a\nb"', "invalid character '\\n' in string literal"),
    ],
)
def test_what_is_no_json_is_told_as_go_tells_it(text: bytes, problem: str) -> None:
    assert syntax_error(text) == problem
    with pytest.raises(Unreadable) as refused:
        read_json(text)
    assert str(refused.value) == problem


@given(VALUES)
def test_json_reads_back(value: Any) -> None:
    text = json.dumps(value).encode()

    assert syntax_error(text) == ""
    assert read_json(text).value == value


@given(st.binary(max_size=30))
def test_the_walk_and_the_decoder_agree_on_what_is_json(text: bytes) -> None:
    try:
        json.loads(text.decode("utf-8", "replace"))
        is_json = b"NaN" not in text and b"Infinity" not in text
    except ValueError:
        is_json = False
    assert (syntax_error(text) == "") is is_json


def test_fields_that_occur_twice_are_named_with_their_paths() -> None:
    text = b'{"a":1,"b":[{"c":1,"c":2}],"a":2,"a":3}'

    read = read_json(text, find_duplicates=True)

    assert isinstance(read.value, dict)
    assert read.value["a"] == 3
    assert read.duplicates == ('duplicate field "b[0].c"', 'duplicate field "a"')


def test_numbers_beyond_64_bits_are_kept() -> None:
    assert read_json(b'{"a": 123456789012345678901234567890}').value == {
        "a": 123456789012345678901234567890
    }


def test_odd_bytes_in_texts_are_replaced_as_go_does() -> None:
    assert read_json(b'{"a":"\xff"}').value == {"a": "\ufffd"}


def test_half_characters_are_replaced_as_go_does() -> None:
    read = read_json(rb'{"\ud800": ["\udfff-\ud83d\ude00"], "\ud800": 1}', find_duplicates=True)

    assert read.value == {"\ufffd": 1}
    assert read.duplicates == ('duplicate field "\ufffd"',)
    assert read_json(rb'["\udfff-\ud83d\ude00"]').value == ["\ufffd-\U0001f600"]


def test_nesting_is_bounded() -> None:
    with pytest.raises(Unreadable, match="exceeded max depth"):
        read_json(b"[" * 5000 + b"]" * 5000)
    with pytest.raises(Unreadable, match="exceeded max depth"):
        read_json(b'{"a":' * 300 + b"1" + b"}" * 300)


def test_the_number_of_objects_and_lists_is_bounded() -> None:
    read_json(b"[" + b"{}," * 24_000 + b"1]")
    for read, text in (
        (read_json, b"[" + b"{}," * 26_000 + b"1]"),
        (read_yaml_body, b"- []\n" * 26_000),
    ):
        with pytest.raises(Unreadable, match="exceeded max number of objects and lists"):
            read(text)


def test_the_number_of_values_is_bounded() -> None:
    read_json(b"[" + b"1," * 74_000 + b"1]")
    with pytest.raises(Unreadable, match="exceeded max number of values"):
        read_json(b'{"a":[' + b"1," * 76_000 + b"1]}")
    read_yaml_body(b"- a\n" * 74_000)
    with pytest.raises(Unreadable, match="more than 100000 values"):
        read_yaml_body(b"- a\n" * 101_000)


def test_yaml_directives_are_bounded() -> None:
    many = b"".join(b"%%TAG !a%d! x\n" % number for number in range(1000))

    with pytest.raises(Unreadable, match="too many directives"):
        read_yaml_body(many + b"---\na: 1\n")


def test_only_the_first_yaml_document_counts() -> None:
    assert read_yaml_body(b"a: 1\n---\n[: no yaml").value == {"a": 1}
    assert read_yaml_body(b"---\n---\na: 1\n").value is None


def test_yaml_is_read_as_kubectl_reads_it() -> None:
    read = read_yaml_body(b"a: 12:30:45\nb: yes\nc: [1, x]\n")

    assert read.value == {"a": "12:30:45", "b": True, "c": [1, "x"]}


@pytest.mark.parametrize("text", [b"a: [", b"\xff\xfe", b"a: *b", b"- a\nb: c"])
def test_what_is_no_yaml_is_refused(text: bytes) -> None:
    with pytest.raises(Unreadable, match="error converting YAML to JSON"):
        read_yaml_body(text)
