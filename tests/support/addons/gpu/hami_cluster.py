"""Nodes with cards of 100 cores, and pods that hold shares of them, in HAMi's dialect."""

from typing import Any

import msgspec

from podium.addons.gpu.cards.allocations import Allocation, CardShare
from podium.addons.gpu.cards.card import Card
from podium.addons.gpu.dialects import find_dialect
from podium.kubernetes.kinds.node import Node
from podium.kubernetes.kinds.pod import Pod

NOW = 1_800_000_000.0
HAMI = find_dialect("hami")
OWNER = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "r", "uid": "1", "controller": True}
BINPACK = {"hami.io/gpu-scheduler-policy": "binpack"}


def node(name: str, cards: int = 2, **spec: Any) -> Node:
    made = [
        Card(index=at, uuid=f"GPU-{name}-{at}", model="T4", memory=10000, slots=10)
        for at in range(cards)
    ]
    write = HAMI.register(made, NOW)
    annotations = {key: text for key, text in write.annotations.items() if text}
    capacity = {"cpu": "64", "memory": "256Gi", "pods": "110", **write.capacity}
    return msgspec.convert(
        {
            "metadata": {"name": name, "annotations": annotations, "labels": {"name": name}},
            "spec": spec,
            "status": {"capacity": capacity, "allocatable": capacity},
        },
        Node,
    )


def pod(name: str, cores: int, cards: int = 1, **more: Any) -> Pod:
    memory = {} if cores == 100 else {"nvidia.com/gpumem": str(cores * 100)}
    limits = {"nvidia.com/gpu": str(cards), "nvidia.com/gpucores": str(cores), **memory}
    metadata = {"ownerReferences": [OWNER], **more.pop("metadata", {})}
    annotations = {**BINPACK, **metadata.pop("annotations", {})}
    return msgspec.convert(
        {
            "metadata": {
                "name": name,
                "namespace": "default",
                "uid": f"uid-of-{name}",
                "labels": {"app": name[:1]},
                "annotations": annotations,
                **metadata,
            },
            "spec": {
                "schedulerName": "default-scheduler",
                "containers": [{"name": "c", "resources": {"limits": limits, "requests": limits}}],
                **more,
            },
            "status": {"phase": "Pending"},
        },
        Pod,
    )


def on(of: Pod, where: Node, *cards: int) -> Pod:
    """The pod with its cards, confirmed by the agent."""
    request = HAMI.pod_request(of)
    assert request is not None
    (wanted,) = request.containers
    assert wanted is not None
    found = HAMI.node_cards(where, NOW)
    memory = 10000 if wanted.memory_percent else wanted.memory
    shares = tuple(CardShare(card, wanted.cores, memory) for card in cards)
    write = HAMI.write_decision(of, where.name, found, Allocation(containers=(shares,)), NOW)
    annotations = {key: text for key, text in write.annotations.items() if text is not None}
    said = {**(of.metadata.annotations or {}), **annotations, "hami.io/bind-phase": "success"}
    return msgspec.structs.replace(
        of,
        metadata=msgspec.structs.replace(of.metadata, annotations=said),
        spec=msgspec.structs.replace(of.spec, node_name=where.name),
    )
