"""Scoring nodes that an extender returned in full.

Such nodes are scored as objects alone: the pods that run on them, what those use and the images
there do not count. 1.36 does so (`pkg/scheduler/extender.go`, `Filter`), and it is seen in
placements. For as long as plugins look at them they stand in the table. What a plugin found out
about a node at Filter it still knows, by the node's name.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from podium.kubernetes.kinds.node import Node
from podium.scheduler.cluster.growth import Ints, Rows
from podium.scheduler.cluster.temporary_nodes import TemporaryNodes
from podium.scheduler.framework.cycle import Cycle
from podium.scheduler.framework.points import ScorePlugin
from podium.scheduler.framework.profile import Profile
from podium.scheduler.framework.scoring import PluginScores, run_pre_scores, run_scores

Scored = tuple[list[str], list[PluginScores], Ints]
"""Plugins that stood aside, scores per plugin, weighted totals."""


def score_returned_nodes(profile: Profile, cycle: Cycle, nodes: Sequence[Node]) -> Scored:
    table = cycle.nodes
    own = [table.row(node.metadata.name) for node in nodes]
    homes = np.array([row if row >= 0 and table.present[row] else -1 for row in own], dtype=np.intp)
    plugins: list[tuple[ScorePlugin, int]] = [
        (_AtHome(plugin, homes) if plugin.by_filtered_rows else plugin, weight)
        for plugin, weight in profile.score
    ]
    with TemporaryNodes(cycle.cluster, nodes) as rows:
        skipped = run_pre_scores(profile.pre_score, cycle, rows)
        scores, total = run_scores(plugins, cycle, rows)
    return skipped, scores, total


class _AtHome(ScorePlugin):
    """Asks a plugin about the rows that the nodes' names have in the table; 0 for the others."""

    def __init__(self, plugin: ScorePlugin, homes: npt.NDArray[np.intp]) -> None:
        self.name = plugin.name  # type: ignore[misc]
        self.in_range = plugin.in_range  # type: ignore[misc]
        self._plugin = plugin
        self._homes = homes

    def score(self, cycle: Cycle, rows: Rows) -> Ints:  # noqa: ARG002
        scores: Ints = np.zeros(len(self._homes), dtype=np.int64)
        known = self._homes >= 0
        if known.any():
            scores[known] = self._plugin.score(cycle, self._homes[known])
        return scores

    def normalize(self, cycle: Cycle, rows: Rows, scores: Ints) -> Ints:
        return self._plugin.normalize(cycle, rows, scores)
