"""The phases of an attempt for a pod whose like has been seen: only what may differ is asked.

Each function here says the same as its plain form in `filtering.py` and `scoring.py`, to which it
is held by property tests, and is quicker by what `templates.py` knows. `Profile` chooses
between the two forms.
"""

from collections.abc import Hashable, Iterator, Sequence
from typing import TypeVar

import numpy as np

from podium.scheduler.cluster.growth import Ints, Rows
from podium.scheduler.framework.caches.templates import (
    NOT_KNOWN,
    Constants,
    Prepared,
    Rejection,
    Rejector,
    Scorer,
    TemplateCache,
    TemplateEntry,
)
from podium.scheduler.framework.caches.totals import Tallies, Totals
from podium.scheduler.framework.caches.vectors import (
    RememberedScores,
    VectorCache,
    scores_as_they_are,
    usable,
)
from podium.scheduler.framework.cycle import Cycle
from podium.scheduler.framework.diagnosis import FilterResult
from podium.scheduler.framework.filtering import PreFilterOutcome, run_filters, run_pre_filters
from podium.scheduler.framework.points import (
    FilterPlugin,
    Plugin,
    PreFilterPlugin,
    PreScorePlugin,
    ScorePlugin,
)
from podium.scheduler.framework.scoring import (
    PluginScores,
    Weighted,
    check_range,
    normal_scores,
    raw_scores,
    run_pre_scores,
    run_scores,
    scoring_failed,
)

P = TypeVar("P", bound=Plugin)


def pre_filters(
    plugins: Sequence[PreFilterPlugin], cycle: Cycle, template: TemplateEntry
) -> PreFilterOutcome:
    known = template.pre_filter
    if known is None:
        outcome = run_pre_filters(plugins, cycle)
        if outcome.status is None and outcome.nodes is None:
            stays = [p for p in plugins if p.pre_filter_stays(cycle)]
            template.pre_filter = _note_prepared(plugins, stays, cycle.skip_filter, cycle)
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
    plugins: Sequence[PreScorePlugin], cycle: Cycle, rows: Rows, template: TemplateEntry
) -> list[str]:
    known = template.pre_score
    if known is None:
        skipped = run_pre_scores(plugins, cycle, rows)
        stays = [p for p in plugins if p.pre_score_stays(cycle)]
        template.pre_score = _note_prepared(plugins, stays, cycle.skip_score, cycle)
        return skipped
    cycle.states.update(known.states)
    cycle.skip_score.update(known.skipped)
    if not known.rest:
        return list(known.in_order)
    run_pre_scores(known.rest, cycle, rows)
    return [p.name for p in plugins if p.name in cycle.skip_score]


def _note_prepared(
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
    vectors: VectorCache,
    templates: TemplateCache,
    template: TemplateEntry,
) -> FilterResult:
    """The result may be shared with other attempts, unless there are nominated pods to respect."""
    if not isinstance(rows, slice):
        # Some rows of a search that stops early: what is remembered is of the whole table.
        return run_filters(plugins, cycle, rows, vectors)
    try:
        if template.filters is None:
            template.filters = tuple(_rejectors(plugins, cycle, vectors, template))
        head, rest = _head(template.filters, cycle, vectors)
    except Exception:  # the plain form says so in its place
        return run_filters(plugins, cycle, rows, vectors)
    result = templates.combine_head(rows, head)
    if rest or cycle.nominated:
        # Shared with other attempts: what is added from here on goes into a twin.
        result = result.fork()
    return run_filters(rest, cycle, rows, None, result) if rest else result


def _head(
    rejectors: Sequence[Rejector], cycle: Cycle, vectors: VectorCache
) -> tuple[list[Rejection], Sequence[FilterPlugin]]:
    """What the remembered filters at the head of the chain say, and the filters behind them."""
    head: list[Rejection] = []
    for position, rejector in enumerate(rejectors):
        plugin = rejector.plugin
        if plugin.name in cycle.skip_filter:
            continue
        dependence = rejector.dependence or plugin.filter_depends(cycle)
        if dependence is None:
            return head, [behind.plugin for behind in rejectors[position:]]
        entry = rejector.entry
        # An entry that was dropped for room is empty for good: look it up again.
        if entry is None or not entry.kept:
            entry = vectors.filter_entry(plugin, dependence)
            rejector.entry = entry if dependence.of_shape else None
        verdict = vectors.verdict(entry, plugin, dependence, cycle)
        if verdict is not None:
            head.append((plugin.name, verdict))
    return head, ()


def _rejectors(
    plugins: Sequence[FilterPlugin], cycle: Cycle, vectors: VectorCache, template: TemplateEntry
) -> Iterator[Rejector]:
    """The filters that have to be asked: not those that stand aside or let every row pass if that
    stays so."""
    aside = template.pre_filter.skipped if template.pre_filter is not None else ()
    for plugin in plugins:
        if plugin.name in aside:
            continue
        rejector = Rejector(plugin)
        if plugin.name not in cycle.skip_filter:
            dependence = plugin.filter_depends(cycle)
            if dependence is not None:
                if dependence.stands and vectors.filter(plugin, dependence, cycle) is None:
                    continue
                rejector.dependence = dependence if dependence.of_shape else None
        yield rejector


# scoring


def scores(
    plugins: Sequence[Weighted],
    cycle: Cycle,
    rows: Rows,
    vectors: VectorCache,
    templates: TemplateCache,
    template: TemplateEntry,
) -> tuple[list[PluginScores], Totals]:
    if not usable(cycle, rows) or not cycle.nodes.dense():
        return _plain(plugins, cycle, rows, vectors)
    constants = template.constants
    if constants is None:
        try:
            constants = _learn_constants(plugins, cycle, vectors, templates, template)
        except Exception:  # the plain form says so in its place, and nothing was learned
            return _plain(plugins, cycle, rows, vectors)
    if not (isinstance(rows, slice) or constants.fit(rows)):
        return _plain(plugins, cycle, rows, vectors)
    return _scores(template, constants, cycle, rows, vectors, templates.tallies)


def _plain(
    plugins: Sequence[Weighted], cycle: Cycle, rows: Rows, vectors: VectorCache
) -> tuple[list[PluginScores], Totals]:
    found, total = run_scores(plugins, cycle, rows, vectors)
    return found, Totals(total)


def _scores(
    template: TemplateEntry,
    constants: Constants,
    cycle: Cycle,
    rows: Rows,
    vectors: VectorCache,
    tallies: Tallies,
) -> tuple[list[PluginScores], Totals]:
    """Add up: what stands or is remembered of all rows, then what is made for these."""
    some = None if isinstance(rows, slice) else rows
    found = list(template.standing)
    if some is not None:
        found = [scores.among(some) for scores in found]
    key: list[Hashable] = [constants]
    remembered: list[Ints] = []
    own: list[tuple[int, Scorer, Ints]] = []
    aside: list[int] = []
    for position, scorer in template.varying:
        plugin = scorer.plugin
        if plugin.name in cycle.skip_score:
            aside.append(position)
            continue
        raw = _raw(scorer, cycle, rows, vectors)
        if isinstance(raw, RememberedScores):
            found[position] = PluginScores(
                plugin.name, scorer.weight, raw.raw, raw.normalized, some
            )
            remembered.append(raw.weighted)
            key.append(scorer.entry)
        else:
            own.append((position, scorer, raw))
    # A scorer without a dependence for its whole shape has no entry, and no tally by its name.
    if None in key:
        totals = _with_own(_add_up(constants.total, remembered, rows), own, found, cycle, rows)
    else:
        tally = tallies.of(tuple(key), constants.total, remembered, cycle, vectors.changes)
        if not own and some is None:
            totals = Totals(tally.total, tally.leaders)
        else:
            # `_add_up` copies: the tally's own column must not take scores of this attempt alone.
            totals = _with_own(_add_up(tally.total.live, (), rows), own, found, cycle, rows)
    for position in reversed(aside):
        del found[position]
    return found, totals


def _add_up(constants: Ints, remembered: Sequence[Ints], rows: Rows) -> Ints:
    """A sum of vectors of the whole table, at some rows."""
    if not remembered:
        return constants.copy() if isinstance(rows, slice) else constants[rows]
    total = constants + remembered[0]
    for weighted in remembered[1:]:
        total += weighted
    return total if isinstance(rows, slice) else total[rows]


def _with_own(
    total: Ints,
    own: Sequence[tuple[int, Scorer, Ints]],
    found: list[PluginScores],
    cycle: Cycle,
    rows: Rows,
) -> Totals:
    """Add what was made for these rows alone."""
    unchecked: list[PluginScores] = []
    for position, scorer, raw in own:
        normalized = normal_scores(scorer.plugin, cycle, rows, raw)
        made = found[position] = PluginScores(scorer.plugin.name, scorer.weight, raw, normalized)
        total += normalized * scorer.weight if scorer.weight != 1 else normalized
        if not scorer.plugin.in_range:
            unchecked.append(made)
    check_range(unchecked)
    return Totals(total)


def _raw(scorer: Scorer, cycle: Cycle, rows: Rows, vectors: VectorCache) -> Ints | RememberedScores:
    """Finished scores of the whole table where some rows' are nothing else, or raw ones of the
    rows."""
    plugin, weight, dependence = scorer.plugin, scorer.weight, scorer.dependence
    if not scorer.as_it_is:
        return raw_scores(plugin, weight, cycle, rows, None)
    if dependence is None:
        return raw_scores(plugin, weight, cycle, rows, vectors, whole=True)
    entry = scorer.entry
    try:
        if entry is None or not entry.kept:
            entry = scorer.entry = vectors.score_entry(plugin, dependence)
        return vectors.scores(entry, plugin, weight, dependence, cycle)
    except Exception as problem:
        raise scoring_failed(plugin, problem) from problem


def _learn_constants(
    plugins: Sequence[Weighted],
    cycle: Cycle,
    vectors: VectorCache,
    templates: TemplateCache,
    template: TemplateEntry,
) -> Constants:
    whole = cycle.nodes.all_rows()
    scorers: list[Scorer] = []
    key: list[Hashable] = []
    constants: list[tuple[ScorePlugin, PluginScores, Ints]] = []
    settled = template.pre_score.rest if template.pre_score is not None else ()
    asked_again = {plugin.name for plugin in settled}
    for plugin, weight in plugins:
        asked = plugin.name in asked_again
        if plugin.name in cycle.skip_score and not asked:
            continue
        scorer = Scorer(plugin, weight)
        by_range = scores_as_they_are(plugin) or plugin.normalizes_by_range
        dependence = plugin.score_depends(cycle) if plugin.in_range and not asked else None
        if dependence is not None and dependence.of_shape:
            scorer.dependence = dependence
        if by_range and dependence is not None and dependence.stands:
            known = vectors.score(plugin, weight, dependence, cycle, whole)
            if isinstance(known, RememberedScores):
                scores = PluginScores(plugin.name, weight, known.raw, known.normalized)
                constants.append((plugin, scores, known.weighted))
                key.append((plugin.name, dependence.fragment))
                scorer.constant = scores
        scorers.append(scorer)
    template.varying = tuple(
        [(position, each) for position, each in enumerate(scorers) if each.constant is None]
    )
    template.standing = tuple([each.constant or NOT_KNOWN for each in scorers])
    template.constants = templates.constants(tuple(key), lambda: _sum(constants, cycle.nodes.size))
    return template.constants


def _sum(constants: Sequence[tuple[ScorePlugin, PluginScores, Ints]], count: int) -> Constants:
    total: Ints = np.zeros(count, dtype=np.int64)
    uneven: list[Ints] = []
    for plugin, scores, weighted in constants:
        total += weighted
        raw = scores.raw
        if plugin.normalizes_by_range and raw.min() != raw.max():
            uneven.append(raw)
    return Constants(total, uneven)
