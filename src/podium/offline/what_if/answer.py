"""Everything that a question about changes is answered with."""

from dataclasses import dataclass

from podium.offline.what_if.consequences import Consequences
from podium.offline.what_if.failures import Failure
from podium.scheduler.cluster.load import Load


@dataclass(slots=True)
class WhatIfAnswer:
    """`nodes` and `zones` are failures of each by itself, None where nobody asked."""

    consequences: Consequences
    before: Load
    after: Load
    nodes: list[Failure] | None = None
    zones: list[Failure] | None = None

    @property
    def is_survived(self) -> bool:
        failures = (*(self.nodes or ()), *(self.zones or ()))
        return self.consequences.is_survived and all(each.is_survived for each in failures)
