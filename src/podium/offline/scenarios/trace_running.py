"""Running a trace of another tool as a scenario: its events, in the cluster that files say.

A trace says itself what arrives and when, so that the seed only decides between equal nodes.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from podium.golang.errors import InputError
from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.net.files.bounded_files import STDIN
from podium.offline.scenarios.run_measures import WorkloadResults, measure_timed_run
from podium.offline.scenarios.running import ScenarioRun
from podium.offline.simulate.input_files import read_unpacked
from podium.offline.simulate.outside_code import asker_of
from podium.offline.simulate.scenario import Scenario
from podium.offline.simulate.timed_events import TimedEvent
from podium.offline.simulate.timed_imports import is_timed, load_timed_imports
from podium.offline.simulate.timed_report import TimedPod
from podium.offline.simulate.timed_run import TimedRun
from podium.scheduler.config.types import Configuration
from podium.scheduler.framework.registry import PluginRegistry


@dataclass(frozen=True, slots=True)
class TraceScenario:
    """A cluster, and what happens in it."""

    name: str
    begin: Scenario
    events: Sequence[TimedEvent]

    @property
    def duration_s(self) -> float:
        return self.events[-1].at if self.events else 0.0


def find_trace(path: str, cluster: Sequence[str], *, gates: FeatureGates) -> TraceScenario | None:
    """The trace in a file, None if that is something else; `cluster` are files that say in which
    cluster it happens. Raises InputError."""
    if path == STDIN:
        return None
    try:
        data = read_unpacked(path)
    except InputError:
        return None  # Whoever reads scenarios tells what is wrong.
    if not is_timed(data):
        return None
    if not cluster:
        raise InputError(
            "a trace has no nodes of its own", source=path, remedy="name a cluster with -f"
        )
    begin, events = load_timed_imports([path, *cluster], gates=gates)
    return TraceScenario(path, begin, events)


def run_trace(
    trace: TraceScenario,
    configuration: Configuration,
    registry: PluginRegistry,
    *,
    seed: int = 0,
    gates: FeatureGates,
    until_s: float | None = None,
    keeps_pods: bool = False,
    validate: bool = False,
    on_time: Callable[[float], None] = lambda _: None,
) -> ScenarioRun:
    """Until its last pod has ended or nothing happens any more, unless `until_s` is earlier."""
    run = TimedRun(trace.begin, configuration, registry, seed=seed, gates=gates, validate=validate)
    results = WorkloadResults(())
    kept: list[TimedPod] = []

    def end(pod: TimedPod) -> None:
        results.add(pod)
        if keeps_pods:
            kept.append(pod)

    with asker_of(run.engine) as ask:
        report = run.run(trace.events, until_s=until_s, ask=ask, on_end=end, on_time=on_time)
    for pod in report.pods:
        results.add(pod)
    report = replace(report, pods=(*kept, *report.pods) if keeps_pods else ())
    return ScenarioRun(trace.name, seed, report, results.all(), measure_timed_run(report))
