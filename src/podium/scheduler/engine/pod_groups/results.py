"""What came of trying a pod group on paper.

A try holds nodes for members, one after the other, and gives them all back at the end; what is left
is a result per member and a verdict on the group. Nothing is decided before it is submitted.
"""

from dataclasses import dataclass, field

from podium.scheduler.engine.decision import Decision
from podium.scheduler.framework.cycle import Cycle
from podium.scheduler.framework.placements import is_error
from podium.scheduler.framework.queued import QueuedPod
from podium.scheduler.framework.status import Status, unschedulable

UNSCHEDULABLE = unschedulable("pod group is unschedulable")
WAITING = unschedulable(*UNSCHEDULABLE.reasons, "pod group is waiting for preemption to complete")


@dataclass(slots=True)
class MemberResult:
    """How one member fared.

    `node_name` is where it was put for the moment, empty if nowhere; `requires_preemption` says
    that pods have to leave there first. `permit` is what Permit said of it: None lets it go.
    """

    queued: QueuedPod
    decision: Decision
    cycle: Cycle
    node_name: str = ""
    requires_preemption: bool = False
    permit: Status | None = None

    @property
    def succeeded(self) -> bool:
        return bool(self.node_name) and not self.requires_preemption


@dataclass(slots=True)
class GroupResult:
    """`status` None means that the group fits as things are. Members that the try did not reach
    have no result."""

    status: Status | None = UNSCHEDULABLE
    members: list[MemberResult] = field(default_factory=list)
    waiting_on_preemption: bool = False

    @property
    def label(self) -> str:
        """The result as metrics name it."""
        if self.status is None:
            return "scheduled"
        if self.broken:
            return "error"
        return "waiting_on_preemption" if self.waiting_on_preemption else "unschedulable"

    @property
    def broken(self) -> bool:
        return is_error(self.status)
