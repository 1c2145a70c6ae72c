"""GPUShare with preemption, nominated pods and gangs."""

from typing import Any

import msgspec
from support.addons.gpu.gpu_cluster import (
    cards_held,
    cards_of,
    charged,
    gpu_cluster,
    gpu_node,
    gpu_pod,
    share,
)

from podium.addons.collection.coscheduling.plugin import Coscheduling
from podium.kubernetes.kinds.workloads import PodDisruptionBudget
from podium.scheduler.framework.status import error
from podium.testing import FakeCluster, assert_unplaced

WHOLE = {"nvidia.com/gpu": "1"}
MODELS = "nvidia.com/use-gputype"


def victims(cluster: FakeCluster) -> set[str]:
    return {
        evict.victim.pod.metadata.name
        for preemption in cluster.preemptions
        for evict in preemption.evict
    }


def test_only_the_pod_whose_card_helps_is_evicted() -> None:
    """One needs a whole card of a model that one victim is on; evicting the other is no use."""
    cards = cards_of(2)
    cards[1] = msgspec.structs.replace(cards[1], model="NVIDIA H100")
    for model, victim in (("A100", "on-a100"), ("H100", "on-h100")):
        cluster = gpu_cluster(gpu_node("a", cards))
        for name, own in (("on-a100", "A100"), ("on-h100", "H100")):
            pod = gpu_pod(name, share("hami", 4096, 30), annotations={MODELS: own}, priority=1)
            cluster.schedule(pod)
        wants = gpu_pod("urgent", WHOLE, annotations={MODELS: model}, priority=10)
        cluster.schedule(wants)
        assert victims(cluster) == {victim}


def test_as_few_as_possible_are_evicted_and_the_least_important_first() -> None:
    cluster = gpu_cluster(gpu_node("a", cards_of(2)))
    for number, priority in enumerate((5, 1, 3, 2)):
        cluster.schedule(gpu_pod(f"p{number}", share("hami", 8192, 40), priority=priority))
    by_card = {
        card: {n for n in range(4) if cards_held(cluster, f"p{n}") == (card,)} for card in (0, 1)
    }
    cluster.schedule(gpu_pod("urgent", share("hami", 8192, 40), priority=10))
    assert victims(cluster) == {"p1"}
    assert all(len(pods) == 2 for pods in by_card.values())


def test_nobody_of_equal_or_higher_priority_is_evicted() -> None:
    cluster = gpu_cluster(gpu_node("a", cards_of(2)))
    cluster.schedule(gpu_pod("high", WHOLE, priority=20))
    cluster.schedule(gpu_pod("equal", WHOLE, priority=10))
    decision = cluster.schedule(gpu_pod("urgent", WHOLE, priority=10))
    assert_unplaced(decision)
    assert victims(cluster) == set()


def test_disruption_budgets_are_respected_where_they_can_be() -> None:
    cluster = gpu_cluster(gpu_node("a", cards_of(2)))
    cluster.put(
        msgspec.convert(
            {
                "metadata": {"name": "keep", "namespace": "default"},
                "spec": {"selector": {"matchLabels": {"app": "kept"}}, "minAvailable": 1},
                "status": {"disruptionsAllowed": 0},
            },
            PodDisruptionBudget,
        )
    )
    cluster.schedule(gpu_pod("kept", WHOLE, priority=1, labels={"app": "kept"}))
    cluster.schedule(gpu_pod("free", WHOLE, priority=2))
    cluster.schedule(gpu_pod("urgent", WHOLE, priority=10))
    assert victims(cluster) == {"free"}


def test_a_pod_that_fits_no_empty_node_evicts_nobody() -> None:
    cluster = gpu_cluster(gpu_node("a", cards_of(2)))
    cluster.schedule(gpu_pod("small", WHOLE, priority=1))
    decision = cluster.schedule(gpu_pod("huge", share("hami", 99999, 10), priority=10))
    assert_unplaced(decision, message="Preemption is not helpful for scheduling")
    cluster.schedule(gpu_pod("three", {"nvidia.com/gpu": "3"}, priority=10))
    assert victims(cluster) == set()


def test_mismatching_cards_beside_a_full_one_that_matches_do_not_forbid_preemption() -> None:
    cards = cards_of(3)
    cards[2] = msgspec.structs.replace(cards[2], model="NVIDIA H100")
    cluster = gpu_cluster(gpu_node("a", cards))
    cluster.schedule(gpu_pod("there", WHOLE, annotations={MODELS: "H100"}, priority=1))
    cluster.schedule(gpu_pod("urgent", WHOLE, annotations={MODELS: "H100"}, priority=10))
    assert victims(cluster) == {"there"}


def test_cards_are_kept_for_a_nominated_pod() -> None:
    """Those that it would be given when its victims are gone."""
    cluster = gpu_cluster(gpu_node("a", cards_of(2)))
    for name in ("one", "two"):
        cluster.schedule(gpu_pod(name, WHOLE, priority=1))
    cluster.schedule(gpu_pod("urgent", WHOLE, priority=10))
    (victim,) = victims(cluster)
    assert cluster.nominated() == {"urgent": "a"}
    cluster.terminate(victim)
    cluster.delete(victim)
    cluster.put(gpu_pod("sneaky", WHOLE, priority=5, nodeSelector={}))
    cluster.wait(0)
    order = cluster.run()
    assert cluster.where()["urgent"] in ("binding", "backoff")
    assert cluster.where().get("sneaky") != "binding", order


def test_a_gang_has_all_its_cards_or_none() -> None:
    def gang(name: str, member: int) -> Any:
        labels = {"scheduling.x-k8s.io/pod-group": name}
        return gpu_pod(f"{name}-{member}", WHOLE, labels=labels)

    cluster = gpu_cluster(gpu_node("a", cards_of(3)), plugins=[Coscheduling])
    kind = Coscheduling.watched_kinds[0].struct
    for name in ("red", "blue"):
        group = {"metadata": {"name": name, "namespace": "default"}, "spec": {"minMember": 2}}
        cluster.put(msgspec.convert(group, kind))
    cluster.put(*(gang(name, member) for name in ("red", "blue") for member in range(2)))
    cluster.run()
    for name in list(cluster.bindings):
        cluster.bound(name)
    placed = {name for name, where in cluster.where().items() if where == "a"}
    assert {name.split("-")[0] for name in placed} in ({"red"}, {"blue"})
    assert len(placed) == 2
    assert len(charged(cluster)) == 2


def test_a_gang_that_fails_leaves_no_card_charged() -> None:
    labels = {"scheduling.x-k8s.io/pod-group": "red"}
    cluster = gpu_cluster(gpu_node("a", cards_of(2)), plugins=[Coscheduling])
    kind = Coscheduling.watched_kinds[0].struct
    group = {"metadata": {"name": "red", "namespace": "default"}, "spec": {"minMember": 3}}
    cluster.put(msgspec.convert(group, kind))
    cluster.put(*(gpu_pod(f"red-{n}", WHOLE, labels=labels) for n in range(3)))
    cluster.run()
    cluster.wait(120)
    assert not cluster.bindings
    assert charged(cluster) == {}
    assert all(not pod.metadata.annotations for pod in cluster.engine.state.pods.values())


def test_members_of_a_gang_are_bound_to_one_node_without_waiting_for_each_other() -> None:
    labels = {"scheduling.x-k8s.io/pod-group": "red"}
    cluster = gpu_cluster(gpu_node("a", cards_of(2)), plugins=[Coscheduling])
    kind = Coscheduling.watched_kinds[0].struct
    group = {"metadata": {"name": "red", "namespace": "default"}, "spec": {"minMember": 2}}
    cluster.put(msgspec.convert(group, kind))
    cluster.put(*(gpu_pod(f"red-{n}", WHOLE, labels=labels) for n in range(2)))
    cluster.run()
    assert set(cluster.bindings) == {"red-0", "red-1"}
    cluster.bound("red-0")
    cluster.run_binding("red-1")
    cluster.finish("red-1", error("no"))
    assert len(charged(cluster)) == 1
