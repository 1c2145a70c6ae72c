"""Ready examples to create: each shows one thing that a scheduler does.

What a cluster cannot do is not offered: gangs need a plugin or gate for them, a share of a GPU
needs nodes with GPUs. Each can be made again: names are the server's (`generateName`), or new.
"""

from collections.abc import Iterator, Mapping
from itertools import count
from typing import Any, ClassVar, Final, Literal

from podium.addons.gpu.dialects.dialect_detection import find_spoken_dialects
from podium.golang.document_structs import Document, DocumentPart
from podium.scheduler.config.effective import effective_yaml
from podium.scheduler.engine import Engine
from podium.simulated.names import SIMULATED

URGENT: Final = "urgent"
"""The class of the pod that preempts."""
_DEFAULT_SCHEDULER: Final = "default-scheduler"
_ZONE: Final = "topology.kubernetes.io/zone"
_GANG_OF: Final = 3
_COSCHEDULING_LABEL: Final = "scheduling.x-k8s.io/pod-group"
# What a node offers by dialect of its agent -> what a pod asks for to have a share of a card.
_GPU_SHARES: Final[Mapping[str, dict[str, str]]] = {
    "tencent.com/vcuda-core": {"tencent.com/vcuda-core": "30", "tencent.com/vcuda-memory": "8"},
    "nvidia.com/vcuda-core": {"nvidia.com/vcuda-core": "30", "nvidia.com/vcuda-memory": "8"},
    "nvidia.com/vgpu-number": {"nvidia.com/vgpu-number": "1", "nvidia.com/vgpu-cores": "30"},
    "aliyun.com/gpu-mem": {"aliyun.com/gpu-mem": "4"},
    "nvidia.com/gpu": {"nvidia.com/gpu": "1"},
}
_WHOLE_CARDS: Final = "nvidia.com/gpu"
_DECIDING_AGENTS: Final = ("gpu-manager",)
"""Dialects whose agents choose a card themselves where nobody else has."""
_MEMORY_OF_CARD: Final = {"nvidia.com/gpumem": "4000"}

Object = dict[str, Any]
_Example = tuple[str, str, str, list[Object]]
"""Its name, its title, what it shows, and the objects."""


class PlayExample(DocumentPart, frozen=True):
    """A ready example to create."""

    name: str
    """The example in addresses."""
    group: Literal["Pods", "Nodes"]
    """What it creates."""
    title: str
    """The example in a word or two."""
    shows: str
    """What is to be seen with it."""
    yaml: str
    """The objects."""


class PlayExamples(Document, frozen=True):
    """Ready examples to create on the page."""

    KIND: ClassVar[str] = "PlayExamples"

    examples: tuple[PlayExample, ...]
    """The examples that this cluster can make use of."""


def play_examples(
    engine: Engine, scheduler_name: str, *, has_urgent: bool
) -> tuple[PlayExample, ...]:
    """For pods of one profile; `has_urgent` says whether the class of urgent pods is there."""
    made = _Examples(engine, scheduler_name)
    return tuple(
        PlayExample(
            name=name,
            group="Nodes" if objects[-1]["kind"] == "Node" else "Pods",
            title=title,
            shows=shows,
            yaml="---\n".join(effective_yaml(each) for each in objects),
        )
        for name, title, shows, objects in made.all(has_urgent=has_urgent)
    )


class _Examples:
    def __init__(self, engine: Engine, scheduler_name: str) -> None:
        self._engine = engine
        self._scheduler_name = scheduler_name
        self._largest = self._largest_node()

    def all(self, *, has_urgent: bool) -> Iterator[_Example]:
        zone = self._a_zone()
        yield from self._single_pods(zone)
        yield (
            "deployment",
            "Deployment",
            "Three pods that a controller makes anew wherever one goes.",
            [self._deployment(self._new_name("web"))],
        )
        urgent = self._pod("urgent-", cpu=str(self._largest), priorityClassName=URGENT)
        yield (
            "urgent",
            "High-priority pod",
            "Needs a whole node; where none is empty, pods of lower priority have to leave.",
            [urgent] if has_urgent else [_URGENT_CLASS, urgent],
        )
        if (gang := self._gang()) is not None:
            yield ("gang", "Gang", f"{_GANG_OF} pods: all of them get a node, or none.", gang)
        if (share := self._gpu_share()) is not None:
            yield (
                "gpu",
                "Share of a GPU",
                "Goes to a node with a card that has so much left.",
                [self._pod("gpu-share-", cpu="500m", limits=share)],
            )
        yield from _list_nodes(zone)

    def _single_pods(self, zone: str) -> Iterator[_Example]:
        yield (
            "small",
            "Small pod",
            "Goes to the node with the highest score.",
            [self._pod("small-", cpu="500m", memory="512Mi")],
        )
        yield (
            "giant",
            "Giant pod",
            "Asks for more than any node has and stays pending, with the reason.",
            [self._pod("giant-", cpu=str(4 * self._largest), memory="1Gi")],
        )
        yield (
            "prefers",
            "Pod with a preference",
            f"Rather goes to zone {zone}; how much that counts is the weight of NodeAffinity.",
            [self._pod("picky-", cpu="500m", affinity=_zone_preference(zone))],
        )
        yield (
            "affinity",
            "Pod with node affinity",
            f"May go to zone {zone} only.",
            [self._pod("choosy-", cpu="500m", affinity=_zone_affinity(zone))],
        )
        yield (
            "tolerates",
            "Pod that tolerates",
            "May go to nodes that are tainted dedicated=play:NoSchedule, and to all others.",
            [self._pod("tolerant-", cpu="500m", tolerations=[_TOLERATION])],
        )

    def _pod(
        self,
        prefix: str,
        *,
        cpu: str,
        memory: str = "",
        limits: Mapping[str, str] | None = None,
        **spec: Any,
    ) -> Object:
        metadata = {"generateName": prefix, "labels": {"app": prefix.rstrip("-")}}
        requests = {"cpu": cpu, **({"memory": memory} if memory else {})}
        resources: Object = {"requests": requests, **({"limits": dict(limits)} if limits else {})}
        return {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": metadata,
            "spec": self._pod_spec(resources, **spec),
        }

    def _pod_spec(self, resources: Object, **spec: Any) -> Object:
        other = self._scheduler_name != _DEFAULT_SCHEDULER
        named = {"schedulerName": self._scheduler_name} if other else {}
        container = {"name": "main", "image": "registry.example.com/play:v1"}
        return {**named, **spec, "containers": [{**container, "resources": resources}]}

    def _deployment(self, name: str) -> Object:
        labels = {"app": name}
        spec = self._pod_spec({"requests": {"cpu": "1", "memory": "1Gi"}})
        return {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {"name": name},
            "spec": {
                "replicas": 3,
                "selector": {"matchLabels": labels},
                "template": {"metadata": {"labels": labels}, "spec": spec},
            },
        }

    def _gang(self) -> list[Object] | None:
        engine = self._engine
        profile = engine.profiles.get(self._scheduler_name)
        size = {"requests": {"cpu": "1"}}
        name = self._new_name("gang")
        if profile is not None and "Coscheduling" in profile.plugins:
            group = {
                "apiVersion": "scheduling.x-k8s.io/v1alpha1",
                "kind": "PodGroup",
                "metadata": {"name": name},
                "spec": {"minMember": _GANG_OF},
            }
            return [group, *self._members(name, {_COSCHEDULING_LABEL: name}, self._pod_spec(size))]
        if engine.gates["GenericWorkload"] and engine.gates["GangScheduling"]:
            group = {
                "apiVersion": "scheduling.k8s.io/v1alpha2",
                "kind": "PodGroup",
                "metadata": {"name": name},
                "spec": {"schedulingPolicy": {"gang": {"minCount": _GANG_OF}}},
            }
            spec = self._pod_spec(size, schedulingGroup={"podGroupName": name})
            return [group, *self._members(name, {"app": name}, spec)]
        return None

    def _new_name(self, prefix: str) -> str:
        """One that no pod's name begins with, for objects whose name others refer to."""
        begins = tuple(key for key in self._engine.state.pods if f"/{prefix}-" in key)
        names = (f"{prefix}-{number}" for number in count(1))
        return next(n for n in names if not any(f"/{n}-" in key for key in begins))

    def _members(self, gang: str, labels: Mapping[str, str], spec: Object) -> list[Object]:
        return [
            {
                "apiVersion": "v1",
                "kind": "Pod",
                "metadata": {"name": f"{gang}-{at}", "labels": dict(labels)},
                "spec": spec,
            }
            for at in range(_GANG_OF)
        ]

    def _gpu_share(self) -> Mapping[str, str] | None:
        """What to ask for; None without cards, or where nobody decides which one a pod gets."""
        engine = self._engine
        nodes, rows = engine.cluster.nodes, engine.cluster.node_order()
        offered = {
            name: rows[nodes.allocatable[at, rows] > 0] for at, name in enumerate(nodes.resources)
        }
        name = next((name for name in _GPU_SHARES if len(offered.get(name, ()))), None)
        if name is None:
            return None
        profile = engine.profiles.get(self._scheduler_name)
        if profile is not None and "GPUShare" in profile.plugins:
            return _GPU_SHARES[name] | (_MEMORY_OF_CARD if name == _WHOLE_CARDS else {})
        spoken = find_spoken_dialects([nodes.node(int(offered[name][0]))])
        if engine.configuration.extenders or all(each in _DECIDING_AGENTS for each in spoken):
            return _GPU_SHARES[name]
        return None

    def _largest_node(self) -> int:
        """Cores of the largest node, 8 without any."""
        nodes = self._engine.cluster.nodes
        cpu = nodes.allocatable[nodes.resources.id("cpu"), self._engine.cluster.node_order()]
        return int(cpu.max()) // 1000 if len(cpu) else 8

    def _a_zone(self) -> str:
        cluster = self._engine.cluster
        for row in cluster.node_order().tolist():
            zone = (cluster.nodes.node(row).metadata.labels or {}).get(_ZONE)
            if zone:
                return zone
        return "a"


_TOLERATION: Final = {
    "key": "dedicated",
    "operator": "Equal",
    "value": "play",
    "effect": "NoSchedule",
}
_TAINT: Final = {"key": "dedicated", "value": "play", "effect": "NoSchedule"}
_URGENT_CLASS: Final[Object] = {
    "apiVersion": "scheduling.k8s.io/v1",
    "kind": "PriorityClass",
    "metadata": {"name": URGENT},
    "value": 1000,
}


def _in_zone(zone: str) -> Object:
    return {"matchExpressions": [{"key": _ZONE, "operator": "In", "values": [zone]}]}


def _zone_affinity(zone: str) -> Object:
    terms = {"nodeSelectorTerms": [_in_zone(zone)]}
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}


def _zone_preference(zone: str) -> Object:
    terms = [{"weight": 1, "preference": _in_zone(zone)}]
    return {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": terms}}


def _node(
    prefix: str, cpu: str, memory: str, *, zone: str = "", taints: list[Object] | None = None
) -> Object:
    has = {"cpu": cpu, "memory": memory, "pods": "110"}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "generateName": prefix,
            "labels": {SIMULATED: "true", **({_ZONE: zone} if zone else {})},
        },
        **({"spec": {"taints": taints}} if taints else {}),
        "status": {"capacity": has, "allocatable": has},
    }


def _list_nodes(zone: str) -> Iterator[_Example]:
    yield ("small-node", "Small node", "2 cores and 4 GiB.", [_node("small-node-", "2", "4Gi")])
    yield (
        "large-node",
        "Large node",
        "64 cores and 256 GiB; a giant pod may fit.",
        [_node("large-node-", "64", "256Gi")],
    )
    yield (
        "zone-node",
        "Node in a zone",
        f"8 cores and 32 GiB in zone {zone}.",
        [_node("zone-node-", "8", "32Gi", zone=zone)],
    )
    yield (
        "tainted-node",
        "Tainted node",
        "8 cores and 32 GiB for pods that tolerate dedicated=play:NoSchedule.",
        [_node("tainted-node-", "8", "32Gi", taints=[_TAINT])],
    )
