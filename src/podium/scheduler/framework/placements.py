"""Running the points that belong to pod groups: PlacementGenerate and PlacementScore.

Both are upstream's: one generator at most, whose answer is taken as it is; scores of 0..100 after
normalisation, weighted and added up. Texts are upstream's too, as they end up in the condition of
the group.

Source: `RunPlacementGeneratePlugins` and `RunPlacementScorePlugins` in
`pkg/scheduler/framework/runtime/framework.go`.
"""

from collections.abc import Sequence

from podium.scheduler.framework.cycle import Assignments, Placement, PodGroupCycle
from podium.scheduler.framework.faults import WrongAnswer, describe
from podium.scheduler.framework.points import PlacementGeneratePlugin, PlacementScorePlugin
from podium.scheduler.framework.scoring import MAX_SCORE
from podium.scheduler.framework.status import Code, Status, error, unschedulable

NO_PLACEMENTS = unschedulable("no feasible placements found")


class PlacementScoringError(Exception):
    """Scoring placements failed; the text is the group's message."""


def run_placement_generate(
    plugins: Sequence[PlacementGeneratePlugin], group: PodGroupCycle
) -> list[Placement] | Status:
    """Placements to try, in order; all nodes together where nobody says otherwise."""
    everything = Placement("", group.cluster.node_order())
    if not plugins:
        return [everything]
    plugin = plugins[0]
    try:
        answer = _placements(plugin.generate_placements(group, everything))
    except Exception as problem:
        answer = error(describe(problem))
    if isinstance(answer, Status):
        return answer.by(plugin.name)
    return list(answer) or NO_PLACEMENTS.by(plugin.name)


def run_placement_scores(
    plugins: Sequence[tuple[PlacementScorePlugin, int]],
    group: PodGroupCycle,
    candidates: Sequence[Assignments],
) -> list[int]:
    """The weighted total of each candidate."""
    raw = _scores(plugins, group, candidates)
    totals = [0] * len(candidates)
    for (plugin, weight), scores in zip(plugins, raw, strict=True):
        for index, score in enumerate(_normalize_scores(plugin, group, scores)):
            if not 0 <= score <= MAX_SCORE:
                raise PlacementScoringError(
                    "applying score defaultWeights on PlacementScore plugins: plugin"
                    f' "{plugin.name}" returns an invalid score {score}, it should in the range of'
                    f" [0, {MAX_SCORE}] after normalizing"
                )
            totals[index] += score * weight
    return totals


def _scores(
    plugins: Sequence[tuple[PlacementScorePlugin, int]],
    group: PodGroupCycle,
    candidates: Sequence[Assignments],
) -> list[list[int]]:
    scores: list[list[int]] = [[] for _ in plugins]
    for candidate in candidates:
        for number, (plugin, _) in enumerate(plugins):
            try:
                scores[number].append(_score(plugin.score_placement(group, candidate)))
            except Exception as problem:
                raise PlacementScoringError(
                    f'running PlacementScore plugins: plugin "{plugin.name}" failed with:'
                    f" {describe(problem)}"
                ) from problem
    return scores


def _normalize_scores(
    plugin: PlacementScorePlugin, group: PodGroupCycle, scores: Sequence[int]
) -> Sequence[int]:
    try:
        normalized = [_score(score) for score in plugin.normalize_placements(group, scores)]
        if len(normalized) != len(scores):
            raise ValueError(f"gave {len(normalized)} scores for {len(scores)} placements")
        return normalized
    except Exception as problem:
        raise PlacementScoringError(
            "running NormalizePlacementScore on PlacementScore plugins: plugin"
            f' "{plugin.name}" failed with: {describe(problem)}'
        ) from problem


def _placements(answer: object) -> Sequence[Placement] | Status:
    if isinstance(answer, Status):
        return answer
    if isinstance(answer, Sequence) and all(isinstance(each, Placement) for each in answer):
        return answer
    raise WrongAnswer("generate_placements", "a list of Placements or a Status", answer)


def _score(answer: object) -> int:
    if isinstance(answer, int):
        return answer
    raise WrongAnswer("score_placement", "a whole number", answer)


def is_error(status: Status | None) -> bool:
    """Whether a group's status says that something broke, rather than that it does not fit."""
    return status is not None and status.code is not Code.SUCCESS and not status.code.rejected
