"""A cluster that runs, as a simulation starts from it: what is read of it, and what it means if
something of that cannot be read.

The kinds are those that decisions depend on. Nodes and pods there must be; whoever may not read
another kind still gets an answer, with a word on what was not checked, and that word comes first if
the pod in question depends on it.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from podium.api.kinds import KINDS, KubeObject
from podium.api.pod import Pod
from podium.client import ResourceType, Selection, resources
from podium.client.snapshot import Listing, Snapshot, Unread
from podium.config.feature_gates import FeatureGates
from podium.simulator.shared_parts import SharedParts

_UNFINISHED: Final = Selection(fields="status.phase!=Succeeded,status.phase!=Failed")
_MAX_PROBLEMS: Final = 3


class _Read(NamedTuple):
    """A kind, what is not done without it, and which pods that matters to."""

    resource: ResourceType
    without: str
    matters: Callable[[Pod], bool] = lambda _: False


def _has_claims(pod: Pod) -> bool:
    return any(
        volume.persistent_volume_claim is not None or volume.ephemeral is not None
        for volume in pod.spec.volumes or ()
    )


def _has_volumes(pod: Pod) -> bool:
    """Volumes that a driver attaches, with a claim or without."""
    return _has_claims(pod) or any(volume.csi is not None for volume in pod.spec.volumes or ())


def _asks_devices(pod: Pod) -> bool:
    return bool(pod.spec.resource_claims)


def _selects_namespaces(pod: Pod) -> bool:
    affinity = pod.spec.affinity
    sides = (affinity.pod_affinity, affinity.pod_anti_affinity) if affinity is not None else ()
    return any(
        term.namespace_selector is not None
        for side in sides
        if side is not None
        for term in (
            *(side.required_during_scheduling_ignored_during_execution or ()),
            *(
                weighted.pod_affinity_term
                for weighted in side.preferred_during_scheduling_ignored_during_execution or ()
            ),
        )
    )


def _is_member(pod: Pod) -> bool:
    return pod.spec.scheduling_group is not None


_NO_SPREAD: Final = "pods are not spread over nodes by their owners"
_NO_DEVICES: Final = "device claims cannot be allocated"
_REQUIRED: Final = (resources.NODES, resources.PODS)
_KINDS: Final[tuple[_Read, ...]] = (
    _Read(resources.PERSISTENT_VOLUMES, "claims cannot be bound to volumes", _has_claims),
    _Read(resources.PERSISTENT_VOLUME_CLAIMS, "claims of pods are not found", _has_claims),
    _Read(resources.STORAGE_CLASSES, "claims wait for no class", _has_claims),
    _Read(resources.CSI_NODES, "volume limits are not checked", _has_volumes),
    _Read(resources.CSI_DRIVERS, "storage capacity is not checked", _has_claims),
    _Read(resources.CSI_STORAGE_CAPACITIES, "storage capacity is not checked", _has_claims),
    _Read(resources.VOLUME_ATTACHMENTS, "attached volumes are not counted", _has_volumes),
    _Read(
        resources.NAMESPACES,
        "namespace selectors of affinity terms know names only",
        _selects_namespaces,
    ),
    _Read(resources.POD_DISRUPTION_BUDGETS, "preemption respects no disruption budgets"),
    _Read(resources.PRIORITY_CLASSES, "pods from files get no priority by class"),
    _Read(resources.SERVICES, _NO_SPREAD),
    _Read(resources.REPLICATION_CONTROLLERS, _NO_SPREAD),
    _Read(resources.REPLICA_SETS, _NO_SPREAD),
    _Read(resources.STATEFUL_SETS, _NO_SPREAD),
)
_DEVICES: Final[tuple[_Read, ...]] = (
    _Read(resources.RESOURCE_SLICES, _NO_DEVICES, _asks_devices),
    _Read(resources.RESOURCE_CLAIMS, _NO_DEVICES, _asks_devices),
    _Read(resources.RESOURCE_CLAIM_TEMPLATES, "claims are not made for pods from files"),
    _Read(resources.DEVICE_CLASSES, _NO_DEVICES, _asks_devices),
)
_TAINT_RULES: Final[tuple[_Read, ...]] = (
    _Read(resources.DEVICE_TAINT_RULES, "taints by rules are not known", _asks_devices),
)
_GROUPS: Final[tuple[_Read, ...]] = (
    _Read(resources.POD_GROUPS, "pod groups are not known", _is_member),
    _Read(resources.WORKLOADS, "workloads of pod groups are not known", _is_member),
)
_BY_RESOURCE: Final = {
    each.resource: each for each in (*_KINDS, *_DEVICES, *_TAINT_RULES, *_GROUPS)
}


def listings_for(gates: FeatureGates) -> list[Listing]:
    """What to read of a cluster, the longest lists first."""
    kinds = (
        *_KINDS,
        *(_DEVICES if gates["DynamicResourceAllocation"] else ()),
        *(_TAINT_RULES if gates["DRADeviceTaintRules"] else ()),
        *(_GROUPS if gates["GenericWorkload"] else ()),
    )
    read = (*_REQUIRED, *(each.resource for each in kinds))
    parts = SharedParts()
    return [
        Listing(
            resource,
            KINDS[resource.api_version, resource.kind],
            _UNFINISHED if resource is resources.PODS else Selection(),
            parts.share,
        )
        for resource in read
    ]


@dataclass(frozen=True, slots=True)
class LiveCluster:
    """What was read, where, and what was not."""

    server: str
    objects: tuple[KubeObject, ...]
    unread: Mapping[ResourceType, Unread] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @classmethod
    def of(cls, server: str, snapshot: Snapshot) -> "LiveCluster":
        pods = snapshot.objects.pop(resources.PODS, [])
        objects = [obj for listed in snapshot.objects.values() for obj in listed]
        # Pods wait in the order in which they came, which is not that of their names.
        objects += sorted(pods, key=lambda pod: pod.metadata.creation_timestamp or "")
        return cls(server, tuple(objects), snapshot.unread, tuple(_notes(server, snapshot)))

    @property
    def missing(self) -> str:
        """Why there can be no answer at all, "" if there can."""
        for resource in _REQUIRED:
            if resource in self.unread:
                return f"cannot read {resource.plural}: {self.unread[resource]}"
        return ""

    def warnings_for(self, pods: Iterable[Pod]) -> tuple[str, ...]:
        """What was not read and matters to some of the pods."""
        judged = list(pods)
        return tuple(
            _tell_unread(resource, why)
            for resource, why in self.unread.items()
            if resource in _BY_RESOURCE and any(map(_BY_RESOURCE[resource].matters, judged))
        )


def _notes(server: str, snapshot: Snapshot) -> Iterable[str]:
    yield f"read from {server} at revision {snapshot.revision}"
    if snapshot.later:
        kinds = ", ".join(resource.plural for resource in snapshot.later)
        yield f"read a little later, since that revision was gone: {kinds}"
    for resource, why in snapshot.unread.items():
        if why is Unread.FORBIDDEN:
            yield _tell_unread(resource, why)
    unserved = [r.plural for r, why in snapshot.unread.items() if why is Unread.NOT_SERVED]
    if unserved:
        yield f"not served by this cluster: {', '.join(unserved)}"
    if snapshot.problems:
        shown = "; ".join(snapshot.problems[:_MAX_PROBLEMS])
        left = len(snapshot.problems) - _MAX_PROBLEMS
        more = f"; {left} more" if left > 0 else ""
        yield f"left out because they cannot be read: {shown}{more}"


def _tell_unread(resource: ResourceType, why: Unread) -> str:
    known = _BY_RESOURCE.get(resource)
    return f"cannot read {resource.plural}: {why}" + (f"; {known.without}" if known else "")
