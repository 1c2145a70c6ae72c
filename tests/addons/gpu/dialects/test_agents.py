"""Whom an agent serves when the kubelet asks for devices, and whether it may."""

import pytest
from msgspec.structs import replace
from support.addons.gpu.dialect_objects import NOW, bound, container, pod, registered, written

from podium.addons.gpu.cards.allocations import Allocation, CardShare
from podium.addons.gpu.cards.card import Card
from podium.addons.gpu.dialects import find_dialect
from podium.addons.gpu.dialects.agents import (
    AllocationFailed,
    FreeCard,
    ServedContainer,
    ServedContainers,
    check_cards,
    choose_shared_card,
    find_container,
)
from podium.addons.gpu.dialects.dialect import Dialect
from podium.kubernetes.kinds.node import Node
from podium.kubernetes.kinds.pod import Pod

CARDS = tuple(Card(at, f"GPU-{at}", "NVIDIA A10", memory=100, slots=10) for at in range(2))
GPU_MANAGER = find_dialect("gpu-manager")
GPU_SCHEDULER = find_dialect("gpu-scheduler")
GPUSHARE = find_dialect("gpushare")
HAMI = find_dialect("hami")
VGPU = find_dialect("vgpu-manager")


def world(dialect: Dialect) -> Node:
    return registered(dialect.register(CARDS, NOW))


def decide(dialect: Dialect, asking: Pod, at: float, *cards: tuple[int, ...]) -> Pod:
    """A pod on n1 whose containers were given those cards at a time."""
    shares = tuple(tuple(CardShare(card, 1, 1) for card in each) for each in cards)
    starting = len(asking.spec.init_containers or ())
    taken = Allocation(init_containers=shares[:starting], containers=shares[starting:])
    found = dialect.node_cards(world(dialect), NOW)
    decided = written(asking, dialect.write_decision(asking, "n1", found, taken, at))
    return bound(written(decided, dialect.write_binding(decided, at)), "n1")


def ask(
    dialect: Dialect,
    pods: list[Pod],
    devices: int,
    served: ServedContainers | None = None,
    on: Node | None = None,
) -> tuple[str, str] | str:
    on = on or world(dialect)
    cards = dialect.node_cards(on, NOW)
    answer = find_container(dialect, on, cards, pods, devices, served or {})
    if isinstance(answer, ServedContainer):
        return answer.pod.name, answer.container
    return answer.message


def vcuda(name: str, *cores: int, domain: str = "tencent.com") -> Pod:
    core, memory = f"{domain}/vcuda-core", f"{domain}/vcuda-memory"
    return pod(*({core: count, memory: 1} for count in cores), name=name)


def test_the_earliest_decision_of_the_right_size_is_served() -> None:
    pods = [
        decide(GPU_MANAGER, vcuda("late", 10), NOW + 2, (0,)),
        decide(GPU_MANAGER, vcuda("early", 10), NOW + 1, (0,)),
        decide(GPU_MANAGER, vcuda("first", 50), NOW, (0,)),
    ]
    assert ask(GPU_MANAGER, pods, 10) == ("early", "c0")
    assert ask(GPU_MANAGER, pods, 50) == ("first", "c0")
    assert "candidate pod not found" in ask(GPU_MANAGER, pods, 11)


def test_without_a_decision_the_creation_counts() -> None:
    undecided = bound(vcuda("undecided", 10), "n1")
    created = replace(undecided.metadata, creation_timestamp="2027-01-15T07:00:00Z")
    undecided = replace(undecided, metadata=created)
    pods = [decide(GPU_MANAGER, vcuda("decided", 10), NOW, (0,)), undecided]
    assert ask(GPU_MANAGER, pods, 10) == ("undecided", "c0")


def test_pods_elsewhere_finished_leaving_or_assigned_are_not_served() -> None:
    waiting = decide(GPU_MANAGER, vcuda("p", 10), NOW, (0,))
    leaving = replace(waiting.metadata, deletion_timestamp="2027-01-15T07:00:00Z")
    others = [
        bound(waiting, "n2"),
        replace(waiting, status=replace(waiting.status, phase="Running")),
        replace(waiting, metadata=leaving),
        written(waiting, GPU_MANAGER.confirm(waiting)),
    ]
    for other in others:
        assert "candidate pod not found" in ask(GPU_MANAGER, [other], 10)
    assert ask(GPU_MANAGER, [waiting], 10) == ("p", "c0")


def test_an_unfinished_pod_comes_first() -> None:
    pods = [
        decide(GPU_MANAGER, vcuda("early", 20), NOW, (0,)),
        decide(GPU_MANAGER, vcuda("both", 10, 20), NOW + 1, (0,), (1,)),
    ]
    served = {"uid-both": frozenset({"c0"})}
    assert ask(GPU_MANAGER, pods, 20, served) == ("both", "c1")
    assert "mismatch for container c1" in ask(GPU_MANAGER, pods, 30, served)
    finished = {"uid-both": frozenset({"c0", "c1"})}
    assert ask(GPU_MANAGER, pods, 20, finished) == ("early", "c0")


def test_gpu_schedulers_agent_goes_by_the_time_of_the_binding() -> None:
    first, second = (vcuda(name, 10, domain="nvidia.com") for name in ("first", "second"))
    pods = [
        decide(GPU_SCHEDULER, first, NOW, (0,)),
        decide(GPU_SCHEDULER, second, NOW + 1, (0,)),
    ]
    rebound = written(pods[0], GPU_SCHEDULER.write_binding(pods[0], NOW + 2))
    assert ask(GPU_SCHEDULER, [rebound, pods[1]], 10) == ("second", "c0")
    failed = written(pods[1], GPU_SCHEDULER.refuse(pods[1]))
    assert ask(GPU_SCHEDULER, [failed], 10) == (
        "candidate pod not found for a request of 10 devices"
    )


def test_gpushares_agent_goes_by_the_memory_of_the_pod() -> None:
    small, large = (
        decide(GPUSHARE, pod({"aliyun.com/gpu-mem": size}, name=f"m{size}"), NOW, (0,))
        for size in (3, 5)
    )
    assert ask(GPUSHARE, [small, large], 5) == ("m5", "c0")
    assert "not found" in ask(GPUSHARE, [written(large, GPUSHARE.confirm(large))], 5)


def hami(name: str, at: float) -> Pod:
    asking = pod({"nvidia.com/gpu": 2, "nvidia.com/gpumem": 1}, name=name)
    return decide(HAMI, asking, at, (0, 1))


def test_hamis_agent_serves_the_owner_of_the_lock() -> None:
    pods = [hami("early", NOW), hami("late", NOW + 1)]
    assert ask(HAMI, pods, 2) == ("early", "c0")
    unlocked = world(HAMI)
    annotations = {"hami.io/mutex.lock": "2027-01-15T08:00:00Z,ns,late"}
    keys = {**(unlocked.metadata.annotations or {}), **annotations}
    locked = replace(unlocked, metadata=replace(unlocked.metadata, annotations=keys))
    assert ask(HAMI, pods, 2, on=locked) == ("late", "c0")


def test_hamis_agent_takes_the_next_container_and_counts_its_cards() -> None:
    share = {"nvidia.com/gpu": 1, "nvidia.com/gpumem": 1}
    both = decide(HAMI, pod(share, init=(container("load", share),)), NOW, (0,), (1,))
    assert ask(HAMI, [both], 1) == ("p", "load")
    assert ask(HAMI, [both], 1, {"uid-p": frozenset({"load"})}) == ("p", "c0")
    assert ask(HAMI, [both], 2) == (
        "allocation request mismatch for container load: 2 devices, not 1"
    )
    assert "not found" in ask(HAMI, [written(both, HAMI.confirm(both))], 1)


def test_vgpu_managers_agent_takes_the_oldest_plan() -> None:
    late, early = (
        decide(VGPU, pod({"nvidia.com/vgpu-number": 1}, name=name), at, (0,))
        for name, at in (("late", NOW + 1), ("early", NOW))
    )
    assert ask(VGPU, [late, early], 1) == ("early", "c0")
    assert ask(VGPU, [late, written(early, VGPU.confirm(early))], 1) == ("late", "c0")


@pytest.mark.parametrize(
    ("dialect", "devices", "chosen", "fails"),
    [
        (GPU_MANAGER, 10, (0,), False),
        (GPU_MANAGER, 10, (1,), True),
        (GPU_MANAGER, 200, (2, 3), False),
        (GPU_SCHEDULER, 10, (1,), True),
        (HAMI, 1, (1,), False),
    ],
)
def test_a_shared_card_has_to_be_the_one_of_the_decision(
    dialect: Dialect, devices: int, chosen: tuple[int, ...], fails: bool
) -> None:
    answer = check_cards(dialect, ServedContainer(vcuda("p", 10), "c0", devices, (0,)), chosen)
    assert isinstance(answer, AllocationFailed) is fails


def test_a_pod_without_a_decision_takes_what_the_agent_chooses() -> None:
    assert check_cards(GPU_MANAGER, ServedContainer(vcuda("p", 10), "c0", 10, ()), (1,)) is None


def test_the_agent_shares_the_fullest_card_that_has_room() -> None:
    cards = [FreeCard(0, 100, 8), FreeCard(1, 40, 1), FreeCard(2, 60, 4), FreeCard(3, 60, 4, 2)]
    assert choose_shared_card(cards, 30, 1) == 1
    assert choose_shared_card(cards, 30, 2) == 2
    assert choose_shared_card(cards, 80, 2) == 0
    assert choose_shared_card(cards, 80, 9) is None
