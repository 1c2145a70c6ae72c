"""Moments in a layout of the user's own, which Go writes as its reference time in that layout.

`2006-01-02` means year, month and day; `Jan _2 15:04:05 2006` has a month by name and a day padded
with a space. A layout becomes a pattern whose groups are the parts of a moment.

Contract: `seconds_by_layout` takes what Go's `time.Parse` takes, in UTC unless the text has an
offset; the abbreviation of a time zone (`MST`) is read and means UTC, as it does there for all
zones that the machine is not in.
"""

import re
from datetime import UTC, datetime, timedelta, timezone
from functools import lru_cache
from typing import Final

RFC3339: Final = "2006-01-02T15:04:05Z07:00"

_MONTHS: Final = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
_DAYS: Final = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_FRACTION: Final = r"(?:[.,](?P<fraction>\d+))?"


def _any_of(names: tuple[str, ...], letters: int | None = None) -> str:
    return "|".join(name[:letters] for name in names)


_PATTERNS: Final = {
    "January": f"(?P<month_name>(?i:{_any_of(_MONTHS)}))",
    "Jan": f"(?P<month_name>(?i:{_any_of(_MONTHS, 3)}))",
    "Monday": f"(?i:{_any_of(_DAYS)})",
    "Mon": f"(?i:{_any_of(_DAYS, 3)})",
    "MST": "(?:[A-Z]{3,5}|[+-]\\d{2})",
    "2006": r"(?P<year>\d{4})",
    "Z07:00": r"(?P<offset>Z|[+-]\d{2}:\d{2})",
    "-07:00": r"(?P<offset>[+-]\d{2}:\d{2})",
    "Z0700": r"(?P<offset>Z|[+-]\d{4})",
    "-0700": r"(?P<offset>[+-]\d{4})",
    "Z07": r"(?P<offset>Z|[+-]\d{2})",
    "-07": r"(?P<offset>[+-]\d{2})",
    "002": r"(?P<day_of_year>\d{3})",
    "01": r"(?P<month>\d{2})",
    "02": r"(?P<day>\d{2})",
    "03": r"(?P<half_hour>\d{2})",
    "04": r"(?P<minute>\d{2})",
    "05": rf"(?P<second>\d{{2}}){_FRACTION}",
    "06": r"(?P<short_year>\d{2})",
    "15": r"(?P<hour>\d{2})",
    "_2": r"(?P<day>[ \d]?\d)",
    "PM": "(?P<half>AM|PM)",
    "pm": "(?P<half>am|pm)",
    "1": r"(?P<month>\d{1,2})",
    "2": r"(?P<day>\d{1,2})",
    "3": r"(?P<half_hour>\d{1,2})",
    "4": r"(?P<minute>\d{1,2})",
    "5": rf"(?P<second>\d{{1,2}}){_FRACTION}",
}
_TOKEN: Final = re.compile("|".join([r"[.,](?:0+|9+)(?!\d)", *map(re.escape, _PATTERNS)]))


def seconds_by_layout(layout: str, text: str) -> float:
    """Seconds since 1970; ValueError for a text that is not of the layout.

    >>> seconds_by_layout("2006-01-02", "1970-01-02")
    86400.0
    """
    found = _pattern_of(layout).fullmatch(text)
    if found is None:
        raise ValueError(f"{text!r} is not of the layout {layout!r}")
    return _moment(found.groupdict()).timestamp()


@lru_cache(maxsize=64)
def _pattern_of(layout: str) -> re.Pattern[str]:
    parts: list[str] = []
    end = 0
    for token in _TOKEN.finditer(layout):
        parts.append(re.escape(layout[end : token.start()]))
        if token[0][0] not in ".,":  # fractions are read with the second they belong to
            parts.append(_PATTERNS[token[0]])
        end = token.end()
    try:
        return re.compile("".join([*parts, re.escape(layout[end:])]), re.ASCII)
    except re.error as problem:
        raise ValueError(f"{layout!r} names a part of a moment twice") from problem


def _moment(parts: dict[str, str | None]) -> datetime:
    def number(name: str, default: int) -> int:
        written = parts.get(name)
        return default if written is None else int(written)

    year = number("year", 0)
    if (short := parts.get("short_year")) is not None:
        year = int(short) + (1900 if int(short) >= 69 else 2000)
    month = number("month", 1)
    if (name := parts.get("month_name")) is not None:
        month = 1 + [each[:3].lower() for each in _MONTHS].index(name[:3].lower())
    hour = number("hour", 0)
    if parts.get("half_hour") is not None:
        hour = number("half_hour", 0)
        if (parts.get("half") or "").upper() == "PM":
            hour = hour + 12 if hour < 12 else hour
        elif parts.get("half") is not None and hour == 12:
            hour = 0
    moment = datetime(
        max(year, 1),  # upstream: a layout without a year means year 0, which Python has not
        month,
        number("day", 1),
        hour,
        number("minute", 0),
        number("second", 0),
        tzinfo=_zone(parts.get("offset")),
    )
    if (day := parts.get("day_of_year")) is not None:
        moment = moment.replace(month=1, day=1) + timedelta(days=int(day) - 1)
    return moment + timedelta(seconds=float(f"0.{parts.get('fraction') or 0}"))


def _zone(offset: str | None) -> timezone:
    if offset is None or offset == "Z":
        return UTC
    hours, minutes = int(offset[1:3]), int(offset[3:].lstrip(":") or 0)
    size = timedelta(hours=hours, minutes=minutes)
    return timezone(-size if offset[0] == "-" else size)
