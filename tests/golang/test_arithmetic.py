"""Go's arithmetic: division, rounding, the logarithm and the reading of integers."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from podium.golang.arithmetic import go_log, parse_int, quotient, wrap_int64
from podium.golang.array_arithmetic import quotients, round_away

int64 = st.integers(-(2**62), 2**62)


@pytest.mark.parametrize(
    ("dividend", "divisor", "expected"),
    [(7, 2, 3), (-7, 2, -3), (7, -2, -3), (-7, -2, 3), (0, 5, 0), (-1, 100, 0)],
)
def test_integer_division_truncates_toward_zero(dividend: int, divisor: int, expected: int) -> None:
    assert quotient(dividend, divisor) == expected
    assert quotients(np.array([dividend]), divisor).tolist() == [expected]


@given(st.lists(int64, min_size=1), int64.filter(bool))
def test_arrays_divide_like_single_numbers(dividends: list[int], divisor: int) -> None:
    array = np.array(dividends, dtype=np.int64)
    assert quotients(array, divisor).tolist() == [quotient(each, divisor) for each in dividends]
    divisors = np.full(len(dividends), divisor, dtype=np.int64)
    assert quotients(array, divisors).tolist() == quotients(array, divisor).tolist()


def test_halves_are_rounded_away_from_zero() -> None:
    rounded = round_away([52.5, 21.4, 0.49999999999999994, -2.5, -0.5, 0.5, 2.5])
    assert rounded.tolist() == [53, 21, 0, -3, -1, 1, 3]
    assert rounded.dtype == np.int64


def test_a_single_number_can_be_rounded_too() -> None:
    assert int(round_away(1.5)) == 2


@pytest.mark.parametrize(
    ("number", "bits"),
    [
        (2.0, "0x1.62e42fefa39efp-1"),
        (3.0, "0x1.193ea7aad030ap+0"),  # one unit below math.log(3)
        (10.0, "0x1.26bb1bbb55516p+1"),
        (1.0, "0x0.0p+0"),
    ],
)
def test_logarithms_have_known_bits(number: float, bits: str) -> None:
    assert go_log(number) == float.fromhex(bits)


def test_the_logarithm_differs_from_pythons_in_the_known_number_of_places() -> None:
    differing = [n for n in range(2, 200_001) if go_log(n) != math.log(n)]
    assert len(differing) == 1997
    assert differing[0] == 3
    assert all(math.isclose(go_log(n), math.log(n), rel_tol=1e-15) for n in differing)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0", 0),
        ("-0", 0),
        ("+12", 12),
        ("-12", -12),
        ("007", 7),
        ("9223372036854775807", 2**63 - 1),
        ("-9223372036854775808", -(2**63)),
        ("9223372036854775808", None),
        ("", None),
        ("+", None),
        (" 1", None),
        ("1\n", None),
        ("1_0", None),
        ("1.0", None),
        ("0x1", None),
        ("\u0661", None),
        ("9" * 5000, None),
    ],
)
def test_integers_are_read_as_go_reads_them(text: str, expected: int | None) -> None:
    assert parse_int(text) == expected


def test_overflow_keeps_the_low_64_bits() -> None:
    assert wrap_int64(2**63) == -(2**63)
    assert wrap_int64(-(2**63) - 1) == 2**63 - 1
    assert wrap_int64(42) == 42
