"""Plugins that speak of one node at a time.

Most rules people write are about one pod and one node. These classes let them say just that; the
framework lifts the answers to vectors. It costs a Python call per node, so in-tree plugins use the
vector form, and a node-form plugin is the place to start, measure, and maybe stay.
"""

from collections.abc import Mapping, Sequence
from typing import ClassVar

import numpy as np

from podium.kubernetes.kinds.node import Node
from podium.kubernetes.kinds.pod import Pod
from podium.scheduler.cluster.growth import Ints, Rows, indices
from podium.scheduler.framework.cycle import Cycle
from podium.scheduler.framework.diagnosis import Verdict, per_row
from podium.scheduler.framework.faults import WrongAnswer
from podium.scheduler.framework.points import FilterPlugin, ScorePlugin
from podium.scheduler.framework.status import Status, unschedulable


class NodeView:
    """One node as a plugin author sees it: read-only, with what is used and what is left."""

    __slots__ = ("_cycle", "_row")

    def __init__(self, cycle: Cycle, row: int) -> None:
        self._cycle = cycle
        self._row = row

    @property
    def name(self) -> str:
        return self._cycle.nodes.names[self._row]

    @property
    def object(self) -> Node:
        return self._cycle.nodes.node(self._row)

    @property
    def labels(self) -> Mapping[str, str]:
        return self._cycle.nodes.labels.labels_of(self._row)

    @property
    def annotations(self) -> Mapping[str, str]:
        return self.object.metadata.annotations or {}

    @property
    def pods(self) -> Sequence[Pod]:
        return [info.pod for info in self._cycle.usage.pods(self._row)]

    def allocatable(self, resource: str) -> int:
        """Milli-CPU for cpu, otherwise whole units (bytes for memory)."""
        index = self._cycle.nodes.resources.find(resource)
        return int(self._cycle.nodes.allocatable[index, self._row]) if index >= 0 else 0

    def requested(self, resource: str) -> int:
        index = self._cycle.nodes.resources.find(resource)
        return int(self._cycle.usage.requested_of(index)[self._row]) if index >= 0 else 0

    def free(self, resource: str) -> int:
        return self.allocatable(resource) - self.requested(resource)


class NodeFilterPlugin(FilterPlugin):
    """Rules nodes out, one at a time.

    For example:

        class NoSpot(NodeFilterPlugin):
            name = "NoSpot"

            def filter_node(self, pod, node):
                return "node(s) may vanish" if "spot" in node.labels else None
    """

    writes: ClassVar[tuple[str, ...]] = ("filter_node",)

    def filter_node(self, pod: Pod, node: NodeView) -> str | Status | None:
        """None to accept the node, a reason or a status to reject it."""
        raise NotImplementedError

    def filter(self, cycle: Cycle, rows: Rows) -> Verdict | None:
        rejected: dict[int, Status] = {}
        numbers = indices(rows)
        for position, row in enumerate(numbers):
            if not cycle.nodes.present[row]:
                continue
            answer = self.filter_node(cycle.pod.pod, NodeView(cycle, int(row)))
            if isinstance(answer, str):
                answer = unschedulable(answer)
            if isinstance(answer, Status):
                rejected[position] = answer
            elif answer is not None:
                raise WrongAnswer("filter_node", "None, a reason or a Status", answer)
        return per_row(rejected, len(numbers))


class NodeScorePlugin(ScorePlugin):
    """Rates nodes that fit, one at a time. Set `rescale` to have any numbers mapped to 0..100.

    For example:

        class PreferQuiet(NodeScorePlugin):
            name = "PreferQuiet"

            def score_node(self, pod, node):
                return 100 if len(node.pods) < 5 else 0
    """

    writes: ClassVar[tuple[str, ...]] = ("score_node",)

    rescale: ClassVar[bool] = False

    def score_node(self, pod: Pod, node: NodeView) -> int:
        """A whole number, larger is better; 0 to 100 unless `rescale` is set."""
        raise NotImplementedError

    def score(self, cycle: Cycle, rows: Rows) -> Ints:
        pod, present = cycle.pod.pod, cycle.nodes.present
        scores = [
            self.score_node(pod, NodeView(cycle, int(row))) if present[row] else 0
            for row in indices(rows)
        ]
        for score in scores:
            if not isinstance(score, int | np.integer):
                raise WrongAnswer("score_node", "a whole number", score)
        return np.array(scores, dtype=np.int64)

    def normalize(self, cycle: Cycle, rows: Rows, scores: Ints) -> Ints:
        if not self.rescale or not len(scores):
            return super().normalize(cycle, rows, scores)
        low, high = int(scores.min()), int(scores.max())
        if low == high:
            return np.full_like(scores, 100)
        return (scores - low) * 100 // (high - low)
