"""Documents of the map: pods within nodes, states of nodes, GPU cards with who shares them."""

from typing import Any, Final

import msgspec
import pytest
from msgspec.structs import replace
from support.addons.gpu.gpu_cluster import cards_of, gpu_cluster, gpu_node, gpu_pod, share
from support.commands.document_schemas import require_valid

from podium.golang.document_structs import Document
from podium.kubernetes.kinds.node import Node, NodeCondition
from podium.net.files.versioned_documents import add_version_to
from podium.testing import FakeCluster, make_node, make_pod
from podium.web.gpu_cards_document import read_gpu_cards
from podium.web.node_states_document import NodeStatesReader
from podium.web.pods_on_nodes_document import MAX_CHANGED, PodsReader

MEMORY: Final = 16_384


def written(document: Document) -> Any:
    """The document as a browser gets it."""
    found = msgspec.json.decode(msgspec.json.encode(add_version_to(document)))
    require_valid(found)
    return found


def pods_of(found: Any) -> dict[str, list[str]]:
    return {node["name"]: node["pods"] for node in found["nodes"]}


def three_nodes() -> FakeCluster:
    return FakeCluster(*(make_node(name) for name in "abc"), validate=False)


def test_pods_of_one_template_share_what_they_have_in_common() -> None:
    cluster = three_nodes()
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web-5d4f", "controller": True}
    meta = {"ownerReferences": [owner], "creationTimestamp": "2026-01-02T03:04:05Z"}
    asks = {"cpu": "500m", "memory": "1Gi"}
    labels = {"app": "web", "pod-template-hash": "5d4f"}
    for at, node in enumerate("aab"):
        pod = make_pod(f"w{at}", requests=asks, node=node, labels=labels, metadata=meta)
        cluster.put(pod)
    found = written(PodsReader(cluster.engine, "e").read_all())
    assert found["templates"] == [
        {
            "namespace": "default",
            "ownerKind": "Deployment",
            "workload": "web",
            "priority": 0,
            "requests": {"cpu": 500, "memory": 1 << 30},
        }
    ]
    assert pods_of(found) == {"a": ["w0", "w1"], "b": ["w2"]}
    assert found["nodes"][0]["templates"] == [0, 0]
    assert found["nodes"][0]["created"] == [1_767_323_045] * 2
    assert found["isDifference"] is False


def test_of_pods_without_a_controller_the_label_of_an_app_names_the_workload() -> None:
    cluster = three_nodes()
    cluster.put(make_pod("one", node="a", labels={"app": "shop"}), make_pod("two", node="b"))
    cluster.put(make_pod("high", node="c", priority=1000, labels={"app": "shop"}))
    templates = written(PodsReader(cluster.engine, "e").read_all())["templates"]
    named = {(each["ownerKind"], each["workload"], each["priority"]) for each in templates}
    assert named == {("", "shop", 0), ("", "", 0), ("", "shop", 1000)}


def test_only_nodes_whose_pods_have_changed_are_told_of_again() -> None:
    cluster = three_nodes()
    cluster.put(make_pod("one", node="a"), make_pod("two", node="b"))
    reader = PodsReader(cluster.engine, "e")
    mark = reader.read_all().mark
    assert pods_of(written(reader.read_since(mark))) == {}
    cluster.put(make_pod("three", node="b"))
    cluster.delete("one")
    found = written(reader.read_since(mark))
    assert found["isDifference"] is True
    assert pods_of(found) == {"a": [], "b": ["two", "three"]}
    assert pods_of(written(reader.read_since(found["mark"]))) == {}


def test_a_node_that_comes_back_is_told_of_with_the_pods_that_it_had() -> None:
    cluster = three_nodes()
    cluster.put(make_pod("one", node="a"))
    reader = PodsReader(cluster.engine, "e")
    mark = reader.read_all().mark
    cluster.engine.intake.node_deleted("a")
    gone = reader.read_since(mark)
    assert pods_of(written(gone)) == {}
    cluster.put(make_node("a"))
    assert pods_of(written(reader.read_since(gone.mark))) == {"a": ["one"]}


def test_a_pod_that_is_about_to_go_is_marked() -> None:
    cluster = three_nodes()
    meta = {"deletionTimestamp": "2026-01-02T03:04:05Z"}
    cluster.put(make_pod("stays", node="a"), make_pod("goes", node="a", metadata=meta))
    (node,) = written(PodsReader(cluster.engine, "e").read_all())["nodes"]
    assert [node["pods"][at] for at in node["terminating"]] == ["goes"]


@pytest.mark.parametrize(
    "mark", ["", "x", "other.1", "e.x", "e.-1", "e.1", "e.²", "e.².1", "e.0.99999999999999999999"]
)
def test_whoever_has_an_unknown_mark_gets_everything(mark: str) -> None:
    cluster = three_nodes()
    cluster.put(make_pod("one", node="a"))
    found = written(PodsReader(cluster.engine, "e").read_since(mark))
    assert found["isDifference"] is False
    assert pods_of(found) == {"a": ["one"]}


def test_many_pods_come_in_parts_that_together_are_all() -> None:
    cluster = FakeCluster(*(make_node(f"n{at}") for at in range(20)), validate=False)
    cluster.put(*(make_pod(f"p{at}", node=f"n{at % 17}") for at in range(100)))
    reader = PodsReader(cluster.engine, "e")
    seen: dict[str, list[str]] = {}
    first, parts = 0, 0
    while True:
        found = written(reader.read_all(max_pods=20, first_row=first))
        assert sum(map(len, pods_of(found).values())) <= 20 + 6
        assert not seen.keys() & pods_of(found).keys()
        seen |= pods_of(found)
        parts += 1
        if "next" not in found:
            break
        first = found["next"]
    assert parts > 3
    assert len(seen) == 17
    assert {pod for pods in seen.values() for pod in pods} == {f"p{at}" for at in range(100)}
    assert pods_of(written(reader.read_all(first_row=10**30))) == {}


def test_too_many_changes_are_read_anew() -> None:
    count = MAX_CHANGED + 1
    cluster = FakeCluster(*(make_node(f"n{at}") for at in range(count)), validate=False)
    reader = PodsReader(cluster.engine, "e")
    mark = reader.read_all().mark
    cluster.put(*(make_pod(f"p{at}", node=f"n{at}") for at in range(count)))
    assert reader.read_since(mark).is_difference is False


def with_conditions(node: Node, **states: str) -> Node:
    conditions = tuple(NodeCondition(type=name, status=state) for name, state in states.items())
    return replace(node, status=replace(node.status, conditions=conditions))


def test_what_is_the_matter_with_a_node_is_told_of_conditions_and_taints() -> None:
    out = ("node.kubernetes.io/out-of-service", "", "NoExecute")
    model = {"nvidia.com/gpu.product": "A100"}
    cluster = FakeCluster(
        make_node("well"),
        with_conditions(make_node("silent"), Ready="Unknown"),
        make_node("gone", taints=[out]),
        with_conditions(
            make_node("short"), Ready="True", MemoryPressure="True", DiskPressure="False"
        ),
        make_node("cordoned", unschedulable=True),
        make_node("tainted", taints=[("dedicated", "db", "NoSchedule")], labels=model),
        validate=False,
    )
    reader = NodeStatesReader(cluster.engine.cluster)
    found = {each["name"]: each for each in written(reader.read())["nodes"]}
    assert {name: (each["states"], each["reasons"]) for name, each in found.items()} == {
        "silent": (["dead"], ["Ready=Unknown"]),
        "gone": (["dead"], ["node.kubernetes.io/out-of-service:NoExecute"]),
        "short": (["pressure"], ["MemoryPressure=True"]),
        "cordoned": (["cordoned"], []),
        "tainted": (["tainted"], ["dedicated=db:NoSchedule"]),
    }
    assert found["tainted"]["gpuModel"] == "A100"
    cluster.put(make_node("well", unschedulable=True), make_node("cordoned"))
    again = {each["name"] for each in written(reader.read())["nodes"]}
    assert again == {"silent", "gone", "short", "tainted", "well"}


def test_cards_tell_who_shares_them() -> None:
    cluster = gpu_cluster(gpu_node("a", cards_of(2)), make_node("b"))
    cluster.schedule(gpu_pod("half", share("hami", MEMORY // 2, 25)))
    (node,) = written(read_gpu_cards(cluster.engine))["nodes"]
    assert node["name"] == "a"
    shares = [(each["pod"], each["share"]) for card in node["cards"] for each in card["owners"]]
    assert shares == [("default/half", 0.5)]
    assert {card["model"] for card in node["cards"]} == {"NVIDIA A100"}
    assert written(read_gpu_cards(cluster.engine, ["b", "nobody"]))["nodes"] == []
