"""`filteringPod` and `filteringNode`: who has the label `wyq=Unschedulable` is left out."""

from collections.abc import Sequence
from typing import Final

from podium.addons.collection.wyq.trace_lines import TraceArgs, TraceLines, rows_still_in
from podium.plugin import (
    Action,
    Cycle,
    Dependence,
    FilterPlugin,
    Handle,
    PreFilterPlugin,
    Registration,
    Resource,
    Rows,
    Status,
    Verdict,
    indices,
    rejecting,
    unschedulable,
)

_KEY: Final = "wyq"
_VALUE: Final = "Unschedulable"
_REFUSED: Final = unschedulable("")
"""upstream: without a word"""


class FilteringPod(PreFilterPlugin):
    name = "filteringPod"
    Args = TraceArgs

    def __init__(self, args: TraceArgs, handle: Handle) -> None:
        super().__init__(args, handle)
        self.lines = TraceLines(handle.log, self.name, args) if args.prefix else None

    def pre_filter(self, cycle: Cycle) -> Status | None:
        if self.lines is not None:
            self.lines.at("PreFilter", cycle)
        labels = cycle.pod.pod.metadata.labels or {}
        return _REFUSED if labels.get(_KEY) == _VALUE else None

    def events(self) -> Sequence[Registration]:
        return (Registration(Resource.UNSCHEDULABLE_POD, Action.UPDATE_POD_LABEL),)


class FilteringNode(FilterPlugin):
    name = "filteringNode"
    Args = TraceArgs

    def __init__(self, args: TraceArgs, handle: Handle) -> None:
        super().__init__(args, handle)
        self.lines = TraceLines(handle.log, self.name, args) if args.prefix else None

    def filter(self, cycle: Cycle, rows: Rows) -> Verdict | None:
        if self.lines is not None and self.lines.wanted:
            for row in indices(rows_still_in(cycle, rows)).tolist():
                self.lines.on("Filter ", cycle, cycle.nodes.names[row])
        column = cycle.nodes.labels.column(_KEY)
        return rejecting(column.codes[rows] == column.values.id(_VALUE), _REFUSED)

    def filter_depends(self, cycle: Cycle) -> Dependence | None:  # noqa: ARG002
        if self.lines is not None and self.lines.wanted:
            return None  # to be called every time
        return Dependence(fragment=None, usage=False)

    def events(self) -> Sequence[Registration]:
        return (Registration(Resource.NODE, Action.ADD | Action.UPDATE_NODE_LABEL),)
