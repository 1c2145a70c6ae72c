"""What came of each workload of a scenario, added up while pods come and go."""

from array import array
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import assert_never

from podium.offline.simulate.percentiles import find_percentile
from podium.offline.simulate.timed_report import TimedPod, TimedPodState


@dataclass(slots=True)
class WorkloadResult:
    """`workload` is `tenant/name`, "" for pods that the cluster had in the beginning. `placed` are
    those of the arrived that had a node at least once."""

    workload: str
    arrived: int = 0
    placed: int = 0
    finished: int = 0
    running: int = 0
    pending: int = 0
    gone: int = 0
    evictions: int = 0
    node_losses: int = 0
    _waits: "array[float]" = field(default_factory=lambda: array("d"), repr=False)

    def add(self, pod: TimedPod) -> None:
        self.arrived += 1
        self.evictions += pod.evictions
        self.node_losses += pod.node_losses
        if pod.first_wait_s is not None:
            self.placed += 1
            self._waits.append(pod.first_wait_s)
        match pod.state:
            case TimedPodState.FINISHED:
                self.finished += 1
            case TimedPodState.RUNNING:
                self.running += 1
            case TimedPodState.PENDING:
                self.pending += 1
            case TimedPodState.GONE:
                self.gone += 1
            case TimedPodState.REMOVED:
                pass  # by the scenario itself: no result of the workload's
            case _:
                assert_never(pod.state)

    def wait_s(self, percent: float) -> float:
        """What so many of a hundred placed pods wait at most until they are bound first."""
        return find_percentile(self._waits, percent)


class WorkloadResults:
    def __init__(self, workloads: Iterable[str]) -> None:
        self._found = {name: WorkloadResult(name) for name in workloads}

    def add(self, pod: TimedPod) -> None:
        found = self._found.get(pod.workload)
        if found is None:
            found = self._found[pod.workload] = WorkloadResult(pod.workload)
        found.add(pod)

    def all(self) -> tuple[WorkloadResult, ...]:
        return tuple(self._found.values())
