"""Running PreFilter and Filter plugins, and the pass with nominated pods.

The rules of what each status code does are upstream's: a PreFilter that rejects as unresolvable
ends the phase, one that rejects as unschedulable lets the others still speak, node sets intersect,
and a node with stronger nominated pods must pass with them and without.

Source: `RunPreFilterPlugins`, `RunFilterPlugins` and `RunFilterPluginsWithNominatedPods` in
`pkg/scheduler/framework/runtime/framework.go`.

A node with stronger nominated pods must let a pod pass with them and without. Where nodes are
independent all such nodes are tried together, on a usage that has the nominated pods in place;
where a pod on one node counts for another, each node gets a trial of its own.

Source: `RunFilterPluginsWithNominatedPods` in `pkg/scheduler/framework/runtime/framework.go`.

A Policy with `alwaysCheckAllPredicates` has each filter look at each node, also after one rejected
it. The outcome is the same; what is said of a node is the reasons of all filters together, and its
code the severest of theirs. Filters that reject nothing cost a second look at the rejected nodes
only. An error still ends the matter at once.

Source: `RunFilterPlugins` with `runAllFilters` in `pkg/scheduler/framework/runtime/framework.go` at
v1.22.
"""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import numpy.typing as npt
from msgspec import Struct, field

from podium.scheduler.cluster.growth import Rows, indices
from podium.scheduler.cluster.nominated_pods import NominatedPods, PodsByRow
from podium.scheduler.cluster.pod_info import PodInfo
from podium.scheduler.framework.caches.vectors import VectorCache, usable
from podium.scheduler.framework.cycle import Cycle
from podium.scheduler.framework.diagnosis import FilterResult, Verdict, check_verdict
from podium.scheduler.framework.faults import WrongAnswer, describe, status_or_none
from podium.scheduler.framework.points import FilterPlugin, PreFilterExtensions, PreFilterPlugin
from podium.scheduler.framework.status import Code, Status, error, unresolvable


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
        return check_verdict(plugin.filter(cycle, rows))
    verdict = vectors.filter(plugin, dependence, cycle)
    if verdict is None or isinstance(rows, slice):
        return verdict
    return verdict._replace(values=verdict.values[rows])


def _fail_rest(result: FilterResult, plugin: str, text: str) -> None:
    status = error(f'running "{plugin}" filter plugin: {text}').by(plugin)
    result.override(np.flatnonzero(result.failed == 0), status)


_FEW = 32
"""So many rows are looked up one by one."""

Positions = npt.NDArray[np.intp]


def filter_with_nominated(
    plugins: Sequence[FilterPlugin],
    extensions: Sequence[PreFilterExtensions],
    cycle: Cycle,
    rows: Rows,
    result: FilterResult,
) -> None:
    """Reject those of the rows that do not pass with their nominated pods in place."""
    nominated = cycle.nominated
    if not nominated:
        return
    nominated_rows, positions = _rows_with_nominated(nominated, rows)
    if not len(nominated_rows):
        return
    if all(plugin.name in cycle.skip_filter for plugin in extensions):
        trial = _together(plugins, cycle, nominated.by_row, nominated_rows)
        for status, failed in trial.groups():
            result.override(positions[failed], status)
        return
    statuses = _one_by_one(plugins, extensions, cycle, nominated.by_row, nominated_rows.tolist())
    for position, row in zip(positions.tolist(), nominated_rows.tolist(), strict=True):
        if row in statuses:
            result.override(np.array([position], dtype=np.intp), statuses[row])


def _rows_with_nominated(nominated: NominatedPods, rows: Rows) -> tuple[Positions, Positions]:
    """Those with nominated pods among some rows, and where they are."""
    if isinstance(rows, slice):
        nominated_rows = nominated.rows
        if len(nominated_rows) and (
            nominated_rows[0] < rows.start or nominated_rows[-1] >= rows.stop
        ):
            nominated_rows = nominated_rows[
                (nominated_rows >= rows.start) & (nominated_rows < rows.stop)
            ]
        return nominated_rows, nominated_rows - rows.start
    if len(rows) <= _FEW:
        found = [at for at, row in enumerate(rows.tolist()) if row in nominated.by_row]
        positions = np.array(found, dtype=np.intp)
    else:
        positions = np.flatnonzero(np.isin(rows, nominated.rows))
    return rows[positions], positions


def _together(
    plugins: Sequence[FilterPlugin], cycle: Cycle, by_row: PodsByRow, nominated_rows: Positions
) -> FilterResult:
    """Filter all such rows at once, with their nominated pods in place."""
    if cycle.usage is cycle.cluster.usage:
        trial = cycle.fork(cycle.cluster.nominated_pods.usage_met_by(cycle.pod))
        return run_filters(plugins, trial, nominated_rows)
    # Within a trial: put them there, and take them away again.
    usage, rows = cycle.usage, nominated_rows.tolist()
    ports = {row: usage.ports.used_ports(row) for row in rows if _have_ports(by_row[row])}
    for row in rows:
        for pod in by_row[row]:
            usage.add(row, pod)
    try:
        return run_filters(plugins, cycle.fork(usage), nominated_rows)
    finally:
        for row in rows:
            for pod in reversed(by_row[row]):
                usage.remove(row, pod)
        for row, used in ports.items():
            usage.ports.clear(row)
            usage.ports.add(row, used)


def _have_ports(pods: Sequence[PodInfo]) -> bool:
    return any(pod.shape.ports for pod in pods)


def _one_by_one(
    plugins: Sequence[FilterPlugin],
    extensions: Sequence[PreFilterExtensions],
    cycle: Cycle,
    by_row: PodsByRow,
    nominated_rows: Sequence[int],
) -> Mapping[int, Status]:
    """Why rows do not pass, each tried with a state of its own."""
    found: dict[int, Status] = {}
    usage = cycle.usage.fork()
    for row in nominated_rows:
        trial = cycle.fork(usage)
        failure = add_pods(extensions, trial, by_row[row], row)
        if failure is None:
            failure = run_filters(plugins, trial, np.array([row], dtype=np.intp)).status(0)
        if failure is not None:
            found[row] = failure
        usage.reset(row, cycle.usage)
    return found


def add_pods(
    extensions: Sequence[PreFilterExtensions], trial: Cycle, pods: Sequence[PodInfo], row: int
) -> Status | None:
    """Imagine pods on a node of a trial."""
    for pod in pods:
        trial.usage.add(row, pod)
        failure = tell_extensions(extensions, trial, pod, row, added=True)
        if failure is not None:
            return failure
    return None


def tell_extensions(
    extensions: Sequence[PreFilterExtensions],
    trial: Cycle,
    pod: PodInfo,
    row: int,
    *,
    added: bool,
) -> Status | None:
    """Let PreFilter states follow a pod that a trial adds to or removes from a node."""
    for plugin in extensions:
        if plugin.name in trial.skip_filter:
            continue
        call, verb = (plugin.add_pod, "AddPod") if added else (plugin.remove_pod, "RemovePod")
        try:
            answer = status_or_none(call.__name__, call(trial, pod, row))
        except Exception as problem:
            answer = error(describe(problem))
        if answer is not None and answer.code is not Code.SUCCESS:
            text = f'running {verb} on PreFilter plugin "{plugin.name}": {answer.message}'
            return error(text).by(plugin.name)
    return None


def add_all_reasons(plugins: Sequence[FilterPlugin], cycle: Cycle, result: FilterResult) -> None:
    """Replace the first reason against each rejected row by all of them."""
    positions = np.flatnonzero(result.failed)
    if result.broken or not len(positions):
        return
    rows = indices(result.rows)[positions]
    answers: list[tuple[str, Verdict]] = []
    for plugin in plugins:
        if plugin.name in cycle.skip_filter:
            continue
        try:
            verdict = check_verdict(plugin.filter(cycle, rows))
        except Exception as problem:
            text = f'running "{plugin.name}" filter plugin: {describe(problem)}'
            result.override(positions, error(text).by(plugin.name))
            return
        if verdict is not None:
            answers.append((plugin.name, verdict))
    patterns, which = np.unique(
        np.stack([verdict.values for _, verdict in answers]), axis=1, return_inverse=True
    )
    for number in range(patterns.shape[1]):
        rejections = (
            verdict.describe(int(value)).by(name)
            for (name, verdict), value in zip(answers, patterns[:, number], strict=True)
            if value
        )
        result.override(positions[which.ravel() == number], merge_statuses(rejections))


def merge_statuses(statuses: Iterable[Status]) -> Status:
    """One status of several: the severest code, all reasons once, and the first plugin."""
    found = list(statuses)
    reasons = dict.fromkeys(reason for status in found for reason in status.reasons)
    severest = max(found, key=lambda status: _SEVERITY.get(status.code, len(_SEVERITY)))
    return Status(severest.code, tuple(reasons), found[0].plugin)


_SEVERITY = {Code.PENDING: 0, Code.UNSCHEDULABLE: 1, Code.UNRESOLVABLE: 2}
