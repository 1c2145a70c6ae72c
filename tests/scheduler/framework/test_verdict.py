"""Verdicts: numbers per row, texts on demand."""

import numpy as np
import pytest

from podium.scheduler.cluster.growth import Mask
from podium.scheduler.framework.diagnosis import Verdict, choosing, per_row, rejecting
from podium.scheduler.framework.status import Status, error, unresolvable, unschedulable

A, B = unschedulable("a"), unresolvable("b")


def statuses(verdict: Verdict | None) -> list[Status | None]:
    assert verdict is not None
    return [verdict.describe(int(v)) if v else None for v in verdict.values]


@pytest.mark.parametrize("mask", [None, np.zeros(3, dtype=np.bool_)])
def test_nobody_rejected_is_no_verdict(mask: Mask | None) -> None:
    assert rejecting(mask, A) is None


def test_a_mask_is_rejected_with_one_status() -> None:
    verdict = rejecting(np.array([True, False, True]), A)
    assert statuses(verdict) == [A, None, A]
    assert verdict is not None
    assert not verdict.broken


def test_numbers_choose_among_statuses() -> None:
    assert statuses(choosing(np.array([0, 2, 1]), (A, B))) == [None, B, A]
    assert choosing(np.array([0, 0]), (A, B)) is None


def test_single_positions_share_equal_statuses() -> None:
    verdict = per_row({0: A, 2: unschedulable("a"), 3: B}, 4)
    assert statuses(verdict) == [A, None, A, B]
    assert verdict is not None
    assert verdict.values[0] == verdict.values[2] != verdict.values[3]
    assert per_row({}, 4) is None


def test_a_status_that_is_no_rejection_breaks_the_verdict() -> None:
    broken = error("boom")
    for verdict in (
        rejecting(np.array([True]), broken),
        choosing(np.array([1, 2]), (A, broken)),
        per_row({0: broken}, 1),
    ):
        assert verdict is not None
        assert verdict.broken
