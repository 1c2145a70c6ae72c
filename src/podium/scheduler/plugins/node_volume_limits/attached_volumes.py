"""CSI volumes that are attached, or about to be, to every node.

A volume counts once per node however many pods use it; volumes that VolumeAttachments know and no
pod uses count as well. What a node holds is worked out row by row and kept: each row remembers the
claims, volumes and classes it was read from, and is read again only when one of them, its pods, its
node or its VolumeAttachments change.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Set
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np

from podium.kubernetes.kinds.meta import KubeStruct
from podium.kubernetes.kinds.storage import (
    PersistentVolume,
    PersistentVolumeClaim,
    StorageClass,
    VolumeAttachment,
)
from podium.scheduler.cluster.growth import Ints, wider
from podium.scheduler.cluster.pod_info import PodInfo
from podium.scheduler.cluster.state import Cluster
from podium.scheduler.cluster.usage import Usage
from podium.scheduler.plugins.volumes.counted_volumes import (
    Dependency,
    UncountableError,
    VolumeCounting,
)
from podium.scheduler.plugins.volumes.csi_nodes import CsiNodeColumns
from podium.scheduler.plugins.volumes.csi_translation import CsiVolume


@dataclass(frozen=True, slots=True)
class NodeVolumes:
    """What is attached to one node: volumes of pods, and counts that include attachments."""

    by_pods: frozenset[CsiVolume] = frozenset()
    counts: Counter[str] = field(default_factory=Counter)
    error: str | None = None


_NOTHING = NodeVolumes()


class AttachedVolumes:
    """NodeVolumes of every row, and columns made from them."""

    def __init__(self, cluster: Cluster, csi_nodes: CsiNodeColumns) -> None:
        self._cluster = cluster
        self._csi_nodes = csi_nodes
        self.errors: dict[int, str] = {}
        self._rows: dict[int, NodeVolumes] = {}
        self._columns: dict[str, Ints] = {}
        self._holders: defaultdict[CsiVolume, set[int]] = defaultdict(set)
        self._readers: defaultdict[Dependency, set[int]] = defaultdict(set)
        self._reads: dict[int, set[Dependency]] = {}
        self._attachments = _Attachments(cluster)
        self._versions: dict[type, int] = {}
        self._usage_seen = -1
        self._nodes_seen = -1
        self._csi_rows: frozenset[int] = frozenset()

    def refresh(self) -> None:
        """Read again what changed since the last question."""
        for row in self._stale_rows():
            self._store(row, *self.read(row, self._cluster.usage.pods(row)))

    def read(self, row: int, pods: Iterable[PodInfo]) -> tuple[NodeVolumes, set[Dependency]]:
        """The volumes on a row if these were its pods, and what that was read from."""
        counting = VolumeCounting(self._cluster.catalog)
        migration = row in self._csi_nodes.rows
        by_pods: set[CsiVolume] = set()
        try:
            for info in pods:
                if info.pod.spec.volumes:
                    by_pods.update(counting.volumes(info.pod, migration=migration, new=False))
        except UncountableError as problem:
            return NodeVolumes(error=str(problem)), counting.read
        everything = set(by_pods)
        for attachment in self._attachments.of(self._cluster.nodes.names[row]):
            attached = counting.of_attachment(attachment)
            if attached is not None:
                everything.add(attached)
        counts = Counter(volume.driver for volume in everything)
        return NodeVolumes(frozenset(by_pods), counts), counting.read

    def trial_rows(self, usage: Usage) -> list[int]:
        """Rows where a trial's pods differ from the cluster's."""
        return usage.strayed_rows()

    def counts(self, driver: str) -> Ints:
        """Volumes of a driver per row. The array belongs to the table: do not keep it."""
        column = self._columns.get(driver)
        if column is None or len(column) < self._cluster.nodes.capacity:
            before = np.zeros(0, dtype=np.int64) if column is None else column
            column = self._columns[driver] = wider(before, self._cluster.nodes.capacity)
        return column

    def holders(self, volume: CsiVolume) -> list[int]:
        """Rows where a pod uses the volume already."""
        return list(self._holders.get(volume, ()))

    def _store(self, row: int, held: NodeVolumes, reads: set[Dependency]) -> None:
        before = self._rows.pop(row, _NOTHING)
        self.errors.pop(row, None)
        if held.error is not None:
            self.errors[row] = held.error
        if held.counts:
            self._rows[row] = held
        for driver in before.counts.keys() | held.counts.keys():
            self.counts(driver)[row] = held.counts.get(driver, 0)
        _move(self._holders, row, before.by_pods, held.by_pods)
        _move(self._readers, row, self._reads.pop(row, set()), reads)
        if reads:
            self._reads[row] = reads

    def _stale_rows(self) -> Iterable[int]:
        nodes, usage = self._cluster.nodes, self._cluster.usage
        stale = self._attachments.follow(self._changes(VolumeAttachment))
        for kind in (PersistentVolumeClaim, PersistentVolume, StorageClass):
            changed = self._changes(kind)
            if changed is None:
                stale.update(self._reads)
            else:
                for key in changed:
                    stale |= self._readers.get((kind, key), set())
        csi_rows = self._csi_nodes.rows
        if csi_rows is not self._csi_rows:
            stale |= csi_rows ^ self._csi_rows
            self._csi_rows = csi_rows
        if usage.generation != self._usage_seen:
            stale.update(np.flatnonzero(usage.changed[: nodes.size] > self._usage_seen).tolist())
            self._usage_seen = usage.generation
        if nodes.generation != self._nodes_seen:
            stale.update(nodes.changed_since(self._nodes_seen).tolist())
            self._nodes_seen = nodes.generation
        return stale

    def _changes(self, kind: type[KubeStruct]) -> Iterable[str] | None:
        catalog = self._cluster.catalog
        changed = catalog.changed_since(kind, self._versions.get(kind, 0))
        self._versions[kind] = catalog.version(kind)
        return changed


class _Attachments:
    """VolumeAttachments by node."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._known: dict[str, VolumeAttachment] = {}
        self._on_node: defaultdict[str, set[str]] = defaultdict(set)

    def of(self, node_name: str) -> Iterable[VolumeAttachment]:
        return (self._known[key] for key in self._on_node.get(node_name, ()))

    def follow(self, changed: Iterable[str] | None) -> set[int]:
        """Take over changed attachments (None: all); returns rows that gained or lost one."""
        catalog = self._cluster.catalog
        if changed is None:
            present = {found.metadata.name for found in catalog.all(VolumeAttachment)}
            changed = present | self._known.keys()
        touched: set[str] = set()
        for key in changed:
            before, now = self._known.pop(key, None), catalog.get(VolumeAttachment, key)
            if before is not None:
                self._on_node[before.spec.node_name].discard(key)
                touched.add(before.spec.node_name)
            if now is not None:
                self._known[key] = now
                self._on_node[now.spec.node_name].add(key)
                touched.add(now.spec.node_name)
        return {row for row in map(self._cluster.nodes.row, touched) if row >= 0}


_T = TypeVar("_T")


def _move(index: defaultdict[_T, set[int]], row: int, before: Set[_T], after: Set[_T]) -> None:
    """Let a row leave what it had and join what it has."""
    for gone in before - after:
        index[gone].discard(row)
        if not index[gone]:
            del index[gone]
    for new in after - before:
        index[new].add(row)
