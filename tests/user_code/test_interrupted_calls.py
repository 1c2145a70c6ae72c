"""What is left of a call into a plugin that was interrupted: its message, and nothing it had."""

import gc
import weakref
from collections.abc import Iterator

import pytest
from support.user_code.loop_clock import LoopClock, limit_loops_only

from podium.scheduler.framework.faults import TookTooLong
from podium.user_code.time_limits import DEFAULT_LIMIT_S, call_limited, limit_calls


class Held:
    """Something that a plugin has at hand."""


@pytest.fixture
def clock() -> Iterator[LoopClock]:
    limit_calls(0.02)
    with limit_loops_only() as clock:
        yield clock
    limit_calls(DEFAULT_LIMIT_S)


def test_the_frame_of_an_interrupted_call_is_not_kept(clock: LoopClock) -> None:
    seen: list[weakref.ref[Held]] = []

    def endless() -> None:
        held = Held()
        seen.append(weakref.ref(held))
        while clock.loop():
            pass

    with pytest.raises(TookTooLong) as caught:
        call_limited("plugin Endless", "filter", "user_code.test_interrupted_calls", endless)

    assert caught.value.__context__ is None
    gc.collect()
    assert [each() for each in seen] == [None]
