"""How long ago something was, as people like to read it.

Two units at most, coarser the longer it is ago: `95s`, `2m5s`, `3h10m`, `47h`, `3d2h`, `2y10d`.
"""

from typing import Final

from podium.kubernetes.rules.timestamps import seconds_of

UNKNOWN: Final = "<unknown>"

_MINUTE: Final = 60
_HOUR: Final = 3600
_DAY_H: Final = 24
_YEAR_D: Final = 365


def seconds_or_none(timestamp: str) -> float | None:
    """The time that an object wrote, in seconds since the epoch; None if it wrote none."""
    try:
        return seconds_of(timestamp)
    except ValueError:
        return None


def age(timestamp: str | None, now: float) -> str:
    """How long ago a time of an object was."""
    if not timestamp:
        return UNKNOWN
    then = seconds_or_none(timestamp)
    return UNKNOWN if then is None else human_duration(now - then)


def human_duration(duration_s: float) -> str:
    """A length of time; clocks that differ by less than two seconds count as none."""
    seconds = int(duration_s)
    if seconds < -1:
        return "<invalid>"
    if seconds < 0:
        return "0s"
    if seconds < 2 * _MINUTE:
        return f"{seconds}s"
    minutes = seconds // _MINUTE
    if minutes < 10:
        return _two(minutes, "m", seconds % _MINUTE, "s")
    if minutes < 180:
        return f"{minutes}m"
    hours = seconds // _HOUR
    if hours < 8:
        return _two(hours, "h", minutes % 60, "m")
    if hours < 2 * _DAY_H:
        return f"{hours}h"
    days = hours // _DAY_H
    if days < 8:
        return _two(days, "d", hours % _DAY_H, "h")
    if days < 2 * _YEAR_D:
        return f"{days}d"
    if days < 8 * _YEAR_D:
        return _two(days // _YEAR_D, "y", days % _YEAR_D, "d")
    return f"{days // _YEAR_D}y"


def _two(large: int, unit: str, small: int, small_unit: str) -> str:
    return f"{large}{unit}{small}{small_unit}" if small else f"{large}{unit}"
