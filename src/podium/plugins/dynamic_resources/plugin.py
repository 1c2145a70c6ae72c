"""DynamicResources: may this pod have its devices on this node?"""

from dataclasses import dataclass

import numpy as np

from podium.cluster.growth import Ints, Rows, count_of
from podium.cluster.pod_info import PodInfo
from podium.framework.cycle import Cycle, StateMissing
from podium.framework.diagnosis import Diagnosis
from podium.framework.points import (
    ApiHandle,
    FilterPlugin,
    PostFilterPlugin,
    PostFilterResult,
    PreBindPlugin,
    PreEnqueuePlugin,
    PreFilterPlugin,
    PreFlight,
    ReservePlugin,
    ScorePlugin,
)
from podium.framework.scoring import default_normalize
from podium.framework.status import SKIP, Code, Status, error
from podium.framework.verdict import Verdict

NO_CLAIMS = "no new claims to deallocate"


@dataclass(slots=True)
class ClaimsState:
    """What PreFilter found out about the pod's claims."""


class DynamicResources(
    PreEnqueuePlugin,
    PreFilterPlugin,
    FilterPlugin,
    PostFilterPlugin,
    ScorePlugin,
    ReservePlugin,
    PreBindPlugin,
):
    name = "DynamicResources"

    def pre_enqueue(self, pod: PodInfo) -> Status | None:
        if not pod.pod.spec.resource_claims:
            return None
        return error("claims are not supported yet")

    def pre_filter(self, cycle: Cycle) -> Status | frozenset[str] | None:
        cycle.write(self.name, ClaimsState())
        if not cycle.pod.pod.spec.resource_claims:
            return SKIP
        return error("claims are not supported yet")

    def filter(self, cycle: Cycle, rows: Rows) -> Verdict | None:
        return None

    def post_filter(self, cycle: Cycle, diagnosis: Diagnosis) -> PostFilterResult:
        try:
            cycle.read(self.name, ClaimsState)
        except StateMissing as missing:
            return PostFilterResult(Code.ERROR, (str(missing),))
        return PostFilterResult(Code.UNSCHEDULABLE, (NO_CLAIMS,))

    def score(self, cycle: Cycle, rows: Rows) -> Ints:
        return np.zeros(count_of(rows), dtype=np.int64)

    def normalize(self, cycle: Cycle, rows: Rows, scores: Ints) -> Ints:
        return default_normalize(scores)

    def reserve(self, cycle: Cycle, node_name: str) -> Status | None:
        return None

    def unreserve(self, cycle: Cycle, node_name: str) -> None:
        return None

    def pre_bind_pre_flight(self, cycle: Cycle, node_name: str) -> PreFlight:
        return PreFlight(SKIP)

    async def pre_bind(self, cycle: Cycle, node_name: str, api: ApiHandle) -> Status | None:
        return None
