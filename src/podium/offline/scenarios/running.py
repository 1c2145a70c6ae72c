"""Running a scenario: one file, one configuration and one seed make one run and its metrics.

Contract: the same three give the same bytes, on any machine and in any process. Seeds decide what
arrives and fails and how equal nodes are chosen between; configurations decide neither of the first
two, so that runs of one seed can be compared.

PodGroups of gangs whose pods have all gone: they go too, so that a long run does not fill up.
"""

import dataclasses
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from podium.golang.errors import InputError
from podium.kubernetes.kinds.meta import KubeObject
from podium.kubernetes.kinds.pod_groups import PodGroup
from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.offline.scenarios.autoscaler import (
    AutoscaledPool,
    Autoscaler,
    AutoscalerRule,
    FitTrials,
)
from podium.offline.scenarios.pools import NodeFailures, NodePool
from podium.offline.scenarios.run_measures import (
    Metrics,
    WorkloadResult,
    WorkloadResults,
    measure_timed_run,
)
from podium.offline.scenarios.scenario_file import ScenarioFile
from podium.offline.scenarios.tenants import merge_events
from podium.offline.simulate.node_daemons import NodeDaemons
from podium.offline.simulate.outside_code import asker_of
from podium.offline.simulate.scenario import Scenario
from podium.offline.simulate.timed_events import ObjectRemoval, TimedEvent
from podium.offline.simulate.timed_report import TimedPod, TimedReport
from podium.offline.simulate.timed_run import Reactor, TimedRun
from podium.scheduler.config.types import Configuration
from podium.scheduler.engine import Engine
from podium.scheduler.framework.registry import PluginRegistry


@dataclass(frozen=True, slots=True)
class ScenarioRun:
    """`metrics` are what runs are compared by; docs/scenarios.md says what each means."""

    scenario: str
    seed: int
    report: TimedReport
    workloads: Sequence[WorkloadResult]
    metrics: Metrics

    @property
    def is_priced(self) -> bool:
        return "cost" in self.metrics


def run_scenario(
    scenario: ScenarioFile,
    configuration: Configuration,
    registry: PluginRegistry,
    *,
    seed: int | None = None,
    gates: FeatureGates,
    until_s: float | None = None,
    scale: float = 1.0,
    cluster: Scenario | None = None,
    keeps_pods: bool = False,
    validate: bool = False,
    on_time: Callable[[float], None] = lambda _: None,
) -> ScenarioRun:
    """Left out, seed and end are those of the file. `scale` multiplies nodes of pools and arrivals;
    `cluster` stands in for that of the file, pools included; `keeps_pods` has every pod in the
    report. Raises InputError."""
    seed = scenario.seed if seed is None else seed
    end_s = min(scenario.duration_s, until_s or scenario.duration_s)
    gates = gates.with_overrides(scenario.feature_gates)
    begin, pools = _build_cluster(scenario, scale, cluster)
    run = TimedRun(begin, configuration, registry, seed=seed, gates=gates, validate=validate)
    rule = _scale_rule(scenario.autoscaler, pools) if cluster is None else None
    reactors: list[Reactor] = []
    autoscaler: Autoscaler | None = None
    if rule is not None:
        trials = FitTrials(configuration, registry, gates, begin, NodeDaemons(begin, gates))
        autoscaler = Autoscaler(rule, trials)
        reactors.append(autoscaler)
    failures = _build_failures(scenario, seed, begin, rule)
    reactors += failures
    if any(shape.is_gang for tenant in scenario.tenants for shape in tenant.workloads):
        reactors.append(GangGroups())
    results = WorkloadResults(
        shape.key for tenant in scenario.tenants for shape in tenant.workloads
    )
    kept: list[TimedPod] = []

    def end(pod: TimedPod) -> None:
        results.add(pod)
        if keeps_pods:
            kept.append(pod)

    events = merge_events(scenario.tenants, seed, end_s, scale)
    with asker_of(run.engine) as ask:
        report = run.run(
            events, until_s=end_s, reactors=reactors, ask=ask, on_end=end, on_time=on_time
        )
    for pod in report.pods:
        results.add(pod)
    report = dataclasses.replace(report, pods=(*kept, *report.pods) if keeps_pods else ())
    metrics = measure_timed_run(
        report,
        node_failures=sum(each.failed for each in failures),
        scale_ups=autoscaler.added if autoscaler is not None else 0,
        scale_downs=autoscaler.removed if autoscaler is not None else 0,
    )
    return ScenarioRun(scenario.name, seed, report, results.all(), metrics)


# the beginning ----------------------------------------------------------------------------------


def _build_cluster(
    scenario: ScenarioFile, scale: float, cluster: Scenario | None
) -> tuple[Scenario, Sequence[NodePool]]:
    objects = {
        (type(obj), obj.metadata.key): obj
        for source in (
            *(shape.objects for tenant in scenario.tenants for shape in tenant.workloads),
            scenario.cluster.objects,
            cluster.objects if cluster is not None else (),
        )
        for obj in source
        if isinstance(obj, KubeObject)
    }
    begin, pools = cluster or scenario.cluster, []
    nodes = list(begin.nodes)
    if cluster is None:
        pools = [_scale_pool(pool, scale) for pool in scenario.pools]
        nodes += [pool.make(number) for pool in pools for number in range(pool.count)]
    if not nodes and not (scenario.autoscaler and cluster is None):
        raise InputError(
            "has no nodes",
            source=scenario.source,
            path="spec.cluster",
            remedy="give it pools, or a cluster with -f",
        )
    begin = dataclasses.replace(begin, nodes=tuple(nodes), objects=tuple(objects.values()))
    return begin, pools


def _scale_pool(pool: NodePool, scale: float) -> NodePool:
    return dataclasses.replace(pool, count=_scale_count(pool.count, scale))


def _scale_rule(rule: AutoscalerRule | None, pools: Sequence[NodePool]) -> AutoscalerRule | None:
    """The rule for pools that have been made larger or smaller."""
    if rule is None:
        return None
    by_name = {pool.name: pool for pool in pools}
    scaled = []
    for each in rule.pools:
        pool = by_name[each.pool.name]
        ratio = pool.count / each.pool.count if each.pool.count else 1.0
        low = min(_scale_count(each.min_nodes, ratio), pool.count)
        high = max(_scale_count(each.max_nodes, ratio), pool.count)
        scaled.append(AutoscaledPool(pool, low, high, each.delay_s))
    return dataclasses.replace(rule, pools=scaled)


def _scale_count(count: int, scale: float) -> int:
    return max(1, round(count * scale)) if count else 0


def _build_failures(
    scenario: ScenarioFile, seed: int, begin: Scenario, rule: AutoscalerRule | None
) -> list[NodeFailures]:
    autoscaled = rule.pools if rule is not None else ()
    replaced = frozenset(each.pool.name for each in autoscaled)
    found = []
    for failure in scenario.failures:
        most = sum(failure.concerns(node) for node in begin.nodes)
        for each in autoscaled:
            if failure.concerns(each.pool.make(0)) or failure.zone:
                most += each.max_nodes - each.pool.count
        found.append(NodeFailures(failure, seed, most, replaced))
    return found


_EVERY_S: Final = 600.0


class GangGroups:
    """A reactor that looks now and then."""

    def __init__(self) -> None:
        self._next = _EVERY_S

    def next_s(self) -> float | None:
        return self._next

    def react(self, now_s: float, engine: Engine) -> Iterable[TimedEvent]:
        self._next = now_s + _EVERY_S
        members = Counter(
            (pod.metadata.namespace, pod.spec.scheduling_group.pod_group_name)
            for pod in engine.state.pods.values()
            if pod.spec.scheduling_group is not None
        )
        groups = list(engine.cluster.catalog.all(PodGroup))
        return [ObjectRemoval(now_s, group) for group in groups if not members[group.metadata.key]]
