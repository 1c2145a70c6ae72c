"""GPUShare places pods on nodes and cards, in every dialect, and keeps the framework's promises."""

from random import Random

import pytest
from support.addons.gpu.gpu_cluster import (
    NOW,
    cards_held,
    cards_of,
    gpu_cluster,
    gpu_node,
    gpu_pod,
    share,
)

from podium.addons.gpu.dialects import DIALECTS
from podium.addons.gpu.plugin.gpu_share import GPUShare
from podium.testing import (
    assert_placed,
    assert_promises,
    assert_rejected,
    assert_unplaced,
    make_node,
    make_pod,
)


@pytest.mark.parametrize("dialect", sorted(DIALECTS))
def test_shares_fill_cards_and_no_more(dialect: str) -> None:
    cluster = gpu_cluster(gpu_node("a", cards_of(2), dialect), dialect=dialect)
    for number in range(4):
        pod = gpu_pod(f"p{number}", share(dialect, 6144, 10))
        assert_placed(cluster.schedule(pod), on="a")
    held = sorted(cards_held(cluster, f"p{number}", dialect) for number in range(4))
    assert held == [(0,), (0,), (1,), (1,)]
    refused = cluster.schedule(gpu_pod("p4", share(dialect, 6144, 10)))
    assert_rejected(refused, node="a", by="GPUShare", reason="insufficient GPU memory")


SAME_WORDS = [
    (("hami", "vgpu-manager"), 3, {"nodePolicy": "binpack", "cardPolicy": "binpack"}),
    (("hami", "vgpu-manager"), 3, {"nodePolicy": "spread", "cardPolicy": "spread"}),
    (("gpu-manager", "gpu-scheduler"), 3, {}),
    (("gpushare", "gpushare-mib"), 3, {}),
    (("hami", "vgpu-manager", "gpu-manager", "gpu-scheduler"), 1, {"nodePolicy": "free-cores"}),
]


@pytest.mark.parametrize(("dialects", "cards", "args"), SAME_WORDS)
def test_dialects_that_can_say_the_same_place_identically(
    dialects: tuple[str, ...], cards: int, args: dict[str, str]
) -> None:
    for seed in range(3):
        placed = [_place_random_pods(dialect, cards, args, Random(seed)) for dialect in dialects]
        assert all(each == placed[0] for each in placed)
        assert any(held for _, held in placed[0])
        assert any(node is None for node, _ in placed[0])


def _place_random_pods(
    dialect: str, cards: int, args: dict[str, str], randomness: Random
) -> list[tuple[str | None, tuple[int, ...]]]:
    nodes = [gpu_node(f"n{at}", cards_of(cards), dialect) for at in range(3)]
    cluster = gpu_cluster(*nodes, dialect=dialect, args=args, weights={"GPUShare": 100})
    placed = []
    for number in range(30):
        memory, cores = 1024 * randomness.randint(1, 12), randomness.randint(5, 60)
        name = f"p{number}"
        decision = cluster.schedule(gpu_pod(name, share(dialect, memory, cores)))
        placed.append((decision.bound, cards_held(cluster, name, dialect)))
    return placed


def test_pods_without_gpus_are_left_alone() -> None:
    cluster = gpu_cluster(make_node("plain"), gpu_node("gpus", cards_of(1)))
    decision = cluster.schedule(make_pod("web"))
    assert decision.bound in ("plain", "gpus")
    assert "GPUShare" not in {scores.plugin for scores in decision.scores}
    assert not cluster.pod("web").metadata.annotations


def test_nodes_without_cards_are_refused_for_good() -> None:
    plain = make_node("plain", allocatable={"pods": "9", "nvidia.com/gpu": "4"})
    cluster = gpu_cluster(plain, gpu_node("small", cards_of(1, memory=4096)))
    decision = cluster.schedule(gpu_pod("p", share("hami", 8192)))
    assert_rejected(decision, node="plain", by="GPUShare", reason="node has no registered GPUs")
    assert_rejected(decision, node="small", by="GPUShare", reason="insufficient GPU memory")
    assert_unplaced(decision, message="Preemption is not helpful for scheduling")


def test_requests_that_no_agent_could_serve_are_told() -> None:
    cluster = gpu_cluster(gpu_node("a", cards_of(1)))
    decision = cluster.schedule(gpu_pod("p", {"nvidia.com/gpumem": "100"}))
    assert_unplaced(decision, message="ask for nvidia.com/gpu 1 beside it")


def test_binpack_and_spread_choose_other_nodes() -> None:
    def second(policy: str) -> str | None:
        nodes = [gpu_node(name, cards_of(2)) for name in ("a", "b")]
        cluster = gpu_cluster(*nodes, args={"nodePolicy": policy}, weights={"GPUShare": 100})
        first = cluster.schedule(gpu_pod("one", share("hami", 1024, 10)))
        other = cluster.schedule(gpu_pod("two", share("hami", 1024, 10)))
        return "same" if first.bound == other.bound else "other"

    assert second("binpack") == "same"
    assert second("spread") == "other"


def test_a_pods_own_policy_goes_before_the_clusters() -> None:
    nodes = [gpu_node(name, cards_of(2)) for name in ("a", "b")]
    cluster = gpu_cluster(*nodes, args={"nodePolicy": "spread"}, weights={"GPUShare": 100})
    own = {"hami.io/node-scheduler-policy": "binpack"}
    first = cluster.schedule(gpu_pod("one", share("hami", 1024, 10)))
    other = cluster.schedule(gpu_pod("two", share("hami", 1024, 10), annotations=own))
    assert first.bound == other.bound


def test_whole_cards_and_shares_do_not_mix() -> None:
    cluster = gpu_cluster(gpu_node("a", cards_of(2)))
    assert_placed(cluster.schedule(gpu_pod("share", share("hami", 1024, 10))), on="a")
    two = {"nvidia.com/gpu": "2"}
    decision = cluster.schedule(gpu_pod("both", two))
    assert_rejected(decision, node="a", by="GPUShare")
    assert_placed(cluster.schedule(gpu_pod("one", {"nvidia.com/gpu": "1"})), on="a")
    assert cards_held(cluster, "one") == (1,)


def test_containers_of_one_pod_see_each_other() -> None:
    cluster = gpu_cluster(gpu_node("a", cards_of(2), "gpu-manager"), dialect="gpu-manager")
    limits = [share("gpu-manager", 4096, 60)] * 2
    assert_placed(cluster.schedule(gpu_pod("p", *limits)), on="a")
    annotations = cluster.pod("p").metadata.annotations or {}
    assert annotations["tencent.com/predicate-gpu-idx-0"] == "0"
    assert annotations["tencent.com/predicate-gpu-idx-1"] == "1"


def test_a_node_whose_agent_falls_silent_is_refused_when_its_time_is_over() -> None:
    cluster = gpu_cluster(gpu_node("a", cards_of(2), "gpu-scheduler"), dialect="gpu-scheduler")
    ask = share("gpu-scheduler", 1024, 10)
    assert_placed(cluster.schedule(gpu_pod("p", ask)), on="a")
    cluster.wait(61)
    decision = cluster.schedule(gpu_pod("late", ask))
    assert_rejected(decision, node="a", by="GPUShare", reason="node heartbeat timeout")
    cluster.put(gpu_node("a", cards_of(2), "gpu-scheduler", now=cluster.clock()))
    cluster.wait(2)
    assert "late" in cluster.run()


def test_a_heartbeat_alone_wakes_nobody() -> None:
    dialect = "gpu-scheduler"
    cluster = gpu_cluster(gpu_node("a", cards_of(1), dialect), dialect=dialect)
    cluster.schedule(gpu_pod("big", share(dialect, 99999, 10)))
    cluster.put(gpu_node("a", cards_of(1), dialect, now=NOW + 1))
    assert cluster.where()["big"] == "unschedulable"
    cluster.put(gpu_node("a", cards_of(1, memory=1 << 17), dialect, now=NOW + 2))
    assert cluster.where()["big"] != "unschedulable"


def test_pods_wait_for_pods_that_hold_cards() -> None:
    cluster = gpu_cluster(gpu_node("a", cards_of(1)))
    cluster.schedule(gpu_pod("first", {"nvidia.com/gpu": "1"}))
    cluster.schedule(make_pod("web"))
    cluster.schedule(gpu_pod("second", {"nvidia.com/gpu": "1"}))
    cluster.delete("web")
    assert cluster.where()["second"] == "unschedulable"
    cluster.delete("first")
    cluster.wait(2)
    assert cluster.run() == ["second"]


@pytest.mark.parametrize("dialect", sorted(DIALECTS))
def test_promises_are_kept(dialect: str) -> None:
    nodes = [gpu_node(f"gpu-{at}", cards_of(at + 1), dialect, now=0) for at in range(4)]
    pods = [
        gpu_pod("small", share(dialect, 4096, 20)),
        gpu_pod("large", share(dialect, 16384, 90)),
        gpu_pod("running", share(dialect, 8192, 50), node="gpu-1"),
    ]
    assert_promises(GPUShare, args={"dialect": dialect}, nodes=nodes, pods=pods)


def test_promises_are_kept_with_cards_in_use() -> None:
    held = {
        "hami.io/vgpu-node": "gpu-1",
        "hami.io/vgpu-time": "1",
        "hami.io/vgpu-devices-allocated": "gpu-1-GPU-0,NVIDIA,16000,90:;",
    }
    nodes = [gpu_node(f"gpu-{at}", cards_of(2), now=0) for at in range(4)]
    pods = [
        gpu_pod("holder", share("hami", 16000, 90), node="gpu-1", annotations=held),
        gpu_pod("asks", share("hami", 4096, 20)),
        gpu_pod("both", share("hami", 4096, 20, cards=2)),
        gpu_pod("wrong", {"nvidia.com/gpumem": "1"}),
    ]
    assert_promises(GPUShare, nodes=nodes, pods=pods)
