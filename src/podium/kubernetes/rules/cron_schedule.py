"""Schedules of cron jobs: five fields, or a word such as `@hourly` or `@every 90s`.

The fields are minute, hour, day of the month, month and day of the week, read and stepped through
as robfig/cron does, whose parser Kubernetes uses: 7 is no day of the week, a day matches if either
of its two fields does unless one of them is a star, and hours that a change of the clock leaves out
are passed over.

>>> from datetime import UTC, datetime
>>> parse_schedule("*/15 9-17 * * mon-fri").after(datetime(2027, 1, 15, 17, 45, tzinfo=UTC))
datetime.datetime(2027, 1, 18, 9, 0, tzinfo=datetime.timezone.utc)
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Final, NamedTuple, Protocol

from podium.golang.durations import Duration
from podium.golang.quoting import go_quote

_YEARS_AHEAD: Final = 5
_HOUR: Final = timedelta(hours=1)
_MINUTE: Final = timedelta(minutes=1)
_SECOND: Final = timedelta(seconds=1)
_ZONE_PREFIXES: Final = ("TZ=", "CRON_TZ=")
_WORDS: Final = {
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
    "@monthly": "0 0 1 * *",
    "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@hourly": "0 * * * *",
}
_EVERY: Final = "@every "
_INTEGER: Final = re.compile(r"[+-]?[0-9]{1,18}")


class _Bounds(NamedTuple):
    least: int
    most: int
    names: dict[str, int]


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
_MINUTES_OF_HOUR: Final = _Bounds(0, 59, {})
_HOURS_OF_DAY: Final = _Bounds(0, 23, {})
_DAYS_OF_MONTH: Final = _Bounds(1, 31, {})
_MONTHS_OF_YEAR: Final = _Bounds(1, 12, {name: at + 1 for at, name in enumerate(_MONTHS)})
_DAYS_OF_WEEK: Final = _Bounds(0, 6, {name: at for at, name in enumerate(_DAYS)})


class ScheduleError(ValueError):
    """The text is no schedule; the message is that of upstream's parser."""


class Schedule(Protocol):
    def after(self, moment: datetime) -> datetime | None:
        """The next time that is later; None if there is none within five years."""


class _Field(NamedTuple):
    values: frozenset[int]
    is_star: bool


class _Unit(NamedTuple):
    """One unit of the calendar: whether a time fits, where its unit starts, and the next one."""

    fits: Callable[[datetime], bool]
    start: Callable[[datetime], datetime]
    next: Callable[[datetime], datetime]
    begins_larger: Callable[[datetime], bool]


@dataclass(frozen=True, slots=True)
class _Interval:
    seconds: int

    def after(self, moment: datetime) -> datetime | None:
        return moment.replace(microsecond=0) + self.seconds * _SECOND


@dataclass(frozen=True, slots=True)
class _Calendar:
    minute: _Field
    hour: _Field
    day: _Field
    month: _Field
    weekday: _Field
    zone: tzinfo

    def after(self, moment: datetime) -> datetime | None:
        if not (self.hour.values and self.minute.values):
            return None
        begun = moment.astimezone(self.zone)
        time = _later(begun, _SECOND).replace(microsecond=0)
        last_year = time.year + _YEARS_AHEAD
        is_rounded = False
        while time.year <= last_year:
            for unit in self._units():
                while not unit.fits(time):
                    time = unit.next(time if is_rounded else unit.start(time))
                    is_rounded = True
                    if unit.begins_larger(time):
                        break
                else:
                    continue
                break
            else:
                return time.astimezone(moment.tzinfo)
        return None

    def _units(self) -> "tuple[_Unit, ...]":
        """From the largest to the smallest.

        upstream: larger units are looked at again only where one of them begins, so that a day
        without a midnight is taken for a part of the day before.
        """
        return (
            _Unit(
                lambda time: time.month in self.month.values,
                lambda time: _wall(time, day=1),
                _next_month,
                lambda time: time.month == 1,
            ),
            _Unit(self._has_day, _wall, _next_day, lambda time: time.day == 1),
            _Unit(
                lambda time: time.hour in self.hour.values,
                lambda time: _wall(time, hour=time.hour),
                lambda time: _later(time, _HOUR),
                lambda time: time.hour == 0,
            ),
            _Unit(
                lambda time: time.minute in self.minute.values,
                lambda time: time.replace(second=0),
                lambda time: _later(time, _MINUTE),
                lambda time: time.minute == 0,
            ),
            _Unit(
                lambda time: time.second == 0,
                lambda time: time,
                lambda time: _later(time, _SECOND),
                lambda time: time.second == 0,
            ),
        )

    def _has_day(self, time: datetime) -> bool:
        of_month = time.day in self.day.values
        of_week = time.isoweekday() % 7 in self.weekday.values
        if self.day.is_star or self.weekday.is_star:
            return of_month and of_week
        return of_month or of_week


def _later(time: datetime, step: timedelta) -> datetime:
    """Later by time that passes, whatever the clock on the wall does meanwhile."""
    return (time.astimezone(UTC) + step).astimezone(time.tzinfo)


def _on_wall(wall: datetime, zone: tzinfo | None) -> datetime:
    """The time when clocks show this; where they never do, or do twice, as Go's time.Date."""
    offset = _offset(wall - _offset(wall, zone), zone)
    return (wall - offset).replace(tzinfo=UTC).astimezone(zone)


def _offset(utc: datetime, zone: tzinfo | None) -> timedelta:
    """How far clocks are ahead of UTC at an instant, given in UTC without a zone."""
    return utc.replace(tzinfo=UTC).astimezone(zone).utcoffset() or timedelta()


def _wall(time: datetime, *, day: int = 0, hour: int = 0) -> datetime:
    """The start of a day or hour in the same month."""
    wall = time.replace(tzinfo=None, fold=0, hour=hour, minute=0, second=0)
    return _on_wall(wall.replace(day=day or time.day), time.tzinfo)


def _next_month(time: datetime) -> datetime:
    year, month = divmod(time.year * 12 + time.month, 12)
    wall = time.replace(year=year, month=month + 1, tzinfo=None, fold=0)
    return _on_wall(wall, time.tzinfo)


def _next_day(time: datetime) -> datetime:
    wall = time.replace(tzinfo=None, fold=0) + timedelta(days=1)
    made = _on_wall(wall, time.tzinfo)
    if not made.hour:
        return made
    # upstream: where there is no midnight, the day begins at the nearest full hour.
    return _later(made, (24 - made.hour) * _HOUR if made.hour > 12 else -made.hour * _HOUR)


def split_zone(text: str) -> tuple[str, str]:
    """The time zone that a schedule begins with, empty if with none, and the schedule itself."""
    for prefix in _ZONE_PREFIXES:
        if text.startswith(prefix):
            zone, _, rest = text.removeprefix(prefix).partition(" ")
            return zone, rest.strip()
    return "", text


def parse_schedule(text: str, zone: tzinfo = UTC) -> Schedule:
    """Raises ScheduleError."""
    if text.startswith("@"):
        if text in _WORDS:
            return parse_schedule(_WORDS[text], zone)
        if text.startswith(_EVERY):
            return _interval(text)
        raise ScheduleError(f"unrecognized descriptor: {text}")
    fields = text.split()
    if len(fields) != 5:
        raise ScheduleError(f"expected exactly 5 fields, found {len(fields)}: [{' '.join(fields)}]")
    return _Calendar(
        _field(fields[0], _MINUTES_OF_HOUR),
        _field(fields[1], _HOURS_OF_DAY),
        _field(fields[2], _DAYS_OF_MONTH),
        _field(fields[3], _MONTHS_OF_YEAR),
        _field(fields[4], _DAYS_OF_WEEK),
        zone,
    )


def _interval(text: str) -> _Interval:
    try:
        seconds = Duration.parse(text.removeprefix(_EVERY)).seconds
    except ValueError as problem:
        raise ScheduleError(f"failed to parse duration {text}: {problem}") from None
    return _Interval(max(int(seconds), 1))


def _field(text: str, bounds: _Bounds) -> _Field:
    values: set[int] = set()
    is_star = False
    for part in filter(None, text.split(",")):
        found, star = _range(part, bounds)
        values.update(found)
        is_star |= star
    return _Field(frozenset(values), is_star)


def _range(text: str, bounds: _Bounds) -> tuple[range, bool]:
    written, *steps = text.split("/")
    low, *high = written.split("-")
    is_star = low in ("*", "?")
    if is_star:
        start, end = bounds.least, bounds.most
    else:
        start = _number(low, bounds)
        end = _number(high[0], bounds) if high else start
        if len(high) > 1:
            raise ScheduleError(f"too many hyphens: {text}")
    if len(steps) > 1:
        raise ScheduleError(f"too many slashes: {text}")
    step = _whole(steps[0]) if steps else 1
    if steps and not high and not is_star:
        end = bounds.most
    if start < bounds.least:
        raise ScheduleError(f"beginning of range ({start}) below minimum ({bounds.least}): {text}")
    if end > bounds.most:
        raise ScheduleError(f"end of range ({end}) above maximum ({bounds.most}): {text}")
    if start > end:
        raise ScheduleError(f"beginning of range ({start}) beyond end of range ({end}): {text}")
    if not step:
        raise ScheduleError(f"step of range should be a positive number: {text}")
    return range(start, end + 1, step), is_star and step == 1


def _number(text: str, bounds: _Bounds) -> int:
    named = bounds.names.get(text.lower())
    return _whole(text) if named is None else named


def _whole(text: str) -> int:
    if not _INTEGER.fullmatch(text):
        why = f"strconv.Atoi: parsing {go_quote(text)}: invalid syntax"
        raise ScheduleError(f"failed to parse int from {text}: {why}")
    number = int(text)
    if number < 0:
        raise ScheduleError(f"negative number ({number}) not allowed: {text}")
    return number
