"""What one plugin answers for a pod, by node name, without an engine around it.

Property tests compare these answers with a node-by-node form of the rule. Every answer is also
checked against the contract of the vector form: the answer for some rows is that part of the
answer for all rows, and no answer may be a view of the cluster's own columns (`promises.py` looks
at all promises of a plugin, over clusters of its own making).
"""

from collections.abc import Sequence

import numpy as np

from podium.kubernetes.kinds.pod import Pod
from podium.scheduler.cluster.growth import Ints, Rows, indices
from podium.scheduler.cluster.state import Cluster
from podium.scheduler.framework.cycle import Cycle
from podium.scheduler.framework.diagnosis import Verdict
from podium.scheduler.framework.points import (
    FilterPlugin,
    PreFilterPlugin,
    PreScorePlugin,
    ScorePlugin,
)
from podium.scheduler.framework.status import SKIP, Code, Status


def present_rows(cluster: Cluster) -> Rows:
    """The rows a whole search covers, in the form the framework hands them out."""
    nodes = cluster.nodes
    return nodes.all_rows() if nodes.dense() else np.flatnonzero(nodes.present[: nodes.size])


def cycle_for(pod: Pod, cluster: Cluster) -> Cycle:
    return Cycle(cluster.infos.of(pod), cluster)


def filter_answers(plugin: FilterPlugin, pod: Pod, cluster: Cluster) -> dict[str, Status | None]:
    """PreFilter (if any) and Filter over all nodes; a skipped filter rejects none."""
    cycle = cycle_for(pod, cluster)
    if isinstance(plugin, PreFilterPlugin):
        answer = plugin.pre_filter(cycle)
        if isinstance(answer, Status):
            assert answer.code is Code.SKIP, answer
            return dict.fromkeys(_names(cluster, present_rows(cluster)))
    rows = present_rows(cluster)
    statuses = _statuses(plugin.filter(cycle, rows), len(indices(rows)))
    for part in _parts(len(statuses)):
        some = indices(rows)[part]
        assert _statuses(plugin.filter(cycle, some), len(some)) == [statuses[i] for i in part]
    return dict(zip(_names(cluster, rows), statuses, strict=True))


def score_answers(
    plugin: ScorePlugin, pod: Pod, cluster: Cluster
) -> tuple[dict[str, int], dict[str, int]] | None:
    """(raw, normalized) over all nodes; None when PreScore skips."""
    cycle, rows = cycle_for(pod, cluster), present_rows(cluster)
    if isinstance(plugin, PreScorePlugin):
        answer = plugin.pre_score(cycle, rows)
        assert answer in (None, SKIP), answer
        if answer is not None:
            return None
    raw = plugin.score(cycle, rows)
    _assert_fresh(raw)
    for part in _parts(len(raw)):
        np.testing.assert_array_equal(plugin.score(cycle, indices(rows)[part]), raw[part])
    kept = raw.copy()
    normalized = plugin.normalize(cycle, rows, raw)
    np.testing.assert_array_equal(raw, kept, "normalize wrote to its argument")
    names = _names(cluster, rows)
    return (
        dict(zip(names, map(int, raw), strict=True)),
        dict(zip(names, map(int, normalized), strict=True)),
    )


def _statuses(verdict: Verdict | None, count: int) -> list[Status | None]:
    if verdict is None:
        return [None] * count
    assert len(verdict.values) == count
    return [verdict.describe(int(value)) if value else None for value in verdict.values]


def _parts(count: int) -> Sequence[list[int]]:
    """Positions of a few subsets: one, every other one backwards, all backwards, none."""
    backwards = list(range(count))[::-1]
    return [backwards[:1], backwards[::2], backwards, []]


def _assert_fresh(scores: Ints) -> None:
    assert scores.dtype == np.int64
    assert scores.flags.writeable


def _names(cluster: Cluster, rows: Rows) -> list[str]:
    return [cluster.nodes.names[row] for row in indices(rows)]
