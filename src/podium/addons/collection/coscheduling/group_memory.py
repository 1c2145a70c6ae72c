"""What is remembered of groups between attempts, by group: most of it for some time only."""

from collections.abc import Callable
from typing import Final

from podium.addons.collection.coscheduling.gangs import GroupKey

_MAX_REMEMBERED: Final = 4096
"""How many groups are remembered before those are looked for of which no pod is left."""


class TimedGroups:
    """Groups of which something is true until a time; one that is there already stays until its
    own."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._until: dict[GroupKey, float] = {}

    def add(self, key: GroupKey, seconds: float) -> None:
        if seconds > 0 and self.until(key) is None:
            self._until[key] = self._clock() + seconds

    def until(self, key: GroupKey) -> float | None:
        """When it ends; None if it is not true, or not any more."""
        until = self._until.get(key)
        if until is not None and until <= self._clock():
            del self._until[key]
            return None
        return until

    def __contains__(self, key: GroupKey) -> bool:
        return self.until(key) is not None

    def forget(self, key: GroupKey) -> None:
        self._until.pop(key, None)


class GroupTimes:
    """A time for each of some groups: when it was first seen, or last failed."""

    def __init__(self, clock: Callable[[], float], is_known: Callable[[GroupKey], bool]) -> None:
        self._clock = clock
        self._is_known = is_known
        self._times: dict[GroupKey, float] = {}

    def set(self, key: GroupKey) -> None:
        """Now."""
        if len(self._times) >= _MAX_REMEMBERED and key not in self._times:
            self._times = {k: at for k, at in self._times.items() if self._is_known(k)}
        self._times[key] = self._clock()

    def get(self, key: GroupKey) -> float | None:
        return self._times.get(key)

    def copy(self) -> "GroupTimes":
        made = GroupTimes(self._clock, self._is_known)
        made._times = dict(self._times)
        return made

    def __contains__(self, key: GroupKey) -> bool:
        return key in self._times

    def forget(self, key: GroupKey) -> None:
        self._times.pop(key, None)


class GroupMemory:
    """`permitted` groups have passed the check of their minResources, `backed_off` and `denied`
    ones failed a moment ago; a member of a `brought` one brought the others a moment ago."""

    def __init__(self, clock: Callable[[], float], is_known: Callable[[GroupKey], bool]) -> None:
        self.permitted = TimedGroups(clock)
        self.backed_off = TimedGroups(clock)
        self.denied = TimedGroups(clock)
        self.brought = TimedGroups(clock)
        self.last_failure = GroupTimes(clock, is_known)
        self.first_seen = GroupTimes(clock, is_known)
        self._clock = clock
        self._is_known = is_known

    def after_a_while(self) -> "GroupMemory":
        """A copy without what is remembered for some time only."""
        made = GroupMemory(self._clock, self._is_known)
        made.last_failure, made.first_seen = self.last_failure.copy(), self.first_seen.copy()
        return made
