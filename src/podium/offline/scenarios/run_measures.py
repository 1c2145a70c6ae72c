"""A timed run in figures, by which runs are compared. docs/scenarios.md says what each means.

What came of each workload of a scenario, added up while pods come and go.
"""

from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import fsum
from typing import assert_never

from podium.kubernetes.rules.requests import CPU, MEMORY, PODS
from podium.offline.simulate.node_prices import price_of
from podium.offline.simulate.timed_report import (
    TimedPod,
    TimedPodState,
    TimedReport,
    find_percentile,
)

Metrics = dict[str, float]


def measure_timed_run(
    report: TimedReport, *, node_failures: int = 0, scale_ups: int = 0, scale_downs: int = 0
) -> Metrics:
    totals, samples = report.totals, report.samples
    found: Metrics = {
        "arrived": totals.arrived,
        "placed": totals.placed,
        "finished": totals.finished,
        "running": totals.running,
        "pending": totals.pending,
        "gone": totals.gone,
        "evictions": totals.evictions,
        "node_losses": totals.node_losses,
        "wait_mean_s": totals.wait_mean_s,
        "wait_p50_s": totals.wait_p50_s,
        "wait_p99_s": totals.wait_p99_s,
        "wait_max_s": totals.wait_max_s,
        "pending_mean": _mean([float(sample.pending) for sample in samples]),
    }
    for resource in list_resources(report):
        shares = [sample.utilisation.get(resource, 0.0) for sample in samples]
        found[f"{resource}_share"] = _mean(shares)
    found["nodes_mean"] = _mean([float(sample.nodes) for sample in samples])
    found["node_hours"] = totals.node_hours
    found["node_failures"] = node_failures
    found["scale_ups"] = scale_ups
    found["scale_downs"] = scale_downs
    cost = _cost_of(report)
    if cost is not None:
        found["cost"] = cost
    return found


def list_resources(report: TimedReport) -> list[str]:
    """Those that pods used at some time, the usual ones first."""
    used = {
        name for sample in report.samples for name, share in sample.utilisation.items() if share
    }
    usual = [name for name in (CPU, MEMORY, PODS) if name in used]
    return [*usual, *sorted(used.difference(usual))]


def _mean(values: Sequence[float]) -> float:
    return round(fsum(values) / len(values), 6) if values else 0.0


def _cost_of(report: TimedReport) -> float | None:
    """What nodes cost for as long as they were there, None if none has a price."""
    total, is_priced = Fraction(0), False
    for each in report.nodes:
        price = price_of(each.node)
        if price is not None:
            is_priced = True
            until_s = report.duration_s if each.until_s is None else each.until_s
            total += price * Fraction(round((until_s - each.from_s) * 1e6), 3_600_000_000)
    return round(float(total), 6) if is_priced else None


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
