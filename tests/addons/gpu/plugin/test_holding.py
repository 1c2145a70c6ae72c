"""Cards are held from Reserve on, written at PreBind, and given back when a pod is not bound."""

import pytest
from msgspec.structs import replace
from support.addons.gpu.gpu_cluster import (
    NOW,
    cards_held,
    cards_of,
    charged,
    gpu_cluster,
    gpu_node,
    gpu_pod,
    share,
)

from podium.addons.gpu.cards.known_pods import held_cards
from podium.addons.gpu.dialects import DIALECTS, find_dialect
from podium.kubernetes.kinds.node import Node
from podium.kubernetes.kinds.pod import Pod
from podium.plugin import ApiCallFailed, PreBindPlugin, PreFlight, Status
from podium.scheduler.framework.status import error, unschedulable
from podium.testing import FakeCluster, assert_placed, assert_rejected

LOCK = "hami.io/mutex.lock"
WHOLE = {"nvidia.com/gpu": "1"}


class Refuses(PreBindPlugin):
    """Turns pods away after GPUShare has written."""

    name = "Refuses"

    def pre_bind_pre_flight(self, cycle, node_name):  # type: ignore[no-untyped-def]
        return PreFlight()

    async def pre_bind(self, cycle, node_name, api):  # type: ignore[no-untyped-def]
        return unschedulable("not today") if cycle.pod.pod.metadata.name == "unlucky" else None


def test_a_reservation_counts_before_anything_is_written() -> None:
    cluster = gpu_cluster(gpu_node("a", cards_of(1)))
    cluster.put(gpu_pod("one", WHOLE), gpu_pod("two", WHOLE))
    assert cluster.run() == ["one", "two"]
    assert cluster.where() == {"one": "binding", "two": "unschedulable"}
    assert not cluster.pod("one").metadata.annotations


def test_profiles_of_one_scheduler_share_the_cards() -> None:
    cluster = gpu_cluster(gpu_node("a", cards_of(1)), profiles=("default-scheduler", "second"))
    cluster.put(gpu_pod("one", WHOLE), gpu_pod("two", WHOLE, schedulerName="second"))
    cluster.run()
    assert cluster.where() == {"one": "binding", "two": "unschedulable"}
    cluster.bound("one")
    cluster.delete("one")
    cluster.wait(2)
    assert cluster.run() == ["two"]
    assert cluster.where() == {"two": "binding"}


def test_what_the_object_says_takes_the_place_of_the_reservation() -> None:
    """The agent of gpu-manager chooses whole cards itself."""
    dialect = "gpu-manager"
    cluster = gpu_cluster(gpu_node("a", cards_of(2), dialect), dialect=dialect)
    cluster.schedule(gpu_pod("p", {"tencent.com/vcuda-core": "100"}))
    assert charged(cluster).keys() == {("a", 0)}
    pod = cluster.pod("p")
    annotations = {**(pod.metadata.annotations or {}), "tencent.com/predicate-gpu-idx-0": "1"}
    metadata = replace(pod.metadata, annotations=annotations, resource_version="7")
    cluster.put(replace(pod, metadata=metadata))
    assert charged(cluster).keys() == {("a", 1)}


@pytest.mark.parametrize("dialect", sorted(DIALECTS))
def test_a_failed_binding_gives_everything_back(dialect: str) -> None:
    cluster = gpu_cluster(gpu_node("a", cards_of(1), dialect), dialect=dialect)
    cluster.put(gpu_pod("p", share(dialect, 16384, 90)))
    cluster.run()
    assert cluster.run_binding("p") is None
    assert cluster.pod("p").metadata.annotations
    cluster.finish("p", error("the API server is away"))
    assert charged(cluster) == {}
    assert not cluster.pod("p").metadata.annotations
    assert not any("bind" in key for key in cluster.pod("p").metadata.labels or {})
    cluster.schedule(gpu_pod("next", share(dialect, 16384, 90)))
    assert cluster.where()["next"] == "a"


def test_a_pod_that_another_plugin_turns_away_holds_nothing() -> None:
    cluster = gpu_cluster(gpu_node("a", cards_of(1)), plugins=[Refuses])
    cluster.schedule(gpu_pod("unlucky", WHOLE))
    assert charged(cluster) == {}
    assert not cluster.pod("unlucky").metadata.annotations
    assert_placed(cluster.schedule(gpu_pod("next", WHOLE)), on="a")


def test_a_retry_is_not_in_the_way_of_itself() -> None:
    """H1, H3: the decision of an earlier attempt neither blocks the pod nor holds cards."""
    cluster = gpu_cluster(gpu_node("a", cards_of(1)))
    cluster.put(gpu_pod("p", WHOLE))
    cluster.run()
    cluster.run_binding("p")
    cluster.finish("p", error("no"))
    cluster.wait(20)
    assert cluster.run() == ["p"]
    cluster.bound("p")
    assert cluster.where() == {"p": "a"}
    assert cards_held(cluster, "p") == (0,)


def written_elsewhere(name: str, node: str, at: float = NOW) -> dict[str, str]:
    """A decision of another process."""
    return {
        "hami.io/vgpu-node": node,
        "hami.io/vgpu-time": str(int(at)),
        "hami.io/vgpu-devices-to-allocate": f"{node}-GPU-0,NVIDIA,16384,100:;",
        "hami.io/vgpu-devices-allocated": f"{node}-GPU-0,NVIDIA,16384,100:;",
    }


def test_a_fresh_decision_of_an_unbound_pod_counts_until_it_is_stale() -> None:
    cluster = gpu_cluster(gpu_node("a", cards_of(1)))
    other = gpu_pod(
        "other", WHOLE, annotations=written_elsewhere("other", "a"), schedulerName="another"
    )
    cluster.put(other)
    assert_rejected(cluster.schedule(gpu_pod("p", WHOLE)), node="a", by="GPUShare")
    cluster.wait(31)
    assert cluster.run() == ["p"]
    assert cluster.where()["p"] == "binding"


def squatter(at: float) -> Pod:
    """A pod of another scheduler whose owner writes a decision on it, dated now."""
    written = {**written_elsewhere("squatter", "a", at), "nvidia.com/stuck-grace-period": "9h"}
    return gpu_pod("squatter", WHOLE, annotations=written, schedulerName="another")


@pytest.mark.parametrize("ahead_s", [0.0, 20.0, 1e6])
def test_what_somebody_writes_on_his_own_pod_holds_no_card(ahead_s: float) -> None:
    cluster = gpu_cluster(gpu_node("a", cards_of(1)))
    cluster.schedule(gpu_pod("first", WHOLE, nodeSelector={"no": "where"}))
    cluster.wait(31)
    cluster.put(squatter(NOW + 31 + ahead_s))
    assert_placed(cluster.schedule(gpu_pod("p", WHOLE)))


def test_writing_a_decision_again_does_not_hold_cards_any_longer() -> None:
    cluster = gpu_cluster(gpu_node("a", cards_of(1)))
    cluster.put(squatter(NOW))
    assert_rejected(cluster.schedule(gpu_pod("p", WHOLE)), node="a", by="GPUShare")
    for after_s in (10, 20, 30):
        cluster.wait(10)
        cluster.put(squatter(NOW + after_s))
        assert cluster.where()["p"] != "binding"
    cluster.wait(2)
    cluster.run()
    assert cluster.where()["p"] == "binding"


def test_the_grace_period_can_be_set() -> None:
    cluster = gpu_cluster(gpu_node("a", cards_of(1)), args={"gracePeriodSeconds": 5})
    other = gpu_pod(
        "other", WHOLE, annotations=written_elsewhere("other", "a"), schedulerName="another"
    )
    cluster.put(other)
    assert_rejected(cluster.schedule(gpu_pod("p", WHOLE)), node="a", by="GPUShare")
    cluster.wait(6)
    assert cluster.run() == ["p"]


def test_a_pods_own_decision_of_an_earlier_process_is_dropped_when_it_is_placed_anew() -> None:
    cluster = gpu_cluster(gpu_node("a", cards_of(1)), gpu_node("b", cards_of(1)))
    own = written_elsewhere("p", "a")
    cluster.put(gpu_pod("hog", WHOLE, nodeSelector={"no": "where"}))
    decision = cluster.schedule(gpu_pod("p", WHOLE, annotations=own))
    assert decision.bound in ("a", "b")
    assert [key for key, _ in charged(cluster)] == [decision.bound]
    assert_placed(cluster.schedule(gpu_pod("next", WHOLE)))


def test_a_decision_that_cannot_be_taken_back_counts_nothing_meanwhile(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    cluster = gpu_cluster(gpu_node("a", cards_of(1)))
    cluster.put(gpu_pod("p", WHOLE))
    cluster.run()
    cluster.run_binding("p")

    async def away(*_: object, **__: object) -> None:
        raise ApiCallFailed("away")

    with monkeypatch.context() as broken:
        broken.setattr(cluster.api, "get", away)
        cluster.finish("p", error("no"))
    assert cluster.pod("p").metadata.annotations
    assert charged(cluster) == {}


def test_a_pod_that_is_bound_after_all_keeps_its_decision() -> None:
    cluster = gpu_cluster(gpu_node("a", cards_of(1)))
    cluster.put(gpu_pod("p", WHOLE))
    cluster.run()
    cluster.run_binding("p")
    cluster.confirm("p", "a")
    cluster.finish("p", error("timeout"))
    assert cards_held(cluster, "p") == (0,)
    assert charged(cluster).keys() == {("a", 0)}


def test_finished_and_deleted_pods_free_their_cards() -> None:
    cluster = gpu_cluster(gpu_node("a", cards_of(2)))
    for name in ("one", "two"):
        cluster.schedule(gpu_pod(name, WHOLE))
    cluster.change("one", phase="Succeeded")
    cluster.delete("two")
    assert charged(cluster) == {}


def test_a_pod_that_its_agent_refused_holds_nothing() -> None:
    cluster = gpu_cluster(gpu_node("a", cards_of(1)))
    cluster.schedule(gpu_pod("p", WHOLE))
    pod = cluster.pod("p")
    annotations = {**(pod.metadata.annotations or {}), "hami.io/bind-phase": "failed"}
    metadata = replace(pod.metadata, annotations=annotations, resource_version="9")
    cluster.put(replace(pod, metadata=metadata))
    assert charged(cluster) == {}


# --- locks --------------------------------------------------------------------------------------


def locking(*objects: object) -> FakeCluster:
    return gpu_cluster(*objects, args={"nodeLock": True})


def lock_of(cluster: FakeCluster, name: str = "a") -> str:
    nodes = cluster.engine.cluster.nodes
    return nodes.node(nodes.row(name)).metadata.annotation(LOCK)


def unlock(cluster: FakeCluster, value: str | None = None) -> None:
    nodes = cluster.engine.cluster.nodes
    node: Node = nodes.node(nodes.row("a"))
    annotations = dict(node.metadata.annotations or {})
    annotations.pop(LOCK, None)
    if value is not None:
        annotations[LOCK] = value
    cluster.put(replace(node, metadata=replace(node.metadata, annotations=annotations)))


def test_a_binding_takes_the_nodes_lock_and_leaves_it_to_the_agent() -> None:
    cluster = locking(gpu_node("a", cards_of(1)))
    cluster.schedule(gpu_pod("p", WHOLE))
    assert lock_of(cluster).endswith(",default,p")


def test_a_lock_that_cannot_be_had_stops_the_binding() -> None:
    """H9: with five tries, ever further apart."""
    cluster = locking(gpu_node("a", cards_of(2)))
    cluster.schedule(gpu_pod("first", WHOLE))
    cluster.put(gpu_pod("second", WHOLE))
    cluster.run()
    began = cluster.clock()
    problem = cluster.run_binding("second")
    assert isinstance(problem, Status)
    assert "node a has been locked within 5 minutes" in problem.message
    assert cluster.clock() - began == pytest.approx(0.1 + 0.2 + 0.4 + 0.8)
    cluster.finish("second", problem)
    assert charged(cluster).keys() == {("a", 0)}
    assert lock_of(cluster).endswith(",default,first")
    unlock(cluster)
    cluster.wait(20)
    assert cluster.run() == ["second"]
    cluster.bound("second")
    assert lock_of(cluster).endswith(",default,second")


def test_a_failed_binding_unlocks_the_node() -> None:
    cluster = locking(gpu_node("a", cards_of(1)))
    cluster.put(gpu_pod("p", WHOLE))
    cluster.run()
    cluster.run_binding("p")
    assert lock_of(cluster)
    cluster.finish("p", error("no"))
    assert not lock_of(cluster)


def test_a_lock_of_a_pod_that_is_gone_is_free() -> None:
    cluster = locking(gpu_node("a", cards_of(2)))
    cluster.schedule(gpu_pod("first", WHOLE))
    cluster.delete("first")
    assert_placed(cluster.schedule(gpu_pod("second", WHOLE)), on="a")
    assert lock_of(cluster).endswith(",default,second")


def test_without_an_api_server_nodes_are_not_locked() -> None:
    """There is no agent that would unlock them."""
    cluster = gpu_cluster(gpu_node("a", cards_of(1)))
    cluster.schedule(gpu_pod("p", WHOLE))
    assert not lock_of(cluster)


def test_what_is_written_is_what_the_dialect_reads() -> None:
    cluster = gpu_cluster(gpu_node("a", cards_of(2)))
    cluster.schedule(gpu_pod("p", share("hami", 4096, 30)))
    pod, hami = cluster.pod("p"), find_dialect("hami")
    nodes = cluster.engine.cluster.nodes
    held = held_cards(hami, pod, hami.node_cards(nodes.node(0), NOW), NOW)
    assert {index: (use.cores, use.memory) for index, use in held.uses.items()} == {0: (30, 4096)}
    assert (pod.metadata.annotations or {})["hami.io/bind-phase"] == "allocating"


def test_whoever_is_bound_first_gets_the_card_that_the_agent_chooses_first() -> None:
    """The agent of gpu-manager chooses by what it has given out so far."""
    dialect = "gpu-manager"
    cluster = gpu_cluster(gpu_node("a", cards_of(2), dialect), dialect=dialect)
    cluster.put(*(gpu_pod(name, share(dialect, 1024, 60)) for name in ("one", "two")))
    cluster.run()
    cluster.bound("two")
    assert cards_held(cluster, "two", dialect) == (0,)
    cluster.bound("one")
    assert cards_held(cluster, "one", dialect) == (1,)
    assert {card: use[0] for card, use in charged(cluster).items()} == {("a", 0): 60, ("a", 1): 60}
