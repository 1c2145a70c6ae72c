"""Ages as people read them."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podium.kubernetes.tables.printer import age, human_duration

MINUTE, HOUR, DAY = 60, 3600, 86400
YEAR = 365 * DAY
UNITS = {"s": 1, "m": MINUTE, "h": HOUR, "d": DAY, "y": YEAR}


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [
        (-5, "<invalid>"),
        (-1.5, "0s"),
        (0, "0s"),
        (0.9, "0s"),
        (119, "119s"),
        (2 * MINUTE, "2m"),
        (2 * MINUTE + 5, "2m5s"),
        (10 * MINUTE + 5, "10m"),
        (179 * MINUTE, "179m"),
        (3 * HOUR, "3h"),
        (3 * HOUR + 10 * MINUTE, "3h10m"),
        (8 * HOUR + 10 * MINUTE, "8h"),
        (47 * HOUR, "47h"),
        (2 * DAY + 3 * HOUR, "2d3h"),
        (8 * DAY + 3 * HOUR, "8d"),
        (2 * YEAR - 1, "729d"),
        (2 * YEAR + 10 * DAY, "2y10d"),
        (9 * YEAR + 10 * DAY, "9y"),
    ],
)
def test_ages_have_two_units_at_most_and_get_coarser(seconds: float, shown: str) -> None:
    assert human_duration(seconds) == shown


@given(st.floats(0, 20 * YEAR))
def test_an_age_is_never_shown_as_more_than_it_is_and_hardly_as_less(seconds: float) -> None:
    parts = re.findall(r"(\d+)([smhdy])", human_duration(seconds))
    shown = sum(int(number) * UNITS[unit] for number, unit in parts)
    assert shown <= seconds
    assert seconds - shown <= max(1, seconds / 8)


def test_a_time_that_was_never_written_has_an_unknown_age() -> None:
    assert age(None, 0) == age("", 0) == age("yesterday", 0) == "<unknown>"
    assert age("1970-01-01T00:00:00Z", 5) == "5s"
    assert age("1970-01-01T00:00:00.500000Z", 6) == "5s"
