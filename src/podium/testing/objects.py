"""Short ways to write nodes, pods and clusters in tests.

Values are given as a user would write them in YAML and decoded like any other input, so tests
exercise the same path as files do.

Nodes and pods by chance, the same for the same seed. They are small on purpose: few label values,
few sizes, few images, so that many pods have a part in common and differ in another. That is what
finds a plugin that reads more of a pod than it says.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from random import Random
from typing import Any, Final

import msgspec

from podium.kubernetes.kinds.node import Node
from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.kubernetes.rules.requests import ALL_REQUESTS
from podium.scheduler.cluster.pod_info import request_rules
from podium.scheduler.cluster.state import Cluster
from podium.scheduler.framework.handle import Handle
from podium.scheduler.framework.queued import WaitingPods


def make_node(
    name: str,
    *,
    labels: Mapping[str, str] | None = None,
    taints: Iterable[tuple[str, str, str]] = (),
    allocatable: Mapping[str, Any] | None = None,
    unschedulable: bool = False,
    images: Mapping[str, int] | None = None,
    features: Iterable[str] = (),
) -> Node:
    """A node; taints are (key, value, effect), images are name -> bytes."""
    raw: dict[str, Any] = {
        "metadata": {"name": name, "labels": dict(labels or {})},
        "spec": {
            "unschedulable": unschedulable,
            "taints": [{"key": k, "value": v, "effect": e} for k, v, e in taints],
        },
        "status": {
            "allocatable": dict(allocatable or {"cpu": "4", "memory": "8Gi", "pods": 110}),
            "images": [{"names": [n], "sizeBytes": s} for n, s in (images or {}).items()],
            "declaredFeatures": list(features),
        },
    }
    return msgspec.convert(raw, Node)


def make_pod(
    name: str,
    *,
    namespace: str = "default",
    labels: Mapping[str, str] | None = None,
    node: str = "",
    requests: Mapping[str, Any] | None = None,
    priority: int | None = None,
    metadata: Mapping[str, Any] | None = None,
    status: Mapping[str, Any] | None = None,
    **spec: Any,
) -> Pod:
    """A pod with one container unless `containers=` is given; other keywords go into the spec
    under their Kubernetes names (`nodeSelector=...`)."""
    body: dict[str, Any] = {
        "containers": [
            {"name": "main", "image": "app:v1", "resources": {"requests": dict(requests or {})}}
        ],
        "nodeName": node,
        **spec,
    }
    if priority is not None:
        body["priority"] = priority
    meta = {"name": name, "namespace": namespace, "uid": f"uid-{namespace}-{name}"}
    raw = {
        "metadata": {**meta, "labels": dict(labels or {}), **(metadata or {})},
        "spec": body,
        "status": dict(status or {}),
    }
    return msgspec.convert(raw, Pod)


def make_cluster(nodes: Iterable[Node] = (), pods: Iterable[Pod] = ()) -> Cluster:
    """A cluster of nodes with pods that are on them."""
    cluster = Cluster(ALL_REQUESTS)
    for node in nodes:
        cluster.put_node(node)
    for pod in pods:
        cluster.add_pod(pod)
    return cluster


def make_handle(cluster: Cluster | None = None, **gates: bool) -> Handle:
    """A handle for a plugin that stands alone; keywords switch feature gates."""
    switched = FeatureGates(gates)
    return Handle(cluster or Cluster(request_rules(switched)), switched, WaitingPods())


_ZONES: Final = ("a", "b")
_APPS: Final = ("web", "db")
_TAINTS: Final = ((), (), (("team", "red", "NoSchedule"),), (("team", "red", "PreferNoSchedule"),))
_TOLERATION: Final = {"key": "team", "operator": "Exists"}
_NEAR: Final = {
    "topologyKey": "topology.kubernetes.io/zone",
    "labelSelector": {"matchLabels": {"app": "web"}},
}
_SPREAD: Final = {
    "maxSkew": 1,
    "topologyKey": "topology.kubernetes.io/zone",
    "labelSelector": {"matchLabels": {"app": "web"}},
}
_PREFERRED: Final = {
    "weight": 5,
    "preference": {"matchExpressions": [{"key": "disk", "operator": "In", "values": ["ssd"]}]},
}
_AFFINITIES: Final[tuple[dict[str, Any], ...]] = (
    {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [_NEAR]}},
    {
        "podAffinity": {
            "preferredDuringSchedulingIgnoredDuringExecution": [
                {"weight": 7, "podAffinityTerm": _NEAR}
            ]
        }
    },
    {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [_PREFERRED]}},
)


def seeded_node(randomness: Random, name: str) -> Node:
    labels = {
        "kubernetes.io/hostname": name,
        "kubernetes.io/arch": randomness.choice(("amd64", "arm64")),
        "topology.kubernetes.io/zone": randomness.choice(_ZONES),
    }
    if randomness.random() < 0.5:
        labels["disk"] = randomness.choice(("ssd", "hdd"))
    allocatable = {
        "cpu": randomness.choice(("1", "4", "8")),
        "memory": randomness.choice(("1Gi", "8Gi")),
        "pods": randomness.choice((2, 5, 110)),
    }
    if randomness.random() < 0.3:
        allocatable["example.com/gpu"] = randomness.choice((1, 4))
    return make_node(
        name,
        labels=labels,
        taints=randomness.choice(_TAINTS),
        allocatable=allocatable,
        unschedulable=randomness.random() < 0.1,
        images={"app:v2": 900_000_000} if randomness.random() < 0.5 else None,
    )


def seeded_pod(randomness: Random, name: str, *, node: str = "") -> Pod:
    fields: dict[str, Any] = {}
    for change in _PARTS:
        if randomness.random() < 0.3:
            fields |= change(randomness)
    return make_pod(name, node=node, **fields)


def variants(randomness: Random, name: str) -> Iterator[Pod]:
    """Pods that differ from the first one in one part each."""
    base: dict[str, Any] = {}
    for change in _PARTS:
        if randomness.random() < 0.2:
            base |= change(randomness)
    yield make_pod(f"{name}-0", **base)
    for number, change in enumerate(_PARTS, start=1):
        yield make_pod(f"{name}-{number}", **{**base, **change(randomness)})


def _requests(randomness: Random) -> dict[str, Any]:
    found: dict[str, Any] = {"cpu": randomness.choice(("100m", "1", "5"))}
    if randomness.random() < 0.5:
        found["memory"] = randomness.choice(("64Mi", "2Gi"))
    if randomness.random() < 0.2:
        found["example.com/gpu"] = 1
    return {"requests": found}


def _container(randomness: Random) -> dict[str, Any]:
    container: dict[str, Any] = {"name": "main", "image": randomness.choice(("app:v2", "app:v3"))}
    if randomness.random() < 0.5:
        container["ports"] = [{"containerPort": 80, "hostPort": 80}]
    return {"containers": [container]}


_PARTS: Final[tuple[Callable[[Random], dict[str, Any]], ...]] = (
    _requests,
    _container,
    lambda randomness: {"labels": {"app": randomness.choice(_APPS)}},
    lambda _: {"tolerations": [_TOLERATION]},
    lambda _: {"nodeSelector": {"disk": "ssd"}},
    lambda randomness: {"affinity": randomness.choice(_AFFINITIES)},
    lambda randomness: {
        "labels": {"app": "web"},
        "topologySpreadConstraints": [
            {
                **_SPREAD,
                "whenUnsatisfiable": randomness.choice(("DoNotSchedule", "ScheduleAnyway")),
            }
        ],
    },
    lambda _: {"priority": 1000},
    lambda randomness: {
        "metadata": {
            "annotations": {"example.com/architectures": randomness.choice(("amd64", "arm64"))}
        }
    },
    lambda _: {"namespace": "other"},
)
"""Parts of a pod, each of which may be there or be another."""
