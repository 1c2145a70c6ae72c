"""How long to wait before trying again."""

from random import Random

from hypothesis import given
from hypothesis import strategies as st

from podium.client.rate_limit import RelistBackoff


@given(seed=st.integers(0, 1000))
def test_each_pause_is_between_the_step_and_twice_the_step(seed: int) -> None:
    backoff = RelistBackoff(Random(seed))
    now = 0.0
    for step in (0.8, 1.6, 3.2, 6.4, 12.8, 25.6, 30, 30):
        pause = backoff.next(now)
        assert step <= pause <= 2 * step
        now += pause


def test_two_quiet_minutes_begin_from_the_start() -> None:
    backoff = RelistBackoff(Random(1), jitter=0)
    assert [backoff.next(now) for now in (0, 1, 2)] == [0.8, 1.6, 3.2]
    assert backoff.next(122) == 6.4
    assert backoff.next(243) == 0.8
