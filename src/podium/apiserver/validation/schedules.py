"""When a cron job runs: five fields as cron writes them, or a word, and a time zone.

The words in which a schedule is refused are those of the library that reads them upstream.
"""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from podium.api.go_quoting import quoted
from podium.api.text_cache import cache_short_texts

_MONTHS: Final = (
    "jan",
    "feb",
    "mar",
    "apr",
    "may",
    "jun",
    "jul",
    "aug",
    "sep",
    "oct",
    "nov",
    "dec",
)
_DAYS: Final = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")


class _Field(NamedTuple):
    least: int
    most: int
    names: dict[str, int]


_FIELDS: Final = (
    _Field(0, 59, {}),
    _Field(0, 23, {}),
    _Field(1, 31, {}),
    _Field(1, 12, {name: number for number, name in enumerate(_MONTHS, 1)}),
    _Field(0, 6, {name: number for number, name in enumerate(_DAYS)}),
)
_WORDS: Final = frozenset(
    {"@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly"}
)
_EVERY: Final = "@every "
_DURATION: Final = re.compile(r"[+-]?(?:0|(?:(?:\d+\.?\d*|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+)")
_ZONE_PREFIXES: Final = ("TZ=", "CRON_TZ=")
_ZONE_PART: Final = re.compile(r"[A-Za-z\.\-_0-9+]{1,}")


class _Unreadable(Exception):
    """Why a schedule cannot be read."""


def schedule_problem(schedule: str) -> str:
    """Why a schedule is none; empty for a good one."""
    if schedule.startswith(_ZONE_PREFIXES):
        schedule = schedule.partition(" ")[2].strip()
    if schedule.startswith("@"):
        return _word_problem(schedule)
    fields = schedule.split()
    if len(fields) != len(_FIELDS):
        return f"expected exactly 5 fields, found {len(fields)}: [{' '.join(fields)}]"
    try:
        for written, field in zip(fields, _FIELDS, strict=True):
            for part in filter(None, written.split(",")):
                _check_range(part, field)
    except _Unreadable as problem:
        return str(problem)
    return ""


def _word_problem(word: str) -> str:
    if word in _WORDS:
        return ""
    if not word.startswith(_EVERY):
        return f"unrecognized descriptor: {word}"
    duration = word.removeprefix(_EVERY)
    if _DURATION.fullmatch(duration):
        return ""
    return f"failed to parse duration {word}: time: invalid duration {quoted(duration)}"


def _check_range(text: str, field: _Field) -> None:
    """One part of a field: `5`, `1-5`, `*/2`, `mon-fri`."""
    bounds, *steps = text.split("/")
    ends = bounds.split("-")
    if ends[0] in ("*", "?"):
        first, last = field.least, field.most
    else:
        numbers = [_number(end, field) for end in ends[:2]]
        if len(ends) > 2:
            raise _Unreadable(f"too many hyphens: {text}")
        first, last = numbers[0], numbers[-1]
    if len(steps) > 1:
        raise _Unreadable(f"too many slashes: {text}")
    step = _integer(steps[0]) if steps else 1
    if steps and len(ends) == 1:
        last = field.most
    for problem in _range_problems(first, last, step, field):
        raise _Unreadable(f"{problem}: {text}")


def _range_problems(first: int, last: int, step: int, field: _Field) -> Iterator[str]:
    if first < field.least:
        yield f"beginning of range ({first}) below minimum ({field.least})"
    if last > field.most:
        yield f"end of range ({last}) above maximum ({field.most})"
    if first > last:
        yield f"beginning of range ({first}) beyond end of range ({last})"
    if step == 0:
        yield "step of range should be a positive number"


def _number(text: str, field: _Field) -> int:
    named = field.names.get(text.lower())
    return _integer(text) if named is None else named


def _integer(text: str) -> int:
    if not re.fullmatch(r"[+-]?[0-9]{1,18}", text):
        why = f"strconv.Atoi: parsing {quoted(text)}: invalid syntax"
        raise _Unreadable(f"failed to parse int from {text}: {why}")
    number = int(text)
    if number < 0:
        raise _Unreadable(f"negative number ({number}) not allowed: {text}")
    return number


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
