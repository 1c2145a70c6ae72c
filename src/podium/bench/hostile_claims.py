"""Hostile pods with volumes and devices, their cluster, and one attempt for each.

The cluster that hostile pods come to, and nodes that are as large as an object can be.

What hostile objects cost the scheduler: one attempt for each, in a cluster with others. The pod
arrives, is tried, and leaves again; a node changes its labels while it waits; then others want to
be scheduled, to whom it must not matter that it was there. The scene is made once and is the same
before each of them.
"""

from collections.abc import Callable, Iterable
from typing import Any, Final

import msgspec

from podium.bench.engine_run import Driver
from podium.bench.hostile_bodies import LazyTable
from podium.bench.hostile_pods import (
    NODE_AFFINITY,
    NODES,
    POD_AFFINITY,
    RANK,
    ZONES,
    HostilePod,
    Object,
    expression,
    fill,
    fill_map,
    make_hostile_pod,
    select,
    term,
)
from podium.bench.templates import ArrivingPod
from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.kinds.typed_objects import KubeObject, decode_json
from podium.scheduler.config.types import Configuration


def _mount(make: Callable[[int], Object], *objects: Object) -> HostilePod:
    volumes = fill(lambda number: {"name": f"v{number}", **make(number)})
    return make_hostile_pod(*objects, volumes=volumes)


def _claim_volume(number: int) -> Object:
    return {"persistentVolumeClaim": {"claimName": f"pvc-{number}"}}


def _volume_claims(number: int, **spec: Any) -> list[Object]:
    return [
        {
            "apiVersion": "v1",
            "kind": "PersistentVolumeClaim",
            "metadata": {"name": f"pvc-{n}", "namespace": "tenant", "uid": f"uid-pvc-{n}"},
            "spec": {
                "accessModes": ["ReadWriteOnce"],
                "storageClassName": "local",
                "resources": {"requests": {"storage": "1Gi"}},
                **spec,
            },
        }
        for n in range(number)
    ]


_LOCAL_CLASS: Final[Object] = {
    "apiVersion": "storage.k8s.io/v1",
    "kind": "StorageClass",
    "metadata": {"name": "local"},
    "provisioner": "kubernetes.io/no-provisioner",
    "volumeBindingMode": "WaitForFirstConsumer",
}


def _local_volumes(number: int) -> list[Object]:
    """One on each node, in turn."""
    return [
        {
            "apiVersion": "v1",
            "kind": "PersistentVolume",
            "metadata": {"name": f"pv-{n}", "uid": f"uid-pv-{n}"},
            "spec": {
                "accessModes": ["ReadWriteOnce"],
                "storageClassName": "local",
                "capacity": {"storage": "2Gi"},
                "local": {"path": "/disk"},
                "nodeAffinity": {
                    "required": {
                        "nodeSelectorTerms": [
                            term(expression("kubernetes.io/hostname", "In", f"node-{n % 1_000}"))
                        ]
                    }
                },
            },
            "status": {"phase": "Available"},
        }
        for n in range(number)
    ]


def _device_request(number: int, *expressions: str, **others: Any) -> Object:
    selectors = [{"cel": {"expression": expression}} for expression in expressions]
    exactly = {"deviceClassName": "gpu", "selectors": selectors, **others}
    return {"name": f"r{number}", "exactly": exactly}


def make_device_claim(name: str, *requests: Object, **devices: Any) -> Object:
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaim",
        "metadata": {"name": name, "namespace": "tenant", "uid": f"uid-{name}"},
        "spec": {"devices": {"requests": list(requests), **devices}},
    }


def _use_claims(*claims: Object) -> HostilePod:
    named = [
        {"name": claim["metadata"]["name"], "resourceClaimName": claim["metadata"]["name"]}
        for claim in claims
    ]
    return make_hostile_pod(*claims, *make_devices(), resourceClaims=named)


def make_devices(nodes: int = 20, each: int = 4) -> list[Object]:
    """Devices that all differ, on the first nodes of the scene, and their class."""
    slices: list[Object] = [
        {
            "apiVersion": "resource.k8s.io/v1",
            "kind": "ResourceSlice",
            "metadata": {"name": f"slice-{node}", "uid": f"uid-slice-{node}"},
            "spec": {
                "driver": "gpu.example.com",
                "nodeName": f"node-{node}",
                "pool": {"name": f"node-{node}", "generation": 1, "resourceSliceCount": 1},
                "devices": [
                    {
                        "name": f"gpu-{number}",
                        "attributes": {
                            "serial": {"string": f"serial-{node}-{number}"},
                            **{f"a{i}": {"int": i} for i in range(24)},
                        },
                    }
                    for number in range(each)
                ],
            },
        }
        for node in range(nodes)
    ]
    device_class = {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "DeviceClass",
        "metadata": {"name": "gpu"},
        "spec": {"selectors": [{"cel": {"expression": 'device.driver == "gpu.example.com"'}}]},
    }
    return [device_class, *slices]


def _loop(depth: int, number: int) -> str:
    """An expression whose cost is near the limit of one evaluation, and whose result is true."""
    attributes = 'device.attributes["gpu.example.com"]'
    body = f"{attributes}.size() > {number % 7}"
    for level in range(depth):
        body = f"{attributes}.all(k{level}, {body})"
    return body


VOLUMES_AND_DEVICES: Final = LazyTable[HostilePod](
    {
        "volumes of missing claims": lambda: _mount(_claim_volume),
        "volumes of unbound claims": lambda: _mount(
            _claim_volume, _LOCAL_CLASS, *_volume_claims(25_000), *_local_volumes(2_000)
        ),
        "volumes of claims that are provisioned": lambda: _mount(
            _claim_volume,
            _LOCAL_CLASS | {"provisioner": "disk.example.com"},
            *_volume_claims(25_000),
        ),
        "disks": lambda: _mount(lambda n: {"gcePersistentDisk": {"pdName": f"disk-{n}"}}),
        "disks of Ceph": lambda: _mount(
            lambda n: {"rbd": {"monitors": ["a", "b", "c"], "image": f"i{n}", "pool": "p"}}
        ),
        "secrets": lambda: _mount(lambda n: {"secret": {"secretName": f"s{n}"}}),
        "inline volumes": lambda: _mount(lambda n: {"csi": {"driver": f"d{n}.example.com"}}),
        "ephemeral volumes": lambda: _mount(
            lambda _: {"ephemeral": {"volumeClaimTemplate": {"spec": {"storageClassName": "x"}}}}
        ),
        "resource claims that are not there": lambda: make_hostile_pod(
            resourceClaims=fill(lambda n: {"name": f"c{n}", "resourceClaimName": f"c{n}"})
        ),
        "heavy selectors": lambda: _use_claims(
            make_device_claim("heavy", _device_request(0, *(_loop(3, n) for n in range(32))))
        ),
        "long selectors": lambda: _use_claims(
            *(
                make_device_claim(
                    f"long-{c}",
                    *(
                        _device_request(
                            r,
                            *(
                                " || ".join(
                                    f"device.driver == 'x{c}-{r}-{s}-{i}'" for i in range(320)
                                )
                                for s in range(4)
                            ),
                        )
                        for r in range(32)
                    ),
                )
                for c in range(4)
            )
        ),
        "requests that cannot be met together": lambda: _use_claims(
            make_device_claim(
                "search",
                *(
                    {
                        "name": f"r{n}",
                        "firstAvailable": [
                            {"name": f"s{i}", "deviceClassName": "gpu", "count": 1}
                            for i in range(8)
                        ],
                    }
                    for n in range(5)
                ),
                constraints=[
                    {"matchAttribute": "gpu.example.com/serial"},
                ],
            )
        ),
        "many claims of devices": lambda: _use_claims(
            *(make_device_claim(f"many-{n}", _device_request(0, count=2)) for n in range(2_000))
        ),
    }
)


def make_scene_nodes(number: int = 1_000) -> list[Object]:
    return [make_scene_node(n) for n in range(number)]


def make_scene_node(number: int, **labels: str) -> Object:
    name = f"node-{number}"
    taints = [{"key": "pool", "value": str(number), "effect": "PreferNoSchedule"}]
    if number % 10 == 9:
        taints.append({"key": "pool", "value": f"v{number}", "effect": "NoSchedule"})
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": name,
            "labels": {
                "kubernetes.io/hostname": name,
                "zone": f"zone-{number % ZONES}",
                RANK: str(number),
                **labels,
            },
        },
        "spec": {"taints": taints},
        "status": {
            "allocatable": {
                "cpu": "64",
                "memory": "256Gi",
                "pods": 110,
                "ephemeral-storage": "1Ti",
            },
            "images": [{"names": [f"app-{number}:v1"], "sizeBytes": 50_000_000}],
        },
    }


def make_scene_pods(number: int = 2_000, kinds: int = 200) -> list[Object]:
    """Pods on the nodes: of several tenants, of many workloads, some with ports and affinity."""
    return [_scene_pod(n, n % kinds) for n in range(number)]


def _scene_pod(number: int, kind: int) -> Object:
    app = {"app": f"web-{kind}"}
    anti = {"topologyKey": "kubernetes.io/hostname", "labelSelector": select(**app)}
    required = {"requiredDuringSchedulingIgnoredDuringExecution": [anti]}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": f"pod-{number}",
            "namespace": "tenant" if kind % 2 else f"ns-{kind % 20}",
            "uid": f"uid-pod-{number}",
            "labels": {**app, "tier": f"t{kind % 5}"},
        },
        "spec": {
            "nodeName": f"node-{number % 1_000}",
            "containers": [
                {
                    "name": "main",
                    "image": "app:v1",
                    "resources": {"requests": {"cpu": "100m", "memory": "64Mi"}},
                    "ports": [{"containerPort": 80, "hostPort": 1_000 + kind}],
                }
            ],
            **({"affinity": {"podAntiAffinity": required}} if kind % 4 == 0 else {}),
        },
    }


# --- nodes that are hostile themselves ----------------------------------------------------------


def _full_nodes(make: Callable[[int], Object], number: int = 5) -> HostilePod:
    """A plain pod, and nodes that are as large as they can be."""
    return make_hostile_pod(nodes=[_fill_node(n, make(n)) for n in range(number)])


def _fill_node(number: int, parts: Object) -> Object:
    node = make_scene_node(10_000 + number)
    for name, part in parts.items():
        node[name] = {**node[name], **part}
    return node


FULL_NODES: Final = LazyTable[HostilePod](
    {
        "taints": lambda: _full_nodes(
            lambda node: {
                "spec": {
                    "taints": fill(
                        lambda n: {"key": f"k{n}", "value": f"{node}", "effect": "NoSchedule"}
                    )
                }
            }
        ),
        "soft taints": lambda: _full_nodes(
            lambda node: {
                "spec": {
                    "taints": fill(
                        lambda n: {"key": f"k{n}", "value": f"{node}", "effect": "PreferNoSchedule"}
                    )
                }
            }
        ),
        "labels": lambda: _full_nodes(
            lambda node: {
                "metadata": {
                    "name": f"full-{node}",
                    "labels": fill_map(lambda n: (f"k{node}-{n}", "v")),
                }
            }
        ),
        "images": lambda: _full_nodes(
            lambda node: {
                "status": {
                    "allocatable": {"cpu": "4", "memory": "8Gi", "pods": 110},
                    "images": fill(
                        lambda n: {"names": [f"app-{node}-{n}:v1"], "sizeBytes": 30_000_000}
                    ),
                }
            }
        ),
        "resources": lambda: _full_nodes(
            lambda node: {
                "status": {
                    "allocatable": fill_map(
                        lambda n: ("cpu", "4") if not n else (f"example.com/r{node}-{n}", "1"), 12
                    )
                }
            }
        ),
    }
)


TABLES: Final = {
    "node affinity": NODE_AFFINITY,
    "pod affinity": POD_AFFINITY,
    "nodes": NODES,
    "volumes and devices": VOLUMES_AND_DEVICES,
    "full nodes": FULL_NODES,
}
_OTHERS: Final = 10
_encode = msgspec.json.encode


class HostileScene:
    """A cluster with pods of several tenants."""

    def __init__(self, nodes: int = 1_000, configuration: Configuration | None = None) -> None:
        """Raises InputError for a configuration that cannot be built."""
        self.driver = Driver(configuration=configuration)
        self._put(make_scene_nodes(nodes))
        self._put(make_scene_pods())
        self._changes = 0
        self._others = 0

    def prepare(self, hostile: HostilePod) -> "Visit":
        brought = [_decode(each) for each in (*hostile.nodes, *hostile.objects)]
        return Visit(self, _encode(hostile.pod), brought)

    def change_node(self) -> None:
        """A node changes a label that pods may have waited for."""
        self._changes += 1
        self.driver.put(_decode(make_scene_node(0, changed=str(self._changes))))

    def schedule_others(self, number: int = _OTHERS) -> int:
        """Pods of another tenant; how many of them got a node."""
        before = self.driver.bound
        pods = [self._make_other() for _ in range(number)]
        self.driver.arrive(ArrivingPod(pod) for pod in pods)
        for _ in pods:
            self.driver.step()
        placed = self.driver.bound - before
        for pod in pods:
            self.driver.delete(self.driver.engine.state.pods[f"other/{pod.metadata.name}"])
        return placed

    def _make_other(self) -> Pod:
        self._others += 1
        name = f"other-{self._others}"
        pod = {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {
                "name": name,
                "namespace": "other",
                "uid": f"uid-{name}",
                "labels": {"app": "other"},
            },
            "spec": {
                "schedulerName": "default-scheduler",
                "containers": [{"name": "main", "image": "app:v1"}],
            },
        }
        decoded = _decode(pod)
        assert isinstance(decoded, Pod)
        return decoded

    def _put(self, objects: Iterable[Object]) -> None:
        for each in objects:
            self.driver.put(_decode(each))


class Visit:
    """One hostile pod, from its arrival to its end."""

    def __init__(self, scene: HostileScene, pod: bytes, brought: list[KubeObject]) -> None:
        self._scene = scene
        self._written = pod
        self._brought = brought
        self.size = len(pod)

    def bring(self) -> None:
        """What the pod names is there, and nodes that come with it."""
        for obj in self._brought:
            self._scene.driver.put(obj)

    def arrive(self) -> None:
        """It is decoded, and waits."""
        pod = decode_json(self._written)
        assert isinstance(pod, Pod)
        self._key = f"{pod.metadata.namespace}/{pod.metadata.name}"
        self._scene.driver.arrive((ArrivingPod(pod),))

    def attempt(self) -> None:
        """It is tried once, unless it is held back."""
        self._scene.driver.step()

    def leave(self) -> None:
        driver = self._scene.driver
        driver.delete(driver.engine.state.pods[self._key])
        for obj in reversed(self._brought):
            driver.delete(obj)


def _decode(obj: dict[str, Any]) -> KubeObject:
    return decode_json(_encode(obj))
