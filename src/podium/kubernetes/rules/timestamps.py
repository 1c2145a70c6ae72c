"""Moments as Kubernetes objects write them: RFC 3339 in UTC.

The API has two types for them: `metav1.Time`, to the second, and `metav1.MicroTime`, to the
microsecond. Podium counts seconds since 1970 and meets the texts only where objects are read or
written. What the API server takes from clients is read more strictly, with Go's refusals:
`kubernetes/schema/decoding.py`.

Instants that rules are given, since they own no clock.
"""

from dataclasses import dataclass
from datetime import UTC, datetime


def time_text(at: float) -> str:
    """A `metav1.Time`; what lies below a second is dropped.

    >>> time_text(1_800_000_000.75)
    '2027-01-15T08:00:00Z'
    """
    return datetime.fromtimestamp(int(at), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def micro_time_text(at: float) -> str:
    """A `metav1.MicroTime`.

    >>> micro_time_text(1_800_000_000.25)
    '2027-01-15T08:00:00.250000Z'
    """
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def parse_time(text: str) -> datetime:
    """ValueError for a text that is no moment."""
    # RFC 3339 knows no hour 24; Python reads it as the next day from 3.14 on.
    if "T24" in text:
        raise ValueError(f"hour must be in 0..23: {text!r}")
    return datetime.fromisoformat(text)


def seconds_of(text: str) -> float:
    """Seconds since 1970; ValueError for a text that is no moment.

    >>> seconds_of("2027-01-15T08:00:00.5Z")
    1800000000.5
    """
    return parse_time(text).timestamp()


@dataclass(frozen=True, slots=True)
class Moment:
    """One instant; `now_s` counts cluster seconds, `wall_s` seconds since 1970.

    `speed` is how many cluster seconds pass in one second of the calendar.
    """

    now_s: float
    wall_s: float
    speed: float = 1.0

    @property
    def timestamp(self) -> str:
        return time_text(self.wall_s)

    @property
    def micro_timestamp(self) -> str:
        return micro_time_text(self.wall_s)

    def age_s(self, timestamp: str | None) -> float:
        """Cluster seconds since a timestamp; 0 if there is none."""
        if not timestamp:
            return 0.0
        return max(0.0, self.wall_s - seconds_of(timestamp)) * self.speed
