"""What plugins find through their handle: objects of every kind, as they were seen last."""

from podium.kubernetes.kinds.workloads import Namespace, Service
from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.plugin import Node, NodeScorePlugin, NodeView, ObjectMeta, Pod
from podium.scheduler.config.flags.client_settings import ClientSettings
from podium.scheduler.config.kubeconfig import ClusterEntry, UserEntry
from podium.scheduler.config.load import load_configuration
from podium.scheduler.engine import Engine
from podium.scheduler.plugins import in_tree_registry
from podium.testing import FakeCluster, make_node, make_pod


class Looks(NodeScorePlugin):
    name = "Looks"

    def score_node(self, pod: Pod, node: NodeView) -> int:
        return 0


def scene() -> FakeCluster:
    return FakeCluster(
        make_node("a"),
        make_node("b"),
        make_pod("runs", node="a"),
        make_pod("waits", namespace="shop"),
        Service(metadata=ObjectMeta(name="web", namespace="shop")),
        Namespace(metadata=ObjectMeta(name="shop")),
        plugins=[Looks],
    )


def test_lists_have_nodes_pods_and_every_other_kind() -> None:
    handle = scene().plugin("Looks").handle

    assert [node.metadata.name for node in handle.list(Node)] == ["a", "b"]
    assert sorted(pod.metadata.name for pod in handle.list(Pod)) == ["runs", "waits"]
    assert [service.metadata.name for service in handle.list(Service)] == ["web"]


def test_one_object_is_found_by_its_name() -> None:
    handle = scene().plugin("Looks").handle
    node, pod = handle.get(Node, "b"), handle.get(Pod, "waits", "shop")
    service = handle.get(Service, "web", "shop")

    assert node is not None
    assert pod is not None
    assert service is not None
    assert (node.name, pod.name, service.name) == ("b", "waits", "web")
    assert handle.get(Namespace, "shop") is not None


def test_what_is_gone_is_not_found_any_more() -> None:
    cluster = scene()
    handle = cluster.plugin("Looks").handle
    cluster.engine.intake.node_deleted("a")
    cluster.delete("runs")

    assert handle.get(Node, "a") is None
    assert handle.get(Pod, "runs", "default") is None
    assert [node.metadata.name for node in handle.list(Node)] == ["b"]
    assert handle.get(Node, "never") is None


def test_a_list_may_be_walked_while_things_change() -> None:
    cluster = scene()
    found = cluster.plugin("Looks").handle.list(Pod)
    next(found)
    cluster.put(make_pod("more"))

    assert next(found) is not None


def test_the_time_and_the_gates_are_the_drivers() -> None:
    cluster = FakeCluster(plugins=[Looks], gates={"GenericWorkload": True})
    handle = cluster.plugin("Looks").handle
    cluster.clock.advance(5)

    assert handle.clock() == 5
    assert handle.gates["GenericWorkload"] is True
    assert handle.client_settings is None


def test_plugins_see_how_the_scheduler_reaches_its_server() -> None:
    settings = ClientSettings(ClusterEntry(server="https://127.0.0.1:6443"), UserEntry())
    engine = Engine(
        load_configuration(None, gates=FeatureGates()),
        in_tree_registry(),
        client_settings=settings,
        gates=FeatureGates(),
    )

    assert engine.first_profile.plugins["NodeName"].handle.client_settings is settings
