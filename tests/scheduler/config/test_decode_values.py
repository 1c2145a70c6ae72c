"""Numbers, durations and bytes: what fits, and the words for what does not."""

import pytest

from podium.golang.base64_text import base64_fault
from podium.golang.quoting import json_number
from podium.scheduler.config.decode import ConfigDecodeError
from podium.scheduler.config.decode_values import (
    GoNumber,
    Place,
    WrittenFloat,
    decode_bytes,
    decode_duration,
    decode_float,
    decode_int,
)

INT32, INT64, FLOAT32 = GoNumber("int32", 32), GoNumber("int64", 64), GoNumber("float32", 32)
HERE = Place("Struct", "a.b", "a[0].b")


def refused(raw: object, number: GoNumber) -> tuple[str, str, str]:
    """Upstream's text without its beginning, the path, and the text for people."""
    with pytest.raises(ConfigDecodeError) as caught:
        (decode_float if number is FLOAT32 else decode_int)(raw, number, HERE)
    (problem,) = caught.value.problems
    return str(caught.value).removeprefix("json: cannot unmarshal "), problem.path, problem.text


@pytest.mark.parametrize(
    ("raw", "number", "kind", "words"),
    [
        ("4", INT32, "string", "is a text, must be an integer"),
        (True, INT32, "bool", "is a boolean, must be an integer"),
        ([1], INT64, "array", "is a list, must be an integer"),
        ({}, FLOAT32, "object", "is a map, must be a number"),
        (2**31, INT32, "number 2147483648", "2147483648 does not fit into 32 bits"),
        (4.5, INT32, "number 4.5", "4.5 is no integer"),
        (WrittenFloat("4.0"), INT32, "number 4.0", "4.0 is no integer"),
        (WrittenFloat("1e999"), FLOAT32, "number 1e999", "1e999 does not fit into 32 bits"),
        (1e39, FLOAT32, "number 1e+39", "1e+39 does not fit into 32 bits"),
    ],
)
def test_a_number_that_does_not_fit_is_refused_in_two_ways(
    raw: object, number: GoNumber, kind: str, words: str
) -> None:
    assert refused(raw, number) == (
        f"{kind} into Go struct field Struct.a.b of type {number.name}",
        "a[0].b",
        words,
    )


def test_numbers_in_quotation_marks_get_told_so() -> None:
    with pytest.raises(ConfigDecodeError) as caught:
        decode_int("4", INT32, HERE)
    assert caught.value.problems[0].remedy == "write 4 without quotation marks"


@pytest.mark.parametrize(("raw", "value"), [(4.0, 4), (-(2**31), -(2**31)), (1e2, 100)])
def test_whole_numbers_of_yaml_are_integers(raw: float, value: int) -> None:
    assert decode_int(raw, INT32, HERE) == value


@pytest.mark.parametrize("raw", [None, "", "15", "1d", "soon", "é"])
def test_what_is_no_duration_is_refused_without_a_place_and_told_with_one(raw: str | None) -> None:
    with pytest.raises(ConfigDecodeError) as caught:
        decode_duration(raw, HERE)
    assert str(caught.value).startswith("time: ")
    assert caught.value.problems[0].path == "a[0].b"
    assert "15s" in caught.value.problems[0].remedy


def test_a_strange_letter_in_a_duration_is_shown_by_its_bytes() -> None:
    with pytest.raises(ConfigDecodeError, match=r'time: invalid duration "\\xc3\\xa9"'):
        decode_duration("é", HERE)


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("!!", 0),
        ("YQ", 0),
        ("YWJjYQ", 4),
        ("Y Q==", 1),
        ("YQ==YQ==", 4),
        ("YQ=a", 2),
        ("=", 0),
        ("Y=Q=", 1),
        ("YQ===", 4),
        ("YQ=", 3),
        ("YQ==", None),
        ("YWE=", None),
        ("YQ=\n=\n", None),
        ("", None),
    ],
)
def test_the_place_of_a_fault_in_base64_is_the_one_go_finds(text: str, at: int | None) -> None:
    assert base64_fault(text) == at


def test_bytes_may_be_a_list_of_numbers() -> None:
    assert decode_bytes([97, 98], HERE) == b"ab"
    assert decode_bytes("YQ==", HERE) == b"a"
    with pytest.raises(ConfigDecodeError, match=r"number 300 into .* of type uint8"):
        decode_bytes([300], HERE)
    with pytest.raises(ConfigDecodeError, match=r"object into .* of type \[\]uint8"):
        decode_bytes({}, HERE)


@pytest.mark.parametrize(
    ("number", "text"),
    [(1e20, "100000000000000000000"), (1e21, "1e+21"), (1e-5, "0.00001"), (1e-7, "1e-7"),
     (1.5, "1.5"), (4.0, "4"), (-0.5, "-0.5"), (18446744073709551616.0, "18446744073709552000")],
)  # fmt: skip
def test_numbers_are_shown_as_go_writes_them_into_json(number: float, text: str) -> None:
    assert json_number(number) == text
