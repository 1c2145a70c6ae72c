"""A clock for the time limits of plugins that stands still until a plugin loops.

A limit has to be short where a test waits until it is over, and a machine that pauses for as long
would have it end calls that answer at once. By this clock they take no time at all, and a call that
has said that it loops has taken too long whenever the timer looks at it, until it has been ended.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from podium.user_code import time_limits
from podium.user_code.time_limits import count_ended_calls

STEP_S = 60.0
"""By so much the clock moves on at each look; longer than any limit of a test."""


class LoopClock:
    def __init__(self) -> None:
        self._now = 0.0
        self._loops = False
        self._ended_before = 0

    def loop(self) -> bool:
        """Called by a plugin that is about to loop, or in the condition of its loop; true."""
        if not self._loops:
            self._ended_before = count_ended_calls()
            self._loops = True
        return True

    def now(self) -> float:
        if self._loops and count_ended_calls() > self._ended_before:
            self._loops = False
        if self._loops:
            self._now += STEP_S
        return self._now


@contextmanager
def limit_loops_only() -> Iterator[LoopClock]:
    """Plugins find `loop` among the builtins."""
    clock = LoopClock()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(time_limits, "monotonic", clock.now)
        patch.setattr("builtins.loop", clock.loop, raising=False)
        yield clock
