"""Running PreScore, Score and Normalize, and weighing the results.

Scores are int64 vectors over the feasible rows. After normalisation they must lie in 0..100: a
plugin that breaks this fails the attempt with upstream's text, because a silent overflow of one
plugin would decide every placement.
"""

from collections.abc import Sequence

import numpy as np

from podium.scheduler.cluster.growth import Ints, Rows, count_of
from podium.scheduler.framework.caches.columns import Column, read
from podium.scheduler.framework.caches.vectors import (
    RememberedScores,
    VectorCache,
    usable,
    whole_numbers,
)
from podium.scheduler.framework.cycle import Cycle
from podium.scheduler.framework.faults import WrongAnswer, describe
from podium.scheduler.framework.points import PreScorePlugin, ScorePlugin
from podium.scheduler.framework.status import Code, Status

MAX_SCORE = 100


class ScoringError(Exception):
    """Scoring failed; the text is the attempt's message."""


Weighted = tuple[ScorePlugin, int]


class PluginScores:
    """One plugin's scores over the feasible rows.

    Where they are known for the whole table, the feasible ones are picked out when somebody reads
    them.
    """

    __slots__ = ("_normalized", "_raw", "_rows", "plugin", "weight")

    def __init__(
        self, plugin: str, weight: int, raw: Column, normalized: Column, rows: Rows | None = None
    ) -> None:
        self.plugin = plugin
        self.weight = weight
        self._raw = raw
        self._normalized = normalized
        self._rows = rows

    @property
    def raw(self) -> Ints:
        raw = self._raw = read(self._raw)
        return raw if self._rows is None else raw[self._rows]

    @property
    def normalized(self) -> Ints:
        normalized = self._normalized = read(self._normalized)
        return normalized if self._rows is None else normalized[self._rows]

    def among(self, rows: Rows) -> "PluginScores":
        """Scores of the whole table as those of some rows."""
        if isinstance(rows, slice):
            return self
        return PluginScores(self.plugin, self.weight, self._raw, self._normalized, rows)


def run_pre_scores(plugins: Sequence[PreScorePlugin], cycle: Cycle, rows: Rows) -> list[str]:
    """Prepare scoring; returns the names of the plugins that stand aside."""
    skipped: list[str] = []
    for plugin in plugins:
        try:
            answer = plugin.pre_score(cycle, rows)
            if answer is not None and not isinstance(answer, Status):
                raise WrongAnswer("pre_score", "None or a Status", answer)
        except Exception as problem:
            raise ScoringError(_pre_score_text(plugin.name, describe(problem))) from problem
        if answer is None or answer.code is Code.SUCCESS:
            continue
        if answer.code is not Code.SKIP:
            raise ScoringError(_pre_score_text(plugin.name, answer.message))
        skipped.append(plugin.name)
        cycle.skip_score.add(plugin.name)
    return skipped


def run_scores(
    plugins: Sequence[Weighted],
    cycle: Cycle,
    rows: Rows,
    vectors: VectorCache | None = None,
) -> tuple[list[PluginScores], Ints]:
    """(scores per plugin, weighted totals) over the feasible rows."""
    if vectors is not None and not usable(cycle, rows):
        vectors = None
    active = [(plugin, w) for plugin, w in plugins if plugin.name not in cycle.skip_score]
    raws = [raw_scores(plugin, weight, cycle, rows, vectors) for plugin, weight in active]
    scores: list[PluginScores] = []
    unchecked: list[PluginScores] = []
    total: Ints = np.zeros(count_of(rows), dtype=np.int64)
    for (plugin, weight), raw in zip(active, raws, strict=True):
        if isinstance(raw, RememberedScores):
            answer = PluginScores(plugin.name, weight, raw.raw, raw.normalized)
            total += raw.weighted
        else:
            normalized = normal_scores(plugin, cycle, rows, raw)
            answer = PluginScores(plugin.name, weight, raw, normalized)
            total += normalized * weight if weight != 1 else normalized
        scores.append(answer)
        if not plugin.in_range:
            unchecked.append(answer)
    check_range(unchecked)
    return scores, total


def raw_scores(
    plugin: ScorePlugin,
    weight: int,
    cycle: Cycle,
    rows: Rows,
    vectors: VectorCache | None,
    *,
    whole: bool = False,
) -> Ints | RememberedScores:
    """Raw scores; where they are remembered for just these rows, the finished ones with them.
    `whole` asks for those of the whole table in any case, if they are remembered."""
    try:
        dependence = plugin.score_depends(cycle) if vectors is not None else None
        if vectors is None or dependence is None:
            return _one_per_row(plugin.score(cycle, rows), rows)
        table = cycle.nodes.all_rows() if whole else rows
        return vectors.score(plugin, weight, dependence, cycle, table)
    except Exception as problem:
        raise scoring_failed(plugin, problem) from problem


def scoring_failed(plugin: ScorePlugin, problem: Exception) -> ScoringError:
    text = f'running Score plugins: plugin "{plugin.name}" failed with: {describe(problem)}'
    return ScoringError(text)


def check_range(scores: Sequence[PluginScores]) -> None:
    if all(s.normalized.min() >= 0 and s.normalized.max() <= MAX_SCORE for s in scores):
        return
    # upstream: node by node, and for each node plugin by plugin
    table = np.array([s.normalized for s in scores])
    position, number = np.argwhere(((table < 0) | (table > MAX_SCORE)).T)[0]
    raise ScoringError(
        f'applying score defaultWeights on Score plugins: plugin "{scores[number].plugin}" returns'
        f" an invalid score {table[number, position]}, it should in the range of"
        f" [0, {MAX_SCORE}] after normalizing"
    )


def normal_scores(plugin: ScorePlugin, cycle: Cycle, rows: Rows, raw: Ints) -> Ints:
    try:
        return _one_per_row(plugin.normalize(cycle, rows, raw), rows)
    except Exception as problem:
        raise ScoringError(
            f'running Normalize on Score plugins: plugin "{plugin.name}" failed with:'
            f" {describe(problem)}"
        ) from problem


def _one_per_row(scores: Ints, rows: Rows) -> Ints:
    scores = whole_numbers(scores)
    if len(scores) != count_of(rows):
        raise ValueError(f"gave {len(scores)} scores for {count_of(rows)} nodes")
    return scores


def default_normalize(scores: Ints, *, reverse: bool = False) -> Ints:
    """Scale to 0..100 by the maximum; reversed, the lowest raw score is the best.

    With counts 3, 1, 2 reversed: 0, 67, 34.
    upstream: pkg/scheduler/framework/plugins/helper/normalize_score.go, DefaultNormalizeScore.
    """
    highest = max(0, int(scores.max()))
    if highest == 0:
        return np.full_like(scores, MAX_SCORE) if reverse else scores
    scaled = scores * MAX_SCORE // highest
    return MAX_SCORE - scaled if reverse else scaled


def _pre_score_text(plugin: str, problem: str) -> str:
    return f'running PreScore plugin "{plugin}": {problem}'
