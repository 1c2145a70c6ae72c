"""Objects that are valid, as large as an API server stores them, and hard to schedule.

One pod of one tenant must not hold up the pods of all others. Each pod here fills one field of a
pod, or a combination of fields, with as many entries as fit into an object; what costs the
scheduler more than the size of the object shows at once. Some bring objects of their own along:
volumes, claims, nodes. `hostile_scheduling` has them scheduled; tests bound how much work each step
may make, in a unit that is the same on every machine.
"""

from collections.abc import Callable, Iterable, Mapping
from itertools import count
from typing import Any, Final, NamedTuple

import msgspec

from podium.bench.hostile_bodies import Table

MAX_OBJECT_BYTES: Final = 3 << 19
"""1.5 MiB: what etcd takes of a request, and so the largest object of a cluster."""
ZONES: Final = 10
RANK: Final = "example.com/rank"
"""A label that has another number on every node of the scene."""
_RESERVED_BYTES: Final = 2_000

Object = dict[str, Any]


class HostilePod(NamedTuple):
    """A pod, what it names, and nodes that are there besides those of the scene."""

    pod: Object
    objects: tuple[Object, ...] = ()
    nodes: tuple[Object, ...] = ()


def fill(make: Callable[[int], Any], share: int = 1) -> list[Any]:
    """As many entries as an object has room for, or the given part of it."""
    left = MAX_OBJECT_BYTES // share - _RESERVED_BYTES
    entries: list[Any] = []
    for number in count():
        entry = make(number)
        left -= len(msgspec.json.encode(entry)) + 1
        if left < 0:
            return entries
        entries.append(entry)
    raise AssertionError("unreachable")


def fill_map(make: Callable[[int], tuple[str, Any]], share: int = 1) -> dict[str, Any]:
    return dict(fill(make, share))


def make_hostile_pod(
    *objects: Object,
    nodes: Iterable[Object] = (),
    metadata: Mapping[str, Any] | None = None,
    **spec: Any,
) -> HostilePod:
    main = {"name": "main", "image": "app:v1"}
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": "hostile",
            "namespace": "tenant",
            "uid": "uid-hostile",
            **(metadata or {}),
        },
        "spec": {"containers": [main], "schedulerName": "default-scheduler", **spec},
    }
    return HostilePod(pod, objects, tuple(nodes))


# --- node affinity ------------------------------------------------------------------------------


def _expression(key: str, operator: str, *values: str) -> Object:
    return {"key": key, "operator": operator, **({"values": list(values)} if values else {})}


def _term(*expressions: Object) -> Object:
    return {"matchExpressions": list(expressions)}


def _name_term(operator: str, name: str) -> Object:
    return {"matchFields": [_expression("metadata.name", operator, name)]}


def _require_nodes(terms: list[Object]) -> HostilePod:
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}
    return make_hostile_pod(affinity={"nodeAffinity": required})


def _prefer_nodes(make: Callable[[int], Object]) -> HostilePod:
    preferred = fill(lambda number: {"weight": number % 100 + 1, "preference": make(number)})
    affinity = {"preferredDuringSchedulingIgnoredDuringExecution": preferred}
    return make_hostile_pod(affinity={"nodeAffinity": affinity})


NODE_AFFINITY: Final = Table[HostilePod](
    {
        "Gt terms": lambda: _require_nodes(
            fill(lambda n: _term(_expression(RANK, "Gt", str(10_000 + n))))
        ),
        "Lt expressions of one term": lambda: _require_nodes(
            [_term(*fill(lambda n: _expression(RANK, "Lt", str(10_000 + n))))]
        ),
        "Gt terms over many keys": lambda: _require_nodes(
            fill(lambda n: _term(_expression(f"k{n}", "Gt", "1")))
        ),
        "an In with many values": lambda: _require_nodes(
            [_term(_expression(RANK, "In", *fill(lambda n: f"v{n}")))]
        ),
        "In terms": lambda: _require_nodes(
            fill(lambda n: _term(_expression(RANK, "In", f"v{n}", f"w{n}")))
        ),
        "NotIn expressions": lambda: _require_nodes(
            [_term(*fill(lambda n: _expression(RANK, "NotIn", f"v{n}")))]
        ),
        "Exists over many keys": lambda: _require_nodes(
            fill(lambda n: _term(_expression(f"k{n}", "Exists")))
        ),
        "DoesNotExist over many keys": lambda: _require_nodes(
            [_term(*fill(lambda n: _expression(f"k{n}", "DoesNotExist")))]
        ),
        "equal terms": lambda: _require_nodes(
            fill(lambda _: _term(_expression(RANK, "Gt", "5000"), _expression("zone", "Exists")))
        ),
        "names": lambda: _require_nodes(fill(lambda n: _name_term("In", f"other-{n}"))),
        "names and labels": lambda: _require_nodes(
            fill(lambda n: _name_term("In", f"node-{n}") | _term(_expression("zone", "Exists")))
        ),
        "names to avoid": lambda: _require_nodes(
            [{"matchFields": fill(lambda n: _expression("metadata.name", "NotIn", f"other-{n}"))}]
        ),
        "terms that cannot be parsed": lambda: _require_nodes(
            fill(lambda n: _term(_expression(RANK, "Gt", f"v{n}")))
        ),
        "preferred Gt terms": lambda: _prefer_nodes(
            lambda n: _term(_expression(RANK, "Gt", str(n)))
        ),
        "preferred terms over many keys": lambda: _prefer_nodes(
            lambda n: _term(_expression(f"k{n}", "DoesNotExist"))
        ),
        "preferred names": lambda: _prefer_nodes(lambda n: _name_term("In", f"node-{n}")),
        "a node selector": lambda: make_hostile_pod(
            nodeSelector=fill_map(lambda n: (f"k{n}", "v"))
        ),
    }
)

# --- other pods ---------------------------------------------------------------------------------


def _spread(when: str, make: Callable[[int], Object], **labels: str) -> HostilePod:
    constraints = fill(
        lambda number: {"maxSkew": 1, "whenUnsatisfiable": when, **make(number)},
        2 if labels else 1,
    )
    return make_hostile_pod(metadata={"labels": labels}, topologySpreadConstraints=constraints)


def _select(**labels: str) -> Object:
    return {"matchLabels": labels}


def _affinity(kind: str, make: Callable[[int], Object]) -> HostilePod:
    required = {"requiredDuringSchedulingIgnoredDuringExecution": fill(make)}
    return make_hostile_pod(metadata={"labels": {"app": "web-1"}}, affinity={kind: required})


def _preferred_affinity(kind: str, make: Callable[[int], Object]) -> HostilePod:
    preferred = fill(lambda n: {"weight": n % 100 + 1, "podAffinityTerm": make(n)})
    affinity = {"preferredDuringSchedulingIgnoredDuringExecution": preferred}
    return make_hostile_pod(affinity={kind: affinity})


_MANY_LABELS: Final = {f"k{number}": "v" for number in range(20_000)}

POD_AFFINITY: Final = Table[HostilePod](
    {
        "hard spread constraints over many keys": lambda: _spread(
            "DoNotSchedule",
            lambda n: {"topologyKey": f"k{n}", "labelSelector": _select(app=f"web-{n}")},
        ),
        "soft spread constraints over many keys": lambda: _spread(
            "ScheduleAnyway",
            lambda n: {"topologyKey": f"k{n}", "labelSelector": _select(app=f"web-{n}")},
        ),
        "match label keys": lambda: make_hostile_pod(
            metadata={"labels": _MANY_LABELS},
            topologySpreadConstraints=[
                {
                    "maxSkew": 1,
                    "topologyKey": "zone",
                    "whenUnsatisfiable": "DoNotSchedule",
                    "labelSelector": {},
                    "matchLabelKeys": list(_MANY_LABELS),
                }
            ],
        ),
        "a selector of many requirements": lambda: _spread(
            "DoNotSchedule",
            lambda n: {
                "topologyKey": f"k{n}" if n else "zone",
                "labelSelector": {
                    "matchExpressions": [_expression(f"k{i}", "Exists") for i in range(9_000)]
                },
            },
        ),
        "affinity terms": lambda: _affinity(
            "podAffinity", lambda n: {"topologyKey": "zone", "labelSelector": _select(app=f"w{n}")}
        ),
        "anti-affinity terms": lambda: _affinity(
            "podAntiAffinity",
            lambda n: {"topologyKey": "zone", "labelSelector": _select(app=f"web-{n}")},
        ),
        "anti-affinity terms without equalities": lambda: _affinity(
            "podAntiAffinity",
            lambda n: {
                "topologyKey": "zone",
                "labelSelector": {"matchExpressions": [_expression(f"k{n}", "DoesNotExist")]},
            },
        ),
        "equal anti-affinity terms": lambda: _affinity(
            "podAntiAffinity", lambda _: {"topologyKey": "zone", "labelSelector": _select(app="x")}
        ),
        "anti-affinity terms over many keys": lambda: _affinity(
            "podAntiAffinity",
            lambda n: {"topologyKey": f"k{n}", "labelSelector": _select(app="web-1")},
        ),
        "affinity terms with many namespaces": lambda: _affinity(
            "podAffinity",
            lambda n: {
                "topologyKey": "zone",
                "labelSelector": {},
                "namespaces": [f"ns-{n * 1_000 + i}" for i in range(1_000)],
            },
        ),
        "affinity terms with namespace selectors": lambda: _affinity(
            "podAntiAffinity",
            lambda n: {
                "topologyKey": "zone",
                "labelSelector": {},
                "namespaceSelector": _select(team=f"t{n}"),
            },
        ),
        "an affinity term with many values": lambda: _affinity(
            "podAffinity",
            lambda n: {
                "topologyKey": "zone",
                "labelSelector": {
                    "matchExpressions": [
                        _expression("app", "In", *(f"{n}-{i}" for i in range(20_000)))
                    ]
                },
            },
        ),
        "preferred affinity terms": lambda: _preferred_affinity(
            "podAffinity",
            lambda n: {"topologyKey": "zone", "labelSelector": _select(app=f"web-{n}")},
        ),
        "preferred anti-affinity terms": lambda: _preferred_affinity(
            "podAntiAffinity",
            lambda n: {
                "topologyKey": "kubernetes.io/hostname",
                "labelSelector": {"matchExpressions": [_expression(f"k{n}", "DoesNotExist")]},
            },
        ),
    }
)

# --- nodes and what they have -------------------------------------------------------------------


def _tolerate(make: Callable[[int], Object]) -> HostilePod:
    return make_hostile_pod(tolerations=fill(make))


def _open_ports(make: Callable[[int], Object]) -> HostilePod:
    ports = fill(make)
    return make_hostile_pod(containers=[{"name": "main", "image": "app:v1", "ports": ports}])


def _port(number: int, **others: Any) -> Object:
    return {"containerPort": number % 65_535 + 1, "hostPort": number % 65_535 + 1, **others}


def _container(number: int, **others: Any) -> Object:
    return {"name": f"c{number}", "image": "app:v1", **others}


def _request(**amounts: str) -> Object:
    return {"resources": {"requests": amounts}}


NODES: Final = Table[HostilePod](
    {
        "tolerations": lambda: _tolerate(
            lambda n: {"key": "pool", "operator": "Equal", "value": f"v{n}"}
        ),
        "tolerations of numbers": lambda: _tolerate(
            lambda n: {"key": "pool", "operator": "Gt", "value": str(n)}
        ),
        "tolerations of keys": lambda: _tolerate(lambda n: {"key": f"k{n}", "operator": "Exists"}),
        "host ports": lambda: _open_ports(_port),
        "host ports with addresses": lambda: _open_ports(
            lambda n: _port(8_079, hostIP=f"10.{n >> 16}.{n >> 8 & 255}.{n & 255}")
        ),
        "containers": lambda: make_hostile_pod(
            containers=fill(lambda n: _container(n, **_request(cpu="1m", memory="1Mi")))
        ),
        "containers with images": lambda: make_hostile_pod(
            containers=fill(lambda n: {"name": f"c{n}", "image": f"app-{n}:v1"})
        ),
        "init containers": lambda: make_hostile_pod(
            initContainers=fill(
                lambda n: _container(n, restartPolicy="Always", **_request(cpu="1m"))
            )
        ),
        "resources": lambda: make_hostile_pod(
            containers=[
                _container(
                    0,
                    resources={"requests": fill_map(lambda n: (f"example.com/r{n}", "1"))},
                )
            ]
        ),
        "resources of containers": lambda: make_hostile_pod(
            containers=fill(lambda n: _container(n, **_request(**{f"example.com/r{n}": "1"})))
        ),
        "scheduling gates": lambda: make_hostile_pod(
            schedulingGates=fill(lambda n: {"name": f"example.com/g{n}"})
        ),
        "labels": lambda: make_hostile_pod(
            metadata={"labels": fill_map(lambda n: (f"k{n}", "v" * 60))}
        ),
        "annotations": lambda: make_hostile_pod(
            metadata={"annotations": fill_map(lambda n: (f"k{n}", "v" * 60))}
        ),
        "owners": lambda: make_hostile_pod(
            metadata={
                "ownerReferences": fill(
                    lambda n: {
                        "apiVersion": "apps/v1",
                        "kind": "ReplicaSet",
                        "name": f"n{n}",
                        "uid": f"u{n}",
                    }
                )
            }
        ),
    }
)

# --- volumes and devices ------------------------------------------------------------------------


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
                            _term(_expression("kubernetes.io/hostname", "In", f"node-{n % 1_000}"))
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

# --- the scene ----------------------------------------------------------------------------------


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
    anti = {"topologyKey": "kubernetes.io/hostname", "labelSelector": _select(**app)}
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


FULL_NODES: Final = Table[HostilePod](
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
