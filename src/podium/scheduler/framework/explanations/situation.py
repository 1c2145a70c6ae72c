"""What plugins look at to think of changes: a pod that does not fit, and what speaks against it.

Where the attempt ended before any node was looked at (`refusal`), there are no objections;
otherwise each node has the filters that object to it, the ones included that were not asked. `near`
are the nodes that are worth a change, by the filter that a change has to satisfy. Contract: the
cluster is as the examination found it.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Final

from podium.kubernetes.kinds.meta import KubeObject
from podium.kubernetes.kinds.node import Node
from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.scheduler.cluster.catalog import Catalog
from podium.scheduler.cluster.pod_info import PodInfo
from podium.scheduler.cluster.state import Cluster
from podium.scheduler.framework.explanations.filter_examination import FilterExamination
from podium.scheduler.framework.proposed_change import ChangeKind, ProposedChange
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
