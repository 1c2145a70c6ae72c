"""Groups of pods as Coscheduling sees them: their kind, their members, and whether they have room.

Nothing is counted along. Members are the pods that are known, those have a node whom the cluster
has on one, so each counts once and nothing is left behind when an event is missed. Pods that are
being deleted do not count: a gang that is made anew under its old name does not live off the last
one. Nor do pods that failed. Members that have succeeded need no node any more and are still part
of the quorum, or a member that has to be replaced would wait for them for ever; they have left the
scheduler's sight, so their number is the status's, which the group's controller keeps. What is
remembered of a group between attempts is remembered for some time only.

Whether a cluster has room for a group is asked over all nodes at once, in two ways that both leave
taints and affinity aside. `resource_gap` is the question of `minResources`: do amounts add up over
all nodes? `has_room` is stricter: could so many members be on nodes side by side? It asks for the
least that any of them wants, so what it refuses cannot fit, whoever of them is tried. Neither looks
at a resource that NodeResourcesFit was told to ignore, that an extender looks after, or that no
node has: room for it is found by somebody else, and who counted it would turn pods away that fit.

Arguments are taken in all versions that they ever had, v1beta1 to v1 of
`kubescheduler.config.k8s.io`, and what one of them had in any: `kubeMaster` and `kubeConfigPath`
mean nothing here, and the time for which a failed group was denied still counts where somebody
writes it. The CustomResourceDefinition of PodGroups is that of `kubernetes-sigs/scheduler-plugins`.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Annotated, Final

import msgspec
import numpy as np
import numpy.typing as npt

from podium.addons.collection.custom_kinds import QUANTITIES
from podium.golang.json_values import JsonObject
from podium.kubernetes.kinds.meta import ResourceList
from podium.kubernetes.kinds.scheduler_plugins import (
    CoschedulingPodGroup,
    SchedulingSigsPodGroup,
    SchedulingXPodGroup,
    min_available,
    pod_group_name,
)
from podium.kubernetes.rules.quantity import milli_value, value
from podium.kubernetes.rules.quantity_spelling import canonical
from podium.kubernetes.rules.timestamps import seconds_of
from podium.plugin import (
    Cluster,
    Code,
    Handle,
    Ints,
    NodeResourcesFitArgs,
    Pod,
    PodInfo,
    WatchedKind,
)

GroupKey = tuple[str, str]


def group_key(pod: Pod) -> GroupKey | None:
    """(namespace, name) of the group that a pod belongs to."""
    name = pod_group_name(pod.metadata.labels)
    return (pod.metadata.namespace, name) if name else None


@dataclass(frozen=True, slots=True)
class Gang:
    """What a group asks for; `succeeded` members are through with their work."""

    key: GroupKey
    min_member: int
    min_resources: ResourceList | None = None
    timeout_s: float = 0.0
    created_at: float | None = None
    succeeded: int = 0

    @property
    def full_name(self) -> str:
        return "/".join(self.key)


class Gangs:
    def __init__(self, handle: Handle) -> None:
        self._handle = handle
        self._members = handle.index_pods(group_key)

    def find(self, pod: Pod) -> Gang | None:
        """The group of a pod; None if it has none, or only the name of one."""
        key = group_key(pod)
        if key is None:
            return None
        namespace, name = key
        found: CoschedulingPodGroup | None = self._handle.get(SchedulingXPodGroup, name, namespace)
        if found is None:
            found = self._handle.get(SchedulingSigsPodGroup, name, namespace)
        if found is not None:
            return _gang(key, found)
        quorum = min_available(pod.metadata.labels)
        return Gang(key, quorum) if quorum else None

    def members(self, gang: Gang) -> list[Pod]:
        """Those that are there to stay."""
        found = self._members.of(gang.key)
        return [pod for pod in found if pod.metadata.deletion_timestamp is None]

    def is_known(self, key: GroupKey) -> bool:
        """Whether there is any pod of a group."""
        return any(True for _ in self._members.of(key))

    def find_placed_members(self, gang: Gang) -> list[PodInfo]:
        """Members that have a node: bound, or held until they are."""
        placements = self._handle.cluster.placements
        infos = (self._info(pod) for pod in self.members(gang))
        return [info for info in infos if info.uid in placements and not self._is_lost(info.uid)]

    def find_unplaced_members(self, gang: Gang) -> list[PodInfo]:
        placed = {info.uid for info in self.find_placed_members(gang)}
        infos = (self._info(pod) for pod in self.members(gang))
        return [info for info in infos if info.uid not in placed]

    def quorum_reached(self, gang: Gang) -> int:
        """How many members have a node or need none any more."""
        return len(self.find_placed_members(gang)) + gang.succeeded

    def _info(self, pod: Pod) -> PodInfo:
        return self._handle.cluster.infos.of(pod)

    def _is_lost(self, uid: str) -> bool:
        """Whether a pod that waits at Permit has been turned away and only holds its node until
        somebody looks."""
        waiting = self._handle.waiting.get(uid)
        outcome = waiting.outcome if waiting is not None else None
        return outcome is not None and outcome.code is not Code.SUCCESS


def _gang(key: GroupKey, group: CoschedulingPodGroup) -> Gang:
    created = group.metadata.creation_timestamp
    return Gang(
        key,
        group.spec.min_member,
        group.spec.min_resources,
        float(max(group.spec.schedule_timeout_seconds or 0, 0)),
        _moment(created) if created else None,
        group.status.succeeded,
    )


def _moment(text: str) -> float | None:
    try:
        return seconds_of(text)
    except ValueError:
        return None


_MAX_REMEMBERED: Final = 4096
"""How many groups are remembered before those are looked for of which no pod is left."""


class TimedGroups:
    """Groups of which something is true until a time; one that is there already stays until its
    own."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._until: dict[GroupKey, float] = {}

    def add(self, key: GroupKey, seconds: float) -> None:
        if seconds > 0 and self.until(key) is None:
            self._until[key] = self._clock() + seconds

    def until(self, key: GroupKey) -> float | None:
        """When it ends; None if it is not true, or not any more."""
        until = self._until.get(key)
        if until is not None and until <= self._clock():
            del self._until[key]
            return None
        return until

    def __contains__(self, key: GroupKey) -> bool:
        return self.until(key) is not None

    def forget(self, key: GroupKey) -> None:
        self._until.pop(key, None)


class GroupTimes:
    """A time for each of some groups: when it was first seen, or last failed."""

    def __init__(self, clock: Callable[[], float], is_known: Callable[[GroupKey], bool]) -> None:
        self._clock = clock
        self._is_known = is_known
        self._times: dict[GroupKey, float] = {}

    def set(self, key: GroupKey) -> None:
        """Now."""
        if len(self._times) >= _MAX_REMEMBERED and key not in self._times:
            self._times = {k: at for k, at in self._times.items() if self._is_known(k)}
        self._times[key] = self._clock()

    def get(self, key: GroupKey) -> float | None:
        return self._times.get(key)

    def copy(self) -> "GroupTimes":
        made = GroupTimes(self._clock, self._is_known)
        made._times = dict(self._times)
        return made

    def __contains__(self, key: GroupKey) -> bool:
        return key in self._times

    def forget(self, key: GroupKey) -> None:
        self._times.pop(key, None)


class GroupMemory:
    """`permitted` groups have passed the check of their minResources, `backed_off` and `denied`
    ones failed a moment ago; a member of a `brought` one brought the others a moment ago."""

    def __init__(self, clock: Callable[[], float], is_known: Callable[[GroupKey], bool]) -> None:
        self.permitted = TimedGroups(clock)
        self.backed_off = TimedGroups(clock)
        self.denied = TimedGroups(clock)
        self.brought = TimedGroups(clock)
        self.last_failure = GroupTimes(clock, is_known)
        self.first_seen = GroupTimes(clock, is_known)
        self._clock = clock
        self._is_known = is_known

    def after_a_while(self) -> "GroupMemory":
        """A copy without what is remembered for some time only."""
        made = GroupMemory(self._clock, self._is_known)
        made.last_failure, made.first_seen = self.last_failure.copy(), self.first_seen.copy()
        return made


CPU = "cpu"
PODS = "pods"
_MEBI = 20


def resource_gap(cluster: Cluster, gang: Gang, placed: Iterable[PodInfo]) -> dict[str, int]:
    """What nodes lack of the group's minResources, its own pods not counted; nothing if they have
    it. cpu is in milli-cores.

    upstream: nodes are added up in order, and what has been enough once stays so, though a later
    node may have less than nothing.
    """
    needed = {
        name: milli_value(amount) if name == CPU else value(amount)
        for name, amount in (gang.min_resources or {}).items()
    }
    needed[PODS] = gang.min_member
    own = list(placed)
    rows = cluster.node_order()
    gap: dict[str, int] = {}
    for name, amount in needed.items():
        sums = np.cumsum(_free(cluster, name, own)[rows])
        if amount > 0 and (not len(sums) or int(sums.max()) < amount):
            gap[name] = amount - (int(sums[-1]) if len(sums) else 0)
    return gap


def written_gap(gap: dict[str, int]) -> str:
    """`map[cpu:2 memory:1Gi]`."""
    return f"map[{' '.join(f'{name}:{_write_amount(name, gap[name])}' for name in sorted(gap))}]"


def _write_amount(name: str, amount: int) -> str:
    if name == CPU:
        return canonical(f"{amount}m")
    in_mebi, rest = divmod(amount, 1 << _MEBI)
    return canonical(f"{in_mebi}Mi") if in_mebi and not rest else str(amount)


def has_room(
    cluster: Cluster,
    members: Sequence[PodInfo],
    number: int,
    counts: Callable[[str], bool],
    without: Sequence[PodInfo] = (),
) -> bool:
    """Whether so many of these members could have a node at the same time, if the pods `without`
    were gone. `counts` says which resources are looked at when nodes are filtered."""
    rows = cluster.node_order()
    copies = np.clip(_free(cluster, PODS, without)[rows], 0, number)
    for name, amount in _least_wanted(members).items():
        if amount > 0 and counts(name):
            free = np.maximum(_free(cluster, name, without)[rows], 0)
            np.minimum(copies, free // amount, out=copies)
    return int(copies.sum()) >= number


def _least_wanted(members: Sequence[PodInfo]) -> dict[str, int]:
    first, *others = (info.shape.requests for info in members)
    least = dict(first)
    for requests in others:
        least = {name: min(amount, requests.get(name, 0)) for name, amount in least.items()}
    return least


def _free(cluster: Cluster, name: str, without: Iterable[PodInfo]) -> Ints:
    """What is free of a resource on each row of the table, as if some pods were not there."""
    nodes, usage = cluster.nodes, cluster.usage
    usage.grow()
    if name == PODS:
        free: npt.NDArray[np.int64] = nodes.allowed_pods - usage.pod_count
    else:
        resource = nodes.resources.find(name)
        if resource < 0 or resource >= len(nodes.allocatable):
            return np.zeros(nodes.capacity, dtype=np.int64)
        free = nodes.allocatable[resource] - usage.requested_of(resource)
    for info in without:
        held = cluster.placements.get(info.uid)
        if held is not None:
            free[held.row] += 1 if name == PODS else held.info.shape.accounted.get(name, 0)
    return free


_FIT: Final = "NodeResourcesFit"
_ALWAYS: Final = frozenset({"cpu", "memory", "ephemeral-storage"})


class CountedResources:
    def __init__(self, handle: Handle) -> None:
        self._handle = handle
        self._ignored: frozenset[str] | None = None
        self._ignored_groups: frozenset[str] = frozenset()
        self._fits = True

    def __contains__(self, name: str) -> bool:
        if self._ignored is None:
            self._ignored = self._find_ignored()
        if not self._fits:
            return False
        if name in _ALWAYS:
            return True
        if name in self._ignored or name.partition("/")[0] in self._ignored_groups:
            return False
        nodes = self._handle.cluster.nodes
        resource = nodes.resources.find(name)
        return 0 <= resource < len(nodes.allocatable) and bool(nodes.allocatable[resource].any())

    def _find_ignored(self) -> frozenset[str]:
        """Asked when all plugins are there."""
        ignored = {
            resource.name
            for extender in self._handle.extenders
            for resource in extender.managed_resources
        }
        fit = next((p for p in self._handle.profile.filter if p.name == _FIT), None)
        self._fits = fit is not None
        if fit is not None and isinstance(fit.args, NodeResourcesFitArgs):
            ignored.update(fit.args.ignored_resources)
            self._ignored_groups = frozenset(fit.args.ignored_resource_groups)
        return frozenset(ignored)


_API_VERSIONS: Final = tuple(
    f"kubescheduler.config.k8s.io/{version}" for version in ("v1beta1", "v1beta2", "v1beta3", "v1")
)
_KIND: Final = "CoschedulingArgs"
_MAX_SECONDS: Final = 1 << 31
DEFAULT_WAIT_S: Final = 60.0

_Seconds = Annotated[int, msgspec.Meta(ge=0, lt=_MAX_SECONDS)]


class CoschedulingArgs(msgspec.Struct, rename="camel", frozen=True):
    permit_waiting_time_seconds: _Seconds = 60
    """How long members wait for each other if their group does not say."""
    pod_group_backoff_seconds: _Seconds = 0
    """For how long a group is turned away after it was rejected; 0: not at all."""
    pod_group_reject_percentage: Annotated[int, msgspec.Meta(ge=0, le=100)] = 10
    """How much of a group may be missing when one of it fails for the others to go on waiting."""
    denied_pg_expiration_time_seconds: _Seconds | None = msgspec.field(
        default=None, name="deniedPGExpirationTimeSeconds"
    )
    """For how long a group is denied after any failure. upstream: 20 s in releases 0.19 to 0.23.9,
    ignored later; here it counts if it is written."""
    kube_master: str | None = None
    kube_config_path: str | None = None
    api_version: str = ""
    kind: str = ""

    def __post_init__(self) -> None:
        if self.kind not in ("", _KIND):
            raise ValueError(f'kind "{self.kind}" is not {_KIND}')
        if self.api_version not in ("", *_API_VERSIONS):
            known = ", ".join(_API_VERSIONS)
            raise ValueError(f'apiVersion "{self.api_version}" is none of {known}')

    @property
    def wait_s(self) -> float:
        return float(self.permit_waiting_time_seconds) or DEFAULT_WAIT_S


_APPROVED: Final = "https://github.com/kubernetes-sigs/scheduler-plugins/pull/50"
_COLUMNS: Final = (
    ("Phase", "string", ".status.phase"),
    ("MinMember", "integer", ".spec.minMember"),
    ("Running", "integer", ".status.running"),
    ("Succeeded", "integer", ".status.succeeded"),
    ("Failed", "integer", ".status.failed"),
    ("Age", "date", ".metadata.creationTimestamp"),
)


def pod_group_definition() -> JsonObject:
    """The manifest to apply."""
    count: JsonObject = {"type": "integer", "format": "int32", "minimum": 0}
    spec: JsonObject = {
        "type": "object",
        "properties": {
            "minMember": {**count, "minimum": 1},
            "minResources": QUANTITIES,
            "scheduleTimeoutSeconds": {"type": "integer", "format": "int32"},
        },
    }
    status: JsonObject = {
        "type": "object",
        "properties": {
            "phase": {"type": "string"},
            "occupiedBy": {"type": "string"},
            "running": count,
            "succeeded": count,
            "failed": count,
            "scheduleStartTime": {"type": "string", "format": "date-time"},
        },
    }
    version: JsonObject = {
        "name": "v1alpha1",
        "served": True,
        "storage": True,
        "subresources": {"status": {}},
        "additionalPrinterColumns": [
            {"name": name, "type": kind, "jsonPath": path} for name, kind, path in _COLUMNS
        ],
        "schema": {
            "openAPIV3Schema": {
                "type": "object",
                "properties": {
                    "apiVersion": {"type": "string"},
                    "kind": {"type": "string"},
                    "metadata": {"type": "object"},
                    "spec": spec,
                    "status": status,
                },
            }
        },
    }
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {
            "name": "podgroups.scheduling.x-k8s.io",
            "annotations": {"api-approved.kubernetes.io": _APPROVED},
        },
        "spec": {
            "group": "scheduling.x-k8s.io",
            "scope": "Namespaced",
            "names": {
                "kind": "PodGroup",
                "listKind": "PodGroupList",
                "plural": "podgroups",
                "singular": "podgroup",
                "shortNames": ["pg", "pgs"],
            },
            "versions": [version],
        },
    }


POD_GROUPS: Final = WatchedKind(SchedulingXPodGroup, "podgroups", definition=pod_group_definition)
OLDER_POD_GROUPS: Final = WatchedKind(SchedulingSigsPodGroup, "podgroups", optional=True)
