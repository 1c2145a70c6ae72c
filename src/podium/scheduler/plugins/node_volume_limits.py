"""NodeVolumeLimits: a CSI driver attaches only so many volumes to a node.

The limit of each driver is in the node's CSINode. A node is rejected when the volumes it has
and the ones the pod would add exceed the limit of one of the pod's drivers; volumes the node has
already cost nothing. Limits and counts are columns; the pod's own volumes are counted once, for
nodes with and without a CSINode, because in-tree volumes count only where their driver can be.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.kinds.storage import (
    CSIDriver,
    CSINode,
    PersistentVolumeClaim,
    VolumeAttachment,
)
from podium.kubernetes.kinds.volumes import Volume
from podium.scheduler.cluster.catalog import Catalog
from podium.scheduler.cluster.growth import Codes, Mask, Rows, count_of, indices
from podium.scheduler.cluster.pod_info import PodInfo
from podium.scheduler.framework.cycle import Cycle
from podium.scheduler.framework.diagnosis import Verdict, choosing
from podium.scheduler.framework.events import Action, Registration, Resource
from podium.scheduler.framework.explanations.finding import Finding, count
from podium.scheduler.framework.explanations.situation import (
    ATTACHED_VOLUMES,
    AttemptView,
    Situation,
)
from podium.scheduler.framework.handle import Handle
from podium.scheduler.framework.points import Arguments, FilterPlugin, PreFilterPlugin
from podium.scheduler.framework.status import SKIP, Status, error, unresolvable, unschedulable
from podium.scheduler.plugins.volumes.attach_limits import (
    NO_LIMIT,
    AttachedVolumes,
    ClaimMissingError,
    CsiNodeColumns,
    NodeVolumes,
    UncountableError,
    VolumeCounting,
    limits_of,
)
from podium.scheduler.plugins.volumes.csi_translation import (
    CsiVolume,
    TranslationError,
    in_tree_plugin,
    translate_inline,
)
from podium.scheduler.plugins.volumes.pod_claims import uses_claim

TOO_MANY_VOLUMES = unschedulable("node(s) exceed max volume count")


@dataclass(frozen=True, slots=True)
class NewVolumes:
    """What a pod would attach, by driver, or why that cannot be said."""

    by_driver: dict[str, frozenset[CsiVolume]]
    problem: Status | None = None


class LimitedVolumes:
    """A pod's new volumes on nodes with a CSINode, where migration is on, and on those without;
    counted when they are first asked for."""

    def __init__(self, catalog: Catalog, pod: Pod) -> None:
        self._catalog = catalog
        self._pod = pod

    @cached_property
    def migrated(self) -> NewVolumes:
        return _count(self._catalog, self._pod, migration=True)

    @cached_property
    def plain(self) -> NewVolumes:
        return _count(self._catalog, self._pod, migration=False)


class NodeVolumeLimits(PreFilterPlugin, FilterPlugin):
    name = "NodeVolumeLimits"
    refusals_stand = True
    spares_new_nodes = True
    rejects_by_degree = True

    def __init__(self, args: Arguments, handle: Handle) -> None:
        super().__init__(args, handle)
        self._scaling = handle.gates["VolumeLimitScaling"]
        self._csi_nodes = CsiNodeColumns(handle.cluster)
        self._attached = AttachedVolumes(handle.cluster, self._csi_nodes)

    def pre_filter(self, cycle: Cycle) -> Status | None:
        if not any(map(_may_count, cycle.pod.pod.spec.volumes or ())):
            return SKIP
        cycle.write(self.name, LimitedVolumes(self.handle.cluster.catalog, cycle.pod.pod))
        return None

    def pre_filter_stays(self, cycle: Cycle) -> bool:
        return cycle.pod.shape.is_plain

    def filter(self, cycle: Cycle, rows: Rows) -> Verdict | None:
        if not cycle.pod.pod.spec.volumes:
            return None
        new = cycle.states.get(self.name)
        if not isinstance(new, LimitedVolumes):
            new = LimitedVolumes(self.handle.cluster.catalog, cycle.pod.pod)
        answer = _Answer(count_of(rows))
        with_csi_node = self._csi_nodes.exists()[rows]
        for migrates, here in ((True, with_csi_node), (False, ~with_csi_node)):
            if not here.any():
                continue
            volumes = new.migrated if migrates else new.plain
            if volumes.problem is not None:
                answer.reject(here, volumes.problem)
            elif self._scaling:
                self._check_installed(answer, here, volumes, rows)
        if with_csi_node.any():
            self._check_limits(answer, new.migrated, cycle, rows)
        return choosing(answer.codes, answer.statuses)

    def _check_installed(
        self, answer: "_Answer", here: Mask, volumes: NewVolumes, rows: Rows
    ) -> None:
        """Gate VolumeLimitScaling: some drivers refuse pods on nodes they are not on."""
        for driver in volumes.by_driver:
            known = self.handle.cluster.catalog.get(CSIDriver, driver)
            if known is not None and known.spec.prevent_pod_scheduling_if_missing:
                missing = here & ~self._csi_nodes.mask_installed(driver)[rows]
                text = f"{driver} CSI driver is not installed on the node"
                answer.reject(missing, unschedulable(text))

    def _check_limits(self, answer: "_Answer", new: NewVolumes, cycle: Cycle, rows: Rows) -> None:
        limited = self._csi_nodes.mask_limited()[rows]
        if not new.by_driver or not limited.any():
            return
        self._attached.refresh()
        # Rows of a trial come first: what the cluster holds there does not count.
        trial = np.isin(indices(rows), self._attached.trial_rows(cycle.usage))
        for position in np.flatnonzero(trial & limited).tolist():
            row = int(indices(rows)[position])
            held, _ = self._attached.read(row, cycle.usage.pods(row))
            answer.reject_one(position, self._exceeds(row, held, new))
        limited = limited & ~trial
        for row, problem in self._attached.errors.items():
            answer.reject(limited & _is_row(row, rows), error(problem))
        answer.reject(limited & self._mask_exceeding(new, rows), TOO_MANY_VOLUMES)

    def _mask_exceeding(self, new: NewVolumes, rows: Rows) -> Mask:
        too_many: Mask = np.zeros(count_of(rows), dtype=np.bool_)
        for driver, volumes in new.by_driver.items():
            limit = self._csi_nodes.limits(driver)[rows]
            if (limit == NO_LIMIT).all():
                continue
            added = np.full(self.handle.cluster.nodes.size, len(volumes), dtype=np.int64)
            for volume in volumes:
                added[self._attached.holders(volume)] -= 1
            adds = added[rows]
            wanted = self._attached.counts(driver)[rows] + adds
            too_many |= (limit != NO_LIMIT) & (adds > 0) & (wanted > limit)
        return too_many

    def _exceeds(self, row: int, held: NodeVolumes, new: NewVolumes) -> Status | None:
        """The same for one row and given volumes on it."""
        if held.error is not None:
            return error(held.error)
        limits = limits_of(self._csi_nodes.by_row[row])
        for driver, volumes in new.by_driver.items():
            added = len(volumes - held.by_pods)
            if added and driver in limits and held.counts[driver] + added > limits[driver]:
                return TOO_MANY_VOLUMES
        return None

    def explain_rejections(self, view: AttemptView, among: Mask) -> list[Finding]:
        return find_limits(view, among)

    def find_lacking(self, situation: Situation, node: str) -> dict[str, int]:  # noqa: ARG002
        return {ATTACHED_VOLUMES: 1}

    def events(self) -> Sequence[Registration]:
        return (
            Registration(Resource.CSI_NODE, Action.ADD),
            Registration(Resource.CSI_NODE, Action.UPDATE, _limit_grew),
            Registration(Resource.POD, Action.DELETE, _pod_frees_volumes),
            Registration(Resource.PERSISTENT_VOLUME_CLAIM, Action.ADD, _claim_is_used),
            Registration(Resource.VOLUME_ATTACHMENT, Action.DELETE, _attachment_matters),
        )


def _count(catalog: Catalog, pod: Pod, *, migration: bool) -> NewVolumes:
    found: defaultdict[str, set[CsiVolume]] = defaultdict(set)
    try:
        for volume in VolumeCounting(catalog).volumes(pod, migration=migration, new=True):
            found[volume.driver].add(volume)
    except ClaimMissingError as problem:
        return NewVolumes({}, unresolvable(str(problem)))
    except UncountableError as problem:
        return NewVolumes({}, error(str(problem)))
    return NewVolumes({driver: frozenset(volumes) for driver, volumes in found.items()})


class _Answer:
    """Codes of rejected positions with the statuses they stand for; the first one stays."""

    def __init__(self, count: int) -> None:
        self.codes: Codes = np.zeros(count, dtype=np.int32)
        self.statuses: list[Status] = []

    def reject(self, mask: Mask, status: Status) -> None:
        fresh = mask & (self.codes == 0)
        if fresh.any():
            self.statuses.append(status)
            self.codes[fresh] = len(self.statuses)

    def reject_one(self, position: int, status: Status | None) -> None:
        if status is not None and self.codes[position] == 0:
            self.statuses.append(status)
            self.codes[position] = len(self.statuses)


def _is_row(row: int, rows: Rows) -> Mask:
    mask: Mask = indices(rows) == row
    return mask


def _may_count(volume: Volume) -> bool:
    return (
        volume.persistent_volume_claim is not None
        or volume.ephemeral is not None
        or in_tree_plugin(volume) is not None
    )


def _limit_grew(pod: PodInfo, old: CSINode, new: CSINode) -> bool:  # noqa: ARG001
    before = limits_of(old)
    return any(count > before.get(driver, 0) for driver, count in limits_of(new).items())


def _pod_frees_volumes(pod: PodInfo, old: Pod, new: Pod | None) -> bool:  # noqa: ARG001
    placed = old.spec.node_name or old.status.nominated_node_name
    return bool(placed) and any(map(_may_count, old.spec.volumes or ()))


def _claim_is_used(
    pod: PodInfo,
    old: PersistentVolumeClaim | None,  # noqa: ARG001
    new: PersistentVolumeClaim,
) -> bool:
    return uses_claim(pod.pod, new, ephemeral=True)


def _attachment_matters(
    pod: PodInfo,
    old: VolumeAttachment,
    new: VolumeAttachment | None,  # noqa: ARG001
) -> bool:
    # upstream: pods with nothing but generic ephemeral volumes are not woken.
    for volume in pod.pod.spec.volumes or ():
        if volume.persistent_volume_claim is not None:
            return True
        try:
            translated = translate_inline(volume, pod.pod.metadata.namespace)
        except TranslationError:
            return True
        if translated is not None and translated.driver == old.spec.attacher:
            return True
    return False


def find_limits(view: AttemptView, among: Mask) -> list[Finding]:
    """One finding for each driver that has no place left, or is not there."""
    counting = VolumeCounting(view.catalog)
    try:
        volumes = list(counting.volumes(view.pod, migration=True, new=True))
    except UncountableError:
        return []
    columns = CsiNodeColumns(view.cluster)
    attached = AttachedVolumes(view.cluster, columns)
    attached.refresh()
    found: list[Finding] = []
    for driver in sorted({volume.driver for volume in volumes}):
        new = len({volume for volume in volumes if volume.driver == driver})
        limits = columns.limits(driver)[view.rows]
        counts = attached.counts(driver)[view.rows].copy()
        nodes = among & (limits != NO_LIMIT) & (counts + new > limits)
        if nodes.any():
            found.append(_find_limit(view, driver, new, nodes, limits, counts))
        missing = among & ~nodes & ~columns.mask_installed(driver)[view.rows]
        if missing.any():
            clause = view.say(missing, "does", "do") + f" not have CSI driver {driver}"
            text = f"CSI driver {driver} is not installed on the node"
            found.append(Finding("csi-driver-missing", driver, missing, clause, text))
    return found


def _find_limit(
    view: AttemptView,
    driver: str,
    new: int,
    nodes: Mask,
    limits: np.typing.NDArray[np.int64],
    counts: np.typing.NDArray[np.int64],
) -> Finding:
    best = int(np.flatnonzero(nodes)[int((limits - counts)[nodes].argmax())])
    clause = (
        f"CSI driver {driver} has {int(counts[best])} of {int(limits[best])} volumes attached"
        f" on the best of them ({view.names[best]}); the pod adds {count(new, 'volume')}"
    )
    if not view.introduced:
        clause = clause.replace("the best of them", "the best node")
    return Finding(
        "volume-limit",
        driver,
        nodes,
        clause,
        f"CSI driver {driver} has no place left",
        lambda position: (
            f"CSI driver {driver} has {int(counts[position])} of {int(limits[position])} volumes"
            f" attached and the pod adds {new}"
        ),
        facts={"driver": driver, "adds": new, "limit": int(limits[best])},
    )
