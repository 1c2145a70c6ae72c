"""VolumeRestrictions: what must not be mounted twice.

Two rules of different reach. Some disks written straight into pods cannot be mounted by two pods on
one node (or only read-only), which is a question about each node. A claim with the access mode
ReadWriteOncePod admits one pod in the whole cluster, so a second user is turned away everywhere;
preemption of the first can help.

Four kinds of inline
volumes cannot be shared freely between pods of a node. Few pods have any, so each disk keeps the
rows of its users: a new pod's disks are looked up instead of walking the pods of every node. The
lists follow the cluster by the rows that changed since the last question; a trial's own changes are
answered from the trial's pods.

People are told which disk or claim is taken, and which pods hold it.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.kinds.storage import PersistentVolumeClaim
from podium.scheduler.cluster.growth import Mask, Rows, count_of
from podium.scheduler.cluster.pod_info import PodInfo
from podium.scheduler.cluster.state import Cluster
from podium.scheduler.cluster.usage import Usage
from podium.scheduler.framework.cycle import Cycle
from podium.scheduler.framework.diagnosis import Verdict, choosing
from podium.scheduler.framework.events import Action, Registration, Resource
from podium.scheduler.framework.explanations.finding import Finding, join_words, some
from podium.scheduler.framework.explanations.situation import AttemptView, Situation
from podium.scheduler.framework.plugin import RefusalCause
from podium.scheduler.framework.points import FilterPlugin, PreFilterExtensions, PreFilterPlugin
from podium.scheduler.framework.status import SKIP, Status, unresolvable, unschedulable
from podium.scheduler.plugins.volumes.pod_claims import (
    claim_not_found,
    find_claim,
    named_claims,
    uses_claim,
)

_SOURCES = ("gce_persistent_disk", "aws_elastic_block_store", "rbd", "iscsi")


class Disk(NamedTuple):
    """What identifies a disk, and whether it is mounted read-only.

    An RBD image has a Disk per monitor, since one common monitor makes two images the same.
    """

    kind: str
    identity: tuple[str, ...]
    read_only: bool

    def collides(self, other: "Disk") -> bool:
        """Whether two pods cannot both have it on one node."""
        same = self.kind == other.kind and self.identity == other.identity
        return same and not (self.read_only and other.read_only)


def disks_of(pod: Pod) -> Iterator[Disk]:
    for volume in pod.spec.volumes or ():
        if volume.gce_persistent_disk is not None:
            pd = volume.gce_persistent_disk
            yield Disk("gce", (pd.pd_name,), pd.read_only)
        if volume.aws_elastic_block_store is not None:
            # upstream: an EBS volume collides even when both pods only read it.
            yield Disk("aws", (volume.aws_elastic_block_store.volume_id,), read_only=False)
        if volume.iscsi is not None:
            yield Disk("iscsi", (volume.iscsi.iqn,), volume.iscsi.read_only)
        if volume.rbd is not None:
            rbd = volume.rbd
            for monitor in rbd.monitors or ():
                yield Disk("rbd", (monitor, rbd.pool, rbd.image), rbd.read_only)


def has_disks(pod: Pod) -> bool:
    """Whether a pod has a volume of the four kinds."""
    return any(
        getattr(volume, source) is not None
        for volume in pod.spec.volumes or ()
        for source in _SOURCES
    )


def conflicts(pod: Pod, other: Pod) -> bool:
    """Whether two pods cannot be on one node because of their inline disks."""
    theirs = list(disks_of(other))
    return bool(theirs) and any(disk.collides(held) for disk in disks_of(pod) for held in theirs)


class InlineDisks:
    """Rows of the users of each inline disk."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._seen = -1
        self._rows: defaultdict[Disk, set[int]] = defaultdict(set)
        self._disks: dict[int, set[Disk]] = {}

    def mask_conflicting(self, pod: Pod, usage: Usage) -> Mask:
        """Over all rows: where a disk of the pod collides with one in use."""
        self._catch_up()
        size = self._cluster.nodes.size
        mask: Mask = np.zeros(size, dtype=np.bool_)
        wanted = list(disks_of(pod))
        for disk in wanted:
            for read_only in (False, True):
                held = Disk(disk.kind, disk.identity, read_only)
                if disk.collides(held) and held in self._rows:
                    mask[list(self._rows[held])] = True
        for row in usage.strayed_rows():
            mask[row] = any(conflicts(pod, other.pod) for other in usage.pods(row))
        return mask

    def _catch_up(self) -> None:
        usage = self._cluster.usage
        if usage.generation == self._seen:
            return
        for row in np.flatnonzero(usage.changed[: self._cluster.nodes.size] > self._seen).tolist():
            self._note(row, {disk for info in usage.pods(row) for disk in disks_of(info.pod)})
        self._seen = usage.generation

    def _note(self, row: int, disks: set[Disk]) -> None:
        known = self._disks.pop(row, set())
        if disks:
            self._disks[row] = disks
        for gone in known - disks:
            self._rows[gone].discard(row)
            if not self._rows[gone]:
                del self._rows[gone]
        for new in disks - known:
            self._rows[new].add(row)


DISK_CONFLICT = unschedulable("node(s) had no available disk")
CLAIM_IN_USE = unschedulable(
    "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already"
    " in-use by another pod"
)
READ_WRITE_ONCE_POD = "ReadWriteOncePod"


@dataclass(slots=True)
class ExclusiveClaims:
    """The pod's ReadWriteOncePod claims and how many times others hold one of them."""

    names: frozenset[str]
    conflicts: int

    def clone(self) -> "ExclusiveClaims":
        return ExclusiveClaims(self.names, self.conflicts)


class VolumeRestrictions(PreFilterPlugin, PreFilterExtensions, FilterPlugin):
    name = "VolumeRestrictions"
    refusals_stand = True
    builds_on = MappingProxyType({"filter": "preFilter"})
    _disks: InlineDisks | None = None

    def pre_filter(self, cycle: Cycle) -> Status | None:
        pod = cycle.pod.pod
        if not pod.spec.volumes:
            return SKIP
        exclusive: set[str] = set()
        for name in named_claims(pod):
            claim = find_claim(self.handle.cluster.catalog, pod, name)
            if claim is None:
                return unresolvable(claim_not_found(name))
            if READ_WRITE_ONCE_POD in (claim.spec.access_modes or ()):
                exclusive.add(name)
        held = sum(_is_held(cycle, f"{pod.metadata.namespace}/{name}") for name in exclusive)
        if not held and not has_disks(pod):
            return SKIP
        cycle.write(self.name, ExclusiveClaims(frozenset(exclusive), held))
        return None

    def add_pod(self, cycle: Cycle, pod: PodInfo, row: int) -> None:  # noqa: ARG002
        self._count(cycle, pod.pod, 1)

    def remove_pod(self, cycle: Cycle, pod: PodInfo, row: int) -> None:  # noqa: ARG002
        self._count(cycle, pod.pod, -1)

    def _count(self, cycle: Cycle, pod: Pod, step: int) -> None:
        state = cycle.read(self.name, ExclusiveClaims)
        # upstream: names alone are compared, so a claim of that name elsewhere counts too.
        state.conflicts += step * sum(name in state.names for name in named_claims(pod))

    def pre_filter_stays(self, cycle: Cycle) -> bool:
        return cycle.pod.shape.is_plain

    def filter(self, cycle: Cycle, rows: Rows) -> Verdict | None:
        state = cycle.read(self.name, ExclusiveClaims)
        held = state.conflicts > 0
        blocked = self._disk_conflicts(cycle, rows)
        if blocked is None and not held:
            return None
        values = np.full(count_of(rows), 2 if held else 0, dtype=np.int32)
        if blocked is not None:
            values[blocked] = 1
        return choosing(values, (DISK_CONFLICT, CLAIM_IN_USE))

    def _disk_conflicts(self, cycle: Cycle, rows: Rows) -> Mask | None:
        if not has_disks(cycle.pod.pod):
            return None
        if self._disks is None:
            self._disks = InlineDisks(self.handle.cluster)
        return self._disks.mask_conflicting(cycle.pod.pod, cycle.usage)[rows]

    def explain_rejections(self, view: AttemptView, among: Mask) -> list[Finding]:
        return find_restrictions(view, among)

    def explain_refusal(self, pod: PodInfo, status: Status) -> RefusalCause | None:  # noqa: ARG002
        from podium.scheduler.plugins.volumes.claim_causes import explain_claim_problem

        return explain_claim_problem(self.handle.cluster.catalog, pod.pod)

    def find_blockers(self, situation: Situation) -> Callable[[str], list[PodInfo]]:
        return find_blockers(situation)

    def events(self) -> Sequence[Registration]:
        return (
            Registration(Resource.POD, Action.DELETE, _pod_frees_volume),
            Registration(Resource.NODE, self.handle.new_node_actions),
            Registration(Resource.PERSISTENT_VOLUME_CLAIM, Action.ADD, _claim_is_used),
        )


def _is_held(cycle: Cycle, key: str) -> bool:
    """Whether a pod on some node uses the claim; pods whose node is gone do not count."""
    users = cycle.usage.claims.get(key, 0)
    if users and not cycle.nodes.dense():
        for row in np.flatnonzero(~cycle.nodes.present[: cycle.nodes.size]):
            users -= sum(pod.shape.claim_names.count(key) for pod in cycle.usage.pods(int(row)))
    return users > 0


def _pod_frees_volume(pod: PodInfo, old: Pod, new: Pod | None) -> bool:  # noqa: ARG001
    if old.metadata.namespace != pod.pod.metadata.namespace:
        return False
    return conflicts(pod.pod, old) or not set(named_claims(pod.pod)).isdisjoint(named_claims(old))


def _claim_is_used(
    pod: PodInfo,
    old: PersistentVolumeClaim | None,  # noqa: ARG001
    new: PersistentVolumeClaim,
) -> bool:
    return uses_claim(pod.pod, new, ephemeral=False)


def find_restrictions(view: AttemptView, among: Mask) -> list[Finding]:
    found: list[Finding] = []
    held = among & view.with_reason(VolumeRestrictions.name, CLAIM_IN_USE.reasons[0])
    if held.any():
        found.extend(_find_exclusive(view, held))
    disks = among & view.with_reason(VolumeRestrictions.name, DISK_CONFLICT.reasons[0])
    if disks.any():
        found.append(_find_disks(view, disks))
    return found


def _find_exclusive(view: AttemptView, among: Mask) -> Iterator[Finding]:
    namespace = view.pod.metadata.namespace
    for name in named_claims(view.pod):
        claim = find_claim(view.catalog, view.pod, name)
        if claim is None or READ_WRITE_ONCE_POD not in (claim.spec.access_modes or ()):
            continue
        key = f"{namespace}/{name}"
        users = [
            f"{pod.key} on {view.names[position]}"
            for position in range(len(view.names))
            for pod in view.pods_on(position)
            if key in pod.shape.claim_names
        ]
        if not users:
            continue
        clause = f"PersistentVolumeClaim {key} is {READ_WRITE_ONCE_POD} and in use by {some(users)}"
        yield Finding(
            "volume-claim-in-use",
            key,
            among,
            clause,
            clause,
            facts={"claim": key, "pods": [*users[:20]]},
        )


def _find_disks(view: AttemptView, among: Mask) -> Finding:
    names = join_words(sorted({disk.identity[-1] for disk in disks_of(view.pod)}))
    users = {
        position: [pod.key for pod in view.pods_on(position) if conflicts(view.pod, pod.pod)]
        for position in view.positions(among)
    }
    pods = [key for keys in users.values() for key in keys]
    clause = f"disk {names} is mounted by {some(pods)}: {view.say(among, 'has', 'have')} such a pod"
    return Finding(
        "disk-in-use",
        names,
        among,
        clause,
        f"disk {names} is in use",
        lambda position: f"disk {names} is mounted by {some(users[position])}",
        facts={"disks": names, "pods": [*pods[:20]]},
    )


def find_blockers(situation: Situation) -> Callable[[str], list[PodInfo]]:
    """A disk is held on one node, a ReadWriteOncePod claim everywhere."""
    cluster, own = situation.cluster, situation.info

    @cache
    def claim_holders() -> list[PodInfo]:
        wanted = set(own.shape.claim_names)
        placed = (held.info for held in cluster.placements.values())
        return [info for info in placed if wanted & set(info.shape.claim_names)]

    def on_node(name: str) -> list[PodInfo]:
        infos = cluster.usage.pods(cluster.nodes.row(name))
        found = [info for info in infos if conflicts(own.pod, info.pod)]
        refused = situation.objections[name].get(VolumeRestrictions.name)
        if refused is not None and refused.reasons == CLAIM_IN_USE.reasons:
            found += claim_holders()
        return found

    return on_node
