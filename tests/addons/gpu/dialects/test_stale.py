"""Until when a decision on a pod counts."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.addons.gpu.dialect_objects import NOW, pod

from podium.addons.gpu.cards.allocations import Allocation
from podium.addons.gpu.dialects.dialect import (
    Phase,
    Staleness,
    WrittenDecision,
    find_staleness,
    grace_period,
)
from podium.kubernetes.rules.timestamps import time_text

DECISION = WrittenDecision("n1", Allocation(()), NOW, Phase.RESERVED)


def refused(at: float, **more: Any) -> dict[str, Any]:
    condition = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}
    return {"conditions": [condition | {"lastTransitionTime": time_text(at)} | more]}


@pytest.mark.parametrize(
    ("node", "status", "later", "stale"),
    [
        ("", {}, 0, None),
        ("", {}, 30, None),
        ("", {}, 31, Staleness.EXPIRED),
        ("n1", {}, 10_000, None),
        ("n2", {}, 0, Staleness.OTHER_NODE),
        ("n1", {"phase": "Running"}, 10_000, None),
        ("n1", {"phase": "Succeeded"}, 0, Staleness.FINISHED),
        ("n1", {"phase": "Failed"}, 0, Staleness.FINISHED),
        ("", refused(NOW - 1), 5, None),
        ("", refused(NOW), 5, Staleness.UNSCHEDULABLE),
        ("", refused(NOW + 1), 5, Staleness.UNSCHEDULABLE),
        ("", refused(NOW - 1), 31, Staleness.EXPIRED),
        ("", refused(NOW + 1, status="True"), 5, None),
        ("", refused(NOW, lastTransitionTime="never"), 5, None),
        ("n1", refused(NOW + 1), 100, None),
    ],
)
def test_when_a_reservation_stops_counting(
    node: str, status: dict[str, Any], later: float, stale: Staleness | None
) -> None:
    assert find_staleness(pod(node=node, status=status), DECISION, NOW + later) is stale


@pytest.mark.parametrize("node", ["", "n1"])
def test_what_the_agent_refused_is_held_by_nobody(node: str) -> None:
    failed = WrittenDecision("n1", Allocation(()), NOW, Phase.FAILED)
    assert find_staleness(pod(node=node), failed, NOW) is Staleness.FAILED


def test_a_copied_pod_does_not_hold_the_cards_of_its_original() -> None:
    confirmed = WrittenDecision("n1", Allocation(()), NOW - 3600, Phase.CONFIRMED)
    assert find_staleness(pod(), confirmed, NOW) is Staleness.EXPIRED


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("", 30.0),
        ("2m", 30.0),
        ("20s", 20.0),
        ("1s", 1.0),
        ("900ms", 30.0),
        ("soon", 30.0),
        ("-5m", 30.0),
    ],
)
def test_a_pod_may_have_a_shorter_grace_period_of_its_own(text: str, seconds: float) -> None:
    assert grace_period(pod(annotations={"nvidia.com/stuck-grace-period": text})) == seconds


@given(text=st.text())
def test_no_annotation_or_condition_is_an_error(text: str) -> None:
    hostile = pod(
        annotations={"nvidia.com/stuck-grace-period": text},
        status=refused(NOW, lastTransitionTime=text),
    )
    find_staleness(hostile, DECISION, NOW)
