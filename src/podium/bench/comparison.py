"""Two runs side by side, as ratios.

A ratio means something only beside the noise it was measured in: it counts as a change when the
slowest run of one side is faster than the fastest of the other.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from podium.bench.results import Recorded, by_name

SAME = "within noise"
FASTER = "faster"
SLOWER = "slower"
OTHER_SIZE = "other size"


@dataclass(frozen=True, slots=True)
class Comparison:
    name: str
    before: Recorded
    now: Recorded

    @property
    def ratio(self) -> float:
        """Pods a second now for each one before."""
        return _ratio(self.now.pods_per_s, self.before.pods_per_s)

    @property
    def cpu_ratio(self) -> float:
        """The same by CPU time; 0 if the earlier run did not say."""
        return _ratio(self.now.best_by_cpu, self.before.best_by_cpu)

    @property
    def verdict(self) -> str:
        if (self.before.nodes, self.before.pods) != (self.now.nodes, self.now.pods):
            return OTHER_SIZE
        if self.now.slowest > self.before.pods_per_s:
            return FASTER
        if self.now.pods_per_s < self.before.slowest:
            return SLOWER
        return SAME


def compare(before: Sequence[Recorded], now: Sequence[Recorded]) -> list[Comparison]:
    """Workloads that both runs have, in the order of the later one."""
    earlier = by_name(before)
    return [
        Comparison(result.name, earlier[result.name], result)
        for result in now
        if result.name in earlier
    ]


def _ratio(now: float, before: float) -> float:
    return now / before if before else 0.0
