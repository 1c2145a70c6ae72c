"""Quantities are written back in one spelling each."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podium.api.quantity import nano
from podium.api.quantity_spelling import canonical, rounded_to_milli, total

quantities = st.builds(
    "{}{}{}{}".format,
    st.sampled_from(["", "-", "+"]),
    st.integers(0, 99999),
    st.sampled_from(["", ".5", ".25", ".500", ".000001"]),
    st.sampled_from(["", "m", "u", "n", "k", "M", "G", "Ki", "Mi", "Gi", "e3", "E-3"]),
)


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("1000m", "1"),
        ("1500m", "1500m"),
        ("0.5", "500m"),
        ("1024Mi", "1Gi"),
        ("0.5Gi", "512Mi"),
        ("0.5Ki", "512"),
        ("62.5Ki", "64k"),
        ("1.5Ki", "1536"),
        ("1e3", "1e3"),
        ("1000e0", "1e3"),
        ("1000000", "1M"),
        ("100000", "100k"),
        ("0", "0"),
        ("0Gi", "0"),
        ("-1000m", "-1"),
        (5, "5"),
        ("one", "one"),
    ],
)
def test_a_quantity_has_one_spelling(written: object, shown: str) -> None:
    assert canonical(written) == shown


@pytest.mark.parametrize(
    ("written", "shown"), [("1u", "1m"), ("1.0001", "1001m"), ("-1u", "-1m"), ("1n", "1m")]
)
def test_resource_lists_round_away_from_zero_to_thousandths(written: str, shown: str) -> None:
    assert rounded_to_milli(written) == shown


def test_sums_keep_the_style_of_the_first_amount() -> None:
    assert total("1Gi", "1024Mi") == "2Gi"
    assert total("1G", "1Gi") == "2073741824"
    assert total("0", "1Gi") == "1Gi"


@given(quantities)
def test_the_spelling_keeps_the_amount_and_stays(written: str) -> None:
    once = canonical(written)
    assert nano(once) == nano(written)
    assert canonical(once) == once


@given(quantities)
def test_rounding_never_makes_an_amount_smaller_and_stays(written: str) -> None:
    once = rounded_to_milli(written)
    assert abs(nano(once)) >= abs(nano(written))
    assert abs(nano(once)) - abs(nano(written)) < 1_000_000
    assert rounded_to_milli(once) == once


@given(quantities, quantities)
def test_sums_are_the_sum_of_the_amounts(first: str, second: str) -> None:
    assert nano(total(first, second)) == nano(first) + nano(second)
