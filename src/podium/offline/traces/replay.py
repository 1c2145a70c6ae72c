"""Replaying a recorded cluster: the same arrivals, and Podium decides.

Time is virtual and the run deterministic: same trace, configuration and seed, same report. What a
caller needs is here: `read_recorded_cluster` reads a trace once, `replay` decides it as often as
there are configurations and seeds.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import fsum

from podium.kubernetes.kinds.typed_objects import KINDS
from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.offline.simulate.asking_extenders import asker_of
from podium.offline.simulate.timed_report import TimedReport
from podium.offline.simulate.timed_run import TimedRun
from podium.offline.traces.node_use import measure_node_use
from podium.offline.traces.recorded_cluster import RecordedCluster
from podium.offline.traces.replay_events import make_replay_input
from podium.offline.traces.replay_report import (
    ReplayReport,
    compare_pods,
    recorded_stays,
    replayed_stays,
)
from podium.user_code.plugins import Equipped


@dataclass(frozen=True, slots=True)
class ReplayRules:
    """By which rules it is decided."""

    equipped: Equipped
    gates: FeatureGates
    seed: int = 0
    validate: bool = False


def replay(
    cluster: RecordedCluster,
    rules: ReplayRules,
    *,
    on_time: Callable[[float], None] = lambda _: None,
) -> ReplayReport:
    """Raises InputError for what cannot be replayed, and ConfigurationError."""
    configuration, registry, plugin_notes = rules.equipped
    schedulers = {profile.scheduler_name for profile in configuration.profiles}
    kinds = {*KINDS.values(), *(kind.struct for kind in rules.equipped.watched_kinds)}
    given = make_replay_input(cluster, schedulers, kinds, gates=rules.gates)
    run = TimedRun(
        given.scenario,
        configuration,
        registry,
        seed=rules.seed,
        gates=rules.gates,
        validate=rules.validate,
        runs_controllers=False,
    )
    with asker_of(run.engine) as ask:
        report = run.run(given.events, until_s=cluster.duration_s, ask=ask, on_time=on_time)
    pods, recorded, here = compare_pods(given.decided, report)
    return ReplayReport(
        cluster.source,
        cluster.header.started_at,
        cluster.duration_s,
        report,
        pods,
        recorded,
        here,
        measure_node_use(recorded_stays(cluster.pods, cluster.duration_s), cluster.duration_s),
        measure_node_use(
            replayed_stays(cluster.pods, report, cluster.duration_s), cluster.duration_s
        ),
        _average_utilisation(report),
        tuple(dict.fromkeys((*given.notes, *report.notes, *plugin_notes))),
    )


def _average_utilisation(report: TimedReport) -> dict[str, float]:
    """Samples are at equal distances."""
    names = dict.fromkeys(name for sample in report.samples for name in sample.utilisation)
    total = len(report.samples)
    return {
        name: round(fsum(each.utilisation.get(name, 0.0) for each in report.samples) / total, 6)
        for name in names
    }
