"""The most that GPUs can be used: never below what a placement reaches."""

import random
from functools import cache

import pytest

from podium.offline.optimum.gpu_bound import GPUPodKind, NodeGroup, bound_allocation

ANY = -1


def test_shares_above_a_half_take_a_device_each() -> None:
    group = NodeGroup(1, 64_000, 2, 1)

    assert bound_allocation([group], [GPUPodKind(5, 0, 1, 600, ANY)]) == pytest.approx(1200)


def test_cpu_and_models_bound_as_well() -> None:
    nodes = [NodeGroup(1, 4000, 4, 1), NodeGroup(1, 64_000, 4, 2)]

    assert bound_allocation(nodes, [GPUPodKind(8, 3000, 1, 1000, 1)]) == pytest.approx(1000)


def test_pods_of_more_devices_than_half_a_node_have_a_node_each() -> None:
    kind = GPUPodKind(4, 0, 5, 1000, ANY)

    assert bound_allocation([NodeGroup(2, 64_000, 8, 1)], [kind]) == pytest.approx(10_000)


def test_nothing_to_place_is_nothing() -> None:
    assert bound_allocation([NodeGroup(1, 1000, 1, 1)], []) == 0


def best_allocation(nodes: list[tuple[int, int]], pods: list[tuple[int, int, int]]) -> int:
    """By trying everything: nodes are (CPU, devices), pods (CPU, devices, milli)."""
    empty = tuple((cpu, (1000,) * gpus) for cpu, gpus in nodes)

    @cache
    def best(at: int, left: tuple[tuple[int, tuple[int, ...]], ...]) -> int:
        if at == len(pods):
            return 0
        cpu, gpus, milli = pods[at]
        found = best(at + 1, left)
        for number, (cpu_left, devices) in enumerate(left):
            if cpu_left < cpu:
                continue
            choices: list[tuple[int, ...]]
            if gpus == 1:
                choices = [(d,) for d, free in enumerate(devices) if free >= milli]
            else:
                whole = [d for d, free in enumerate(devices) if free == 1000]
                choices = [tuple(whole[:gpus])] if len(whole) >= gpus else []
            for chosen in choices:
                after = tuple(
                    free - milli if d in chosen else free for d, free in enumerate(devices)
                )
                node = (cpu_left - cpu, tuple(sorted(after)))
                state = (*left[:number], node, *left[number + 1 :])
                found = max(found, gpus * milli + best(at + 1, state))
        return found

    return best(0, empty)


@pytest.mark.parametrize("seed", range(25))
def test_no_placement_is_above_the_bound(seed: int) -> None:
    chance = random.Random(seed)
    nodes = [(chance.choice((4, 8)), chance.choice((1, 2, 3))) for _ in range(2)]
    sizes = [(1, chance.choice((200, 300, 400, 600, 700))) for _ in range(4)]
    sizes += [(chance.choice((1, 2)), 1000) for _ in range(2)]
    pods = [(chance.choice((1, 2, 3)), gpus, milli) for gpus, milli in sizes]

    bound = bound_allocation(
        [NodeGroup(1, cpu, gpus, 1) for cpu, gpus in nodes],
        [GPUPodKind(1, cpu, gpus, milli, ANY) for cpu, gpus, milli in pods],
    )

    best = best_allocation(nodes, pods)
    assert best <= bound + 1e-6
    assert bound <= sum(gpus * milli for gpus, milli in sizes)
