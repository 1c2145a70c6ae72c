"""Trace plugins, which say at which point they are called, and filters by one label.

`defalut` and `wyq` change nothing. Filters here answer for all nodes at once; lines are written
only of nodes that no filter before has rejected, because those are the ones that a scheduler which
goes node by node comes to.

Kept as it was: Permit answers success together with an hour, and the hour counts for nothing;
PostFilter answers success without a node, which ends that phase and nominates nobody. Not kept:
Bind reported success without binding, here it leaves the pod to the next plugin; the queue order
(`Less` was always true) is no order, so these plugins serve no queueSort.

What the trace plugins say at a point, in the words of either generation. The first wrote
`PreFilter: test`, the second put the plugin in front: `Defalut PreFilter: test`.

`filteringPod` and `filteringNode`: who has the label `wyq=Unschedulable` is left out.
"""

from collections.abc import Sequence
from typing import Final

import msgspec

from podium.plugin import (
    SKIP,
    Action,
    ApiHandle,
    BindPlugin,
    Code,
    Cycle,
    Dependence,
    Diagnosis,
    FilterPlugin,
    Handle,
    Ints,
    Log,
    PermitPlugin,
    PermitResult,
    PostBindPlugin,
    PostFilterPlugin,
    PostFilterResult,
    PreBindPlugin,
    PreFilterPlugin,
    PreFlight,
    PreScorePlugin,
    Registration,
    ReservePlugin,
    Resource,
    Rows,
    ScorePlugin,
    Status,
    Verdict,
    indices,
    rejecting,
    unschedulable,
)

LEVEL: Final = 3


class TraceArgs(msgspec.Struct, rename="camel"):
    """`prefix` puts the plugin's name in front, as the second generation did."""

    prefix: bool = False


class TraceLines:
    """Lines of one plugin; nothing is made of them that nobody reads."""

    def __init__(self, log: Log, plugin: str, args: TraceArgs) -> None:
        self._log = log
        self._front = f"{plugin[:1].upper()}{plugin[1:]} " if args.prefix else ""

    @property
    def wanted(self) -> bool:
        return self._log.verbosity >= LEVEL

    def at(self, point: str, cycle: Cycle) -> None:
        if self.wanted:
            self._log.note(f"{self._front}{point}: {_name(cycle)}", v=LEVEL)

    def about(self, point: str, cycle: Cycle) -> None:
        if self.wanted:
            self._log.note(f"{self._front}{point}: pod: {_name(cycle)}", v=LEVEL)

    def on(self, point: str, cycle: Cycle, node_name: str, more: str = "") -> None:
        if self.wanted:
            text = f"{self._front}{point}: pod: {_name(cycle)}, node: {node_name}{more}"
            self._log.note(text, v=LEVEL)

    def names(self, point: str, cycle: Cycle, rows: Rows) -> None:
        """The feasible nodes, one a line."""
        for name in node_names(cycle, rows) if self.wanted else ():
            self._log.note(f"{self._front}{point}: {name}", v=LEVEL)


def node_names(cycle: Cycle, rows: Rows) -> list[str]:
    return [cycle.nodes.names[row] for row in indices(rows).tolist()]


def rows_still_in(cycle: Cycle, rows: Rows) -> Rows:
    """The rows that no filter before this one has rejected; all of them if nobody knows."""
    before = cycle.filtered
    numbers = indices(rows)
    if before is None or before.count != len(numbers):
        return rows
    return numbers[before.mask_passed()]


def _name(cycle: Cycle) -> str:
    return cycle.pod.pod.metadata.name


_HOUR_S: Final = 3600.0


class Defalut(
    PreFilterPlugin,
    FilterPlugin,
    PostFilterPlugin,
    PreScorePlugin,
    ReservePlugin,
    PermitPlugin,
    PreBindPlugin,
    BindPlugin,
    PostBindPlugin,
):
    name = "defalut"
    Args = TraceArgs

    def __init__(self, args: TraceArgs, handle: Handle) -> None:
        super().__init__(args, handle)
        self.lines = TraceLines(handle.log, self.name, args)

    def pre_filter(self, cycle: Cycle) -> None:
        self.lines.at("PreFilter", cycle)

    def filter(self, cycle: Cycle, rows: Rows) -> Verdict | None:
        if self.lines.wanted:
            for row in indices(rows_still_in(cycle, rows)).tolist():
                self.lines.on("Filter ", cycle, cycle.nodes.names[row])
        return None

    def post_filter(self, cycle: Cycle, diagnosis: Diagnosis) -> PostFilterResult:  # noqa: ARG002
        self.lines.about("PostFilter", cycle)
        return PostFilterResult(Code.SUCCESS)

    def pre_score(self, cycle: Cycle, rows: Rows) -> Status | None:
        self.lines.at("PreScore", cycle)
        self.lines.names("PreScore", cycle, rows)
        return None

    def reserve(self, cycle: Cycle, node_name: str) -> Status | None:
        self.lines.on("Reserve", cycle, node_name)
        return None

    def unreserve(self, cycle: Cycle, node_name: str) -> None:
        self.lines.on("Unreserve", cycle, node_name)

    def permit(self, cycle: Cycle, node_name: str) -> PermitResult | None:
        self.lines.on("Permit", cycle, node_name)
        return PermitResult(Status(Code.SUCCESS), _HOUR_S)

    def pre_bind_pre_flight(self, cycle: Cycle, node_name: str) -> PreFlight:  # noqa: ARG002
        return PreFlight()

    async def pre_bind(self, cycle: Cycle, node_name: str, api: ApiHandle) -> Status | None:  # noqa: ARG002
        self.lines.on("PreBind", cycle, node_name)
        return None

    async def bind(self, cycle: Cycle, node_name: str, api: ApiHandle) -> Status | None:  # noqa: ARG002
        self.lines.on("Bind", cycle, node_name)
        return SKIP

    async def post_bind(self, cycle: Cycle, node_name: str, api: ApiHandle) -> None:  # noqa: ARG002
        self.lines.on("PostBind", cycle, node_name)


class Wyq(Defalut, ScorePlugin):
    """The first generation: one plugin at all points, scores of nothing included."""

    name = "wyq"
    in_range = True

    def score(self, cycle: Cycle, rows: Rows) -> Ints:
        numbers = indices(rows)
        if self.lines.wanted:
            for row in numbers.tolist():
                self.lines.on("Score", cycle, cycle.nodes.names[row])
        return (numbers * 0).astype("int64")

    def normalize(self, cycle: Cycle, rows: Rows, scores: Ints) -> Ints:  # noqa: ARG002
        self.lines.about("NormalizeScore", cycle)
        return scores


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
