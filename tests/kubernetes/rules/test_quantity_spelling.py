"""Quantities are written back in one spelling each."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podium.kubernetes.rules.quantity import nano
from podium.kubernetes.rules.quantity_spelling import (
    canonical,
    is_canonical,
    rounded_to_milli,
    total,
)

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


whole_quantities = st.builds(
    "{}{}{}".format,
    st.integers(0, 10**19) | st.integers(0, 10**5),
    st.sampled_from(["", "000", "0"]),
    st.sampled_from(["", *"numkMGTPE", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei", "i", "K", "e3"]),
)


@given(whole_quantities | quantities)
def test_what_is_canonical_at_first_sight_is_canonical_when_it_is_read(written: str) -> None:
    read = f" {written}"  # the same text, but nothing is seen at first sight

    assert not is_canonical(read)
    assert canonical(written) == canonical(read).strip()
    assert rounded_to_milli(written) == rounded_to_milli(read).strip()
    assert canonical(written) == written or not is_canonical(written)


@pytest.mark.parametrize("written", ["1", "999m", "1k", "12n", "7Gi", "1023Mi", "8Gi"])
def test_common_quantities_are_seen_to_be_canonical(written: str) -> None:
    assert is_canonical(written)


@pytest.mark.parametrize("written", ["", "0", "01", "1000", "1024Ki", "10Ei", "1.5", "1e3", "x"])
def test_what_may_be_respelt_has_to_be_read(written: str) -> None:
    assert not is_canonical(written)
