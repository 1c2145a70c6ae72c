"""The phases of an attempt for a pod whose like has been seen: only what may differ is asked.

Each function here says the same as its plain form in `filtering.py` and `scoring.py`, to which it
is held by property tests, and is quicker by what `standing.py` knows. `Profile` chooses between the
two forms.
"""

from collections.abc import Hashable, Sequence
from typing import TypeVar

import numpy as np

from podium.cluster.growth import Ints, Rows
from podium.framework.cycle import Cycle
from podium.framework.diagnosis import FilterResult
from podium.framework.filtering import PreFilterOutcome, run_filters, run_pre_filters
from podium.framework.memory import Memory, Scores, usable
from podium.framework.points import (
    FilterPlugin,
    Plugin,
    PreFilterPlugin,
    PreScorePlugin,
    ScorePlugin,
)
from podium.framework.scoring import (
    PluginScores,
    Weighted,
    check_range,
    normal_scores,
    raw_scores,
    run_pre_scores,
    run_scores,
)
from podium.framework.standing import (
    Constants,
    Prepared,
    Rejection,
    Scorer,
    Standing,
    Standings,
)

P = TypeVar("P", bound=Plugin)


def pre_filters(
    plugins: Sequence[PreFilterPlugin], cycle: Cycle, standing: Standing
) -> PreFilterOutcome:
    known = standing.pre_filter
    if known is None:
        outcome = run_pre_filters(plugins, cycle)
        if outcome.status is None and outcome.nodes is None:
            stays = [p for p in plugins if p.pre_filter_stays(cycle)]
            standing.pre_filter = _prepared(plugins, stays, cycle.skip_filter, cycle)
        return outcome
    cycle.states.update(known.states)
    cycle.skip_filter.update(known.skipped)
    if not known.rest:
        return PreFilterOutcome(skipped=list(known.in_order))
    outcome = run_pre_filters(known.rest, cycle)
    if outcome.status is not None:
        # Who rejects first ends the phase: let it end where it does for everybody.
        cycle.states.clear()
        cycle.skip_filter.clear()
        return run_pre_filters(plugins, cycle)
    outcome.skipped = [p.name for p in plugins if p.name in cycle.skip_filter]
    return outcome


def pre_scores(
    plugins: Sequence[PreScorePlugin], cycle: Cycle, rows: Rows, standing: Standing
) -> list[str]:
    known = standing.pre_score
    if known is None:
        skipped = run_pre_scores(plugins, cycle, rows)
        stays = [p for p in plugins if p.pre_score_stays(cycle)]
        standing.pre_score = _prepared(plugins, stays, cycle.skip_score, cycle)
        return skipped
    cycle.states.update(known.states)
    cycle.skip_score.update(known.skipped)
    if not known.rest:
        return list(known.in_order)
    run_pre_scores(known.rest, cycle, rows)
    return [p.name for p in plugins if p.name in cycle.skip_score]


def _prepared(
    plugins: Sequence[P], stays: Sequence[P], skip: set[str], cycle: Cycle
) -> Prepared[P]:
    names = {plugin.name for plugin in stays}
    return Prepared(
        skipped=frozenset(skip & names),
        states={k: v for k, v in cycle.states.items() if k.partition("/")[0] in names},
        rest=tuple(p for p in plugins if p.name not in names),
        in_order=tuple(p.name for p in plugins if p.name in skip),
    )


# filtering


def filters(
    plugins: Sequence[FilterPlugin],
    cycle: Cycle,
    rows: Rows,
    memory: Memory,
    standings: Standings,
    standing: Standing,
) -> FilterResult:
    if not isinstance(rows, slice):
        return run_filters(plugins, cycle, rows, memory)
    try:
        if standing.filters is None:
            standing.filters = tuple(p for p in plugins if _may_reject(p, cycle, memory))
        head, rest = _head(standing.filters, cycle, memory)
    except Exception:  # the plain form says so in its place
        return run_filters(plugins, cycle, rows, memory)
    result = standings.filtered(rows, head).continued()
    return run_filters(rest, cycle, rows, None, result) if rest else result


def _head(
    plugins: Sequence[FilterPlugin], cycle: Cycle, memory: Memory
) -> tuple[list[Rejection], Sequence[FilterPlugin]]:
    """What the remembered filters at the head of the chain say, and the filters behind them."""
    head: list[Rejection] = []
    for position, plugin in enumerate(plugins):
        if plugin.name in cycle.skip_filter:
            continue
        dependence = plugin.filter_depends(cycle)
        if dependence is None:
            return head, plugins[position:]
        verdict = memory.filter(plugin, dependence, cycle)
        if verdict is not None:
            head.append((plugin.name, verdict))
    return head, ()


def _may_reject(plugin: FilterPlugin, cycle: Cycle, memory: Memory) -> bool:
    """Whether a filter has to be asked at all: not if it lets every row pass and that stands."""
    if plugin.name in cycle.skip_filter:
        return True
    dependence = plugin.filter_depends(cycle)
    if dependence is None or not dependence.stands:
        return True
    return memory.filter(plugin, dependence, cycle) is not None


# scoring


def scores(
    plugins: Sequence[Weighted],
    cycle: Cycle,
    rows: Rows,
    memory: Memory,
    standings: Standings,
    standing: Standing,
) -> tuple[list[PluginScores], Ints]:
    if not usable(cycle, rows) or not cycle.nodes.dense():
        return run_scores(plugins, cycle, rows, memory)
    constants = standing.constants
    if constants is None:
        try:
            constants = _learn_constants(plugins, cycle, memory, standings, standing)
        except Exception:  # the plain form says so in its place
            return run_scores(plugins, cycle, rows, memory)
    if not (isinstance(rows, slice) or constants.fit(rows)):
        return run_scores(plugins, cycle, rows, memory)
    return _scores(standing.scorers, constants, cycle, rows, memory)


def _scores(
    scorers: Sequence[Scorer],
    constants: Constants,
    cycle: Cycle,
    rows: Rows,
    memory: Memory,
) -> tuple[list[PluginScores], Ints]:
    """Add up: what stands, then what is remembered of all rows, then what is made for these."""
    found: list[PluginScores] = []
    remembered: list[Ints] = []
    own: list[tuple[int, Scorer, Ints]] = []
    for scorer in scorers:
        plugin, weight = scorer.plugin, scorer.weight
        if scorer.constant is not None:
            found.append(scorer.constant.among(rows))
        elif plugin.name not in cycle.skip_score:
            raw = _raw(scorer, cycle, rows, memory)
            if isinstance(raw, Scores):
                known = PluginScores(plugin.name, weight, raw.raw, raw.normalized)
                found.append(known.among(rows))
                remembered.append(raw.weighted)
            else:
                own.append((len(found), scorer, raw))
                found.append(PluginScores(plugin.name, weight, raw, raw))
    total = constants.total
    if remembered:
        total = total + remembered[0]
        for weighted in remembered[1:]:
            total += weighted
    if not isinstance(rows, slice):
        total = total[rows]
    elif not remembered:
        total = total.copy()
    unchecked: list[PluginScores] = []
    for position, scorer, raw in own:
        normalized = normal_scores(scorer.plugin, cycle, rows, raw)
        made = found[position] = PluginScores(scorer.plugin.name, scorer.weight, raw, normalized)
        total += normalized * scorer.weight if scorer.weight != 1 else normalized
        if not scorer.plugin.in_range:
            unchecked.append(made)
    check_range(unchecked)
    return found, total


def _raw(scorer: Scorer, cycle: Cycle, rows: Rows, memory: Memory) -> Ints | Scores:
    """Finished scores of the whole table where some rows' are nothing else, or raw ones of the
    rows."""
    if scorer.as_it_is:
        return raw_scores(scorer.plugin, scorer.weight, cycle, rows, memory, whole=True)
    return raw_scores(scorer.plugin, scorer.weight, cycle, rows, None)


def _learn_constants(
    plugins: Sequence[Weighted],
    cycle: Cycle,
    memory: Memory,
    standings: Standings,
    standing: Standing,
) -> Constants:
    whole = cycle.nodes.all_rows()
    scorers: list[Scorer] = []
    key: list[Hashable] = []
    constants: list[tuple[ScorePlugin, PluginScores, Ints]] = []
    settled = standing.pre_score.rest if standing.pre_score is not None else ()
    asked_again = {plugin.name for plugin in settled}
    for plugin, weight in plugins:
        asked = plugin.name in asked_again
        if plugin.name in cycle.skip_score and not asked:
            continue
        as_it_is = type(plugin).normalize is ScorePlugin.normalize
        scorer = Scorer(plugin, weight, None, as_it_is and plugin.in_range)
        by_range = as_it_is or plugin.normalizes_by_range
        dependence = plugin.score_depends(cycle) if plugin.in_range and not asked else None
        if by_range and dependence is not None and dependence.stands:
            known = memory.score(plugin, weight, dependence, cycle, whole)
            if isinstance(known, Scores):
                scores = PluginScores(plugin.name, weight, known.raw, known.normalized)
                constants.append((plugin, scores, known.weighted))
                key.append((plugin.name, dependence.fragment))
                scorer = scorer._replace(constant=scores)
        scorers.append(scorer)
    standing.scorers = tuple(scorers)
    standing.constants = standings.constants(tuple(key), lambda: _sum(constants, cycle.nodes.size))
    return standing.constants


def _sum(constants: Sequence[tuple[ScorePlugin, PluginScores, Ints]], count: int) -> Constants:
    total: Ints = np.zeros(count, dtype=np.int64)
    uneven: list[Ints] = []
    for plugin, scores, weighted in constants:
        total += weighted
        raw = scores.raw
        if plugin.normalizes_by_range and raw.min() != raw.max():
            uneven.append(raw)
    return Constants(total, uneven)
