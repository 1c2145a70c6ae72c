"""Schedules of cron jobs; the expected times are those of the library that Kubernetes uses."""

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from podium.kubernetes.rules.cron_schedule import ScheduleError, parse_schedule, split_zone


def following(schedule: str, since: str, zone: str = "UTC", count: int = 3) -> list[str]:
    """The next times, on the clocks of the zone."""
    made = parse_schedule(schedule, ZoneInfo(zone))
    time = datetime.fromisoformat(since).replace(tzinfo=ZoneInfo(zone)).astimezone(UTC)
    found = []
    for _ in range(count):
        later = made.after(time)
        if later is None:
            found.append("never")
            break
        time = later
        found.append(later.astimezone(ZoneInfo(zone)).strftime("%m-%d %H:%M"))
    return found


@pytest.mark.parametrize(
    ("schedule", "expected"),
    [
        ("*/20 * * * *", ["01-15 08:20", "01-15 08:40", "01-15 09:00"]),
        ("5 4 * * sun", ["01-17 04:05", "01-24 04:05", "01-31 04:05"]),
        ("0 0 1,20 * mon", ["01-18 00:00", "01-20 00:00", "01-25 00:00"]),
        ("0 0 20 * *", ["01-20 00:00", "02-20 00:00", "03-20 00:00"]),
        ("10/25 23 * * *", ["01-15 23:10", "01-15 23:35", "01-16 23:10"]),
        ("@weekly", ["01-17 00:00", "01-24 00:00", "01-31 00:00"]),
        ("@every 90m", ["01-15 09:30", "01-15 11:00", "01-15 12:30"]),
        ("0 0 31 2 *", ["never"]),
    ],
)
def test_times_follow_the_fields(schedule: str, expected: list[str]) -> None:
    assert following(schedule, "2027-01-15T08:00:00") == expected


def test_an_hour_that_clocks_leave_out_is_passed_over() -> None:
    berlin = following("30 2 * * *", "2027-03-27T12:00:00", "Europe/Berlin", 2)
    assert berlin == ["03-29 02:30", "03-30 02:30"]


def test_a_day_without_a_midnight_still_has_its_times() -> None:
    havana = following("58 17 * * 0", "2025-03-08T12:00:00", "America/Havana", 2)
    assert havana == ["03-09 17:58", "03-16 17:58"]


@pytest.mark.parametrize(
    "schedule",
    [
        "",
        "* * * *",
        "60 * * * *",
        "* * * * 7",
        "1-2-3 * * * *",
        "*/0 * * * *",
        "5-1 * * * *",
        "x * * * *",
        "-1 * * * *",
        "*/2/3 * * * *",
        "@never",
        "@every soon",
        "1 2 3 4 5 6",
    ],
)
def test_what_is_no_schedule_is_refused(schedule: str) -> None:
    with pytest.raises(ScheduleError):
        parse_schedule(schedule)


def test_a_zone_may_stand_before_the_schedule() -> None:
    assert split_zone("TZ=Asia/Tokyo 0 9 * * *") == ("Asia/Tokyo", "0 9 * * *")
    assert split_zone("0 9 * * *") == ("", "0 9 * * *")
