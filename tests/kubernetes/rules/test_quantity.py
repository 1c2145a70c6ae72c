"""Quantities: the grammar, exact amounts, the two roundings and what does not fit an int64."""

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podium.kubernetes.rules.quantity import (
    QuantityError,
    amount_of,
    is_negative,
    milli_of_nano,
    milli_value,
    nano,
    value,
    value_of_nano,
)

INT64_MAX = 2**63 - 1

SUFFIXES = {
    "n": Fraction(1, 10**9),
    "u": Fraction(1, 10**6),
    "m": Fraction(1, 10**3),
    "": Fraction(1),
    "k": Fraction(10**3),
    "M": Fraction(10**6),
    "G": Fraction(10**9),
    "T": Fraction(10**12),
    "P": Fraction(10**15),
    "E": Fraction(10**18),
    "Ki": Fraction(2**10),
    "Mi": Fraction(2**20),
    "Gi": Fraction(2**30),
    "Ti": Fraction(2**40),
    "Pi": Fraction(2**50),
    "Ei": Fraction(2**60),
    "e3": Fraction(1000),
    "E-4": Fraction(1, 10**4),
    "e+2": Fraction(100),
}


@pytest.mark.parametrize(
    ("text", "units", "millis"),
    [
        ("0.1m", 1, 1),
        ("100m", 1, 100),
        ("0.5", 1, 500),
        ("1.1", 2, 1100),
        ("1500u", 1, 2),
        ("1n", 1, 1),
        ("1e-10", 1, 1),
        ("1.5Gi", 1610612736, 1610612736000),
        ("0.5Ki", 512, 512000),
        ("0.0001Ki", 1, 103),
        ("12e-1", 2, 1200),
        ("129e6", 129000000, 129000000000),
        ("123Mi", 128974848, 128974848000),
        ("0", 0, 0),
        ("+2", 2, 2000),
        ("007", 7, 7000),
        ("1.", 1, 1000),
        (".5", 1, 500),
        ("1E", 10**18, 0),
        ("1E3", 1000, 1000000),
    ],
)
def test_values_and_milli_values_round_up(text: str, units: int, millis: int) -> None:
    assert (value(text), milli_value(text)) == (units, millis)


@pytest.mark.parametrize("text", ["Gi", ".", "+", "-", ".Ti", "0e-5000", "-0"])
def test_a_suffix_or_dot_without_digits_means_zero(text: str) -> None:
    assert nano(text) == 0


def test_white_space_around_a_quantity_is_trimmed() -> None:
    assert nano(" 5\n") == nano("5")


def test_numbers_are_read_like_the_text_json_shows_for_them() -> None:
    assert nano(2) == nano("2")
    assert nano(0.1) == 10**8
    assert nano(1e-10) == 1
    assert value(1e16) == 10**16


def test_anything_finer_than_a_nano_is_rounded_away_from_zero() -> None:
    assert nano("0.1n") == 1
    assert nano("-0.1n") == -1
    assert nano("1e-900") == 1
    assert nano("1.0000000001") == 10**9 + 1


def test_binary_quantities_are_capped_at_the_largest_int64() -> None:
    assert value("8Ei") == INT64_MAX
    assert value("9000Pi") == INT64_MAX
    assert value("-9Ei") == -INT64_MAX
    assert milli_value("8Ei") == -1000


def test_decimal_quantities_beyond_int64_count_as_zero_or_wrap() -> None:
    assert value("10E") == 0
    assert milli_value("1E") == 0
    # A plain integer is multiplied by 1000 at once, and the product wraps.
    assert milli_value("99999999999999999") == 7766279631452240920
    # Twenty digits leave the compact form, whose conversion keeps the low 64 bits.
    assert value("10000000000000000000") == 10**19 - 2**64


@pytest.mark.parametrize(
    ("parts", "in_units", "in_thousandths"),
    [
        ("1Ei", 1 << 60, -(1 << 63)),
        ("8Ei", INT64_MAX, -1000),
        ("10E", 0, 0),
        ("10E 10E", 0, 0),
        ("10E 1", -8446744073709551615, 1864712049423025128),
        ("5E 5E", 0, 0),
        ("9E 1", 9000000000000000001, -2011107970261187608),
        ("0 9E", 9000000000000000000, 0),
        ("3e15 0Ei 842P", 845000000000000000, -3550227390639374336),
    ],
)
def test_sums_beyond_int64_depend_on_how_their_parts_are_written(
    parts: str, in_units: int, in_thousandths: int
) -> None:
    total = sum(map(amount_of, parts.split()))
    assert value_of_nano(total) == in_units
    assert milli_of_nano(total) == in_thousandths


@pytest.mark.parametrize(
    "text",
    [
        "",
        "  ",
        "1K",
        "1ki",
        "1e",
        "e",
        "Ei",
        ".Pi",
        "1Gib",
        "1 Gi",
        "1_000",
        "1,5",
        "0x10",
        "--1",
        "1e1.5",
        "\u0661",
        "1e\u0663",
        "nan",
        "inf",
        "1\x00",
    ],
)
def test_what_is_no_quantity_is_refused_by_name(text: str) -> None:
    with pytest.raises(QuantityError) as refused:
        nano(text)
    assert repr(text) in str(refused.value)


@pytest.mark.parametrize("thing", [True, None, [], math.nan, math.inf])
def test_what_is_neither_text_nor_number_is_refused(thing: object) -> None:
    with pytest.raises(QuantityError):
        nano(thing)  # type: ignore[arg-type]


def test_absurd_sizes_are_refused_instead_of_computed() -> None:
    with pytest.raises(QuantityError, match="too large"):
        nano("1e999999999")
    with pytest.raises(QuantityError, match="longer than"):
        nano("9" * 5000)
    with pytest.raises(QuantityError, match="too large"):
        nano("1e" + "9" * 900)


numbers = st.from_regex(r"[0-9]{1,12}(\.[0-9]{0,14})?", fullmatch=True)


@given(numbers, st.sampled_from(sorted(SUFFIXES)), st.sampled_from(["", "-", "+"]))
def test_nano_is_the_exact_number_rounded_away_from_zero(
    number: str, suffix: str, sign: str
) -> None:
    exact = Fraction(number.rstrip(".")) * SUFFIXES[suffix]
    if suffix.endswith("i"):
        exact = min(exact, Fraction(INT64_MAX))
    expected = math.ceil(exact * 10**9)
    assert nano(sign + number + suffix) == (-expected if sign == "-" else expected)


@given(numbers, st.sampled_from(sorted(SUFFIXES)))
def test_roundings_agree_with_fractions_wherever_they_fit(number: str, suffix: str) -> None:
    amount = Fraction(nano(number + suffix), 10**9)
    for rounded, exact in (
        (value(number + suffix), math.ceil(amount)),
        (milli_value(number + suffix), math.ceil(amount * 1000)),
    ):
        if exact <= INT64_MAX:
            assert rounded == exact
        else:
            assert -(2**63) <= rounded <= INT64_MAX


@given(st.integers(-(10**27), 10**27))
def test_a_sum_of_nano_amounts_rounds_up_once(amount: int) -> None:
    assert value_of_nano(amount) == math.ceil(Fraction(amount, 10**9))
    if abs(amount) < 10**24:
        assert milli_of_nano(amount) == math.ceil(Fraction(amount, 10**6))


@given(st.text(max_size=12))
def test_any_text_is_read_or_refused_but_never_crashes(text: str) -> None:
    try:
        read = nano(text)
    except QuantityError:
        return
    assert nano(f" {text} ") == read


@given(st.integers(0, 10**20) | st.integers(0, 10**6), st.sampled_from(list(SUFFIXES)))
def test_whole_numbers_are_read_as_all_others_are(number: int, suffix: str) -> None:
    text = f"{number}{suffix}"
    signed = f"+{text}"

    assert (nano(text), value(text), milli_value(text)) == (
        nano(signed),
        value(signed),
        milli_value(signed),
    )


@given(st.sampled_from(["", "-", "+"]), st.integers(0, 99), st.sampled_from(list(SUFFIXES)))
def test_only_amounts_below_zero_are_negative(sign: str, number: int, suffix: str) -> None:
    text = f"{sign}{number}{suffix}"

    assert is_negative(text) == (nano(text) < 0)


def test_a_text_of_spaces_is_not_worth_remembering() -> None:
    with pytest.raises(QuantityError, match="longer than 1000 characters"):
        nano(" " * 1000 + "1")
