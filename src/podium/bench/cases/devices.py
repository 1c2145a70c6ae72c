"""Cases with devices: one from a claim template for each pod, and shares of GPUs.

A controller makes a claim for each pod and writes its name into the pod's status; here the claims
come in just before their pods. Half of the devices are taken before the measurement starts.

Shares of GPUs: the default profile with GPUShare, nodes of eight cards, a pod for a share. Before
the measurement starts, pods hold shares of cards on the nodes in turn.
"""

from collections.abc import Iterator
from typing import Any, Final

from msgspec import convert, json
from msgspec.structs import replace

from podium.bench.templates import (
    ArrivingPod,
    BenchmarkPlan,
    Raw,
    Scene,
    arrivals,
    make_nodes,
    make_pod,
    node_name,
    on_node,
)
from podium.kubernetes.kinds.devices import DeviceClass, ResourceClaim, ResourceSlice
from podium.kubernetes.kinds.meta import KubeStruct
from podium.kubernetes.kinds.node import Node
from podium.kubernetes.kinds.pod import Pod

DRIVER = "test-driver.cdi.k8s.io"
CLASS = "test-class"
DEVICES_PER_NODE = 10


def claim_template(plan: BenchmarkPlan) -> Scene:
    def objects() -> Iterator[KubeStruct]:
        yield _device_class()
        for index in range(plan.nodes):
            yield _slice(node_name(index))
        for index in range(plan.init):
            yield _claim(f"init-{index}", _write_allocation(index, plan.nodes))

    return Scene(
        nodes=make_nodes(plan.nodes),
        objects=objects(),
        init=(_pod(f"init-{i}", on_node(i % plan.nodes)) for i in range(plan.init)),
        measured=(
            ArrivingPod(_pod(f"pod-{i}", {}), (_claim(f"pod-{i}", {}),)) for i in range(plan.pods)
        ),
    )


def _device_class() -> DeviceClass:
    selectors = [{"cel": {"expression": f'device.driver == "{DRIVER}"'}}]
    return convert({"metadata": {"name": CLASS}, "spec": {"selectors": selectors}}, DeviceClass)


def _slice(node: str) -> ResourceSlice:
    devices = [
        {
            "name": f"instance-{i}",
            "attributes": {"model": {"string": "A100"}, "family": {"string": "GPU"}},
            "capacity": {"memory": {"value": "1Gi"}},
        }
        for i in range(DEVICES_PER_NODE)
    ]
    return convert(
        {
            "metadata": {"name": f"{node}-slice", "uid": f"{node}-slice"},
            "spec": {
                "driver": DRIVER,
                "nodeName": node,
                "pool": {"name": node, "generation": 1, "resourceSliceCount": 1},
                "devices": devices,
            },
        },
        ResourceSlice,
    )


def _write_allocation(index: int, nodes: int) -> Raw:
    """The status of a claim whose pod is on a node already."""
    node = node_name(index % nodes)
    result = {"request": "req-0", "driver": DRIVER, "pool": node}
    result |= {"device": f"instance-{index // nodes}"}
    terms = [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": [node]}]}]
    name = f"init-{index}"
    return {
        "allocation": {
            "devices": {"results": [result]},
            "nodeSelector": {"nodeSelectorTerms": terms},
        },
        "reservedFor": [{"resource": "pods", "name": name, "uid": f"default/{name}"}],
    }


def _claim(pod: str, status: Raw) -> ResourceClaim:
    exactly = {"deviceClassName": CLASS, "allocationMode": "ExactCount", "count": 1}
    owner = {"apiVersion": "v1", "kind": "Pod", "name": pod, "uid": f"default/{pod}"}
    return convert(
        {
            "metadata": {
                "name": f"claim-{pod}",
                "namespace": "default",
                "uid": f"claim-{pod}",
                "ownerReferences": [owner | {"controller": True}],
            },
            "spec": {"devices": {"requests": [{"name": "req-0", "exactly": exactly}]}},
            "status": status,
        },
        ResourceClaim,
    )


def _pod(name: str, placed: Raw) -> Pod:
    claims = [{"name": "resource", "resourceClaimTemplateName": "test-claim-template"}]
    told = [{"name": "resource", "resourceClaimName": f"claim-{name}"}]
    status = {"phase": "Pending"} | placed.get("status", {}) | {"resourceClaimStatuses": told}
    return make_pod(name, requests=None, resourceClaims=claims, **{**placed, "status": status})


DIALECT: Final = "hami"
CARDS_PER_NODE: Final = 8
_CARD_MEMORY: Final = 40960
_SLOTS: Final = 10
_SHARE: Final = {"nvidia.com/gpu": "1", "nvidia.com/gpumem": "8000", "nvidia.com/gpucores": "20"}
_UNTOLD: Final = ("nvidia.com/gpumem", "nvidia.com/gpucores")
"""Resources that no node announces."""


def shares(plan: BenchmarkPlan) -> Scene:
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
    slots = str(CARDS_PER_NODE * _SLOTS)
    room = {"cpu": "64", "memory": "512Gi", "pods": "250", "nvidia.com/gpu": slots}
    for index in range(count):
        annotations = {
            "hami.io/node-nvidia-register": json.encode(_cards(index)).decode(),
            "hami.io/node-handshake": "Reported_1970-01-01 00:00:00",
        }
        yield convert(
            {
                "metadata": {"name": node_name(index), "annotations": annotations},
                "status": {"capacity": room, "allocatable": room},
            },
            Node,
        )


def _cards(node: int) -> list[dict[str, Any]]:
    """As HAMi's agent writes them: what is zero is left out."""
    return [
        {
            "id": f"GPU-{node}-{at}",
            **({"index": at} if at else {}),
            "count": _SLOTS,
            "devmem": _CARD_MEMORY,
            "devcore": 100,
            "type": "NVIDIA A100",
            **({"numa": at // 4} if at // 4 else {}),
            "mode": "hami-core",
            "health": True,
        }
        for at in range(CARDS_PER_NODE)
    ]


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
