"""When cron jobs run: what is read as a schedule, and what is said of everything else."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podium.kubernetes.validation.jobs import schedule_problem, zone_problem

MINUTES = st.integers(0, 59)


@pytest.mark.parametrize(
    "schedule",
    [
        "* * * * *",
        "*/5 0-6,22 1 JAN-Mar mon-fri",
        "? 0 31 2 sun",
        "0/15 * * * 6",
        "@hourly",
        "@every 1h30m",
        "TZ=UTC 0 * * * *",
        ",1 * * * *",
    ],
)
def test_five_fields_or_a_word_are_a_schedule(schedule: str) -> None:
    assert schedule_problem(schedule) == ""


@pytest.mark.parametrize(
    ("schedule", "problem"),
    [
        ("", "expected exactly 5 fields, found 0: []"),
        ("* * * *", "expected exactly 5 fields, found 4: [* * * *]"),
        ("60 * * * *", "end of range (60) above maximum (59): 60"),
        ("* 25 * * *", "end of range (25) above maximum (23): 25"),
        ("* * 0 * *", "beginning of range (0) below minimum (1): 0"),
        ("5-1 * * * *", "beginning of range (5) beyond end of range (1): 5-1"),
        ("1-2-3 * * * *", "too many hyphens: 1-2-3"),
        ("1/2/3 * * * *", "too many slashes: 1/2/3"),
        ("*/0 * * * *", "step of range should be a positive number: */0"),
        (
            "x * * * *",
            'failed to parse int from x: strconv.Atoi: parsing "x": invalid syntax',
        ),
        ("* * * * 7", "end of range (7) above maximum (6): 7"),
        ("@never", "unrecognized descriptor: @never"),
        (
            "@every day",
            'failed to parse duration @every day: time: invalid duration "day"',
        ),
    ],
)
def test_what_is_no_schedule_is_told_as_upstream_tells_it(schedule: str, problem: str) -> None:
    assert schedule_problem(schedule) == problem


@given(MINUTES, MINUTES, st.integers(1, 59))
def test_ranges_go_up_and_steps_are_positive(first: int, last: int, step: int) -> None:
    problem = schedule_problem(f"{first}-{last}/{step} * * * *")

    assert (problem == "") is (first <= last)


@given(st.text())
def test_every_text_is_judged(text: str) -> None:
    assert isinstance(schedule_problem(text), str)
    assert isinstance(zone_problem(text), str)


@pytest.mark.parametrize(
    ("zone", "problem"),
    [
        ("UTC", ""),
        ("Europe/Paris", ""),
        ("", "timeZone must be nil or non-empty string"),
        (
            "Local",
            "timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones",
        ),
        ("../etc/passwd", "unknown time zone ../etc/passwd"),
        ("Mars/Base", "unknown time zone Mars/Base"),
    ],
)
def test_time_zones_are_those_of_the_database(zone: str, problem: str) -> None:
    assert zone_problem(zone) == problem
