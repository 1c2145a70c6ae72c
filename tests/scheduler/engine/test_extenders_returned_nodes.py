"""Nodes that an extender returns in full stand for themselves alone, known or not.

The property test has a second opinion: the same cluster with every node split into an empty one,
as the extender returned it, and a cordoned one that holds the pods. Nodes that come back in full
must score like the empty ones.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from support.scheduler.engine.scripted_extenders import Script, filtering, scores, scoring

from podium.kubernetes.kinds.meta import KubeStruct
from podium.kubernetes.kinds.node import Node
from podium.kubernetes.kinds.pod import Pod
from podium.scheduler.engine.decision import Decision
from podium.scheduler.framework.asking import FilterAnswer, FilterCall, PrioritizeCall
from podium.testing import FakeCluster, make_node, make_pod
from podium.testing import make_pod as pending

HOSTNAME, ZONE = "kubernetes.io/hostname", "topology.kubernetes.io/zone"
FULL: dict[str, Any] = {"nodeCacheCapable": False}


def tried(
    objects: Iterable[KubeStruct], script: Script | None = None, *extenders: dict[str, Any]
) -> tuple[FakeCluster, Decision]:
    configured: dict[str, Any] = {"extenders": list(extenders)} if extenders else {}
    driver = FakeCluster(*objects, ask=script, **configured)
    attempt = driver.attempt()
    assert attempt is not None
    return driver, attempt.decision


def gives(*nodes: Node) -> FilterAnswer:
    return FilterAnswer(nodes=nodes)


def by_plugin(decision: Decision, plugin: str) -> dict[str, int]:
    (row,) = [row for row in decision.scores if row.plugin == plugin]
    names = [decision.node_names[number] for number in decision.feasible]
    return dict(zip(names, row.normalized.tolist(), strict=True))


A, B = make_node("a", labels={HOSTNAME: "a"}), make_node("b", labels={HOSTNAME: "b"})
BUSY = make_pod("busy", node="a", requests={"cpu": "3", "memory": "4Gi"})


def test_usage_does_not_count_for_nodes_that_come_back_in_full() -> None:
    objects = [A, B, BUSY, pending("p", requests={"cpu": "1", "memory": "1Gi"})]
    _, known = tried(objects)
    _, returned = tried(objects, Script(filter=gives(A, B)), filtering(**FULL))
    _, named = tried(objects, Script(), filtering())
    fit = "NodeResourcesFit"
    assert by_plugin(known, fit) == by_plugin(named, fit)
    assert by_plugin(known, fit)["a"] < by_plugin(known, fit)["b"]
    assert by_plugin(returned, fit)["a"] == by_plugin(returned, fit)["b"]


def test_images_do_not_count_for_nodes_that_come_back_in_full() -> None:
    has = make_node("a", images={"app:v1": 900 * 2**20})
    objects = [has, B, pending("p")]
    _, known = tried(objects)
    _, returned = tried(objects, Script(filter=gives(has, B)), filtering(**FULL))
    assert by_plugin(known, "ImageLocality")["a"] > 0
    assert by_plugin(returned, "ImageLocality") == {"a": 0, "b": 0}


def test_labels_taints_and_room_are_those_of_the_returned_object() -> None:
    tainted = make_node("a", taints=[("k", "v", "PreferNoSchedule")])
    larger = make_node("b", allocatable={"cpu": "64", "memory": "128Gi", "pods": 10})
    objects = [A, B, pending("p", requests={"cpu": "2"})]
    _, decision = tried(objects, Script(filter=gives(tainted, larger)), filtering(**FULL))
    assert by_plugin(decision, "TaintToleration") == {"a": 0, "b": 100}
    fit = by_plugin(decision, "NodeResourcesFit")
    assert fit["b"] > fit["a"]


def test_a_name_in_node_affinity_means_the_returned_node() -> None:
    prefers = {
        "nodeAffinity": {
            "preferredDuringSchedulingIgnoredDuringExecution": [
                {
                    "weight": 1,
                    "preference": {
                        "matchFields": [{"key": "metadata.name", "operator": "In", "values": ["b"]}]
                    },
                }
            ]
        }
    }
    objects = [A, B, pending("p", affinity=prefers)]
    _, decision = tried(objects, Script(filter=gives(A, B)), filtering(**FULL))
    assert by_plugin(decision, "NodeAffinity") == {"a": 0, "b": 100}


def test_the_table_is_as_it_was_afterwards() -> None:
    """Every step is checked against the objects; here the numbers are looked at besides."""
    invented = [make_node(f"z{number}") for number in range(100)]
    driver, _ = tried(
        [A, B, BUSY, pending("p")], Script(filter=gives(A, B, *invented)), filtering(**FULL)
    )
    nodes = driver.engine.cluster.nodes
    assert (nodes.present_count, nodes.temporary) == (2, {})
    assert nodes.node(nodes.row("a")) is A
    driver.put(pending("q"))
    driver.ask = Script()
    attempt = driver.attempt()
    assert attempt is not None


# names that nobody knows


def test_an_invented_node_is_accepted_and_the_pod_goes_there() -> None:
    driver, decision = tried(
        [A, B, pending("p")], Script(filter=gives(make_node("ghost"))), filtering(**FULL)
    )
    assert (decision.bound, decision.best) == ("ghost", ["ghost"])
    assert set(decision.dropped) == {"a", "b"}
    assert driver.where() == {"p": "binding"}
    assert driver.bindings["p"].node_name == "ghost"


def test_an_invented_node_is_scored_beside_the_others() -> None:
    script = Script(filter=gives(A, make_node("ghost")), prioritize=scores(ghost=5))
    _, decision = tried([A, B, pending("p")], script, filtering(**FULL), scoring("http://s"))
    assert decision.bound == "ghost"
    assert sorted(decision.node_names[row] for row in decision.feasible) == ["a", "ghost"]


def test_a_bare_name_is_enough_of_a_node() -> None:
    bare = [Node(metadata=replace(A.metadata, name=name, labels=None)) for name in ("x", "y")]
    _, decision = tried([A, B, pending("p")], Script(filter=gives(*bare)), filtering(**FULL))
    assert decision.bound == "x"


def test_a_node_may_come_back_twice() -> None:
    _, decision = tried([A, B, pending("p")], Script(filter=gives(A, A)), filtering(**FULL))
    assert decision.bound == "a"
    assert len(decision.feasible) == 2


# who is asked next


def test_later_extenders_are_sent_the_returned_nodes() -> None:
    changed = make_node("b", labels={"changed": "yes"})
    script = Script({"http://1 filter": gives(changed, A)})
    tried(
        [A, B, pending("p")],
        script,
        filtering("http://1", **FULL),
        filtering("http://2"),
        scoring("http://3"),
    )
    first, second, third = script.calls
    assert isinstance(first, FilterCall)
    assert isinstance(second, FilterCall)
    assert isinstance(third, PrioritizeCall)
    assert (first.nodes, first.returned) == (("a", "b"), {})
    assert (second.nodes, second.returned) == (("b", "a"), {"a": A, "b": changed})
    assert (third.nodes, third.returned) == (("b", "a"), {"a": A, "b": changed})


def test_names_after_full_nodes_mean_those_nodes() -> None:
    script = Script({"http://1 filter": gives(A, B), "http://2 filter": FilterAnswer(("b", "a"))})
    objects = [A, B, BUSY, pending("p", requests={"cpu": "1", "memory": "1Gi"})]
    _, decision = tried(objects, script, filtering("http://1", **FULL), filtering("http://2"))
    fit = by_plugin(decision, "NodeResourcesFit")
    assert fit["a"] == fit["b"]


# the second opinion

ZONES = st.sampled_from(["z1", "z2", None])
SOFT_TAINTS = st.lists(st.sampled_from([("k", "v", "PreferNoSchedule")]), max_size=1)


@st.composite
def worlds(draw: st.DrawFn) -> tuple[list[Node], list[Node], list[Pod], Pod]:
    """Nodes, what an extender makes of them, pods on them, and one that waits."""
    names = "abcd"[: draw(st.integers(2, 4))]
    nodes = [_node(draw, name) for name in names]
    returned = [node if draw(st.booleans()) else _node(draw, node.metadata.name) for node in nodes]
    pods = [
        make_pod(
            f"r{number}",
            node=draw(st.sampled_from(names)),
            labels={"app": draw(st.sampled_from("xy"))},
            requests={"cpu": draw(st.integers(0, 3)), "memory": "1Gi"},
            affinity=draw(st.sampled_from([None, {"podAffinity": _preferred("x", ZONE)}])),
        )
        for number in range(draw(st.integers(0, 6)))
    ]
    constraints = draw(st.lists(st.sampled_from([HOSTNAME, ZONE]), unique=True, max_size=2))
    keys = draw(st.lists(st.sampled_from([HOSTNAME, ZONE]), unique=True, max_size=2))
    waiting = pending(
        "p",
        labels={"app": "x"},
        requests={"cpu": 1, "memory": "1Gi"},
        topologySpreadConstraints=[
            {
                "maxSkew": 1,
                "topologyKey": key,
                "whenUnsatisfiable": "ScheduleAnyway",
                "labelSelector": {"matchLabels": {"app": "x"}},
            }
            for key in constraints
        ],
        affinity={"podAntiAffinity": _preferred("y", keys[0])} if keys else None,
    )
    return nodes, returned, pods, waiting


def _node(draw: st.DrawFn, name: str) -> Node:
    zone = draw(ZONES)
    return make_node(
        name,
        labels={HOSTNAME: name, **({ZONE: zone} if zone else {})},
        taints=draw(SOFT_TAINTS),
        allocatable={"cpu": draw(st.sampled_from([32, 64])), "memory": "64Gi", "pods": 99},
        images={"app:v1": 500 * 2**20} if draw(st.booleans()) else None,
    )


def _preferred(app: str, key: str) -> dict[str, Any]:
    term = {"labelSelector": {"matchLabels": {"app": app}}, "topologyKey": key}
    return {
        "preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 7, "podAffinityTerm": term}]
    }


def split(nodes: Sequence[Node], returned: Sequence[Node], pods: Sequence[Pod]) -> list[Node | Pod]:
    """Each node as an empty one, as it was returned, and a cordoned one with its pods."""
    empty = [replace(node, status=replace(node.status, images=None)) for node in returned]
    full = [
        replace(
            node,
            metadata=replace(node.metadata, name=f"{node.metadata.name}-full"),
            spec=replace(node.spec, unschedulable=True),
        )
        for node in nodes
    ]
    moved = [
        replace(pod, spec=replace(pod.spec, node_name=f"{pod.spec.node_name}-full")) for pod in pods
    ]
    return [*empty, *full, *moved]


@settings(max_examples=60, deadline=None)
@given(worlds())
def test_returned_nodes_score_as_if_nothing_ran_on_them(
    world: tuple[list[Node], list[Node], list[Pod], Pod],
) -> None:
    nodes, returned, pods, waiting = world
    script = Script(filter=gives(*returned))
    _, found = tried([*nodes, *pods, waiting], script, filtering(**FULL))
    _, expected = tried([*split(nodes, returned, pods), waiting])
    assert _table(found) == _table(expected)
    assert found.bound == expected.bound


def _table(decision: Decision) -> dict[str, dict[str, int]]:
    names = [decision.node_names[row] for row in decision.feasible]
    rows = {
        row.plugin: dict(zip(names, row.normalized.tolist(), strict=True))
        for row in decision.scores
    }
    return {plugin: dict(sorted(row.items())) for plugin, row in rows.items()}
