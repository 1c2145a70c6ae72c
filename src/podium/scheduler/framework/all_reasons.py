"""Every reason against a node, for profiles that ask for more than the first.

A Policy with `alwaysCheckAllPredicates` has each filter look at each node, also after one rejected
it. The outcome is the same; what is said of a node is the reasons of all filters together, and its
code the severest of theirs. Filters that reject nothing cost a second look at the rejected nodes
only. An error still ends the matter at once.

Source: `RunFilterPlugins` with `runAllFilters` in `pkg/scheduler/framework/runtime/framework.go` at
v1.22.
"""

from collections.abc import Iterable, Sequence

import numpy as np

from podium.scheduler.cluster.growth import indices
from podium.scheduler.framework.cycle import Cycle
from podium.scheduler.framework.diagnosis import FilterResult
from podium.scheduler.framework.faults import describe
from podium.scheduler.framework.points import FilterPlugin
from podium.scheduler.framework.status import Code, Status, error
from podium.scheduler.framework.verdict import Verdict, checked


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
            verdict = checked(plugin.filter(cycle, rows))
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
        result.override(positions[which.ravel() == number], merged(rejections))


def merged(statuses: Iterable[Status]) -> Status:
    """One status of several: the severest code, all reasons once, and the first plugin."""
    found = list(statuses)
    reasons = dict.fromkeys(reason for status in found for reason in status.reasons)
    severest = max(found, key=lambda status: _SEVERITY.get(status.code, len(_SEVERITY)))
    return Status(severest.code, tuple(reasons), found[0].plugin)


_SEVERITY = {Code.PENDING: 0, Code.UNSCHEDULABLE: 1, Code.UNRESOLVABLE: 2}
