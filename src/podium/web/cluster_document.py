"""The nodes as columns, and which of them have changed: what the heat map is drawn from.

Everything is read off the engine's own table, which says by itself which rows are newer than a
generation; nothing is noted down while pods are scheduled. A mark names the moment of a document:
the table it is of, and how far that had come.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import ClassVar, Final

import numpy as np
import numpy.typing as npt
from msgspec import UNSET, UnsetType

from podium.golang.document_structs import Count, Document, DocumentPart, Unit
from podium.kubernetes.rules.requests import PODS, UNITS, unit_of
from podium.scheduler.cluster.state import Cluster

MAX_CHANGED: Final = 2_000
"""Nodes in one message; whoever has missed more reads the whole."""
MAX_GROUP_KEYS: Final = 24
MAX_GROUPS: Final = 200
"""Values of a label by which nodes can be grouped."""
_OLD_KEYS: Final = "beta.kubernetes.io"
"""Labels that say again what newer ones say."""
_FIRST_KEYS: Final = (
    "topology.kubernetes.io/zone",
    "topology.kubernetes.io/region",
    "node.kubernetes.io/instance-type",
)

Rows = npt.NDArray[np.intp]


class NodeAmounts(DocumentPart, frozen=True):
    """A resource of all nodes."""

    name: str
    """Its name."""
    unit: Unit
    """What amounts are counted in."""
    allocatable: Sequence[int]
    """What pods may have."""
    requested: Sequence[int]
    """What pods ask for."""


class NodeGrouping(DocumentPart, frozen=True):
    """A label by which nodes fall into groups."""

    label: str
    """The label's key."""
    values: Sequence[str]
    """Its values."""
    of: Sequence[int]
    """The position of each node's value, -1 for none."""


class ClusterDocument(Document, frozen=True):
    """All nodes as columns, for the heat map of the page."""

    KIND: ClassVar[str] = "ClusterView"

    mark: str
    """The moment of this document; changes can be asked for from here on."""
    names: Sequence[str]
    """Names of the nodes; all columns are in this order."""
    resources: Sequence[NodeAmounts]
    """Amounts of each resource: cpu in milli, memory in bytes."""
    unschedulable: Sequence[Count]
    """Positions of nodes that take no new pods."""
    tainted: Sequence[Count]
    """Positions of nodes with taints."""
    groups: Sequence[NodeGrouping]
    """Labels by which nodes fall into groups."""


class ClusterChanges(DocumentPart, frozen=True):
    """What is different since a mark; nothing at all if nothing is."""

    reload: bool | UnsetType = UNSET
    """So much that the document has to be read anew."""
    changed: Sequence[Count] | UnsetType = UNSET
    """Positions of the nodes."""
    requested: Mapping[str, Sequence[int]] | UnsetType = UNSET
    """What the pods of each take now, by resource."""


class ClusterReader:
    """Of one engine's cluster; `epoch` tells it from those of other engines."""

    def __init__(self, cluster: Cluster, epoch: str) -> None:
        self._cluster = cluster
        self._epoch = epoch
        self._groups: tuple[int, list[NodeGrouping]] = (-1, [])

    @property
    def mark(self) -> str:
        return f"{self._frame}.{self._cluster.usage.generation}"

    @property
    def _frame(self) -> str:
        """What has to be the same for a difference to make sense."""
        nodes = self._cluster.nodes
        return f"{self._epoch}.{nodes.generation}.{nodes.growth}"

    def document(self) -> ClusterDocument:
        cluster = self._cluster
        nodes, usage = cluster.nodes, cluster.usage
        usage.grow()
        rows = self._rows()
        resources = []
        for index, name in enumerate(nodes.resources):
            allocatable = nodes.allocatable[index, rows]
            requested = usage.requested[index, rows]
            if name in UNITS or allocatable.any() or requested.any():
                resources.append(_resource(name, allocatable, requested))
        resources.insert(2, _resource(PODS, nodes.allowed_pods[rows], usage.pod_count[rows]))
        return ClusterDocument(
            mark=self.mark,
            names=[nodes.names[row] for row in rows.tolist()],
            resources=resources,
            unschedulable=np.flatnonzero(nodes.unschedulable[rows]).tolist(),
            tainted=np.flatnonzero(nodes.taint_set[rows]).tolist(),
            groups=self._get_groups(rows),
        )

    def changes(self, mark: str) -> ClusterChanges:
        """What each changed node's pods take now, resource by resource as in the document."""
        frame, _, generation = mark.rpartition(".")
        usage = self._cluster.usage
        if frame != self._frame or not generation.isdigit():
            return ClusterChanges(reload=True)
        if int(generation) == usage.generation:
            return ClusterChanges()
        usage.grow()
        rows = self._rows()
        changed = np.flatnonzero(usage.changed[rows] > int(generation))
        if len(changed) > MAX_CHANGED:
            return ClusterChanges(reload=True)
        columns = self._cluster.nodes.resources
        picked = rows[changed]
        return ClusterChanges(
            changed=changed.tolist(),
            requested={
                **{
                    name: usage.requested[index, picked].tolist()
                    for index, name in enumerate(columns)
                },
                PODS: usage.pod_count[picked].tolist(),
            },
        )

    def _rows(self) -> Rows:
        return np.flatnonzero(self._cluster.nodes.present[: self._cluster.nodes.size])

    def _get_groups(self, rows: Rows) -> list[NodeGrouping]:
        """Labels by which nodes fall into groups, with the group of each node; -1 has none."""
        generation = self._cluster.nodes.generation
        if self._groups[0] != generation:
            self._groups = (generation, self._group(rows))
        return self._groups[1]

    def _group(self, rows: Rows) -> list[NodeGrouping]:
        nodes = self._cluster.nodes
        labels = [nodes.node(row).metadata.labels or {} for row in rows.tolist()]
        values: dict[str, dict[str, int]] = {}
        uses: Counter[str] = Counter()
        for each in labels:
            for key, value in each.items():
                if _OLD_KEYS in key:
                    continue
                seen = values.setdefault(key, {})
                if len(seen) <= MAX_GROUPS:
                    seen.setdefault(value, len(seen))
                uses[key] += 1
        useful = [key for key, seen in values.items() if len(seen) <= min(MAX_GROUPS, len(rows))]
        useful = [key for key in useful if len(values[key]) < len(rows) or len(rows) <= 3]
        useful.sort(key=lambda key: (_rank(key), len(values[key]) == 1, -uses[key], key))
        return [
            NodeGrouping(
                key,
                list(values[key]),
                [values[key].get(each.get(key, ""), -1) if key in each else -1 for each in labels],
            )
            for key in useful[:MAX_GROUP_KEYS]
        ]


def _rank(key: str) -> int:
    return _FIRST_KEYS.index(key) if key in _FIRST_KEYS else len(_FIRST_KEYS)


def _resource(
    name: str, allocatable: npt.NDArray[np.int64], requested: npt.NDArray[np.int64]
) -> NodeAmounts:
    return NodeAmounts(name, unit_of(name), allocatable.tolist(), requested.tolist())
