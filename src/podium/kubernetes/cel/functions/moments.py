"""Timestamps and durations: reading, writing, and the parts of a date.

Nothing a selector can see is a time, so this serves constants only; it is here because CEL has it.
Time zones are UTC unless named.
"""

import datetime
import re
from collections.abc import Callable

from podium.golang import durations
from podium.kubernetes.cel.errors import CelError, unreadable
from podium.kubernetes.cel.functions.operators import (
    checked_duration,
    checked_timestamp,
)
from podium.kubernetes.cel.library import Functions, lookup_cost
from podium.kubernetes.cel.values import NANOS, CelDuration, Timestamp

MOMENTS = Functions()

_TIMESTAMP = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(?:\.(\d+))?(?:([Zz])|([+-])(\d\d):(\d\d))"
)
_OFFSET = re.compile(r"([+-]?)(\d\d):(\d\d)")
_MAX_LENGTH = 1_000
_EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)


def parse_duration(text: str) -> CelDuration:
    """Go's duration syntax: `1h30m`, `-1.5s`, `0`; nothing longer than anybody would write."""
    if len(text) > _MAX_LENGTH:
        raise unreadable("google.protobuf.Duration")
    try:
        return checked_duration(durations.Duration.parse(text).nanoseconds)
    except durations.DurationError:
        raise unreadable("google.protobuf.Duration") from None


def duration_text(duration: CelDuration) -> str:
    """Seconds with up to nine decimals, as the protobuf JSON form has it."""
    sign = "-" if duration.nanos < 0 else ""
    seconds, nanos = divmod(abs(duration.nanos), NANOS)
    fraction = f".{nanos:09d}".rstrip("0") if nanos else ""
    return f"{sign}{seconds}{fraction}s"


def parse_timestamp(text: str) -> Timestamp:
    match = _TIMESTAMP.fullmatch(text)
    if match is None:
        raise unreadable("google.protobuf.Timestamp")
    year, month, day, hour, minute, second = (int(match[n]) for n in range(1, 7))
    try:
        moment = datetime.datetime(year, month, day, hour, minute, second, tzinfo=datetime.UTC)
    except ValueError:
        raise unreadable("google.protobuf.Timestamp") from None
    nanos = int((match[7] or "0")[:9].ljust(9, "0"))
    seconds = (moment - _EPOCH) // datetime.timedelta(seconds=1)
    if match[9]:
        shift = int(match[10]) * 3600 + int(match[11]) * 60
        seconds += -shift if match[9] == "+" else shift
    return checked_timestamp(seconds * NANOS + nanos)


def timestamp_of_seconds(seconds: int) -> Timestamp:
    return checked_timestamp(seconds * NANOS)


def timestamp_text(moment: Timestamp) -> str:
    seconds, nanos = divmod(moment.nanos, NANOS)
    shown = (_EPOCH + datetime.timedelta(seconds=seconds)).strftime("%m-%dT%H:%M:%S")
    year = (_EPOCH + datetime.timedelta(seconds=seconds)).year
    fraction = f".{nanos:09d}".rstrip("0") if nanos else ""
    return f"{year:04d}-{shown}{fraction}Z"


def _zone(name: str) -> datetime.tzinfo:
    match = _OFFSET.fullmatch(name)
    if match is not None:
        minutes = int(match[2]) * 60 + int(match[3])
        return datetime.timezone(
            datetime.timedelta(minutes=-minutes if match[1] == "-" else minutes)
        )
    if name in ("UTC", ""):
        return datetime.UTC
    import zoneinfo

    try:
        return zoneinfo.ZoneInfo(name)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError):
        raise CelError(f"unknown time zone {name}") from None


def _date(moment: Timestamp, zone: str) -> datetime.datetime:
    shift = datetime.timedelta(microseconds=moment.nanos // 1000)
    try:
        return (_EPOCH + shift).astimezone(_zone(zone))
    except OverflowError:
        raise CelError("timestamp overflow") from None


_PARTS: dict[str, Callable[[datetime.datetime], int]] = {
    "getFullYear": lambda date: date.year,
    "getMonth": lambda date: date.month - 1,
    "getDate": lambda date: date.day,
    "getDayOfMonth": lambda date: date.day - 1,
    "getDayOfWeek": lambda date: date.isoweekday() % 7,
    "getDayOfYear": lambda date: date.timetuple().tm_yday - 1,
    "getHours": lambda date: date.hour,
    "getMinutes": lambda date: date.minute,
    "getSeconds": lambda date: date.second,
    "getMilliseconds": lambda date: date.microsecond // 1000,
}


def _declare_part(name: str, part: Callable[[datetime.datetime], int]) -> None:
    @MOMENTS.define(f"(timestamp).{name}() -> int", cost=lookup_cost)
    def _utc(moment: Timestamp) -> int:
        return part(_date(moment, "UTC"))

    @MOMENTS.define(f"(timestamp).{name}(string) -> int", cost=lookup_cost)
    def _read_part_in_zone(moment: Timestamp, zone: str) -> int:
        return part(_date(moment, zone))


for _name, _part in _PARTS.items():
    _declare_part(_name, _part)


def _truncate_nanos(nanos: int, unit: int) -> int:
    return nanos // unit if nanos >= 0 else -(-nanos // unit)


@MOMENTS.define("(duration).getHours() -> int")
def _hours(duration: CelDuration) -> int:
    return _truncate_nanos(duration.nanos, 3600 * NANOS)


@MOMENTS.define("(duration).getMinutes() -> int")
def _minutes(duration: CelDuration) -> int:
    return _truncate_nanos(duration.nanos, 60 * NANOS)


@MOMENTS.define("(duration).getSeconds() -> int")
def _seconds(duration: CelDuration) -> int:
    return _truncate_nanos(duration.nanos, NANOS)


@MOMENTS.define("(duration).getMilliseconds() -> int")
def _milliseconds(duration: CelDuration) -> int:
    return _truncate_nanos(duration.nanos, 10**6) % 1000
