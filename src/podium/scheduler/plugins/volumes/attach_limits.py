"""Attach limits of CSI drivers: which volumes count, what CSINodes allow, what is attached.

A volume of a pod counts under its driver and handle, so several pods can share it. In-tree volumes
count as what replaced them, on nodes that have a CSINode. A claim without a volume yet counts under
a name of its own: its volume will be attached as soon as it exists.

CSINodes as columns: which drivers a node has, how many volumes they take, what has migrated. A
CSINode is named like its node and says which CSI drivers run there. The volume plugins ask the same
few things of it for every node at once, so the answers are columns, made on first demand and kept
until a CSINode changes or a node comes or goes.

CSI volumes that are attached, or about to be, to every node. A volume counts once per node however
many pods use it; volumes that VolumeAttachments know and no pod uses count as well. What a node
holds is worked out row by row and kept: each row remembers the claims, volumes and classes it was
read from, and is read again only when one of them, its pods, its node or its VolumeAttachments
change.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TypeVar

import numpy as np

from podium.kubernetes.kinds.meta import KubeStruct
from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.kinds.storage import (
    CSINode,
    PersistentVolume,
    PersistentVolumeClaim,
    StorageClass,
    VolumeAttachment,
)
from podium.scheduler.cluster.catalog import Catalog, object_key
from podium.scheduler.cluster.growth import Ints, Mask, wider
from podium.scheduler.cluster.pod_info import PodInfo
from podium.scheduler.cluster.state import Cluster
from podium.scheduler.cluster.usage import Usage
from podium.scheduler.plugins.volumes.csi_translation import (
    PLUGIN_NAMED,
    CsiVolume,
    TranslationError,
    in_tree_plugin,
    translate_inline,
    translate_volume,
)
from podium.scheduler.plugins.volumes.pod_claims import (
    NO_CLAIM_NAME,
    PodVolumeClaim,
    claim_not_found,
    claim_of,
    class_of_claim,
    controls,
    not_owner,
)

# Stands where upstream has 32 random characters: no handle of a real volume begins like this.
UNBOUND_PREFIX = "unbound-claim-without-any-volume"

Dependency = tuple[type, str]
"""Kind and key of an object that an answer was read from."""


class UncountableError(ValueError):
    """A pod whose volumes cannot be counted, which ends the attempt."""


class ClaimMissingError(UncountableError):
    """A claim of the new pod does not exist, which keeps it off every node."""


@dataclass(slots=True)
class VolumeCounting:
    """Counts volumes of pods; `read` collects what the answers depend on."""

    catalog: Catalog
    read: set[Dependency] = field(default_factory=set)

    def volumes(self, pod: Pod, *, migration: bool, new: bool) -> Iterator[CsiVolume]:
        """The counted volumes of a pod on a node with (`migration`) or without a CSINode."""
        for volume in pod.spec.volumes or ():
            claim = claim_of(pod, volume)
            if claim is not None:
                counted = self._of_claim(pod, claim, migration=migration, new=new)
            elif migration and (plugin := in_tree_plugin(volume)) and plugin.migrates:
                try:
                    counted = translate_inline(volume, pod.metadata.namespace)
                except TranslationError as problem:
                    text = f"converting volume({volume.name}) from inline to csi: {problem}"
                    raise UncountableError(text) from None
            else:
                continue
            if counted is not None and counted.driver and counted.handle:
                yield counted

    def of_attachment(self, attachment: VolumeAttachment) -> CsiVolume | None:
        """The volume of a VolumeAttachment; those of in-tree volumes do not count."""
        name = attachment.spec.source.persistent_volume_name
        if not attachment.spec.attacher or name is None:
            return None
        volume = self._get_volume(name)
        if volume is None or volume.spec.csi is None:
            return None
        return CsiVolume(attachment.spec.attacher, volume.spec.csi.volume_handle)

    def _of_claim(
        self, pod: Pod, used: PodVolumeClaim, *, migration: bool, new: bool
    ) -> CsiVolume | None:
        namespace = pod.metadata.namespace
        if not used.name:
            raise UncountableError(NO_CLAIM_NAME)
        self.read.add((PersistentVolumeClaim, f"{namespace}/{used.name}"))
        claim = self.catalog.get(PersistentVolumeClaim, used.name, namespace)
        if claim is None:
            if new:
                raise ClaimMissingError(
                    f"looking up PVC {namespace}/{used.name}: {claim_not_found(used.name)}"
                )
            return None
        if used.ephemeral and not controls(pod, claim):
            raise UncountableError(not_owner(pod, claim))
        volume = self._get_volume(claim.spec.volume_name) if claim.spec.volume_name else None
        if volume is None:
            return self._find_unbound_volume(claim, migration=migration)
        if volume.spec.csi is not None:
            return CsiVolume(volume.spec.csi.driver, volume.spec.csi.volume_handle)
        plugin = in_tree_plugin(volume.spec)
        if plugin is None or not plugin.migrates or not migration:
            return None
        try:
            return translate_volume(volume)
        except TranslationError:
            # upstream: a volume that cannot be translated is left out of the count.
            return None

    def _find_unbound_volume(
        self, claim: PersistentVolumeClaim, *, migration: bool
    ) -> CsiVolume | None:
        class_name = class_of_claim(claim)
        if not class_name:
            return None
        self.read.add((StorageClass, class_name))
        storage_class = self.catalog.get(StorageClass, class_name)
        if storage_class is None:
            return None
        driver = storage_class.provisioner
        plugin = PLUGIN_NAMED.get(driver)
        if plugin is not None:
            if not migration or not plugin.migrates:
                return None
            driver = plugin.driver
        return CsiVolume(driver, f"{UNBOUND_PREFIX}-{object_key(claim.metadata)}")

    def _get_volume(self, name: str) -> PersistentVolume | None:
        self.read.add((PersistentVolume, name))
        return self.catalog.get(PersistentVolume, name)


MIGRATED_PLUGINS = "storage.alpha.kubernetes.io/migrated-plugins"
NO_LIMIT = -1


def limits_of(csi_node: CSINode) -> dict[str, int]:
    """Driver -> how many volumes it attaches to the node, for drivers that say so."""
    return {
        driver.name: driver.allocatable.count
        for driver in csi_node.spec.drivers or ()
        if driver.allocatable is not None and driver.allocatable.count is not None
    }


def migrated_plugins(csi_node: CSINode | None) -> frozenset[str]:
    """In-tree plugins that a node has handed over to their CSI drivers."""
    written = (csi_node.metadata.annotations or {}).get(MIGRATED_PLUGINS) if csi_node else None
    return frozenset(written.split(",")) if written else frozenset()


class CsiNodeColumns:
    """All columns have a place for each row of the node table and are not to be written to."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._version: tuple[int, int, int] = (-1, -1, -1)
        self._nodes: dict[int, CSINode] = {}
        self._rows: frozenset[int] = frozenset()
        self._masks: dict[tuple[str, str], Mask] = {}
        self._limits: dict[str, Ints] = {}

    @property
    def rows(self) -> frozenset[int]:
        """Rows that have a CSINode; the same object until they change."""
        self._refresh()
        return self._rows

    @property
    def by_row(self) -> Mapping[int, CSINode]:
        self._refresh()
        return MappingProxyType(self._nodes)

    def exists(self) -> Mask:
        return self._mask("exists", "", lambda _: True)

    def mask_installed(self, driver: str) -> Mask:
        """Rows whose CSINode lists a driver."""
        return self._mask(
            "installed",
            driver,
            lambda node: any(listed.name == driver for listed in node.spec.drivers or ()),
        )

    def mask_migrated(self, plugin: str) -> Mask:
        """Rows whose CSINode says that an in-tree plugin has been handed over."""
        return self._mask("migrated", plugin, lambda node: plugin in migrated_plugins(node))

    def mask_limited(self) -> Mask:
        """Rows where at least one driver has a limit."""
        return self._mask("limited", "", lambda node: bool(limits_of(node)))

    def limits(self, driver: str) -> Ints:
        """A driver's limit per row, NO_LIMIT where it has none."""
        self._refresh()
        column = self._limits.get(driver)
        if column is None:
            column = np.full(self._cluster.nodes.size, NO_LIMIT, dtype=np.int64)
            for row, csi_node in self._nodes.items():
                column[row] = limits_of(csi_node).get(driver, NO_LIMIT)
            column.flags.writeable = False
            self._limits[driver] = column
        return column

    def _mask(self, question: str, subject: str, holds: Callable[[CSINode], bool]) -> Mask:
        self._refresh()
        mask = self._masks.get((question, subject))
        if mask is None:
            mask = np.zeros(self._cluster.nodes.size, dtype=np.bool_)
            mask[[row for row, csi_node in self._nodes.items() if holds(csi_node)]] = True
            mask.flags.writeable = False
            self._masks[question, subject] = mask
        return mask

    def _refresh(self) -> None:
        nodes = self._cluster.nodes
        version = (self._cluster.catalog.version(CSINode), nodes.membership, nodes.size)
        if version == self._version:
            return
        self._version = version
        found = (
            (nodes.row(csi_node.metadata.name), csi_node)
            for csi_node in self._cluster.catalog.all(CSINode)
        )
        self._nodes = {row: csi_node for row, csi_node in found if row >= 0}
        if self._rows != self._nodes.keys():
            self._rows = frozenset(self._nodes)
        self._masks.clear()
        self._limits.clear()


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
