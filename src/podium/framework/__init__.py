"""The frame plugins hang in: extension points, statuses, verdicts, cycle state, profiles.

What is named here is what plugins are written with (docs/plugins.md), and stays where it is.
"""

from podium.framework.cycle import Cycle
from podium.framework.dependence import Dependence
from podium.framework.events import Action, Registration, Resource
from podium.framework.handle import Handle
from podium.framework.node_form import NodeFilterPlugin, NodeScorePlugin, NodeView
from podium.framework.points import (
    BindPlugin,
    FilterPlugin,
    PermitPlugin,
    PermitResult,
    Plugin,
    PostBindPlugin,
    PostFilterPlugin,
    PostFilterResult,
    PreBindPlugin,
    PreEnqueuePlugin,
    PreFilterPlugin,
    PreFlight,
    PreScorePlugin,
    QueueSortPlugin,
    ReservePlugin,
    ScorePlugin,
)
from podium.framework.status import SKIP, Code, Status, error, unresolvable, unschedulable
from podium.framework.verdict import Verdict, choosing, per_row, rejecting

__all__ = [
    "SKIP",
    "Action",
    "BindPlugin",
    "Code",
    "Cycle",
    "Dependence",
    "FilterPlugin",
    "Handle",
    "NodeFilterPlugin",
    "NodeScorePlugin",
    "NodeView",
    "PermitPlugin",
    "PermitResult",
    "Plugin",
    "PostBindPlugin",
    "PostFilterPlugin",
    "PostFilterResult",
    "PreBindPlugin",
    "PreEnqueuePlugin",
    "PreFilterPlugin",
    "PreFlight",
    "PreScorePlugin",
    "QueueSortPlugin",
    "Registration",
    "ReservePlugin",
    "Resource",
    "ScorePlugin",
    "Status",
    "Verdict",
    "choosing",
    "error",
    "per_row",
    "rejecting",
    "unresolvable",
    "unschedulable",
]
