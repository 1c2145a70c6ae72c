"""The pass with nominated pods.

A node with stronger nominated pods must let a pod pass with them and without. Where nodes are
independent all such nodes are tried together, on a usage that has the nominated pods in place;
where a pod on one node counts for another, each node gets a trial of its own.

Source: `RunFilterPluginsWithNominatedPods` in `pkg/scheduler/framework/runtime/framework.go`.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from podium.scheduler.cluster.growth import Rows
from podium.scheduler.cluster.nominated_pods import NominatedPods, PodsByRow
from podium.scheduler.cluster.pod_info import PodInfo
from podium.scheduler.framework.cycle import Cycle
from podium.scheduler.framework.diagnosis import FilterResult
from podium.scheduler.framework.faults import describe, status_or_none
from podium.scheduler.framework.filtering import run_filters
from podium.scheduler.framework.points import FilterPlugin, PreFilterExtensions
from podium.scheduler.framework.status import Code, Status, error

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
    """Those with nominated pods among some rows, and where they stand."""
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
    ports = {row: usage.ports.used(row) for row in rows if _have_ports(by_row[row])}
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
