"""Waiting times after failures."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.scheduler.engine.queues import info

from podium.scheduler.engine.queue.backoff import Backoff
from podium.scheduler.framework.queued import QueuedPod


def queued(*, rejections: int = 0, errors: int = 0, at: float = 0.0) -> QueuedPod:
    return QueuedPod(
        info("p"),
        timestamp=at,
        unschedulable_count=rejections,
        consecutive_errors_count=errors,
    )


@pytest.mark.parametrize(
    ("count", "seconds"),
    [(0, 0), (1, 1), (2, 2), (3, 4), (4, 8), (5, 10), (6, 10), (50, 10), (10_000, 10)],
)
def test_waits_double_up_to_the_limit(count: int, seconds: float) -> None:
    assert Backoff().duration_s(queued(rejections=count)) == seconds
    assert Backoff().duration_s(queued(errors=count)) == seconds


@pytest.mark.parametrize(
    ("initial_s", "most_s", "count", "seconds"),
    [(3, 10, 2, 6), (3, 10, 3, 10), (5, 5, 1, 5), (1, 64, 7, 64), (1, 63, 7, 63), (2, 0, 3, 0)],
)
def test_limits_are_configured(initial_s: float, most_s: float, count: int, seconds: float) -> None:
    assert Backoff(initial_s, most_s).duration_s(queued(rejections=count)) == seconds


def test_errors_in_a_row_count_instead_of_rejections() -> None:
    assert Backoff().duration_s(queued(rejections=4, errors=1)) == 1


def test_the_wait_ends_on_a_whole_second_and_lasts_through_it() -> None:
    pod = queued(rejections=1, at=100.7)
    backoff = Backoff()
    assert backoff.expiry(pod) == 101
    assert backoff.backing_off(pod, 101.0)
    assert backoff.backing_off(pod, 101.999)
    assert not backoff.backing_off(pod, 102.0)


def test_without_popping_early_waits_end_to_the_fraction() -> None:
    pod = queued(rejections=1, at=100.7)
    backoff = Backoff(whole_seconds=False)
    assert backoff.expiry(pod) == 101.7
    assert backoff.backing_off(pod, 101.7)
    assert not backoff.backing_off(pod, 101.75)


def test_a_pod_that_never_failed_does_not_wait() -> None:
    assert not Backoff().backing_off(queued(at=5.0), 5.0)


def test_no_limit_means_no_wait_at_all() -> None:
    assert not Backoff(most_s=0).backing_off(queued(rejections=3, at=5.0), 5.0)


def test_an_end_once_worked_out_is_kept_until_it_is_forgotten() -> None:
    pod = queued(rejections=1, at=10.0)
    backoff = Backoff()
    assert backoff.expiry(pod) == 11
    pod.unschedulable_count = 3
    assert backoff.expiry(pod) == 11
    pod.backoff_expiry = None
    assert backoff.expiry(pod) == 14


@given(st.integers(1, 200), st.floats(0, 1e6), st.integers(1, 10), st.integers(0, 600))
def test_the_real_wait_is_the_nominal_one_and_less_than_a_second_more(
    count: int, at: float, initial_s: int, more_s: int
) -> None:
    backoff = Backoff(initial_s, initial_s + more_s)
    pod = queued(rejections=count, at=at)
    nominal = min(initial_s * 2 ** (count - 1), initial_s + more_s)
    free = int(at + nominal) + 1
    assert backoff.backing_off(pod, free - 0.001)
    assert not backoff.backing_off(pod, free)
    assert at + nominal < free <= at + nominal + 1
