"""Go's numbers, quoted strings, lists and versions."""

import csv
import io
import math
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podium.golang.quoting import go_quote, quoted_character, quoted_list
from podium.golang.strconv import parse_float32, parse_int, parse_uint, read_list
from podium.scheduler.config.flags.kinds import parse_version, reported_version_problem


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("0", 0),
        ("-0", 0),
        ("+7", 7),
        ("0b11", 3),
        ("0o17", 15),
        ("0X1f", 31),
        ("0x_1f", 31),
        ("0_7", 7),
        ("9223372036854775807", 2**63 - 1),
        ("-9223372036854775808", -(2**63)),
    ],
)
def test_an_integer_may_have_a_base(text: str, number: int) -> None:
    assert parse_int(text) == number


@pytest.mark.parametrize(
    "text", ["", "+", "0x", "08", "1__0", "_1", "1_", "0b2", "\u0661", "1 ", "1e3"]
)
def test_what_is_no_integer_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"^strconv.ParseInt: parsing .*: invalid syntax$"):
        parse_int(text)


@pytest.mark.parametrize("text", ["9223372036854775808", "-9223372036854775809", "9" * 5000])
def test_what_does_not_fit_is_out_of_range(text: str) -> None:
    with pytest.raises(ValueError, match=r"value out of range$"):
        parse_int(text)


def test_a_level_fits_31_bits_and_has_no_sign() -> None:
    assert parse_uint("2147483647", 31) == 2**31 - 1
    with pytest.raises(ValueError, match=r"value out of range$"):
        parse_uint("2147483648", 31)
    with pytest.raises(ValueError, match=r"invalid syntax$"):
        parse_uint("-1", 31)


@pytest.mark.parametrize(
    ("text", "number"),
    [("7.5", 7.5), (".5", 0.5), ("5.", 5.0), ("1e2", 100.0), ("0x1p-2", 0.25), ("-Inf", -math.inf)],
)
def test_a_float_is_decimal_hexadecimal_or_infinite(text: str, number: float) -> None:
    assert parse_float32(text) == number


@pytest.mark.parametrize("text", ["", ".", "1_0", "+nan", "0x1", "1e", "1,5", "0x1_p1"])
def test_what_is_no_float_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"^strconv.ParseFloat: parsing .*: invalid syntax$"):
        parse_float32(text)


@pytest.mark.parametrize("text", ["1e39", "-3.5e38", "0x1p128", "0x1p99999"])
def test_a_float_fits_32_bits(text: str) -> None:
    with pytest.raises(ValueError, match=r"value out of range$"):
        parse_float32(text)


@given(st.floats(width=32, allow_nan=False, allow_infinity=False))
def test_a_float_of_32_bits_reads_back(number: float) -> None:
    assert parse_float32(repr(number)) == number


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain", '"plain"'),
        ('say "hi"', '"say \\"hi\\""'),
        ("a\tb\\", '"a\\tb\\\\"'),
        ("\x00\x7f", '"\\x00\\x7f"'),
        ("é \u200b", '"é \\u200b"'),
        ("\U000e0001", '"\\U000e0001"'),
        ("\udc80", '"\\x80"'),
    ],
)
def test_strings_are_quoted_as_go_does(text: str, shown: str) -> None:
    assert go_quote(text) == shown


def test_characters_and_lists_are_quoted_too() -> None:
    assert quoted_character('"') == "'\"'"
    assert quoted_character("'") == "'\\''"
    assert quoted_list(["a", "b c"]) == '["a" "b c"]'


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('a"b', 'parse error on line 1, column 2: bare " in non-quoted field'),
        ('é,a"b', 'parse error on line 1, column 5: bare " in non-quoted field'),
        ('"a"b', 'parse error on line 1, column 3: extraneous or missing " in quoted-field'),
        ('"a', 'parse error on line 1, column 3: extraneous or missing " in quoted-field'),
        (
            '"a\nb',
            "record on line 1; parse error on line 2, column 2: "
            'extraneous or missing " in quoted-field',
        ),
        ("\n", "EOF"),
    ],
)
def test_a_list_with_stray_quotation_marks_is_refused(text: str, problem: str) -> None:
    with pytest.raises(ValueError, match=re.escape(problem)) as caught:
        read_list(text)
    assert str(caught.value) == problem


@given(st.lists(st.text(st.characters(exclude_characters="\r\n\x00"), min_size=1), min_size=1))
def test_a_written_list_reads_back(entries: list[str]) -> None:
    written = io.StringIO()
    csv.writer(written, lineterminator="").writerow(entries)
    assert read_list(written.getvalue()) == tuple(entries)


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("1.35", (1, 35)),
        ("v1.36.4", (1, 36, 4)),
        ("1.35-anything", (1, 35)),
        (" 1.2.3.4", (1, 2, 3, 4)),
    ],
)
def test_versions_are_semantic_or_generic(text: str, numbers: tuple[int, ...]) -> None:
    assert parse_version(text).numbers == numbers


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("abc", 'could not parse "abc" as version'),
        ("1", 'illegal version string "1"'),
        ("01.2", 'illegal zero-prefixed version component "01" in "01.2"'),
    ],
)
def test_what_is_no_version_is_refused(text: str, problem: str) -> None:
    with pytest.raises(ValueError, match=re.escape(problem)) as caught:
        parse_version(text)
    assert str(caught.value) == problem


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("v1.36.4", ""),
        ("v1.36.4-mine.1+build", ""),
        ("v1.36", 'illegal version string "v1.36"'),
        (
            "v1.36.4_mine",
            'could not parse pre-release/metadata (_mine) in version "v1.36.4_mine"',
        ),
        ("v1.36.4-01", 'illegal zero-prefixed version component "01" in "v1.36.4-01"'),
    ],
)
def test_only_this_release_can_be_reported(text: str, problem: str) -> None:
    assert reported_version_problem(text) == problem
