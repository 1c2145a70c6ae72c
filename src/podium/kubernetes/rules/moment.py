"""Instants that rules are given, since they own no clock."""

from dataclasses import dataclass

from podium.kubernetes.rules.timestamps import micro_time_text, seconds_of, time_text


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
