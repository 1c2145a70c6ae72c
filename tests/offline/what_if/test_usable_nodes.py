"""Which nodes count when a cluster is spread or packed."""

import pytest
from support.scheduler.explain.asked_engine import engine_with, node

from podium.offline.what_if.usable_nodes import usable_nodes
from podium.testing import make_pod


@pytest.mark.parametrize("is_on", [False, True])
def test_tolerations_are_compared_under_the_gate_of_the_scheduler(is_on: bool) -> None:
    small = {"key": "level", "operator": "Lt", "value": "10", "effect": "NoSchedule"}
    engine = engine_with(
        node("plain"),
        node("tainted", taints=[("level", "5", "NoSchedule")]),
        make_pod("p", node="plain", tolerations=[small]),
        TaintTolerationComparisonOperators=is_on,
    )

    assert ("tainted" in usable_nodes(engine)) == is_on
