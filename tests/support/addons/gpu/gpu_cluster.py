"""GPU nodes and pods of any dialect, and what their objects alone say of the cards."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import msgspec

from podium.addons.gpu.cards.allocations import CardUse
from podium.addons.gpu.cards.card import NO_CARDS, Card, NodeCards
from podium.addons.gpu.cards.known_pods import held_cards
from podium.addons.gpu.dialects import find_dialect
from podium.addons.gpu.dialects.dialect import Dialect
from podium.addons.gpu.plugin.gpu_share import GPUShare
from podium.kubernetes.kinds.node import Node
from podium.kubernetes.kinds.pod import Pod
from podium.plugin import Plugin
from podium.testing import FakeCluster, make_pod

NOW: Final = 1_800_000_000.0
NOT_ON_NODES: Final = (
    "nvidia.com/gpumem",
    "nvidia.com/gpumem-percentage",
    "nvidia.com/gpucores",
    "nvidia.com/vgpu-memory",
    "nvidia.com/vgpu-cores",
)
"""Resources that no agent announces: NodeResourcesFit has to be told."""


def cards_of(count: int, *, memory: int = 16384, uuid: str = "GPU", **fields: Any) -> list[Card]:
    """So many equal cards; memory in MiB."""
    return [
        Card(index=at, uuid=f"{uuid}-{at}", model="NVIDIA A100", memory=memory, **fields)
        for at in range(count)
    ]


def gpu_node(
    name: str,
    cards: Sequence[Card],
    dialect: str = "hami",
    now: float = NOW,
    labels: Mapping[str, str] | None = None,
) -> Node:
    """A node whose agent has registered these cards, with memory in MiB."""
    spoken = find_dialect(dialect)
    unit = spoken.memory_unit >> 20
    told = [
        msgspec.structs.replace(
            card,
            uuid=f"{name}-{card.uuid}" if card.uuid else "",
            memory=card.memory // unit,
            slots=10 if card.slots > 1000 else card.slots,
        )
        for card in cards
    ]
    write = spoken.register(told, now)
    room = {"cpu": "64", "memory": "512Gi", "pods": "500", **write.capacity}
    if dialect in ("hami", "vgpu-manager"):
        room.setdefault(spoken.resources[0], str(10 * len(cards)))
    return msgspec.convert(
        {
            "metadata": {
                "name": name,
                "annotations": {k: v for k, v in write.annotations.items() if v is not None},
                "labels": {
                    **{k: v for k, v in write.labels.items() if v is not None},
                    **(labels or {}),
                },
            },
            "status": {"capacity": room, "allocatable": room},
        },
        Node,
    )


def share(dialect: str, memory: int, cores: int = 0, cards: int = 1) -> dict[str, str]:
    """Limits of a container for a share of so many cards; memory in MiB."""
    unit = find_dialect(dialect).memory_unit >> 20
    match dialect:
        case "hami":
            limits = {"nvidia.com/gpu": cards, "nvidia.com/gpumem": memory}
            limits["nvidia.com/gpucores"] = cores
        case "vgpu-manager":
            limits = {"nvidia.com/vgpu-number": cards, "nvidia.com/vgpu-memory": memory}
            limits["nvidia.com/vgpu-cores"] = cores
        case "gpu-manager":
            limits = {"tencent.com/vcuda-core": cores, "tencent.com/vcuda-memory": memory // unit}
        case "gpu-scheduler":
            limits = {"nvidia.com/vcuda-core": cores, "nvidia.com/vcuda-memory": memory}
        case _:
            limits = {"aliyun.com/gpu-mem": memory // unit}
    return {name: str(amount) for name, amount in limits.items()}


def gpu_pod(name: str, limits: Mapping[str, str], *more: Mapping[str, str], **fields: Any) -> Pod:
    """A pod with a container for each of the limits; `annotations` go where they belong."""
    annotations = fields.pop("annotations", None)
    containers = [
        {"name": f"c{at}", "resources": {"limits": dict(each), "requests": dict(each)}}
        for at, each in enumerate((limits, *more))
    ]
    metadata = dict(fields.pop("metadata", {}))
    if annotations:
        metadata["annotations"] = dict(annotations)
    return make_pod(name, containers=containers, metadata=metadata, **fields)


def gpu_cluster(
    *objects: Node | Pod | Any,
    dialect: str = "hami",
    plugins: Iterable[type[Plugin]] = (),
    args: Mapping[str, Any] | None = None,
    **configured: Any,
) -> FakeCluster:
    """A cluster with GPUShare, on a clock that stands in 2027."""
    more = configured.pop("plugin_args", {})
    cluster = FakeCluster(
        plugins=[GPUShare, *plugins],
        args={
            "GPUShare": {"dialect": dialect, **(args or {})},
            "NodeResourcesFit": {"ignoredResources": list(NOT_ON_NODES)},
            **more,
        },
        **configured,
    )
    cluster.clock.now = NOW
    cluster.put(*objects)
    return cluster


def cards_held(cluster: FakeCluster, name: str, dialect: str = "hami") -> tuple[int, ...]:
    """The cards that stand on a pod."""
    pod, spoken = cluster.pod(name), find_dialect(dialect)
    allocation = held_cards(
        spoken, pod, _cards_on(cluster, spoken, pod), cluster.clock()
    ).allocation
    return allocation.cards() if allocation is not None else ()


def uses_by_card(cluster: FakeCluster, dialect: str = "hami") -> dict[tuple[str, int], CardUse]:
    """What all pods of the cluster take of each card, from their objects alone."""
    spoken = find_dialect(dialect)
    found: dict[tuple[str, int], CardUse] = {}
    for pod in cluster.engine.state.pods.values():
        node = pod.spec.node_name or spoken.decided_node(pod)
        held = held_cards(spoken, pod, _cards_on(cluster, spoken, pod), cluster.clock())
        for index, use in held.uses.items():
            known = found.get((node, index), CardUse())
            found[node, index] = CardUse(
                known.cores + use.cores, known.memory + use.memory, known.slots + use.slots
            )
    return found


def _cards_on(cluster: FakeCluster, dialect: Dialect, pod: Pod) -> NodeCards:
    nodes = cluster.engine.cluster.nodes
    name = pod.spec.node_name or dialect.decided_node(pod)
    node = nodes.objects[nodes.row(name)] if nodes.row(name) >= 0 else None
    return NO_CARDS if node is None else dialect.node_cards(node, cluster.clock())


def charged(cluster: FakeCluster) -> dict[tuple[str, int], tuple[int, int, int]]:
    """What the plugin holds of each card at the moment: cores, memory, slots."""
    plugin: Any = cluster.plugin("GPUShare")
    cards = plugin.follow_cards()
    names = cluster.engine.cluster.nodes.names
    return {
        (names[row], index): (each.cores, each.memory, each.slots)
        for row, books in enumerate(cards.table.charged)
        for index, each in books.items()
    }
