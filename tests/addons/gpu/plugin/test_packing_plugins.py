"""The packing policies as plugins: they score the cards that GPUShare follows, and choose cards."""

from typing import Any

import pytest
from support.addons.gpu.gpu_cluster import cards_held, cards_of, gpu_cluster, gpu_node

from podium.addons.gpu.packing.node_columns import NodeColumns
from podium.addons.gpu.packing.policies import POLICIES, Scored, fgd
from podium.addons.gpu.plugin.gpu_packing import PackingPlugin
from podium.addons.gpu.plugin.gpu_share import GPUShare
from podium.kubernetes.kinds.node import Node
from podium.kubernetes.kinds.pod import Pod
from podium.testing import FakeCluster, assert_placed, assert_promises, make_pod
from podium.user_code.plugins import find_plugin


def plugin(name: str) -> type[PackingPlugin]:
    found = find_plugin(name)
    assert found is not None
    assert issubclass(found, PackingPlugin)
    return found


def node(name: str, cards: int) -> Node:
    return gpu_node(name, cards_of(cards, memory=10_000))


def pod(name: str, percent: int = 0, cards: int = 1, cpu: str = "4", **fields: Any) -> Pod:
    limits = {"cpu": cpu}
    if percent:
        limits |= {
            "nvidia.com/gpu": str(cards),
            "nvidia.com/gpucores": str(percent),
            "nvidia.com/gpumem-percentage": str(percent),
        }
    resources = {"limits": limits, "requests": limits}
    metadata = {"annotations": fields.pop("annotations", {})}
    containers = [{"name": "main", "resources": resources}]
    return make_pod(name, containers=containers, metadata=metadata, **fields)


def packed_cluster(policy: str, *objects: Any, **args: Any) -> FakeCluster:
    return gpu_cluster(
        *objects,
        plugins=[plugin(policy)],
        weights={policy: 1000},
        plugin_args={policy: args} if args else {},
    )


@pytest.mark.parametrize("policy", POLICIES)
def test_every_policy_keeps_the_promises(policy: str) -> None:
    assert_promises(
        plugin(policy),
        beside=[GPUShare],
        nodes=[node("a", 8), node("b", 2), node("c", 1)],
        pods=[pod("share", 47), pod("whole", 100, cards=2), pod("cpu")],
    )


@pytest.mark.parametrize("policy", POLICIES)
def test_shares_and_whole_cards_are_placed_until_nothing_fits(policy: str) -> None:
    cluster = packed_cluster(policy, node("a", 2))
    for number, percent in enumerate((60, 60, 40, 40)):
        assert_placed(cluster.schedule(pod(f"p{number}", percent)), on="a")
    held = sorted(cards_held(cluster, f"p{number}") for number in range(4))
    assert held == [(0,), (0,), (1,), (1,)]
    assert cluster.schedule(pod("late", 10)).chosen is None


def test_fgd_leaves_whole_cards_to_pods_that_need_them() -> None:
    """Where pods for whole cards are typical, a share goes beside another share."""
    waiting = [pod(f"w{number}", 100) for number in range(6)]
    cluster = packed_cluster("FGD", node("a", 2), node("b", 2))
    assert_placed(cluster.schedule(pod("first", 40)), on="a")
    for each in waiting:
        cluster.put(each)
    assert_placed(cluster.schedule(pod("second", 40)), on="a")
    assert cards_held(cluster, "first") == cards_held(cluster, "second")


def test_the_card_is_the_one_that_the_node_was_scored_for() -> None:
    cluster = packed_cluster("FGD", node("a", 3))
    for number, percent in enumerate((81, 40)):
        cluster.schedule(pod(f"p{number}", percent))
    assert cards_held(cluster, "p0") != cards_held(cluster, "p1")
    cluster.schedule(pod("small", 19))
    assert cards_held(cluster, "small") == cards_held(cluster, "p0")


def test_the_card_is_chosen_with_the_cpu_that_the_node_was_scored_with(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seen: list[list[int]] = []

    def watched(nodes: NodeColumns, *rest: Any) -> Scored:
        seen.append(nodes.cpu_left.tolist())
        return fgd(nodes, *rest)

    monkeypatch.setitem(POLICIES, "FGD", watched)
    cluster = packed_cluster("FGD", node("a", 3), node("b", 3))
    cluster.schedule(pod("share", 40, cpu="10"))
    assert seen == [[64_000, 64_000], [64_000]]


def test_a_pod_that_names_a_card_policy_has_it() -> None:
    cluster = packed_cluster("BestFit", node("a", 2))
    cluster.schedule(pod("first", 40))
    spread = {"hami.io/gpu-scheduler-policy": "spread"}
    cluster.schedule(pod("second", 40, annotations=spread))
    cluster.schedule(pod("third", 10))
    assert cards_held(cluster, "first") == (0,)
    assert cards_held(cluster, "second") == (1,)
    assert cards_held(cluster, "third") == (0,)


def test_pods_without_gpus_spare_the_cpu_that_cards_need() -> None:
    cluster = packed_cluster("FGD", node("a", 8), node("none", 0))
    for number in range(4):
        cluster.put(pod(f"w{number}", 100, cpu="8"))
    assert_placed(cluster.schedule(pod("cpu", cpu="30")), on="none")


def test_ties_go_to_the_first_node_or_to_chance() -> None:
    nodes = [node(name, 1) for name in ("z", "m", "a")]
    assert_placed(packed_cluster("FGD", *nodes).schedule(pod("p", 50)), on="z")
    # The cluster of tests takes the first by name where the plugin leaves it open.
    assert_placed(packed_cluster("FGD", *nodes, ties="chance").schedule(pod("p", 50)), on="a")


def test_random_draws_follow_from_the_seed() -> None:
    def chosen(seed: int) -> list[str | None]:
        cluster = packed_cluster("Random", *(node(f"n{at}", 4) for at in range(5)), seed=seed)
        return [cluster.schedule(pod(f"p{number}", 10)).chosen for number in range(8)]

    assert chosen(1) == chosen(1) != chosen(2)
    assert len(set(chosen(1))) > 1


def test_without_gpu_share_the_attempt_says_so() -> None:
    cluster = FakeCluster(node("a", 1), node("b", 1), plugins=[plugin("FGD")])
    decision = cluster.schedule(make_pod("p"))
    assert decision.chosen is None
    assert "GPUShare, whose cards are scored, is not in the profile" in str(decision.message)


def test_shares_of_memory_are_parts_of_the_card_at_hand() -> None:
    """10,000 is half of one node's card and all of the other's."""
    small, large = (
        gpu_node("small", cards_of(1, memory=10_000)),
        gpu_node("z", cards_of(1, memory=20_000)),
    )
    cluster = packed_cluster("BestFit", small, large)
    limits = {"nvidia.com/gpu": "1", "nvidia.com/gpumem": "10000", "nvidia.com/gpucores": "10"}
    first = make_pod("p", containers=[{"name": "c", "resources": {"limits": limits}}])
    assert_placed(cluster.schedule(first), on="small")


def test_fragmentation_is_a_metric_whether_or_not_a_packing_plugin_is_on() -> None:
    held_back: dict[str, Any] = {"schedulingGates": [{"name": "later"}]}
    two = gpu_node("a", cards_of(2, memory=10_000), labels={"disk": "fast"}), node("b", 1)
    for cluster in (packed_cluster("FGD", *two), gpu_cluster(*two)):
        cluster.put(*(pod(f"w{number}", 100, **held_back) for number in range(4)))
        assert read(cluster, "podium_gpu_packing_fragmentation_ratio") == {(): 0.0}
        cluster.schedule(pod("share", 50, cpu="1", nodeSelector={"disk": "fast"}))
        # Four of five typical pods need a whole card: half a card is idle, of use to the fifth.
        by_node = read(cluster, "podium_gpu_node_packing_fragmentation_ratio")
        assert by_node == {("a",): pytest.approx(0.4 / 1.5), ("b",): 0.0}
        together = read(cluster, "podium_gpu_packing_fragmentation_ratio")
        assert together == {(): pytest.approx(0.4 / 2.5)}
        assert read(cluster, "podium_gpu_packing_fragmented_cards") == {(): pytest.approx(0.4)}
        assert read(cluster, "podium_gpu_node_packing_idle_cards") == {("a",): 1.5, ("b",): 1.0}
    assert read(gpu_cluster(), "podium_gpu_packing_fragmentation_ratio") == {}


def read(cluster: FakeCluster, name: str) -> dict[tuple[str, ...], float]:
    share = cluster.plugin("GPUShare")
    [metric] = [each for each in share.metrics() if each.name == name]
    return dict(metric.samples())
