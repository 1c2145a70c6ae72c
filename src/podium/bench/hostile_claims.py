"""Hostile pods with volumes and devices, and the claims and slices that they bring along."""

from collections.abc import Callable
from typing import Any, Final

from podium.bench.hostile_bodies import Table
from podium.bench.hostile_pods import (
    HostilePod,
    Object,
    expression,
    fill,
    make_hostile_pod,
    term,
)


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


VOLUMES_AND_DEVICES: Final = Table[HostilePod](
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
