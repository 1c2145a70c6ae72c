"""A run in figures, by which configurations are compared. docs/compare.md says what each means.

Contract: runs of one scenario have the same metrics, but for resources that only some of them give
away: a share that is not there is 0.

The pod by which the room that is left is judged: room where it does not fit is fragmented. Unless
one is given, it requests the median of what the arriving pods request, of each resource for itself
and rounded down to a pod's own amount. Example: pods with 1, 1, 2 and 4 cpu have median 1.

What tables and reports call a metric. Documents and `--fail-if` have its identifier. One table for
`compare`, `scenario`, `sweep` and their reports; docs/compare.md and docs/scenarios.md say what
each means.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from statistics import median_low
from typing import Final

import numpy as np

from podium.golang.errors import InputError
from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.kubernetes.rules.nodes import is_bound_to_node, is_daemon, zone_of
from podium.kubernetes.rules.quantity import QuantityError, milli_value, value
from podium.kubernetes.rules.requests import (
    CPU,
    MEMORY,
    PODS,
    RequestRules,
    pod_requests,
    to_vector,
)
from podium.offline.simulate.report import PodOutcome, PodResult, SimulationReport
from podium.offline.simulate.run import ATTEMPT_S
from podium.offline.simulate.scenario import Scenario
from podium.offline.simulate.timed_report import find_percentile
from podium.offline.what_if.node_selection import prices_of
from podium.offline.what_if.pod_templates import workload_of
from podium.scheduler.cluster.growth import Ints, Mask
from podium.scheduler.cluster.load import Load
from podium.scheduler.cluster.pod_info import request_rules

_REMEDY = "cpu=2,memory=4Gi"


@dataclass(frozen=True, slots=True)
class TypicalPod:
    cpu_milli: int = 0
    memory_bytes: int = 0


def median_pod(pods: Iterable[Pod], rules: RequestRules) -> TypicalPod:
    requests = [to_vector(pod_requests(pod, status_resources=False, rules=rules)) for pod in pods]
    if not requests:
        return TypicalPod()
    return TypicalPod(
        *(median_low(each.get(name, 0) for each in requests) for name in (CPU, MEMORY))
    )


def parse_typical_pod(text: str) -> TypicalPod:
    """`cpu=2,memory=4Gi`, either may be left out. Raises InputError."""
    amounts = {CPU: 0, MEMORY: 0}
    for part in text.split(","):
        name, sign, quantity = part.strip().partition("=")
        if not sign or name not in amounts:
            raise InputError(f"{text} is no pod", remedy=_REMEDY)
        try:
            amounts[name] = milli_value(quantity) if name == CPU else value(quantity)
        except QuantityError as problem:
            raise InputError(f"{text} is no pod: {problem}", remedy=_REMEDY) from None
        if amounts[name] < 0:
            raise InputError(f"{text} is no pod: {name} is negative", remedy=_REMEDY)
    return TypicalPod(amounts[CPU], amounts[MEMORY])


Metrics = dict[str, int | float]

WAIT_PERCENTILES: Final = (*range(0, 100, 5), 99, 100)
"""At which a run's waiting times are kept."""


@dataclass(frozen=True, slots=True)
class Yardstick:
    """What runs of one scenario are measured by; `prices` by node."""

    typical_pod: TypicalPod
    prices: Mapping[str, Fraction]


def choose_yardstick(
    scenario: Scenario, gates: FeatureGates, typical_pod: str = "", prices: Iterable[str] = ()
) -> Yardstick:
    """The median pod unless one is given; prices as `prices_of` reads them. Raises InputError."""
    return Yardstick(
        parse_typical_pod(typical_pod)
        if typical_pod
        else median_pod(scenario.pending, request_rules(gates)),
        prices_of(scenario.nodes, prices),
    )


def measure_run(report: SimulationReport, scenario: Scenario, yardstick: Yardstick) -> Metrics:
    load = report.utilisation.after
    closed = {node.metadata.name for node in scenario.nodes if node.spec.unschedulable}
    placed = list(_find_placed_pods(report, scenario))
    used = {name for pod, name in placed if not (is_daemon(pod) or is_bound_to_node(pod))}
    waits = waiting_times(report)
    found: Metrics = {
        "placed": report.count(PodOutcome.PLACED),
        "pending": len(report.left_over),
        "evictions": len(report.evictions),
        "wait_p50_s": find_percentile(waits, 50),
        "wait_p99_s": find_percentile(waits, 99),
    }
    for resource in report.utilisation.resources:
        found[f"{resource}_share"] = report.utilisation.total(resource).fraction_after
    opened = np.array([name not in closed for name in load.nodes], dtype=bool)
    found |= _fragmentation(load, opened, yardstick.typical_pod)
    found |= _skews(placed, scenario, closed)
    found["nodes_used"] = len(used.intersection(load.nodes))
    if yardstick.prices:
        priced = (yardstick.prices.get(name, Fraction(0)) for name in used)
        found["cost"] = float(sum(priced, Fraction(0)))
    return found


def waiting_times(report: SimulationReport) -> list[float]:
    """Of all pods that are placed."""
    found = (waiting_time(report, result) for result in report.pods)
    return [each for each in found if each is not None]


def waiting_time(report: SimulationReport, result: PodResult) -> float | None:
    """Seconds on the virtual clock between a placed pod's first attempt and its binding, beyond
    the one attempt that every pod needs."""
    if not result.placed:
        return None
    life = report.timeline.life(result.key)
    tried = next((line.at for line in life if line.what == "tried"), None)
    bound = next((line.at for line in reversed(life) if line.what == "bound"), None)
    if tried is None or bound is None:
        return None
    return max(0.0, round(bound - tried - ATTEMPT_S, 6))


def wait_quantiles(waits: Sequence[float]) -> tuple[float, ...]:
    """Waiting times at `WAIT_PERCENTILES`."""
    return tuple(find_percentile(waits, percent) for percent in WAIT_PERCENTILES)


def _find_placed_pods(report: SimulationReport, scenario: Scenario) -> Iterator[tuple[Pod, str]]:
    """Pods that run in the end, with their nodes."""
    evicted = {eviction.victim.metadata.uid for eviction in report.evictions}
    for pod in scenario.running:
        metadata = pod.metadata
        if metadata.uid not in evicted and not metadata.is_terminating:
            yield pod, pod.spec.node_name
    for result in report.pods:
        if result.placed:
            yield result.pod, result.node


def _fragmentation(load: Load, opened: Mask, pod: TypicalPod) -> Metrics:
    """The part of what is free on open nodes that lies where the typical pod does not fit."""
    free = {
        resource: np.where(opened, np.maximum(_free(load, resource), 0), 0)
        for resource in (CPU, MEMORY, PODS)
    }
    fits = (free[CPU] >= pod.cpu_milli) & (free[MEMORY] >= pod.memory_bytes) & (free[PODS] >= 1)
    found: Metrics = {}
    for resource in (CPU, MEMORY):
        total = int(free[resource].sum())
        lost = int(free[resource][~fits].sum())
        found[f"{resource}_fragmentation"] = lost / total if total else 0.0
    return found


def _free(load: Load, resource: str) -> Ints:
    row = load.resources.index(resource)
    free: Ints = load.allocatable[row] - load.requested[row]
    return free


def _skews(placed: Sequence[tuple[Pod, str]], scenario: Scenario, closed: set[str]) -> Metrics:
    """The most pods of one workload in a domain less the fewest, of the workload where that is
    largest."""
    zones = {
        node.metadata.name: zone_of(node)
        for node in scenario.nodes
        if node.metadata.name not in closed
    }
    by_node: dict[tuple[str, str], Counter[str]] = {}
    for pod, name in placed:
        workload = workload_of(pod)
        if workload and not is_daemon(pod) and name in zones:
            by_node.setdefault((pod.metadata.namespace, workload), Counter())[name] += 1
    found: Metrics = {}
    if any(zones.values()):
        by_zone = []
        for counts in by_node.values():
            in_zones: Counter[str] = Counter()
            for name, number in counts.items():
                if zones[name]:
                    in_zones[zones[name]] += number
            by_zone.append(in_zones)
        number_of_zones = len({*zones.values()} - {""})
        found["zone_skew"] = max((_skew(each, number_of_zones) for each in by_zone), default=0)
    found["node_skew"] = max((_skew(each, len(zones)) for each in by_node.values()), default=0)
    return found


def _skew(counts: Counter[str], domains: int) -> int:
    if not counts:
        return 0
    return max(counts.values()) - (min(counts.values()) if len(counts) == domains else 0)


_WORDS: Final = {
    "arrived": "pods arrived",
    "placed": "pods placed",
    "finished": "pods finished",
    "running": "pods running in the end",
    "pending": "pods pending",
    "pending_mean": "pods pending, mean over time",
    "gone": "pods gone for good",
    "evictions": "pods evicted",
    "node_losses": "pods that lost their node",
    "wait_mean_s": "wait, mean (s)",
    "wait_p50_s": "wait, median (s)",
    "wait_p99_s": "wait, 99th percentile (s)",
    "wait_max_s": "wait, longest (s)",
    "pods_share": "places for pods taken",
    "zone_skew": "skew between zones (pods)",
    "node_skew": "skew between nodes (pods)",
    "nodes_used": "nodes used",
    "nodes_used_max": "nodes used, most at once",
    "nodes_mean": "nodes, mean over time",
    "node_hours": "node hours",
    "node_failures": "node failures",
    "scale_ups": "nodes added by the autoscaler",
    "scale_downs": "nodes removed by the autoscaler",
    "cost": "cost of nodes",
}
_OF_A_RESOURCE: Final = {
    "_share": "requested",
    "_fragmentation": "fragmented",
}


def describe_metric(metric: str) -> str:
    """In words, with the unit where the value does not show it."""
    if metric in _WORDS:
        return _WORDS[metric]
    for suffix, words in _OF_A_RESOURCE.items():
        if metric.endswith(suffix):
            return f"{metric.removesuffix(suffix)} {words}"
    return metric


def describe_metrics(metrics: Iterable[str]) -> dict[str, str]:
    return {metric: describe_metric(metric) for metric in metrics}
