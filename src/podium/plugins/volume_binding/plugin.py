"""The plugin class."""

from dataclasses import dataclass

import numpy as np

from podium.cluster.growth import Ints, Rows, count_of
from podium.framework.cycle import Cycle
from podium.framework.points import (
    ApiHandle,
    FilterPlugin,
    PreBindPlugin,
    PreFilterPlugin,
    PreFlight,
    PreScorePlugin,
    ReservePlugin,
    ScorePlugin,
)
from podium.framework.status import SKIP, Status
from podium.framework.verdict import Verdict


@dataclass(slots=True)
class State:
    all_bound: bool = False


class VolumeBinding(
    PreFilterPlugin, FilterPlugin, PreScorePlugin, ScorePlugin, ReservePlugin, PreBindPlugin
):
    name = "VolumeBinding"

    def pre_filter(self, cycle: Cycle) -> Status | None:
        cycle.write(self.name, State())
        return SKIP

    def filter(self, cycle: Cycle, rows: Rows) -> Verdict | None:
        return None

    def pre_score(self, cycle: Cycle, rows: Rows) -> Status | None:
        return SKIP

    def score(self, cycle: Cycle, rows: Rows) -> Ints:
        return np.zeros(count_of(rows), dtype=np.int64)

    def reserve(self, cycle: Cycle, node_name: str) -> Status | None:
        cycle.read(self.name, State).all_bound = True
        return None

    def unreserve(self, cycle: Cycle, node_name: str) -> None:
        return None

    def pre_bind_pre_flight(self, cycle: Cycle, node_name: str) -> PreFlight:
        return PreFlight(SKIP)

    async def pre_bind(self, cycle: Cycle, node_name: str, api: ApiHandle) -> Status | None:
        return None
