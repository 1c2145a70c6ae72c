"""QOSSort: priority, then quality of service, then the time in the queue."""

from typing import Any

import pytest

from podium.addons.collection.qos_sort import QOSSort
from podium.kubernetes.rules.pod_level_resources import qos_class, qos_class_of
from podium.testing import FakeCluster, assert_promises, make_node, make_pod

BOTH = {"cpu": "100m", "memory": "1Gi"}


def container(**resources: Any) -> dict[str, Any]:
    return {"name": "main", "image": "app:v1", "resources": resources}


GUARANTEED: dict[str, Any] = {"containers": [container(requests=BOTH, limits=BOTH)]}
BURSTABLE: dict[str, Any] = {"containers": [container(requests={"cpu": "100m"})]}
BEST_EFFORT: dict[str, Any] = {"containers": [container()]}


def test_equally_important_pods_go_by_their_class_and_then_by_their_wait() -> None:
    cluster = FakeCluster(plugins=[QOSSort], disabled=["PrioritySort"])
    cluster.put(
        make_pod("nothing", **BEST_EFFORT),
        make_pod("some", **BURSTABLE),
        make_pod("all", **GUARANTEED),
        make_pod("urgent", priority=10, **BEST_EFFORT),
    )
    cluster.clock.advance(1)
    cluster.put(make_pod("all-later", **GUARANTEED), make_pod("some-later", **BURSTABLE))
    cluster.put(make_node("a"))
    assert cluster.run() == ["urgent", "all", "all-later", "some", "some-later", "nothing"]


@pytest.mark.parametrize(
    "spec",
    [
        GUARANTEED,
        BURSTABLE,
        BEST_EFFORT,
        {"containers": [container(limits=BOTH)]},
        {"containers": [container()], "resources": {"requests": BOTH, "limits": BOTH}},
        {"containers": [container()], "resources": {"requests": {"cpu": "1"}}},
        {"containers": [container(requests=BOTH, limits=BOTH)], "initContainers": [container()]},
        {"containers": [container(requests={"example.com/gpu": 1})]},
    ],
)
def test_the_class_is_that_which_an_api_server_writes(spec: dict[str, Any]) -> None:
    assert qos_class_of(make_pod("p", **spec)) == qos_class(spec)


def test_it_keeps_its_promises() -> None:
    assert_promises(QOSSort)
