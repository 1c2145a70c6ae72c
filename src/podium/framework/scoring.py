"""Running PreScore, Score and Normalize, and weighing the results.

Scores are int64 vectors over the feasible rows. After normalisation they must lie in 0..100: a
plugin that breaks this fails the attempt with upstream's text, because a silent overflow of one
plugin would decide every placement.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from podium.cluster.growth import Ints, Rows, count_of
from podium.framework.cycle import Cycle
from podium.framework.filtering import describe
from podium.framework.points import PreScorePlugin, ScorePlugin
from podium.framework.status import Code

MAX_SCORE = 100


class ScoringError(Exception):
    """Scoring failed; the text is the attempt's message."""


@dataclass(frozen=True, slots=True)
class PluginScores:
    """One plugin's scores over the feasible rows."""

    plugin: str
    weight: int
    raw: Ints
    normalized: Ints


def run_pre_scores(plugins: Sequence[PreScorePlugin], cycle: Cycle, rows: Rows) -> list[str]:
    """Prepare scoring; returns the names of the plugins that stand aside."""
    skipped: list[str] = []
    for plugin in plugins:
        try:
            answer = plugin.pre_score(cycle, rows)
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
    plugins: Sequence[tuple[ScorePlugin, int]], cycle: Cycle, rows: Rows
) -> tuple[list[PluginScores], Ints]:
    """(scores per plugin, weighted totals) over the feasible rows."""
    scores: list[PluginScores] = []
    total: Ints = np.zeros(count_of(rows), dtype=np.int64)
    for plugin, weight in plugins:
        if plugin.name in cycle.skip_score:
            continue
        raw = _score(plugin, cycle, rows)
        normalized = _normalize(plugin, cycle, rows, raw)
        low, high = int(normalized.min()), int(normalized.max())
        if low < 0 or high > MAX_SCORE:
            raise ScoringError(
                f'applying score defaultWeights on Score plugins: plugin "{plugin.name}" returns an'
                f" invalid score {low if low < 0 else high}, it should in the range of"
                f" [0, {MAX_SCORE}] after normalizing"
            )
        scores.append(PluginScores(plugin.name, weight, raw, normalized))
        if high:
            total += normalized * weight if weight != 1 else normalized
    return scores, total


def _score(plugin: ScorePlugin, cycle: Cycle, rows: Rows) -> Ints:
    try:
        return plugin.score(cycle, rows)
    except Exception as problem:
        raise ScoringError(
            f'running Score plugins: plugin "{plugin.name}" failed with: {describe(problem)}'
        ) from problem


def _normalize(plugin: ScorePlugin, cycle: Cycle, rows: Rows, raw: Ints) -> Ints:
    try:
        return plugin.normalize(cycle, rows, raw)
    except Exception as problem:
        raise ScoringError(
            f'running Normalize on Score plugins: plugin "{plugin.name}" failed with:'
            f" {describe(problem)}"
        ) from problem


def default_normalize(scores: Ints, *, reverse: bool = False) -> Ints:
    """Scale to 0..100 by the maximum; reversed, the lowest raw score is the best.

    With counts 3, 1, 2 reversed: 0, 67, 34 (plugins spec 3.10).
    """
    highest = max(0, int(scores.max()))
    if highest == 0:
        return np.full_like(scores, MAX_SCORE) if reverse else scores
    scaled = scores * MAX_SCORE // highest
    return MAX_SCORE - scaled if reverse else scaled


def _pre_score_text(plugin: str, problem: str) -> str:
    return f'running PreScore plugin "{plugin}": {problem}'
