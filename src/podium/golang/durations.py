"""Durations in Go's notation, `1m30.5s`, and moments in layouts as Go writes them.

The text form is a contract in both directions, since the effective configuration is printed back
in Go's canonical spelling, and the refusals are Go's own words.

Moments in a layout of the user's own, which Go writes as its reference time in that layout.
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

import msgspec

_NANOSECONDS: Final = {
    "ns": 1,
    "us": 1_000,
    "µs": 1_000,  # U+00B5, micro sign
    "μs": 1_000,  # U+03BC, Greek mu
    "ms": 1_000_000,
    "s": 1_000_000_000,
    "m": 60_000_000_000,
    "h": 3_600_000_000_000,
}
_MAX_NANOSECONDS: Final = 2**63 - 1
_PART: Final = re.compile(r"([0-9]*)(?:\.([0-9]*))?([^0-9.]*)")


class DurationError(ValueError):
    """The text is not a duration; the message is Go's."""


class Duration(msgspec.Struct, frozen=True, order=True):
    """A signed length of time in whole nanoseconds."""

    nanoseconds: int = 0

    @classmethod
    def parse(cls, text: str) -> "Duration":
        """Read Go's notation: one or more decimal numbers, each with a unit; or `0`.

        >>> Duration.parse("1m30.5s").seconds
        90.5
        """
        unsigned = text[1:] if text[:1] in ("-", "+") else text
        if unsigned == "0":
            return cls(0)
        if not unsigned:
            raise DurationError(f"time: invalid duration {_quote_bytes(text)}")
        total = at = 0
        while at < len(unsigned):
            part = _PART.match(unsigned, at)
            if part is None or not (part[1] or part[2]):
                raise DurationError(f"time: invalid duration {_quote_bytes(text)}")
            # Digits beyond these cannot matter: too large for Go, or below a nanosecond.
            whole, fraction, unit = part[1].lstrip("0"), (part[2] or "")[:18], part[3]
            if len(whole) > 19:
                raise DurationError(f"time: invalid duration {_quote_bytes(text)}")
            if not unit:
                raise DurationError(f"time: missing unit in duration {_quote_bytes(text)}")
            if unit not in _NANOSECONDS:
                raise DurationError(
                    f"time: unknown unit {_quote_bytes(unit)} in duration {_quote_bytes(text)}"
                )
            scale = _NANOSECONDS[unit]
            total += int(whole or "0") * scale
            if fraction:
                total += int(fraction) * scale // 10 ** len(fraction)
            at = part.end()
        # Go's smallest duration has no positive counterpart.
        limit = _MAX_NANOSECONDS + (1 if text.startswith("-") else 0)
        if total > limit:
            raise DurationError(f"time: invalid duration {_quote_bytes(text)}")
        return cls(-total if text.startswith("-") else total)

    @classmethod
    def of_seconds(cls, seconds: float) -> "Duration":
        """To the nearest nanosecond."""
        return cls(round(seconds * _NANOSECONDS["s"]))

    @property
    def seconds(self) -> float:
        return self.nanoseconds / _NANOSECONDS["s"]

    def __str__(self) -> str:
        """Go's canonical form: `10m0s`, `1m30.5s`, `500ms`, `0s`."""
        if self.nanoseconds == 0:
            return "0s"
        sign = "-" if self.nanoseconds < 0 else ""
        size = abs(self.nanoseconds)
        for unit in ("ns", "µs", "ms"):
            if size < _NANOSECONDS[unit] * 1000:
                return f"{sign}{_decimal(size, _NANOSECONDS[unit])}{unit}"
        minutes, below_minute = divmod(size, _NANOSECONDS["m"])
        text = f"{_decimal(below_minute, _NANOSECONDS['s'])}s"
        if minutes:
            hours, minutes = divmod(minutes, 60)
            text = f"{hours}h{minutes}m{text}" if hours else f"{minutes}m{text}"
        return sign + text


def _decimal(size: int, unit: int) -> str:
    whole, rest = divmod(size, unit)
    if not rest:
        return str(whole)
    digits = str(rest).rjust(len(str(unit)) - 1, "0").rstrip("0")
    return f"{whole}.{digits}"


def _quote_bytes(text: str) -> str:
    """As Go's time package quotes, which knows bytes and no letters beyond ASCII."""
    data = text.encode(errors="surrogatepass")
    letters = (chr(byte) if 0x20 <= byte < 0x80 else f"\\x{byte:02x}" for byte in data)
    return '"' + "".join(f"\\{c}" if c in '"\\' else c for c in letters) + '"'


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
