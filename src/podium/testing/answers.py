"""What one plugin answers for a pod, by node name, without an engine around it.

Property tests compare these answers with a node-by-node form of the rule. Every answer is also
checked against the contract of the vector form: the answer for some rows is that part of the
answer for all rows, and no answer may be a view of the cluster's own columns (`promises.py` looks
at all promises of a plugin, over clusters of its own making).

One plugin asked about one pod, point after point, as a cycle would do it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from podium.kubernetes.kinds.pod import Pod
from podium.scheduler.cluster.growth import Ints, Rows, indices
from podium.scheduler.cluster.state import Cluster
from podium.scheduler.framework.cycle import Cycle
from podium.scheduler.framework.dependence import Dependence
from podium.scheduler.framework.diagnosis import Verdict, check_verdict
from podium.scheduler.framework.points import (
    FilterPlugin,
    Plugin,
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


Statuses = list[Status | None]


@dataclass
class Asked:
    """What was answered; None where a point was not asked."""

    cycle: Cycle
    pre_filter: object = None
    filter_rows: Rows | None = None
    verdict: Verdict | None = None
    statuses: Statuses | None = None
    filter_depends: Dependence | None = None
    pre_score: object = None
    score_rows: Rows | None = None
    raw: Ints | None = None
    normalized: Ints | None = None
    score_depends: Dependence | None = None
    names: list[str] = field(default_factory=list)

    @property
    def answers(self) -> dict[str, object]:
        """All that can be compared with what was said at another time."""
        return {
            "pre_filter": self.pre_filter,
            "filter": self.statuses,
            "pre_score": self.pre_score,
            "score": None if self.raw is None else self.raw.tolist(),
            "normalize": None if self.normalized is None else self.normalized.tolist(),
        }


def ask(plugin: Plugin, pod: Pod, cluster: Cluster) -> Asked:
    """Raises what the plugin raises."""
    asked = Asked(Cycle(cluster.infos.of(pod), cluster), names=list(cluster.nodes.names))
    rows = present_rows(cluster)
    fitting = _ask_filter(plugin, asked, rows)
    if isinstance(plugin, ScorePlugin) and len(indices(fitting)):
        _ask_score(plugin, asked, fitting)
    return asked


def _ask_filter(plugin: Plugin, asked: Asked, rows: Rows) -> Rows:
    """Which rows go on to scoring; all where the plugin has no say."""
    cycle = asked.cycle
    if isinstance(plugin, PreFilterPlugin):
        asked.pre_filter = answer = plugin.pre_filter(cycle)
        if isinstance(answer, Status) and answer != SKIP:
            return np.zeros(0, dtype=np.intp)
        if isinstance(answer, frozenset):
            nodes = cycle.nodes
            rows = np.array([r for r in indices(rows) if nodes.names[r] in answer], dtype=np.intp)
    if not isinstance(plugin, FilterPlugin) or asked.pre_filter == SKIP:
        return rows
    asked.filter_rows = rows
    asked.filter_depends = plugin.filter_depends(cycle)
    asked.verdict = check_verdict(plugin.filter(cycle, rows))
    asked.statuses = statuses_of(asked.verdict, len(indices(rows)))
    passed = [status is None for status in asked.statuses]
    return rows if all(passed) else indices(rows)[np.array(passed, dtype=bool)]


def _ask_score(plugin: ScorePlugin, asked: Asked, rows: Rows) -> None:
    cycle = asked.cycle
    if isinstance(plugin, PreScorePlugin):
        asked.pre_score = plugin.pre_score(cycle, rows)
        if asked.pre_score is not None:
            return
    asked.score_rows = rows
    asked.score_depends = plugin.score_depends(cycle)
    asked.raw = plugin.score(cycle, rows)
    asked.normalized = plugin.normalize(cycle, rows, asked.raw.copy())


def statuses_of(verdict: Verdict | None, count: int) -> Statuses:
    """One answer a row, whatever numbers stand for them."""
    if verdict is None:
        return [None] * count
    return [verdict.describe(int(value)) if value else None for value in verdict.values]
