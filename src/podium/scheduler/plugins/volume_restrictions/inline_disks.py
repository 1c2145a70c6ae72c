"""Disks written straight into pod specs, and on which nodes they would collide.

Four kinds of inline volumes cannot be shared freely between pods of a node. Few pods have any, so
each disk keeps the rows of its users: a new pod's disks are looked up instead of walking the pods
of every node. The lists follow the cluster by the rows that changed since the last question; a
trial's own changes are answered from the trial's pods.
"""

from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from podium.kubernetes.kinds.pod import Pod
from podium.scheduler.cluster.growth import Mask
from podium.scheduler.cluster.state import Cluster
from podium.scheduler.cluster.usage import Usage

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

    def conflicting(self, pod: Pod, usage: Usage) -> Mask:
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
