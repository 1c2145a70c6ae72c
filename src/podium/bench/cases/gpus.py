"""Shares of GPUs: the default profile with GPUShare, nodes of eight cards, a pod for a share.

Before the measurement starts, pods hold shares of cards on the nodes in turn.
"""

from collections.abc import Iterator, Mapping
from typing import Final

from msgspec import convert
from msgspec.structs import replace

from podium.addons.gpu.cards.card import Card
from podium.addons.gpu.dialects import find_dialect
from podium.bench.scene import Plan, Scene, arrivals
from podium.bench.templates import make_pod, node_name, on_node
from podium.kubernetes.kinds.node import Node
from podium.kubernetes.kinds.pod import Pod

DIALECT: Final = "hami"
CARDS_PER_NODE: Final = 8
_CARD_MEMORY: Final = 40960
_SLOTS: Final = 10
_SHARE: Final = {"nvidia.com/gpu": "1", "nvidia.com/gpumem": "8000", "nvidia.com/gpucores": "20"}
_UNTOLD: Final = ("nvidia.com/gpumem", "nvidia.com/gpucores")
"""Resources that no node announces."""


def shares(plan: Plan) -> Scene:
    profile = {
        "schedulerName": "default-scheduler",
        "plugins": {"multiPoint": {"enabled": [{"name": "GPUShare", "weight": 1}]}},
        "pluginConfig": [
            {"name": "GPUShare", "args": {"dialect": DIALECT}},
            {"name": "NodeResourcesFit", "args": {"ignoredResources": list(_UNTOLD)}},
        ],
    }
    return Scene(
        nodes=_nodes(plan.nodes),
        init=(_held(index, plan.nodes) for index in range(plan.init)),
        measured=arrivals(make_pod(f"pod-{index}", requests=_SHARE) for index in range(plan.pods)),
        configuration={
            "apiVersion": "kubescheduler.config.k8s.io/v1",
            "kind": "KubeSchedulerConfiguration",
            "profiles": [profile],
        },
    )


def _nodes(count: int) -> Iterator[Node]:
    dialect = find_dialect(DIALECT)
    for index in range(count):
        name = node_name(index)
        cards = [
            Card(
                index=at,
                uuid=f"GPU-{index}-{at}",
                model="NVIDIA A100",
                memory=_CARD_MEMORY,
                slots=_SLOTS,
                numa=at // 4,
            )
            for at in range(CARDS_PER_NODE)
        ]
        written = dialect.register(cards, 0.0)
        room = {"cpu": "64", "memory": "512Gi", "pods": "250", **written.capacity}
        room["nvidia.com/gpu"] = str(CARDS_PER_NODE * _SLOTS)
        yield convert(
            {
                "metadata": {"name": name, "annotations": _present(written.annotations)},
                "status": {"capacity": room, "allocatable": room},
            },
            Node,
        )


def _present(written: Mapping[str, str | None]) -> dict[str, str]:
    return {key: value for key, value in written.items() if value is not None}


def _held(index: int, nodes: int) -> Pod:
    at, turn = index % nodes, index // nodes
    shares = f"GPU-{at}-{turn % CARDS_PER_NODE},NVIDIA,8000,20:;"
    annotations = {
        "hami.io/vgpu-node": node_name(at),
        "hami.io/vgpu-time": "1",
        "hami.io/vgpu-devices-allocated": shares,
        "hami.io/bind-phase": "success",
    }
    pod = make_pod(f"init-{index}", requests=_SHARE, **on_node(at))
    return replace(pod, metadata=replace(pod.metadata, annotations=annotations))
