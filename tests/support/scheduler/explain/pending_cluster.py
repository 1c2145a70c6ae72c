"""A cluster of 300 nodes on which nearly everything that can keep a pod waiting is the case.

Three zones of 100 nodes, each with the same pools (the number is the node's place in its zone):

    00-59  general   16 cpu, 64Gi; 4 cpu and 24Gi of it free
    60-69  big       64 cpu, 256Gi; 24 cpu and 56Gi free; b-65 is the largest with 72 cpu
    70-79  gpu       zones a and b: tainted, 8 nvidia.com/gpu, 2 of them free
           batch     zone c: tainted with NoExecute
    80-89  storage   16 cpu; CSI driver disk.example.com at its limit; host port 9100 taken
    90-94  retired   cordoned
    95-99  tiny      4 cpu, two pods allowed and two there

Values are as in YAML, without defaults that an API server fills in.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from support.scheduler.explain.manifests import (
    DISK_DRIVER,
    GPU_DRIVER,
    HOSTNAME,
    NIC_DRIVER,
    ZONE,
    ZONES,
    Manifest,
    allocation,
    claim,
    device_claim,
    pod,
    storage_class,
    volume,
)

GPU_TAINT = {"key": "nvidia.com/gpu", "value": "present", "effect": "NoSchedule"}
BATCH_TAINT = {"key": "batch", "value": "only", "effect": "NoExecute"}
CORDON_TAINT = {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}


def cluster_manifests() -> list[Manifest]:
    """Everything that is there before the pods of the corpus come."""
    return [
        *_nodes(),
        *_fillers(),
        *_services_pods(),
        *_storage(),
        *_devices(),
        _budget("db", {"app": "db"}),
    ]


# --- one object -------------------------------------------------------------------------------


def _budget(name: str, labels: Mapping[str, str]) -> Manifest:
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"minAvailable": 3, "selector": {"matchLabels": dict(labels)}},
    }


# --- nodes ------------------------------------------------------------------------------------


def _nodes() -> Iterator[Manifest]:
    for letter, zone in ZONES.items():
        for number in range(100):
            yield _node(f"{letter}-{number:02}", letter, zone, number)


def _pool(letter: str, number: int) -> str:
    pools = ("general",) * 6 + ("big", "batch" if letter == "c" else "gpu", "storage")
    if number < 90:
        return pools[number // 10]
    return "retired" if number < 95 else "tiny"


_SIZES = {
    "general": ("16", "64Gi", "110"),
    "big": ("64", "256Gi", "110"),
    "gpu": ("32", "128Gi", "110"),
    "batch": ("16", "64Gi", "110"),
    "storage": ("16", "64Gi", "110"),
    "retired": ("16", "64Gi", "110"),
    "tiny": ("4", "8Gi", "2"),
}
_TAINTS = {"gpu": GPU_TAINT, "batch": BATCH_TAINT, "retired": CORDON_TAINT}


def _node(name: str, letter: str, zone: str, number: int) -> Manifest:
    pool = _pool(letter, number)
    cpu, memory, pods = _SIZES[pool]
    allocatable = {
        "cpu": "72" if name == "b-65" else cpu,
        "memory": memory,
        "ephemeral-storage": "100Gi",
        "pods": pods,
    }
    labels = {HOSTNAME: name, ZONE: zone, "topology.kubernetes.io/region": "eu-1", "pool": pool}
    spec: Manifest = {}
    if pool == "gpu":
        allocatable["nvidia.com/gpu"] = "8"
    if pool == "storage":
        labels |= {"disk": "ssd", "rack": f"r{number % 10}", "generation": "3"}
    if pool in _TAINTS:
        spec["taints"] = [_TAINTS[pool]]
    if pool == "retired":
        spec["unschedulable"] = True
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": labels},
        "spec": spec,
        "status": {"allocatable": allocatable},
    }


# --- pods that run ----------------------------------------------------------------------------


def _fillers() -> Iterator[Manifest]:
    """What makes nodes as full as the table at the top says."""
    takes = {
        "general": {"cpu": "12", "memory": "40Gi"},
        "big": {"cpu": "40", "memory": "200Gi"},
        "gpu": {"cpu": "8", "memory": "32Gi", "nvidia.com/gpu": "6"},
    }
    for letter in ZONES:
        for number in range(100):
            pool, node = _pool(letter, number), f"{letter}-{number:02}"
            if pool in takes:
                labels = {"app": "train" if pool == "gpu" else "filler"}
                yield pod(f"filler-{node}", labels=labels, requests=takes[pool], node=node)
            if pool == "tiny":
                for copy in ("x", "y"):
                    yield pod(f"agent-{copy}-{node}", labels={"app": "agent"}, node=node)


def _services_pods() -> Iterator[Manifest]:
    """Pods that others want to be near, or not near."""
    for node in (*(f"a-0{n}" for n in range(6)), *(f"b-0{n}" for n in range(4)), "c-00", "c-01"):
        yield pod(f"web-{node}", labels={"app": "web"}, node=node)
    for node in ("a-10", "b-10", "c-10"):
        yield pod(f"db-{node}", labels={"app": "db"}, node=node)
    for node in ("a-70", "b-70"):
        yield pod(f"cron-{node}", labels={"app": "cron"}, node=node)
    yield pod("ledger-0", labels={"app": "ledger"}, node="c-11")
    yield pod("vault-0", labels={"app": "vault"}, metadata={"namespace": "secure"}, node="a-12")
    term = {"labelSelector": {"matchLabels": {"app": "noisy"}}, "topologyKey": ZONE}
    quiet = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    for node in ("a-20", "b-20", "c-20"):
        yield pod(f"quiet-{node}", labels={"app": "quiet"}, node=node, affinity=quiet)
    disk = {"name": "disk", "awsElasticBlockStore": {"volumeID": "vol-1"}}
    for number in range(60, 70):
        for letter in ZONES:
            node = f"{letter}-{number}"
            yield pod(f"reader-{node}", labels={"app": "reader"}, node=node, volumes=[disk])


# --- storage ----------------------------------------------------------------------------------


def _storage() -> Iterator[Manifest]:
    yield storage_class("fast", DISK_DRIVER, "WaitForFirstConsumer")
    yield storage_class("local", "kubernetes.io/no-provisioner", "WaitForFirstConsumer")
    expression = {"key": ZONE, "values": ["eu-1x"]}
    topology = [{"matchLabelExpressions": [expression]}]
    yield storage_class(
        "faraway", "far.example.com", "WaitForFirstConsumer", allowedTopologies=topology
    )
    yield storage_class("scarce", "scarce.example.com", "WaitForFirstConsumer")
    yield {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "CSIDriver",
        "metadata": {"name": "scarce.example.com"},
        "spec": {"storageCapacity": True},
    }
    for letter, zone in ZONES.items():
        yield {
            "apiVersion": "storage.k8s.io/v1",
            "kind": "CSIStorageCapacity",
            "metadata": {"name": f"scarce-{letter}", "namespace": "kube-system"},
            "storageClassName": "scarce",
            "capacity": "20Gi",
            "nodeTopology": {"matchLabels": {ZONE: zone}},
        }
        for number in range(80, 90):
            yield from _storage_node(f"{letter}-{number}")
    for number in range(3):
        yield volume(f"local-{number}", storage_class="local", size="50Gi", hosts=["a-80"])
    yield volume("exclusive", bound_to="exclusive")
    yield claim("exclusive", volume="exclusive", modes=["ReadWriteOncePod"])
    yield pod("owner-0", labels={"app": "owner"}, node="b-30", claims=["exclusive"])


def _storage_node(node: str) -> Iterator[Manifest]:
    """Two volumes attached of two that may be, and a proxy on the host's port."""
    yield {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "CSINode",
        "metadata": {"name": node},
        "spec": {"drivers": [{"name": DISK_DRIVER, "nodeID": node, "allocatable": {"count": 2}}]},
    }
    names = [f"data-{copy}-{node}" for copy in ("x", "y")]
    for name in names:
        yield volume(name, bound_to=name)
        yield claim(name, volume=name)
    yield pod(f"store-{node}", labels={"app": "store"}, node=node, claims=names)
    yield pod(f"proxy-{node}", labels={"app": "proxy"}, node=node, ports=[9100])


# --- devices ----------------------------------------------------------------------------------


def _devices() -> Iterator[Manifest]:
    """Two GPUs on each big node of zone a; one NIC on five big nodes of zone b, all taken."""
    for name, driver in (("gpu", GPU_DRIVER), ("nic", NIC_DRIVER), ("ghost", "ghost.example.com")):
        yield {
            "apiVersion": "resource.k8s.io/v1",
            "kind": "DeviceClass",
            "metadata": {"name": name},
            "spec": {"selectors": [{"cel": {"expression": f'device.driver == "{driver}"'}}]},
        }
    for number in range(60, 70):
        yield _slice(
            GPU_DRIVER,
            f"a-{number}",
            [
                {
                    "name": f"gpu-{device}",
                    "attributes": {
                        "model": {"string": "a100"},
                        "board": {"string": f"{number}-{device}"},
                    },
                    "capacity": {"memory": {"value": "40Gi"}},
                }
                for device in range(2)
            ],
        )
    for number in range(60, 65):
        node, name = f"b-{number}", f"held-{number}"
        yield _slice(NIC_DRIVER, node, [{"name": "nic-0"}])
        user = {"resource": "pods", "name": f"router-{number}", "uid": f"router-{number}"}
        status = allocation(NIC_DRIVER, node, "nic-0", node) | {"reservedFor": [user]}
        yield device_claim(name, "nic", status=status)
        yield pod(
            f"router-{number}", metadata={"uid": f"router-{number}"}, node=node, devices=[name]
        )
    taint = {"key": "gpu.example.com/broken", "effect": "NoSchedule"}
    yield _slice("fpga.example.com", "c-60", [{"name": "fpga-0", "taints": [taint]}])
    yield {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "DeviceClass",
        "metadata": {"name": "fpga"},
        "spec": {"selectors": [{"cel": {"expression": 'device.driver == "fpga.example.com"'}}]},
    }


def _slice(driver: str, node: str, devices: Sequence[Mapping[str, Any]]) -> Manifest:
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceSlice",
        "metadata": {"name": f"{node}-{driver}"},
        "spec": {
            "driver": driver,
            "nodeName": node,
            "pool": {"name": node, "generation": 1, "resourceSliceCount": 1},
            "devices": list(devices),
        },
    }
