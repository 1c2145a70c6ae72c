"""The pods of each node, for a map that draws them as blocks: who is where, what each requests.

Nothing is noted down while pods are scheduled: the table says by itself which rows are newer than a
generation. Pods made from one template share its facts, so that a pod is a name, a number and a
moment here. A document holds a bounded number of pods, since it is read in the scheduler's own
thread; whoever looks for the first time reads on from the row that is `next`, and asks afterwards
for what has changed since the mark of the first part.
"""

from collections.abc import Sequence
from typing import ClassVar, Final

import numpy as np
from msgspec import UNSET, UnsetType

from podium.golang.document_structs import Count, Document, DocumentPart
from podium.kubernetes.rules.timestamps import micro_time_text, seconds_of
from podium.scheduler.cluster.pod_info import PodInfo, PodShape
from podium.scheduler.cluster.state import Cluster
from podium.scheduler.engine import Engine
from podium.scheduler.explain.proposals.owners import owner_of

MAX_PODS: Final = 4_000
"""In one document, but for the last node's."""
MAX_CHANGED: Final = 1_000
"""Nodes in one difference; whoever has missed more reads the whole."""
_APP_LABELS: Final = ("app.kubernetes.io/name", "app", "k8s-app")

_ShapeAndPriority = tuple[PodShape, int]


class PodsTemplate(DocumentPart, frozen=True):
    """What pods have in common; of pods without a controller an app's label names the workload."""

    namespace: str
    """Their namespace."""
    owner_kind: str
    """The kind of the controller that makes them, empty without one."""
    workload: str
    """The name of their workload, empty if nothing tells it."""
    priority: int
    """Their priority."""
    requests: dict[str, int]
    """What each takes of its node: cpu in milli, memory in bytes."""


class PodsOfNode(DocumentPart, frozen=True):
    """The pods of one node as columns."""

    name: str
    """The node."""
    pods: tuple[str, ...]
    """Their names, without the namespace."""
    templates: tuple[Count, ...]
    """The position of each one's template."""
    created: tuple[int, ...]
    """When each was created, in seconds since 1970; 0 if nobody knows."""
    terminating: tuple[Count, ...]
    """The positions of those that are about to go."""


class PodsOnNodes(Document, frozen=True):
    """Pods on nodes, for the map of the page."""

    KIND: ClassVar[str] = "PodsOnNodesView"

    mark: str
    """The moment of this document; what has changed since can be asked for."""
    at: str
    """The scheduler's clock."""
    is_difference: bool
    """Whether nodes that are not named are as they were at the mark that was asked about."""
    templates: tuple[PodsTemplate, ...]
    """What pods of this document have in common."""
    nodes: tuple[PodsOfNode, ...]
    """Nodes with their pods."""
    next: Count | UnsetType = UNSET
    """Where the next part begins, if there is more."""


class PodsReader:
    """Of one engine; `epoch` tells it from other engines."""

    def __init__(self, engine: Engine, epoch: str) -> None:
        self._engine = engine
        self._epoch = epoch

    @property
    def _mark(self) -> str:
        cluster = self._engine.cluster
        return f"{self._epoch}.{cluster.usage.generation}.{cluster.nodes.generation}"

    def read_all(self, max_pods: int = MAX_PODS, first_row: int = 0) -> PodsOnNodes:
        """From a row on, as many nodes as have so many pods; those without pods are left out."""
        usage = self._engine.cluster.usage
        usage.grow()
        size = self._engine.cluster.nodes.size
        first_row = min(first_row, size)
        occupied = np.flatnonzero(usage.pod_count[first_row:size]) + first_row
        taken = int(np.searchsorted(np.cumsum(usage.pod_count[occupied]), max_pods)) + 1
        further = int(occupied[taken]) if taken < len(occupied) else UNSET
        return self._read(occupied[:taken].tolist(), further)

    def read_since(self, mark: str) -> PodsOnNodes:
        """What has changed, or the first part of everything where that is too much or unknown."""
        since = self._generations(mark)
        if since is None:
            return self.read_all()
        nodes, usage = self._engine.cluster.nodes, self._engine.cluster.usage
        usage.grow()
        newer = usage.changed[: nodes.size] > since[0]
        # A node that was away may come back to the pods that it had.
        newer |= (nodes.changed[: nodes.size] > since[1]) & (usage.pod_count[: nodes.size] > 0)
        changed = np.flatnonzero(newer)
        if len(changed) > MAX_CHANGED or int(usage.pod_count[changed].sum()) > MAX_PODS:
            return self.read_all()
        return self._read(changed.tolist(), UNSET, is_difference=True)

    def _generations(self, mark: str) -> tuple[int, int] | None:
        """Of pods and of nodes at a mark; None for a mark that is none of this reader's."""
        cluster = self._engine.cluster
        epoch, *told = mark.rsplit(".", 2)
        are_numbers = all(each.isascii() and each.isdigit() for each in told)
        if epoch != self._epoch or len(told) != 2 or not are_numbers:
            return None
        pods, nodes = map(int, told)
        is_past = pods <= cluster.usage.generation and nodes <= cluster.nodes.generation
        return (pods, nodes) if is_past else None

    def _read(
        self, rows: Sequence[int], further: int | UnsetType, *, is_difference: bool = False
    ) -> PodsOnNodes:
        cluster = self._engine.cluster
        places: dict[_ShapeAndPriority, int] = {}
        nodes = [
            _read_node(cluster.nodes.names[row], cluster.usage.pods(row), places)
            for row in rows
            if cluster.nodes.present[row]
        ]
        templates = tuple(_template(cluster, *each) for each in places)
        at = micro_time_text(self._engine.clock())
        return PodsOnNodes(self._mark, at, is_difference, templates, tuple(nodes), further)


def _read_node(
    name: str, infos: Sequence[PodInfo], places: dict[_ShapeAndPriority, int]
) -> PodsOfNode:
    return PodsOfNode(
        name,
        tuple([info.pod.metadata.name for info in infos]),
        tuple([places.setdefault((info.shape, info.priority), len(places)) for info in infos]),
        tuple([_created_at(info) for info in infos]),
        tuple([at for at, info in enumerate(infos) if info.terminating]),
    )


def _created_at(info: PodInfo) -> int:
    text = info.pod.metadata.creation_timestamp
    try:
        return int(seconds_of(text)) if text else 0
    except (ValueError, OverflowError):
        return 0


def _template(cluster: Cluster, shape: PodShape, priority: int) -> PodsTemplate:
    owner = owner_of(shape.first, cluster.catalog)
    label = next((shape.labels[key] for key in _APP_LABELS if key in shape.labels), "")
    requests = {name: amount for name, amount in shape.accounted.items() if amount}
    if owner is None:
        return PodsTemplate(shape.namespace, "", label, priority, requests)
    return PodsTemplate(shape.namespace, owner.kind, owner.name, priority, requests)
