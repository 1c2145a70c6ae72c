"""What a cron job says of when it runs: a schedule that can be read, a time zone that exists."""

import re
from typing import Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from podium.golang.text_cache import cache_short_texts
from podium.kubernetes.rules.cron_schedule import ScheduleError, parse_schedule, split_zone

_ZONE_PART: Final = re.compile(r"[A-Za-z\.\-_0-9+]{1,}")


def schedule_problem(schedule: str) -> str:
    """Why a schedule is none; empty for a good one."""
    try:
        parse_schedule(split_zone(schedule)[1])
    except ScheduleError as problem:
        return str(problem)
    return ""


def zone_problem(zone: str) -> str:
    """Why there is no such time zone; empty if there is one."""
    if not zone:
        return "timeZone must be nil or non-empty string"
    unknown = f"unknown time zone {zone}"
    for part in zone.split("/"):
        if part in (".", "..") or part.startswith("-") or not _ZONE_PART.fullmatch(part):
            return unknown
    if zone.lower() == "local":
        return (
            "timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones"
        )
    return "" if zone == "UTC" or _is_zone(zone) or not _is_zone("Europe/London") else unknown


@cache_short_texts(256)
def _is_zone(zone: str) -> bool:
    try:
        ZoneInfo(zone)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return False
    return True
