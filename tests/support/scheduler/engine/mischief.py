"""A plugin that gets in the way, at whichever point a pod's annotation names.

`mischief: permit waits` and the like; the kinds are listed in `pod_shapes.py`. It does so at every
other attempt, so that pods get through in the end, and not at all while it is calm.
"""

from typing import Any

from podium.scheduler.framework.cycle import Cycle
from podium.scheduler.framework.handle import ApiHandle, Handle
from podium.scheduler.framework.points import (
    PermitPlugin,
    PermitResult,
    PreBindPlugin,
    PreFlight,
    ReservePlugin,
)
from podium.scheduler.framework.status import SKIP, Code, Status, error, unschedulable


class Mischief(ReservePlugin, PermitPlugin, PreBindPlugin):
    """`holding` are the pods for which something is reserved."""

    name = "Mischief"
    calm = False

    def __init__(self, args: Any, handle: Handle) -> None:
        super().__init__(args, handle)
        self.holding: dict[str, int] = {}
        self._attempts: dict[str, int] = {}

    def _does(self, cycle: Cycle, what: str) -> bool:
        annotations = cycle.pod.pod.metadata.annotations or {}
        odd = self._attempts.get(cycle.pod.uid, 0) % 2 == 1
        return odd and not self.calm and annotations.get("mischief") == what

    def reserve(self, cycle: Cycle, node_name: str) -> Status | None:
        uid = cycle.pod.uid
        self.holding[uid] = self.holding.get(uid, 0) + 1
        self._attempts[uid] = self._attempts.get(uid, 0) + 1
        if self._does(cycle, "reserve breaks"):
            raise ValueError("reserve broke")
        return unschedulable("not reserved") if self._does(cycle, "reserve rejects") else None

    def unreserve(self, cycle: Cycle, node_name: str) -> None:
        self.holding.pop(cycle.pod.uid, None)

    def permit(self, cycle: Cycle, node_name: str) -> PermitResult | None:
        if self._does(cycle, "permit breaks"):
            raise ValueError("permit broke")
        if self._does(cycle, "permit rejects"):
            return PermitResult(unschedulable("not permitted"))
        return PermitResult(Status(Code.WAIT), 30.0) if self._does(cycle, "permit waits") else None

    def pre_bind_pre_flight(self, cycle: Cycle, node_name: str) -> PreFlight:
        if self._does(cycle, "pre-flight breaks"):
            return PreFlight(error("pre-flight broke"))
        annotations = cycle.pod.pod.metadata.annotations or {}
        return PreFlight(None if annotations.get("mischief", "").startswith("pre-bind") else SKIP)

    async def pre_bind(self, cycle: Cycle, node_name: str, api: ApiHandle) -> Status | None:
        if self._does(cycle, "pre-bind breaks"):
            raise ValueError("pre-bind broke")
        return unschedulable("no disk") if self._does(cycle, "pre-bind rejects") else None
