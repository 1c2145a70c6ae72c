"""A pod with everything scheduling derives from it, derived once and shared between pods.

Thousands of pods come from one template. What follows from the spec (requests, ports, affinity
terms, labels) is worked out once per distinct template and shared as a `PodShape`; a `PodInfo` adds
what is the pod's own: identity, priority, node, times. Derived parts are made on first use, since
a pod on a node never needs its scoring requests and a pending one never its accounting.

Pods that share what they have in common. A cluster of 300,000 pods has a few thousand templates.
Every pod that is read brings containers, labels and tolerations of its own that equal those of
thousands of others, and holding them all takes several times the memory of what differs. So a pod
is given the parts of the first pod of its shape in place of its own equal ones, and what several
shapes share (conditions, volumes that nobody reads) is found by value. Pods are values that never
change, so nobody can tell.
"""

import math
from collections.abc import Callable, Hashable, Iterable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Final, TypeVar

import msgspec
from msgspec.structs import astuple, replace

from podium.kubernetes.kinds.meta import ObjectMeta
from podium.kubernetes.kinds.pod import Container, Pod, PodSpec, PodStatus
from podium.kubernetes.rules.host_ports import HostPort, host_ports
from podium.kubernetes.rules.node_affinity import (
    PreferredNodeTerm,
    RequiredNodeAffinity,
    preferred_of,
    required_of,
)
from podium.kubernetes.rules.pod_affinity import PodAffinityTerms, parse_pod_affinity
from podium.kubernetes.rules.requests import (
    RequestRules,
    accounted_requests,
    claimed_resources,
    nonzero_requests,
    pod_requests,
    resize_is_infeasible,
    scoring_requests,
    to_vector,
)
from podium.kubernetes.rules.timestamps import seconds_of

if TYPE_CHECKING:
    from podium.scheduler.cluster.pod_classes import PodClass


_OF_ONE_POD: Final = frozenset(
    {
        "node_name",
        "priority",
        "priority_class_name",
        "runtime_class_name",
        "preemption_policy",
        "scheduling_gates",
        "scheduling_group",
        "security_context",
    }
)
"""Fields of a spec that are no part of a shape: who reads one reads it from the pod itself and says
so in a fragment. Every other field is part of it, a new one as well: forgetting it here costs a
few more shapes, and never gives a pod the answers for another one."""
_TOLD_OF_ONE_POD: Final = frozenset(
    {"phase", "start_time", "nominated_node_name", "conditions", "resource_claim_statuses"}
)
"""The same of a status."""
_BY_PARTS: Final = frozenset({"containers", "init_containers", "volumes"})
_OF_RESIZES: Final = frozenset(
    {"container_statuses", "init_container_statuses", "resources", "allocated_resources"}
)


def _fields_but(struct: type[msgspec.Struct], *left_out: frozenset[str]) -> list[str]:
    return [f for f in struct.__struct_fields__ if not any(f in names for names in left_out)]


def _read_all(fields: Iterable[str]) -> Callable[[object], tuple[object, ...]]:
    """What reads fields as fast as if they were written down; `attrgetter` takes twice as long, and
    this is done for every pod that is read."""
    listed = "".join(f"it.{field}, " for field in fields)
    found: Callable[[object], tuple[object, ...]] = eval(f"lambda it: ({listed})")
    return found


def _all_same(fields: Iterable[str]) -> Callable[[object, object], bool]:
    """What tells whether two values have the very same fields."""
    pairs = " and ".join(f"one.{field} is other.{field}" for field in fields)
    found: Callable[[object, object], bool] = eval(f"lambda one, other: {pairs}")
    return found


_has_parts_of = _all_same(_fields_but(PodSpec, _OF_ONE_POD))
_shared_as_written = _read_all(_fields_but(PodSpec, _OF_ONE_POD, _BY_PARTS))
_told_of_claims = _read_all(_fields_but(PodStatus, _TOLD_OF_ONE_POD, _OF_RESIZES))

_MAX_SHAPES = 100_000
_IMMENSE = 1 << 50


class PodShape:
    """What all pods of one template have in common; built from the first pod seen."""

    def __init__(self, pod: Pod, rules: RequestRules) -> None:
        self.first = pod
        self.rules = rules
        self.namespace = pod.metadata.namespace
        self.labels: dict[str, str] = pod.metadata.labels or {}
        self.table_requests: tuple[tuple[int, int], ...] | None = None
        self.classes: dict[bool, PodClass] = {}

    @cached_property
    def accounted(self) -> dict[str, int]:
        """What the pod takes on its node, resizes in progress and claims included."""
        return to_vector(accounted_requests(self.first, self.rules))

    @cached_property
    def resized_requests(self) -> dict[str, int]:
        """The same without claims."""
        if not claimed_resources(self.first, self.rules):
            return self.accounted
        return to_vector(pod_requests(self.first, status_resources=True, rules=self.rules))

    @cached_property
    def accounted_nonzero(self) -> tuple[int, int]:
        return nonzero_requests(self.first, self.rules)

    @cached_property
    def is_immense(self) -> bool:
        """Whether a node full of such pods may ask for more than an int64 holds."""
        amounts = (*self.accounted.values(), *self.accounted_nonzero)
        return any(abs(amount) >= _IMMENSE for amount in amounts)

    @cached_property
    def requests(self) -> dict[str, int]:
        """What the pending pod must find free: the spec alone."""
        return to_vector(pod_requests(self.first, status_resources=False, rules=self.rules))

    @cached_property
    def admission_requests(self) -> dict[str, int]:
        """What a node must have free to admit the pod: the spec, and what its claims take."""
        claimed = claimed_resources(self.first, self.rules)
        if not claimed:
            return self.requests
        return to_vector(
            pod_requests(self.first, status_resources=False, rules=self.rules, claimed=claimed)
        )

    @cached_property
    def scoring_requests(self) -> dict[str, int]:
        return scoring_requests(self.first)

    @cached_property
    def requests_fragment(self) -> tuple[tuple[tuple[str, int], ...], ...]:
        """All that resource plugins read of a pod, in a form that can be compared."""
        kinds = (self.requests, self.scoring_requests, self.resized_requests)
        return tuple(tuple(sorted(kind.items())) for kind in kinds)

    @cached_property
    def ports(self) -> tuple[HostPort, ...]:
        return host_ports(self.first)

    @cached_property
    def affinity(self) -> PodAffinityTerms:
        return parse_pod_affinity(self.first)

    @cached_property
    def node_affinity(self) -> RequiredNodeAffinity:
        return required_of(self.first)

    @cached_property
    def preferred_nodes(self) -> tuple[PreferredNodeTerm, ...] | None:
        """Preferred node terms, None without a list; NodeSelectorError if one cannot be parsed."""
        affinity = self.first.spec.affinity
        written = affinity.node_affinity if affinity is not None else None
        if written is None:
            return None
        listed = written.preferred_during_scheduling_ignored_during_execution
        return None if listed is None else preferred_of(listed)

    @cached_property
    def images(self) -> tuple[tuple[str, ...], int]:
        """(images of containers and volumes as written, number of containers)."""
        spec = self.first.spec
        containers = (*(spec.init_containers or ()), *(spec.containers or ()))
        volumes = (volume.image for volume in spec.volumes or ())
        of_volumes = (image.reference for image in volumes if image is not None)
        return (*(c.image for c in containers), *of_volumes), len(containers)

    @cached_property
    def is_plain(self) -> bool:
        """Whether the pod asks for nothing that is one of a kind: no volume of its own, no
        claim. All that matters of such a pod is in its shape."""
        spec = self.first.spec
        return not spec.resource_claims and not _volumes_that_matter(self.first)

    @cached_property
    def claim_names(self) -> tuple[str, ...]:
        """`namespace/name` of the claims named by persistentVolumeClaim volumes."""
        return tuple(
            f"{self.namespace}/{volume.persistent_volume_claim.claim_name}"
            for volume in self.first.spec.volumes or ()
            if volume.persistent_volume_claim is not None
        )

    @cached_property
    def node_allocatable_claims(self) -> tuple[str, ...]:
        """`namespace/name` of the claims that take of the node's own resources for the pod."""
        if not self.rules.claims:
            return ()
        statuses = self.first.status.node_allocatable_resource_claim_statuses or ()
        return tuple(f"{self.namespace}/{status.resource_claim_name}" for status in statuses)


class PodInfo:
    __slots__ = ("_start_time", "key", "pod", "priority", "shape", "terminating", "uid")

    def __init__(self, pod: Pod, shape: PodShape) -> None:
        self.pod = pod
        self.shape = shape
        self.key = f"{pod.metadata.namespace}/{pod.metadata.name}"
        self.uid = uid_of(pod)
        self.priority = pod.spec.priority or 0
        self.terminating = pod.metadata.deletion_timestamp is not None
        self._start_time: float | None = None

    @property
    def start_time(self) -> float:
        """Seconds since the epoch; a pod that has not started counts as starting now, after all
        that have."""
        if self._start_time is None:
            text = self.pod.status.start_time
            self._start_time = seconds_of(text) if text else math.inf
        return self._start_time

    def is_about(self, pod: Pod) -> bool:
        """Whether an object is this very pod, in whatever state."""
        return uid_of(pod) == self.uid

    def __repr__(self) -> str:
        return f"PodInfo({self.key})"


def uid_of(pod: Pod) -> str:
    """What tells pods apart: the UID, or the key of a pod from a file that has none."""
    return pod.metadata.uid or f"{pod.metadata.namespace}/{pod.metadata.name}"


def request_rules(gates: Mapping[str, bool]) -> RequestRules:
    """What pods' requests are read from with these feature gates."""
    return RequestRules(
        gates["PodLevelResources"],
        gates["InPlacePodVerticalScaling"],
        gates["InPlacePodLevelResourcesVerticalScaling"],
        gates["DRANodeAllocatableResources"],
    )


class PodInfos:
    """Makes PodInfos, sharing shapes between pods of the same template, and the parts of the pods
    with them."""

    def __init__(self, rules: RequestRules) -> None:
        self.rules = rules
        self._shapes: dict[bytes, PodShape] = {}
        self._encoder = msgspec.msgpack.Encoder()
        self._compaction = PodCompactor()

    def of(self, pod: Pod, before: PodInfo | None = None) -> PodInfo:
        """`before` is the same pod as it was known so far."""
        if before is not None and _only_bound(before.pod, pod):
            return PodInfo(pod, before.shape)
        key = self._encoder.encode(_shape_fields(pod))
        shape = self._shapes.get(key)
        if shape is None:
            if len(self._shapes) >= _MAX_SHAPES:
                self._shapes.clear()
            shape = self._shapes[key] = PodShape(pod, self.rules)
        return PodInfo(self._compaction.compact(pod, shape.first), shape)


def _only_bound(before: Pod, after: Pod) -> bool:
    """Whether a pod was made of another one and nothing but its node can differ: it has the very
    parts of that one. What is read from an API server has equal parts, which takes longer to see.
    """
    if after.metadata is not before.metadata or after.status is not before.status:
        return False
    return _has_parts_of(after.spec, before.spec)


def _without_environments(containers: tuple[Container, ...] | None) -> object:
    """Containers without what each pod of a template may have for itself."""
    if containers is not None:
        for container in containers:
            if container.env is not None:
                return tuple([replace(each, env=None) for each in containers])
    return containers


def _shape_fields(pod: Pod) -> tuple[object, ...]:
    spec, status = pod.spec, pod.status
    told = status.container_statuses or status.init_container_statuses or status.resources
    return (
        pod.metadata.namespace,
        pod.metadata.labels,
        _without_environments(spec.containers),
        _without_environments(spec.init_containers),
        _shared_as_written(spec),
        pod.metadata.owner_references,
        _told_of_claims(status),
        _volumes_that_matter(pod) if spec.volumes else None,
        (
            status.container_statuses,
            status.init_container_statuses,
            status.resources,
            status.allocated_resources,
            resize_is_infeasible(pod),
        )
        if told
        else None,
    )


def _volumes_that_matter(pod: Pod) -> tuple[tuple[object, ...], ...]:
    """Volumes whose source some plugin reads, without the names that pods give them: a secret, a
    token or an emptyDir is no reason to tell templates apart."""
    read = (astuple(volume)[1:-1] for volume in pod.spec.volumes or ())
    return tuple(sources for sources in read if any(source is not None for source in sources))


MAX_VALUES = 65_536

T = TypeVar("T", bound=Hashable)


class Values:
    """One object for each value; forgets all of them when they become too many."""

    def __init__(self, most: int = MAX_VALUES) -> None:
        self._known: dict[object, object] = {}
        self._most = most

    def one(self, value: T) -> T:
        if len(self._known) >= self._most:
            self._known.clear()
        return self._known.setdefault(value, value)  # type: ignore[return-value]


class PodCompactor:
    def __init__(self) -> None:
        self._values = Values()

    def compact(self, pod: Pod, like: Pod) -> Pod:
        """The same pod, with parts of one that has the same shape."""
        if pod.spec.containers is like.spec.containers:
            return pod
        return Pod(
            metadata=self._metadata(pod.metadata, like.metadata),
            spec=self._spec(pod.spec, like.spec),
            status=self._status(pod.status, like.status),
        )

    def _metadata(self, own: ObjectMeta, like: ObjectMeta) -> ObjectMeta:
        same = own.annotations == like.annotations
        return replace(
            own,
            namespace=like.namespace,
            labels=like.labels,
            annotations=like.annotations if same else own.annotations,
            owner_references=like.owner_references,
        )

    def _spec(self, own: PodSpec, like: PodSpec) -> PodSpec:
        one = self._values.one
        return replace(
            own,
            node_name=own.node_name and one(own.node_name),
            scheduler_name=like.scheduler_name,
            priority_class_name=own.priority_class_name and one(own.priority_class_name),
            node_selector=like.node_selector,
            affinity=like.affinity,
            tolerations=like.tolerations,
            topology_spread_constraints=like.topology_spread_constraints,
            containers=_same(own.containers, like.containers),
            init_containers=_same(own.init_containers, like.init_containers),
            overhead=like.overhead,
            resources=like.resources,
            volumes=like.volumes if own.volumes == like.volumes else own.volumes,
        )

    def _status(self, own: PodStatus, like: PodStatus) -> PodStatus:
        one = self._values.one
        conditions = own.conditions
        if conditions:
            conditions = one(tuple([one(condition) for condition in conditions]))
        same = own.container_statuses == like.container_statuses
        return replace(
            own,
            phase=one(own.phase),
            start_time=own.start_time and one(own.start_time),
            conditions=conditions,
            container_statuses=like.container_statuses if same else own.container_statuses,
        )


def _same(
    own: tuple[Container, ...] | None, like: tuple[Container, ...] | None
) -> tuple[Container, ...] | None:
    """The other's containers, equal to these but for environments; these if those differ."""
    if own is None:
        return like
    for mine, others in zip(own, like or (), strict=True):
        if mine.env != others.env:
            return own
    return like
