"""What plugins are tested with; Podium's own tests use it first.

    from podium.testing import FakeCluster, assert_placed, make_node, make_pod

    cluster = FakeCluster(make_node("a"), make_node("b"), plugins=[MyPlugin], args={...})
    decision = cluster.schedule(make_pod("web", requests={"cpu": "1"}))
    assert_placed(decision, on="b")

Nothing here needs a network, a process or a real clock; `embedded_cluster` is loaded when it is
asked for. What is listed stays from release to release (`tests/testing/test_surface.py` pins it).
"""

from typing import Any

from podium.testing.answers import cycle_for, filter_answers, present_rows, score_answers
from podium.testing.assertions import (
    assert_fits,
    assert_placed,
    assert_rejected,
    assert_scores,
    assert_unplaced,
    describe_decision,
    scores_of,
)
from podium.testing.fake_cluster import FakeApi, FakeClock, FakeCluster, NotTried
from podium.testing.objects import make_cluster, make_handle, make_node, make_pod
from podium.testing.promises import BrokenPromise, assert_promises, check_promises

__all__ = [
    "BrokenPromise",
    "EmbeddedCluster",
    "FakeApi",
    "FakeClock",
    "FakeCluster",
    "NotTried",
    "SimulatedClusterOptions",
    "assert_fits",
    "assert_placed",
    "assert_promises",
    "assert_rejected",
    "assert_scores",
    "assert_unplaced",
    "check_promises",
    "cycle_for",
    "describe_decision",
    "embedded_cluster",
    "filter_answers",
    "make_cluster",
    "make_handle",
    "make_node",
    "make_pod",
    "present_rows",
    "score_answers",
    "scores_of",
]

_EMBEDDED = ("EmbeddedCluster", "SimulatedClusterOptions", "embedded_cluster")


def __getattr__(name: str) -> Any:
    if name in _EMBEDDED:
        from podium.testing import embedded

        return getattr(embedded, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
