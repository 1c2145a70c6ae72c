"""Tenants: whose workloads arrive when, as one sequence of events for all of them.

Every tenant has streams of chance of its own, for when something arrives, for what it is and for
how long it runs, so that a change of one of them leaves the others as they were.
"""

import heapq
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add

from podium.golang.errors import ObjectError, closest, did_you_mean
from podium.offline.scenarios.arrivals import Arrivals
from podium.offline.scenarios.random_streams import Stream
from podium.offline.scenarios.run_times import RunTime
from podium.offline.scenarios.workload_shapes import WorkloadShape
from podium.offline.simulate.timed_events import TimedEvent
from podium.scheduler.cluster.catalog import object_key


@dataclass(frozen=True, slots=True)
class Tenant:
    name: str
    arrivals: Arrivals
    workloads: Sequence[WorkloadShape]
    run_time: RunTime | None = None

    def events(self, seed: int, until_s: float, scale: float) -> Iterator[TimedEvent]:
        """What this tenant brings before a time."""
        choice = Stream(seed, self.name, "workloads")
        lengths = Stream(seed, self.name, "run times")
        by_name = {shape.key.rpartition("/")[2]: shape for shape in self.workloads}
        weights = [shape.weight for shape in self.workloads]
        # One after the other, as `_choose` counts down; `sum` rounds otherwise from Python 3.12 on.
        total = reduce(add, weights)
        arrived: Counter[str] = Counter()
        for arrival in self.arrivals.draw(Stream(seed, self.name, "arrivals"), scale):
            if arrival.at >= until_s:
                return
            shape = self.workloads[0]
            if arrival.workload:
                shape = by_name[arrival.workload]
            elif len(weights) > 1:
                shape = self._choose(choice.draw() * total)
            run_time_s = arrival.run_time_s
            draw = shape.run_time or self.run_time
            if run_time_s is None and draw is not None:
                run_time_s = round(draw(lengths), 6)
            yield from shape.arrive(arrived[shape.key], round(arrival.at, 6), run_time_s)
            arrived[shape.key] += 1

    def pod_names(self) -> Iterator[str]:
        """What pods of this tenant are called, without the number of their arrival."""
        for shape in self.workloads:
            for pod in shape.pods:
                yield object_key(pod.metadata)

    def require_known_workloads(self, path: str) -> None:
        """Raises ObjectError if a trace names a workload that the tenant does not have."""
        known = {shape.key.rpartition("/")[2] for shape in self.workloads}
        for name in sorted(self.arrivals.named_workloads - known):
            guess = did_you_mean(closest(name, sorted(known)))
            raise ObjectError(path, f"there is no workload {name}", guess)

    def _choose(self, at: float) -> WorkloadShape:
        for shape in self.workloads:
            at -= shape.weight
            if at < 0:
                return shape
        return self.workloads[-1]


def merge_events(
    tenants: Sequence[Tenant], seed: int, until_s: float, scale: float = 1.0
) -> Iterator[TimedEvent]:
    """All tenants' events in the order of their times, made as they are asked for."""
    return heapq.merge(
        *(tenant.events(seed, until_s, scale) for tenant in tenants), key=lambda event: event.at
    )
