"""VolumeRestrictions: what must not be mounted twice.

Two rules of different reach. Some disks written straight into pods cannot be mounted by two pods on
one node (or only read-only), which is a question about each node. A claim with the access mode
ReadWriteOncePod admits one pod in the whole cluster, so a second user is turned away everywhere;
preemption of the first can help.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.kinds.storage import PersistentVolumeClaim
from podium.scheduler.cluster.growth import Mask, Rows, count_of
from podium.scheduler.cluster.pod_info import PodInfo
from podium.scheduler.framework.cycle import Cycle
from podium.scheduler.framework.diagnosis import Verdict, choosing
from podium.scheduler.framework.events import Action, Registration, Resource
from podium.scheduler.framework.explanations.finding import Finding
from podium.scheduler.framework.explanations.situation import AttemptView, Situation
from podium.scheduler.framework.plugin import RefusalCause
from podium.scheduler.framework.points import FilterPlugin, PreFilterExtensions, PreFilterPlugin
from podium.scheduler.framework.status import SKIP, Status, unresolvable, unschedulable
from podium.scheduler.plugins.volume_restrictions.inline_disks import (
    InlineDisks,
    conflicts,
    has_disks,
)
from podium.scheduler.plugins.volumes.pod_claims import (
    claim_not_found,
    find_claim,
    named_claims,
    uses_claim,
)

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
        return self._disks.conflicting(cycle.pod.pod, cycle.usage)[rows]

    def explain_rejections(self, view: AttemptView, among: Mask) -> list[Finding]:
        from podium.scheduler.plugins.volume_restrictions.causes import find_restrictions

        return find_restrictions(view, among)

    def explain_refusal(self, pod: PodInfo, status: Status) -> RefusalCause | None:  # noqa: ARG002
        from podium.scheduler.plugins.volumes.claim_causes import explain_claim_problem

        return explain_claim_problem(self.handle.cluster.catalog, pod.pod)

    def find_blockers(self, situation: Situation) -> Callable[[str], list[PodInfo]]:
        from podium.scheduler.plugins.volume_restrictions.blockers import find_blockers

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
