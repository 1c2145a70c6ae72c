"""Running PreFilter and Filter plugins, and the pass with nominated pods.

The rules of what each status code does are upstream's: a PreFilter that rejects as unresolvable
ends the phase, one that rejects as unschedulable lets the others still speak, node sets intersect,
and a node with stronger nominated pods must pass with them and without.

Source: `RunPreFilterPlugins`, `RunFilterPlugins` and `RunFilterPluginsWithNominatedPods` in
`pkg/scheduler/framework/runtime/framework.go`.
"""

from collections.abc import Sequence

import numpy as np
from msgspec import Struct, field

from podium.scheduler.cluster.growth import Rows
from podium.scheduler.framework.all_reasons import add_all_reasons
from podium.scheduler.framework.cycle import Cycle
from podium.scheduler.framework.diagnosis import FilterResult
from podium.scheduler.framework.faults import WrongAnswer, describe
from podium.scheduler.framework.points import FilterPlugin, PreFilterPlugin
from podium.scheduler.framework.status import Code, Status, error, unresolvable
from podium.scheduler.framework.vector_cache import VectorCache, usable
from podium.scheduler.framework.verdict import Verdict, checked


class PreFilterOutcome(Struct):
    """`nodes` None means all; `narrowed_by` are the plugins that returned node sets."""

    nodes: frozenset[str] | None = None
    status: Status | None = None
    skipped: list[str] = field(default_factory=list)
    narrowed_by: set[str] = field(default_factory=set)


def run_pre_filters(plugins: Sequence[PreFilterPlugin], cycle: Cycle) -> PreFilterOutcome:
    outcome = PreFilterOutcome()
    rejected: Status | None = None
    for plugin in plugins:
        try:
            answer = _pre_filter(plugin, cycle)
        except Exception as problem:  # a plugin's bug ends this pod's attempt, not the scheduler
            answer = error(describe(problem))
        if answer is None:
            continue
        if isinstance(answer, frozenset):
            if _narrow(outcome, plugin.name, answer):
                return outcome
        elif answer.code is Code.SKIP:
            outcome.skipped.append(plugin.name)
            cycle.skip_filter.add(plugin.name)
        elif answer.code is Code.UNSCHEDULABLE:
            rejected = answer.by(plugin.name)
        elif answer.code is Code.UNRESOLVABLE:
            outcome.status = answer.by(plugin.name)
            outcome.narrowed_by = set()
            return outcome
        elif answer.code is not Code.SUCCESS:
            text = f'running PreFilter plugin "{plugin.name}": {answer.message}'
            outcome.status = error(text).by(plugin.name)
            outcome.narrowed_by = set()
            return outcome
    outcome.status = rejected
    return outcome


def _pre_filter(plugin: PreFilterPlugin, cycle: Cycle) -> Status | frozenset[str] | None:
    answer: object = plugin.pre_filter(cycle)
    if answer is None or isinstance(answer, Status | frozenset):
        return answer
    if isinstance(answer, set):
        return frozenset(answer)
    raise WrongAnswer("pre_filter", "None, a Status or a set of node names", answer)


def _narrow(outcome: PreFilterOutcome, plugin: str, names: frozenset[str]) -> bool:
    """Intersect node sets; true when nothing is left, which ends the phase."""
    outcome.narrowed_by.add(plugin)
    outcome.nodes = names if outcome.nodes is None else outcome.nodes & names
    if outcome.nodes:
        return False
    by = sorted(outcome.narrowed_by)
    text = (
        f"node(s) didn't satisfy plugin {by[0]}"
        if len(by) == 1
        else f"node(s) didn't satisfy plugin(s) [{' '.join(by)}] simultaneously"
    )
    outcome.status = unresolvable(text)
    return True


def run_filters(
    plugins: Sequence[FilterPlugin],
    cycle: Cycle,
    rows: Rows,
    vectors: VectorCache | None = None,
    start: FilterResult | None = None,
) -> FilterResult:
    """Every filter over some rows; the first plugin that rejects a row decides its verdict.
    `start` is what plugins before these have said."""
    result = FilterResult(rows) if start is None else start
    skip = cycle.skip_filter
    if vectors is not None and not usable(cycle, rows):
        vectors = None
    cycle.filtered = result
    for plugin in plugins:
        if plugin.name in skip:
            continue
        try:
            verdict = _verdict(plugin, cycle, rows, vectors)
            if verdict is not None:
                result.absorb(plugin.name, verdict)
        except Exception as problem:
            _fail_rest(result, plugin.name, describe(problem))
            return result
    if cycle.all_reasons and result.rejected_any:
        add_all_reasons(plugins, cycle, result)
    return result


def _verdict(
    plugin: FilterPlugin, cycle: Cycle, rows: Rows, vectors: VectorCache | None
) -> Verdict | None:
    dependence = plugin.filter_depends(cycle) if vectors is not None else None
    if vectors is None or dependence is None:
        return checked(plugin.filter(cycle, rows))
    verdict = vectors.filter(plugin, dependence, cycle)
    if verdict is None or isinstance(rows, slice):
        return verdict
    return verdict._replace(values=verdict.values[rows])


def _fail_rest(result: FilterResult, plugin: str, text: str) -> None:
    status = error(f'running "{plugin}" filter plugin: {text}').by(plugin)
    result.override(np.flatnonzero(result.failed == 0), status)
