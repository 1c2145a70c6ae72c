"""`defalut` and `wyq`: plugins that say at which point they are called, and change nothing.

Filters here answer for all nodes at once; lines are written only of nodes that no filter before has
rejected, because those are the ones that a scheduler which goes node by node comes to.

Kept as it was: Permit answers success together with an hour, and the hour counts for nothing;
PostFilter answers success without a node, which ends that phase and nominates nobody. Not kept:
Bind reported success without binding, here it leaves the pod to the next plugin; the queue order
(`Less` was always true) is no order, so these plugins serve no queueSort.
"""

from typing import Final

from podium.addons.collection.wyq.trace_lines import TraceArgs, TraceLines, rows_still_in
from podium.plugin import (
    SKIP,
    ApiHandle,
    BindPlugin,
    Code,
    Cycle,
    Diagnosis,
    FilterPlugin,
    Handle,
    Ints,
    PermitPlugin,
    PermitResult,
    PostBindPlugin,
    PostFilterPlugin,
    PostFilterResult,
    PreBindPlugin,
    PreFilterPlugin,
    PreFlight,
    PreScorePlugin,
    ReservePlugin,
    Rows,
    ScorePlugin,
    Status,
    Verdict,
    indices,
)

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
