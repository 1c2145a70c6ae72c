"""Nodes and pods by chance, the same for the same seed.

They are small on purpose: few label values, few sizes, few images, so that many pods have a part in
common and differ in another. That is what finds a plugin that reads more of a pod than it says.
"""

from collections.abc import Callable, Iterator
from random import Random
from typing import Any, Final

from podium.kubernetes.kinds.node import Node
from podium.kubernetes.kinds.pod import Pod
from podium.testing.objects import make_node, make_pod

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
