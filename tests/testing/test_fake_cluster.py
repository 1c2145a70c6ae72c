"""A cluster for tests: pods go to nodes, time passes, bindings fail, all by hand."""

from collections.abc import Sequence

import pytest
from support.scheduler.framework.fake_plugins import permit, pre_bind

from podium.kubernetes.kinds.pod_groups import PodGroup
from podium.plugin import (
    ApiHandle,
    Code,
    Cycle,
    NodeScorePlugin,
    NodeView,
    PermitResult,
    Pod,
    PostBindPlugin,
    PreFlight,
    Registration,
    Status,
    error,
)
from podium.testing import (
    FakeCluster,
    NotTried,
    assert_placed,
    assert_unplaced,
    make_node,
    make_pod,
)


class PrefersZ(NodeScorePlugin):
    name = "PrefersZ"
    Args = None

    def score_node(self, pod: Pod, node: NodeView) -> int:
        return 10 if node.name == "z" else 0

    def events(self) -> Sequence[Registration]:
        return ()


def test_a_pod_goes_all_the_way_to_its_node() -> None:
    cluster = FakeCluster(make_node("a"))
    decision = cluster.schedule(make_pod("p", namespace="shop"))

    assert_placed(decision, on="a")
    assert cluster.where() == {"p": "a"}
    assert cluster.pod("shop/p").spec.node_name == "a"
    assert cluster.api.bound == {"shop/p": "a"}
    assert cluster.notes("Scheduled") == ["Successfully assigned shop/p to a"]


def test_weights_are_those_that_are_given() -> None:
    pods = [make_pod(f"p{n}", node="z", requests={"cpu": "1"}) for n in range(3)]
    nodes = make_node("a"), make_node("z")

    assert_placed(FakeCluster(*nodes, *pods, plugins=[PrefersZ]).schedule(make_pod("q")), on="a")
    heavy = FakeCluster(*nodes, *pods, plugins=[PrefersZ], weights={"PrefersZ": 50})
    assert_placed(heavy.schedule(make_pod("q")), on="z")


def test_arguments_reach_in_tree_plugins_too() -> None:
    strategy = {"type": "MostAllocated", "resources": [{"name": "cpu", "weight": 1}]}
    nodes = make_node("a"), make_node("z"), make_pod("p", node="z", requests={"cpu": "2"})
    pod = make_pod("q", requests={"cpu": "1"})
    full = FakeCluster(
        *nodes,
        args={"NodeResourcesFit": {"scoringStrategy": strategy}},
        weights={"NodeResourcesFit": 10},
    )

    assert_placed(FakeCluster(*nodes).schedule(pod), on="a")
    assert_placed(full.schedule(pod), on="z")


def test_a_pod_that_is_held_back_has_a_decision_as_well() -> None:
    cluster = FakeCluster(make_node("a"))
    decision = cluster.schedule(make_pod("p", schedulingGates=[{"name": "wait"}]))

    assert decision.pre_enqueue is not None
    assert decision.pre_enqueue.plugin == "SchedulingGates"
    assert_unplaced(decision)


def test_a_pod_of_another_scheduler_is_told() -> None:
    with pytest.raises(NotTried, match="pod default/p was not tried"):
        FakeCluster(make_node("a")).schedule(make_pod("p", schedulerName="another"))


def test_a_binding_that_fails_leaves_the_pod_in_the_queue() -> None:
    fails = pre_bind("Fails", PreFlight(), error("no disk"))
    cluster = FakeCluster(make_node("a"), plugins=[fails])
    cluster.schedule(make_pod("p"))

    assert cluster.where() == {"p": "error backoff"}
    assert "no disk" in cluster.notes()[0]


def test_a_pod_that_waits_at_permit_stays_there() -> None:
    holds = permit("Holds", PermitResult(Status(Code.WAIT), 60.0))
    cluster = FakeCluster(make_node("a"), plugins=[holds])
    assert_placed(cluster.schedule(make_pod("p")), on="a")

    assert cluster.where() == {"p": "permit"}
    cluster.wait(61)
    assert cluster.where()["p"] != "permit"


def test_plugins_of_the_binding_cycle_reach_the_cluster() -> None:
    class Marks(PostBindPlugin):
        name = "Marks"

        async def post_bind(self, cycle: Cycle, node_name: str, api: ApiHandle) -> None:
            metadata = cycle.pod.pod.metadata
            await api.pause(3)
            patch = {"metadata": {"labels": {"on": node_name}}}
            await api.patch(Pod, metadata.name, patch, metadata.namespace)
            await api.tell(cycle.pod, "Marked", "Binding", f"marked {node_name}")

    cluster = FakeCluster(make_node("a"), plugins=[Marks])
    cluster.schedule(make_pod("p"))

    assert cluster.pod("p").metadata.labels == {"on": "a"}
    assert cluster.notes("Marked") == ["marked a"]
    assert cluster.clock() == 3


def test_objects_of_any_kind_are_put() -> None:
    cluster = FakeCluster(PodGroup())

    assert [*cluster.engine.cluster.catalog.all(PodGroup)] == [PodGroup()]
