"""Quantities and times: the spelling that the server gives them, and its refusals."""

import pytest

from podium.kubernetes.schema.decoding import (
    ScalarTypeError,
    canonical_micro_time,
    canonical_quantity,
    canonical_time,
)


@pytest.mark.parametrize(
    ("written", "shown"),
    [("1000m", "1"), (" 0.5 ", "500m"), ("1024Mi", "1Gi"), ("1.5Gi", "1536Mi"), ("0", "0")],
)
def test_a_quantity_has_one_spelling(written: str, shown: str) -> None:
    assert canonical_quantity(written) == shown


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ("", "quantities must match the regular expression"),
        ("1 Gi", "quantities must match the regular expression"),
        ("1.2.3", "quantities must match the regular expression"),
        ("12mm", "unable to parse quantity's suffix"),
    ],
)
def test_a_text_that_is_no_quantity_is_refused(written: str, message: str) -> None:
    with pytest.raises(ScalarTypeError, match=message):
        canonical_quantity(written)


def test_times_are_shown_in_utc_to_the_second() -> None:
    assert canonical_time("2026-01-01T00:00:00Z") == "2026-01-01T00:00:00Z"
    assert canonical_time("2026-01-01T00:30:00.999+01:00") == "2025-12-31T23:30:00Z"
    assert canonical_micro_time("2026-01-01T00:00:00.000001Z") == "2026-01-01T00:00:00.000001Z"


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ("x", 'as "2006-01-02T15:04:05Z07:00": cannot parse "x" as "2006"'),
        ("2026-01-01", 'cannot parse "" as "T"'),
        ("2026-01-01T00:00:00", 'cannot parse "" as "Z07:00"'),
        ("2026-01-01T00:00:00Zx", 'extra text: "x"'),
        ("2026-13-01T00:00:00Z", "month out of range"),
        ("2026-02-30T00:00:00Z", "day out of range"),
        ("2026-01-01T24:00:00Z", "hour out of range"),
    ],
)
def test_a_text_that_is_no_time_is_refused_where_it_goes_wrong(written: str, message: str) -> None:
    with pytest.raises(ScalarTypeError) as error:
        canonical_time(written)
    assert message in str(error.value)


def test_micro_times_need_six_digits() -> None:
    with pytest.raises(ScalarTypeError, match=r'cannot parse "Z" as "\.000000"'):
        canonical_micro_time("2026-01-01T00:00:00Z")
