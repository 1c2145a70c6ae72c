"""Placing pods on simulated nodes with GPUs as a scheduler of their dialect does."""

import asyncio
from typing import Any

import msgspec
from support.live.scheduler_at_work import BEGIN_S
from support.simulated.simulated_clusters import Cluster

from podium.addons.gpu.cards.allocations import Allocation
from podium.addons.gpu.cards.card_table import CardTable
from podium.addons.gpu.cards.choosing import allocate
from podium.addons.gpu.cards.known_pods import held_cards
from podium.addons.gpu.dialects import find_dialect
from podium.addons.gpu.dialects.dialect import PodWrite
from podium.addons.gpu.dialects.node_lock import write_lock
from podium.client.resources import NODES, PODS
from podium.kubernetes.kinds.node import Node
from podium.kubernetes.kinds.pod import Pod

SHARES: dict[str, dict[str, str]] = {
    "gpu-manager": {"tencent.com/vcuda-core": "30", "tencent.com/vcuda-memory": "8"},
    "gpu-scheduler": {"nvidia.com/vcuda-core": "30", "nvidia.com/vcuda-memory": "2048"},
    "gpushare": {"aliyun.com/gpu-mem": "4"},
    "gpushare-mib": {"aliyun.com/gpu-mem": "4096"},
    "hami": {"nvidia.com/gpu": "1", "nvidia.com/gpumem": "4096", "nvidia.com/gpucores": "30"},
    "vgpu-manager": {
        "nvidia.com/vgpu-number": "1",
        "nvidia.com/vgpu-cores": "30",
        "nvidia.com/vgpu-memory": "4096",
    },
}
"""A share of one card, in the words of each dialect."""


def gpu_pod(name: str, *limits: dict[str, str], **metadata: Any) -> dict[str, Any]:
    """A pod with a container for each of the limits, which no scheduler takes care of."""
    containers = [
        {"name": f"c{at}", "image": "nginx", "resources": {"limits": each, "requests": each}}
        for at, each in enumerate(limits)
    ]
    return {
        "metadata": {"name": name, **metadata},
        "spec": {"schedulerName": "nobody", "containers": containers},
    }


async def read_node(cluster: Cluster, name: str) -> Node:
    return msgspec.convert(await cluster.get(NODES, name), Node)


async def read_pod(cluster: Cluster, name: str) -> Pod:
    return msgspec.convert(await cluster.get(PODS, name), Pod)


async def decide(cluster: Cluster, dialect_name: str, name: str, node_name: str) -> Allocation:
    """Choose cards of the node for a pod that is there, and write the decision; the lock, too."""
    dialect = find_dialect(dialect_name)
    node, pod = await read_node(cluster, node_name), await read_pod(cluster, name)
    cards = dialect.node_cards(node, BEGIN_S)
    table = CardTable(dialect.memory_unit)
    table.put_node(0, cards)
    for raw in await cluster.all(PODS):
        other = msgspec.convert(raw, Pod)
        if node_name in (other.spec.node_name, dialect.decided_node(other)):
            table.charge(0, held_cards(dialect, other, cards, BEGIN_S).uses)
    request = dialect.pod_request(pod)
    assert request is not None
    found = allocate(table, 0, request)
    assert isinstance(found, Allocation), found
    await _write(cluster, name, dialect.write_decision(pod, node_name, cards, found, BEGIN_S))
    return found


async def bind(cluster: Cluster, dialect_name: str, name: str, node_name: str) -> None:
    dialect = find_dialect(dialect_name)
    pod = await read_pod(cluster, name)
    if dialect.lock is not None:
        annotations = {dialect.lock.key: write_lock(dialect.lock, pod, BEGIN_S)}
        await cluster.patch(NODES, node_name, {"metadata": {"annotations": annotations}})
    await _write(cluster, name, dialect.write_binding(pod, BEGIN_S))
    target = {"kind": "Node", "name": node_name}
    await cluster.client.create(
        PODS,
        {"metadata": {"name": name}, "target": target},
        "default",
        name=name,
        subresource="binding",
    )


async def place(
    cluster: Cluster, dialect_name: str, body: dict[str, Any], node_name: str
) -> Allocation:
    """Make a pod, decide and bind it."""
    name = body["metadata"]["name"]
    await cluster.create(PODS, body)
    found = await decide(cluster, dialect_name, name, node_name)
    await bind(cluster, dialect_name, name, node_name)
    return found


async def until_phase(cluster: Cluster, name: str, phase: str) -> float:
    async def reached() -> bool:
        found: str = (await cluster.get(PODS, name))["status"].get("phase", "")
        return found == phase

    return await cluster.until(reached)


async def _write(cluster: Cluster, name: str, write: PodWrite) -> None:
    body = {"annotations": dict(write.annotations), "labels": dict(write.labels)}
    await cluster.patch(PODS, name, {"metadata": body})


def now() -> float:
    return BEGIN_S + asyncio.get_running_loop().time()


async def annotate(cluster: Cluster, node: str, **values: str | None) -> None:
    annotations = {f"podium.dev/{key.replace('_', '-')}": text for key, text in values.items()}
    await cluster.patch(NODES, node, {"metadata": {"annotations": annotations}})
