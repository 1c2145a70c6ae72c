"""EBSLimits, GCEPDLimits, AzureDiskLimits and CinderLimits: attach limits before CSI.

kube-scheduler had one such plugin per cloud until 1.31; 1.36 refuses configurations that name them,
and so does Podium in v1 files. They are here for older files, which have them among their defaults.
They only look at nodes without a CSINode (or, for still older releases, whose CSINode does not list
the plugin as migrated), so they count pod by pod rather than in columns
(`pkg/scheduler/framework/plugins/nodevolumelimits/non_csi.go` at v1.27).
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from podium.kubernetes.kinds.node import Node
from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.kinds.storage import PersistentVolume, PersistentVolumeClaim, StorageClass
from podium.kubernetes.kinds.volumes import Volume
from podium.kubernetes.rules.quantity import value
from podium.scheduler.cluster.growth import Mask, Rows, count_of, indices
from podium.scheduler.framework.cycle import Cycle
from podium.scheduler.framework.diagnosis import Verdict, per_row, rejecting
from podium.scheduler.framework.events import Action, Registration, Resource
from podium.scheduler.framework.explanations.finding import Finding
from podium.scheduler.framework.explanations.situation import AttemptView
from podium.scheduler.framework.handle import Handle
from podium.scheduler.framework.points import Arguments, FilterPlugin, PreFilterPlugin
from podium.scheduler.framework.status import SKIP, Status, error
from podium.scheduler.plugins.node_volume_limits import TOO_MANY_VOLUMES
from podium.scheduler.plugins.volumes.attach_limits import (
    UNBOUND_PREFIX,
    CsiNodeColumns,
    UncountableError,
)
from podium.scheduler.plugins.volumes.csi_translation import (
    AWS_EBS,
    AZURE_DISK,
    CINDER,
    GCE_PD,
    InTreePlugin,
)
from podium.scheduler.plugins.volumes.pod_claims import (
    NO_CLAIM_NAME,
    PodVolumeClaim,
    claim_not_found,
    claim_of,
    controls,
    find_claim,
    not_owner,
)

INSTANCE_TYPE_LABELS = ("beta.kubernetes.io/instance-type", "node.kubernetes.io/instance-type")

# upstream: only the first alternative is anchored.
_NITRO = re.compile(r"^[cmr]5.*|t3|z1d")
_NITRO_EBS_LIMIT = 25


@dataclass(frozen=True, slots=True)
class LegacyLimitsArgs:
    """`max_pd_volumes` is the text of KUBE_MAX_PD_VOLS; `annotated_migration` asks for the
    migrated-plugins annotation where later releases were content with a CSINode."""

    max_pd_volumes: str = ""
    annotated_migration: bool = False


class LegacyVolumeLimits(PreFilterPlugin, FilterPlugin):
    """What the four have in common; each names its volumes and its numbers."""

    refusals_stand = True
    disk: ClassVar[InTreePlugin]
    id_field: ClassVar[str]
    default_limit: ClassVar[int]
    limit_resource: ClassVar[str]

    def __init__(self, args: Arguments, handle: Handle) -> None:
        super().__init__(args, handle)
        self._args = args if isinstance(args, LegacyLimitsArgs) else LegacyLimitsArgs()
        self._csi_nodes = CsiNodeColumns(handle.cluster)

    def pre_filter(self, cycle: Cycle) -> Status | None:
        pod = cycle.pod.pod
        relevant = (
            self._inline_id(volume) is not None or claim_of(pod, volume) is not None
            for volume in pod.spec.volumes or ()
        )
        return None if any(relevant) else SKIP

    def pre_filter_stays(self, cycle: Cycle) -> bool:
        return cycle.pod.shape.is_plain

    def filter(self, cycle: Cycle, rows: Rows) -> Verdict | None:
        try:
            new = set(self._disks(cycle.pod.pod, new=True))
        except UncountableError as problem:
            return rejecting(np.ones(count_of(rows), dtype=np.bool_), error(str(problem)))
        if not new:
            return None
        if self._args.annotated_migration:
            migrated = self._csi_nodes.mask_migrated(self.disk.name)
        else:
            migrated = self._csi_nodes.exists()
        rejected: dict[int, Status] = {}
        for position, row in enumerate(indices(rows).tolist()):
            if not migrated[row]:
                status = self._check(cycle, row, new)
                if status is not None:
                    rejected[position] = status
        return per_row(rejected, count_of(rows))

    def _check(self, cycle: Cycle, row: int, new: set[str]) -> Status | None:
        held: set[str] = set()
        try:
            for info in cycle.usage.pods(row):
                held.update(self._disks(info.pod, new=False))
        except UncountableError as problem:
            return error(str(problem))
        exceeded = len(held | new) > self.limit(cycle.nodes.node(row))
        return TOO_MANY_VOLUMES if exceeded else None

    def limit(self, node: Node) -> int:
        """How many volumes fit: the node's own word, else the environment's, else the default."""
        written = (node.status.allocatable or {}).get(self.limit_resource)
        if written is not None:
            return value(written)
        chosen = self._args.max_pd_volumes
        if re.fullmatch(r"\+?[0-9]+", chosen) and int(chosen) > 0:
            return int(chosen)
        return self._default_for(node)

    def _default_for(self, node: Node) -> int:  # noqa: ARG002
        return self.default_limit

    def _disks(self, pod: Pod, *, new: bool) -> Iterator[str]:
        """Ids of the disks of this kind that a pod uses or will use."""
        for volume in pod.spec.volumes or ():
            inline = self._inline_id(volume)
            used = claim_of(pod, volume)
            found = inline
            if inline is None and used is not None:
                found = self._claimed_id(pod, used, new=new)
            if found is not None:
                yield found

    def _claimed_id(self, pod: Pod, used: PodVolumeClaim, *, new: bool) -> str | None:
        namespace = pod.metadata.namespace
        if not used.name:
            raise UncountableError(NO_CLAIM_NAME)
        claim = find_claim(self.handle.cluster.catalog, pod, used.name)
        if claim is None:
            if new:
                missing = claim_not_found(used.name)
                raise UncountableError(f"looking up PVC {namespace}/{used.name}: {missing}")
            return None
        if used.ephemeral and not controls(pod, claim):
            raise UncountableError(not_owner(pod, claim))
        name = claim.spec.volume_name
        volume = self.handle.cluster.catalog.get(PersistentVolume, name) if name else None
        if volume is not None:
            return self._id(getattr(volume.spec, self.disk.source))
        if self._will_be_made(claim):
            return f"{UNBOUND_PREFIX}-{namespace}/{used.name}"
        return None

    def _will_be_made(self, claim: PersistentVolumeClaim) -> bool:
        """Whether the claim's class makes disks of this kind; the beta annotation is not read."""
        name = claim.spec.storage_class_name
        found = self.handle.cluster.catalog.get(StorageClass, name) if name else None
        return found is not None and found.provisioner == self.disk.name

    def _inline_id(self, volume: Volume) -> str | None:
        return self._id(getattr(volume, self.disk.source))

    def _id(self, source: object | None) -> str | None:
        return str(getattr(source, self.id_field)) if source is not None else None

    def explain_rejections(self, view: AttemptView, among: Mask) -> list[Finding]:
        return find_disk_limits(self, view, among)

    def events(self) -> Sequence[Registration]:
        return (
            Registration(Resource.NODE, Action.ADD),
            Registration(Resource.POD, Action.DELETE),
            Registration(Resource.PERSISTENT_VOLUME_CLAIM, Action.ADD),
        )


class EBSLimits(LegacyVolumeLimits):
    name = "EBSLimits"
    disk = AWS_EBS
    id_field = "volume_id"
    default_limit = 39
    limit_resource = "attachable-volumes-aws-ebs"

    def _default_for(self, node: Node) -> int:
        labels = node.metadata.labels or {}
        kinds = (labels[key] for key in INSTANCE_TYPE_LABELS if key in labels)
        return _NITRO_EBS_LIMIT if _NITRO.search(next(kinds, "")) else self.default_limit


class GCEPDLimits(LegacyVolumeLimits):
    name = "GCEPDLimits"
    disk = GCE_PD
    id_field = "pd_name"
    default_limit = 16
    limit_resource = "attachable-volumes-gce-pd"


class AzureDiskLimits(LegacyVolumeLimits):
    name = "AzureDiskLimits"
    disk = AZURE_DISK
    id_field = "disk_name"
    default_limit = 16
    limit_resource = "attachable-volumes-azure-disk"


class CinderLimits(LegacyVolumeLimits):
    name = "CinderLimits"
    disk = CINDER
    id_field = "volume_id"
    default_limit = 256
    limit_resource = "attachable-volumes-cinder"


def find_disk_limits(plugin: LegacyVolumeLimits, view: AttemptView, among: Mask) -> list[Finding]:
    """EBSLimits and its like: so many disks of a kind, whatever the driver says."""
    limits = {
        position: plugin.limit(view.examination.objects[view.names[position]])
        for position in view.positions(among)
    }
    most, kind = max(limits.values()), plugin.disk.name
    clause = f"{view.say(among, 'has', 'have')} no place for another {kind} disk"
    clause += f"; the largest limit is {most}"
    return [
        Finding(
            "volume-limit",
            kind,
            among,
            clause,
            f"no place for another {kind} disk",
            lambda position: f"at most {limits[position]} {kind} disks, and they are there",
            facts={"kind": kind, "limit": most},
        )
    ]
