"""Plugins are told of objects as they come, change and go."""

from typing import Any, ClassVar

from podium.kubernetes.kinds.workloads import Service
from podium.plugin import Cycle, FilterPlugin, Node, Pod, Rows, Verdict
from podium.testing import FakeCluster, assert_placed, make_node, make_pod


class Chronicler(FilterPlugin):
    """Notes what it hears, and lets every pod pass."""

    name = "Chronicler"
    informed_of = (Node, Pod, Service)
    heard: ClassVar[list[tuple[str, str]]] = []

    def filter(self, cycle: Cycle, rows: Rows) -> Verdict | None:
        return None

    def on_add(self, obj: Any) -> None:
        self.heard.append(("add", obj.name))

    def on_update(self, old: Any, new: Any) -> None:
        assert type(old) is type(new)
        self.heard.append(("update", new.name))

    def on_delete(self, obj: Any) -> None:
        self.heard.append(("delete", obj.name))


class Clumsy(Chronicler):
    name = "Clumsy"

    def on_add(self, obj: Any) -> None:
        raise LookupError(obj.name)


def test_a_plugin_hears_of_nodes_pods_and_other_objects_in_order() -> None:
    Chronicler.heard.clear()
    cluster = FakeCluster(make_node("a"), plugins=[Chronicler])
    cluster.put(make_node("a", labels={"disk": "ssd"}))
    cluster.schedule(make_pod("web"))
    cluster.engine.intake.pod_deleted(cluster.engine.state.pods["default/web"])
    cluster.engine.intake.node_deleted("a")
    assert Chronicler.heard == [
        ("add", "a"),
        ("update", "a"),
        ("add", "web"),
        ("update", "web"),
        ("delete", "web"),
        ("delete", "a"),
    ]


def test_a_handler_that_fails_harms_nobody() -> None:
    Chronicler.heard.clear()
    cluster = FakeCluster(make_node("a"), plugins=[Clumsy, Chronicler])
    assert_placed(cluster.schedule(make_pod("web")), on="a")
    assert ("add", "web") in Chronicler.heard
