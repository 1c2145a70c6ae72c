"""What plugins explain refusals and propose changes from: the cluster as an attempt saw it.

Where the attempt ended before any node was looked at (`refusal`), there are no objections;
otherwise each node has the filters that object to it, the ones included that were not asked. `near`
are the nodes that are worth a change, by the filter that a change has to satisfy. Contract: the
cluster is as the examination found it.

The cluster as an attempt saw it, for those who look for causes. Masks are over the nodes of the
examination, in its order. Contract: made and used while the engine is between two cycles and
its cluster is as the examination found it.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
import numpy.typing as npt

from podium.kubernetes.kinds.meta import KubeObject
from podium.kubernetes.kinds.node import Node
from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.scheduler.cluster.catalog import Catalog
from podium.scheduler.cluster.growth import Mask
from podium.scheduler.cluster.pod_info import PodInfo
from podium.scheduler.cluster.state import Cluster
from podium.scheduler.framework.explanations.filter_examination import FilterExamination
from podium.scheduler.framework.plugin import ChangeKind, ProposedChange
from podium.scheduler.framework.status import Status

MAX_STEPS_OF_A_KIND: Final = 6
"""How many changes of one kind are tried in one situation, the most promising first."""
ATTACHED_VOLUMES: Final = "volumes"
"""What a node may lack beside its resources: places for volumes."""

Examine = Callable[[Pod, tuple[KubeObject, ...]], FilterExamination]
"""What filters would say of a pod if some objects were there or different."""


@dataclass(slots=True, kw_only=True)
class Situation:
    pod: Pod
    cluster: Cluster
    gates: FeatureGates
    examine: Examine
    refusal: Status | None = None
    examination: FilterExamination | None = None
    objections: dict[str, dict[str, Status]] = field(default_factory=dict)
    near: dict[str, list[str]] = field(default_factory=dict)

    @property
    def info(self) -> PodInfo:
        return self.cluster.infos.of(self.pod)

    @property
    def catalog(self) -> Catalog:
        return self.cluster.catalog

    def nodes_near(self, plugin: str) -> list[str]:
        """Nodes that a change which satisfies one filter brings closer, in table order."""
        return self.near.get(plugin, [])

    def statuses_of(self, plugin: str) -> Iterator[Status]:
        """What a plugin says against the pod, and against one of the nodes that are near."""
        if self.refusal is not None and self.refusal.plugin == plugin:
            yield self.refusal
        if plugin in self.near:
            yield self.objections[self.near[plugin][0]][plugin].by(plugin)

    def node(self, name: str) -> Node:
        return self.cluster.nodes.node(self.cluster.nodes.row(name))

    def all_nodes(self) -> Iterator[Node]:
        for row in self.cluster.node_order():
            yield self.cluster.nodes.node(int(row))

    def change_pod(
        self, code: str, sentence: str, kind: ChangeKind | int, pod: Pod
    ) -> ProposedChange:
        return ProposedChange(code, sentence, kind, pod=pod)


class AttemptView:
    """Questions about one pod, one examination and the cluster that it was made of.

    `candidates` are the nodes that are spoken of, and `introduced` says whether a sentence about
    them has named them before. `count_fitting` tells how many nodes would take the pod as changed;
    the engine's own answer.
    """

    def __init__(
        self,
        cluster: Cluster,
        gates: FeatureGates,
        info: PodInfo,
        examination: FilterExamination,
        count_fitting: Callable[[Pod], int],
    ) -> None:
        self.cluster = cluster
        self.gates = gates
        self.catalog = cluster.catalog
        self.table = cluster.nodes
        self.count_fitting = count_fitting
        self.info = info
        self.pod: Pod = info.pod
        self.shape = info.shape
        self.examination = examination
        self.names = examination.nodes
        self.rows: npt.NDArray[np.intp] = self.table.rows_of(examination.nodes)
        self.everywhere: Mask = np.ones(len(self.names), dtype=np.bool_)
        self.candidates: Mask = self.everywhere
        self.introduced = False

    def rejected(self, plugin: str) -> Mask:
        return self.examination.mask_rejected(plugin)

    def with_reason(self, plugin: str, reason: str) -> Mask:
        """Nodes that a plugin rejects for a reason."""
        mask: Mask = np.zeros(len(self.names), dtype=np.bool_)
        for status, nodes in self.examination.statuses(plugin):
            if reason in status.reasons:
                mask |= nodes
        return mask

    def named(self, mask: Mask) -> list[str]:
        return [self.names[position] for position in np.flatnonzero(mask).tolist()]

    def positions(self, mask: Mask) -> Iterator[int]:
        yield from np.flatnonzero(mask).tolist()

    def pods_on(self, position: int) -> Sequence[PodInfo]:
        return self.cluster.usage.pods(int(self.rows[position]))

    def label(self, key: str, mask: Mask) -> list[tuple[str, int]]:
        """The values that nodes of a mask have for a label, most frequent first, with counts."""
        column = self.table.labels.column(key)
        codes = column.codes[self.rows[mask]]
        found, counts = np.unique(codes[codes >= 0], return_counts=True)
        pairs = [(column.values[int(c)], int(n)) for c, n in zip(found, counts, strict=True)]
        return sorted(pairs, key=lambda pair: (-pair[1], pair[0]))

    def say(self, mask: Mask, singular: str, plural: str) -> str:
        """`each has ...`, `12 of them have ...`, `all 300 nodes have ...`, `12 nodes have ...`"""
        number = int(np.count_nonzero(mask))
        verb = singular if number == 1 else plural
        if self.introduced:
            whole = number == int(np.count_nonzero(self.candidates))
            if whole:
                return f"{'it' if number == 1 else 'each'} {singular}"
            return f"{number:,} of them {verb}"
        if number == len(self.names) and number > 1:
            return f"all {number:,} nodes {plural}"
        if number == 1:
            return f"node {self.named(mask)[0]} {singular}"
        return f"{number:,} nodes {plural}"
