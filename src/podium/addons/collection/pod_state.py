"""PodState: prefer nodes that are about to have room, and avoid those that are spoken for.

A node's raw score is the number of pods that are leaving it less the number of pods nominated to
it, stretched over 0..100; where all nodes are alike they get 0.
"""

from collections.abc import Sequence

import numpy as np

from podium.addons.collection.node_columns import NodeColumn
from podium.addons.collection.score_ranges import stretch_scores
from podium.plugin import Cycle, Ints, Registration, Rows, ScorePlugin
from podium.scheduler.cluster.growth import indices
from podium.scheduler.cluster.usage import Usage
from podium.scheduler.framework.handle import Handle
from podium.scheduler.framework.points import Arguments


class PodState(ScorePlugin):
    name = "PodState"
    in_range = True

    def __init__(self, args: Arguments, handle: Handle) -> None:
        super().__init__(args, handle)
        usage = handle.cluster.usage
        self._terminating = NodeColumn(
            handle.cluster.nodes, usage.log, lambda row: _count_terminating(usage, row)
        )

    def events(self) -> Sequence[Registration]:
        return ()

    def score(self, cycle: Cycle, rows: Rows) -> Ints:
        scores = self._count_leaving(cycle, rows)
        nominated = np.zeros(cycle.nodes.size, dtype=np.int64)
        for _, name in cycle.cluster.nominator:
            row = cycle.nodes.row(name)
            if row >= 0:
                nominated[row] += 1
        return scores - nominated[rows]

    def _count_leaving(self, cycle: Cycle, rows: Rows) -> Ints:
        if cycle.usage is self.handle.cluster.usage:
            return np.nan_to_num(self._terminating.read()[rows]).astype(np.int64)
        counts = [_count_terminating(cycle.usage, int(row)) for row in indices(rows)]
        return np.array(counts, dtype=np.int64)

    def normalize(self, cycle: Cycle, rows: Rows, scores: Ints) -> Ints:  # noqa: ARG002
        return stretch_scores(scores)


def _count_terminating(usage: Usage, row: int) -> int:
    return sum(pod.terminating for pod in usage.pods(row))
