"""The extender, the plugin and all dialects decide by the same rules: the same pods get the same
nodes, the same scores and the same cards."""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import msgspec
import pytest
from support.addons.gpu.gpu_cluster import (
    NOW,
    cards_held,
    cards_of,
    gpu_cluster,
    gpu_node,
)
from support.addons.gpu.in_process_extender import InProcessExtender, extender_entry
from support.addons.gpu.random_requests import Request, Share, random_request, say

from podium.addons.gpu.cards.known_pods import held_cards
from podium.addons.gpu.cards.quota import MODEL_LABEL, POOL_LABEL, read_quotas
from podium.addons.gpu.dialects import DIALECTS, find_dialect
from podium.addons.gpu.plugin.quotas import QuotaFile
from podium.kubernetes.kinds.node import Node
from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.kinds.workloads import ResourceQuota
from podium.testing import FakeCluster

PODS, WEIGHT = 1000, 10
SIZES = (1, 2, 2, 4, 4, 8, 8, 8)
MODELS, POOLS = ("A100", "T4"), ("shared", "own")
QUOTAS = {"team-a": {"quota": {"A100": 6, "T4": 4}, "pool": ["shared"]}}


class Placed(NamedTuple):
    """`scores` of nodes that fit, by the whole profile."""

    node: str | None
    cards: tuple[int, ...] = ()
    scores: dict[str, int] = {}


def fleet(dialect: str, sizes: Iterable[int] = SIZES) -> list[Node]:
    return [
        gpu_node(
            f"n{at}",
            cards_of(size, slots=6),
            dialect,
            labels={MODEL_LABEL: MODELS[at % 2], POOL_LABEL: POOLS[at % 3 == 2]},
        )
        for at, size in enumerate(sizes)
    ]


def resource_quota(dialect: str) -> ResourceQuota:
    """A part of what the fleet has, for team-b."""
    spoken = find_dialect(dialect)
    unit = spoken.memory_unit >> 20
    amounts = {
        spoken.cores_resource: sum(SIZES) * 15,
        spoken.memory_resource: sum(SIZES) * 3072 // unit,
    }
    hard = {f"limits.{name}": str(amount) for name, amount in amounts.items() if name}
    metadata = {"name": "gpus", "namespace": "team-b"}
    return msgspec.convert({"metadata": metadata, "spec": {"hard": hard}}, ResourceQuota)


class ByPlugin:
    def __init__(self, dialect: str, nodes: Iterable[Node], **args: Any) -> None:
        self._dialect = dialect
        resources = list(find_dialect(dialect).resources)
        self.cluster = gpu_cluster(
            *nodes,
            dialect=dialect,
            args=args,
            weights={"GPUShare": WEIGHT},
            plugin_args={"NodeResourcesFit": {"ignoredResources": resources}},
            validate=False,
        )

    def place(self, pod: Pod) -> Placed:
        node, scores = _decide(self.cluster, pod)
        name = f"{pod.namespace}/{pod.name}"
        return Placed(node, cards_held(self.cluster, name, self._dialect) if node else (), scores)

    def delete(self, pod: Pod) -> None:
        self.cluster.delete(f"{pod.namespace}/{pod.name}")


class ByExtender:
    def __init__(self, dialect: str, nodes: Iterable[Node], **options: Any) -> None:
        self._dialect = find_dialect(dialect)
        self.extender = InProcessExtender(self._dialect, lambda: NOW, **options)
        self.cluster = FakeCluster(
            *nodes,
            ask=self.extender.ask,
            extenders=[extender_entry(self._dialect, WEIGHT)],
            validate=False,
        )
        self.cluster.clock.now = NOW
        self.extender.put(*nodes)

    def place(self, pod: Pod) -> Placed:
        self.extender.put(pod)
        node, scores = _decide(self.cluster, pod)
        if node is None:
            return Placed(None)
        self.extender.unlock(node)
        cards = self.extender.view.ledger.cards(node)
        held = held_cards(self._dialect, self.extender.pod(pod), cards, NOW)
        assert held.allocation is not None
        return Placed(node, held.allocation.cards(), scores)

    def delete(self, pod: Pod) -> None:
        self.cluster.delete(f"{pod.namespace}/{pod.name}")
        self.extender.delete(pod)


def _decide(cluster: FakeCluster, pod: Pod) -> tuple[str | None, dict[str, int]]:
    decision = cluster.schedule(pod)
    if decision.bound is None:
        return None, {}
    totals = decision.total
    if totals is None:
        return decision.bound, {}
    names = [decision.node_names[row] for row in decision.feasible]
    return decision.bound, dict(zip(names, map(int, totals), strict=True))


def lives(
    chances: Random, requests: Iterable[Request], *sides: tuple[Any, str]
) -> Iterator[tuple[Request, list[Placed]]]:
    """What each side does with the same pods, said in its dialect; some leave again."""
    there: list[list[Pod]] = []
    for at, request in enumerate(requests):
        pods = [say(request, f"p{at}", dialect) for _, dialect in sides]
        placed = [side.place(pod) for (side, _), pod in zip(sides, pods, strict=True)]
        yield request, placed
        if placed[0].node is not None:
            there.append(pods)
        gone = [pods] if placed[0].node is None else []
        if there and chances.random() < 0.7:
            gone.append(there.pop(chances.randrange(len(there))))
        for leaving in gone:
            for (side, _), pod in zip(sides, leaving, strict=True):
                side.delete(pod)


@pytest.mark.parametrize(
    ("dialect", "pods"),
    [
        *((dialect, PODS // 5) for dialect in sorted(DIALECTS)),
        *(
            pytest.param(dialect, PODS, marks=pytest.mark.slow)
            for dialect in ("gpu-manager", "hami")
        ),
    ],
)
def test_the_plugin_and_the_extender_place_the_same_pods_alike(
    dialect: str, pods: int, tmp_path: Path
) -> None:
    document, chances = tmp_path / "gpu_quota.json", Random(11)
    document.write_text(json.dumps(QUOTAS))
    nodes, quota = fleet(dialect), resource_quota(dialect)
    plugin = ByPlugin(dialect, nodes, quota={"file": str(document)})
    plugin.cluster.put(quota)
    plugin.cluster.answer(QuotaFile(str(document)).name, read_quotas(document.read_text()))
    extender = ByExtender(dialect, nodes, quota_file=document)
    extender.extender.application.housekeeping.read_quota_file()
    extender.extender.put(quota)
    requests = [random_request(chances, dialect, cards=4) for _ in range(pods)]
    refused, placed = 0, 0
    for at, (request, (one, other)) in enumerate(
        lives(chances, requests, (plugin, dialect), (extender, dialect))
    ):
        assert one == other, (at, request)
        placed += one.node is not None
        refused += one.node is None
    assert placed > pods // 2
    assert refused > pods // 50


@pytest.mark.parametrize(
    ("one", "other"),
    [("gpu-manager", "gpu-scheduler"), ("gpushare", "gpushare-mib"), ("hami", "vgpu-manager")],
)
def test_dialects_that_can_say_the_same_get_the_same(one: str, other: str) -> None:
    chances = Random(12)
    sides = [(ByPlugin(dialect, fleet(dialect)), dialect) for dialect in (one, other)]
    requests = [random_request(chances, one, cards=4) for _ in range(150)]
    for at, (request, (first, second)) in enumerate(lives(chances, requests, *sides)):
        assert first == second, (at, request)


def test_shares_of_single_cards_go_alike_in_every_dialect_that_has_cores() -> None:
    chances = Random(13)
    dialects = ("gpu-manager", "gpu-scheduler", "hami", "vgpu-manager")
    sides = [
        (ByPlugin(dialect, fleet(dialect, [1] * 12), nodePolicy="free-cores"), dialect)
        for dialect in dialects
    ]
    requests = [random_request(chances, "gpu-manager", cards=1) for _ in range(150)]
    for at, (request, placed) in enumerate(lives(chances, requests, *sides)):
        assert len({each.node for each in placed}) == 1, (at, request, placed)


def test_shares_of_memory_go_alike_in_every_dialect_that_needs_no_cores() -> None:
    chances = Random(14)
    dialects = ("gpushare", "gpushare-mib", "hami", "vgpu-manager")
    sides = [
        (ByPlugin(dialect, fleet(dialect, [1] * 12), nodePolicy="free-cores"), dialect)
        for dialect in dialects
    ]
    requests = [Request((Share(1, 0, 1024 * chances.randint(3, 12)),), "free") for _ in range(150)]
    for at, (request, placed) in enumerate(lives(chances, requests, *sides)):
        assert len({each.node for each in placed}) == 1, (at, request, placed)
