"""A recorded cluster under several configurations: `comparison.py` for what happens over time.

All have the same arrivals; a further seed only chooses otherwise between equal nodes. Metrics have
the names that comparisons of files have, where they are the same things.
"""

from collections.abc import Callable, Sequence

from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.offline.traces.recorded_cluster import RecordedCluster
from podium.offline.traces.replay import ReplayRules, replay
from podium.offline.traces.replay_report import ReplayReport
from podium.offline.what_if.comparison_answer import ComparisonAnswer
from podium.offline.what_if.measured_runs import MeasuredRun, PodPlace
from podium.scheduler.config.errors import ConfigurationError
from podium.user_code.plugins import Equipped


def compare_replays(
    cluster: RecordedCluster,
    configurations: Sequence[tuple[str, Equipped]],
    gates: FeatureGates,
    *,
    seeds: Sequence[int] = (0,),
    on_report: Callable[[ReplayReport], None] = lambda _: None,
) -> ComparisonAnswer:
    """Each configuration, by the name of its file, with each seed. Raises InputError."""
    runs: list[MeasuredRun] = []
    for seed in seeds:
        for index, (name, equipped) in enumerate(configurations):
            try:
                report = replay(cluster, ReplayRules(equipped, gates, seed))
            except ConfigurationError as problem:
                raise problem.found_in(name) from problem.__cause__
            on_report(report)
            places = _places(report) if seed == seeds[0] else ()
            runs.append(MeasuredRun(index, seed, measure_replay(report), places))
    return ComparisonAnswer(tuple(name for name, _ in configurations), tuple(seeds), tuple(runs))


def measure_replay(report: ReplayReport) -> dict[str, float]:
    """What a replay comes to, by metric."""
    return {
        "placed": report.here.placed,
        "pending": len(report.pods) - report.here.placed,
        "evictions": report.run.totals.evictions,
        "wait_p50_s": report.here.p50_s,
        "wait_p99_s": report.here.p99_s,
        "wait_max_s": report.here.max_s,
        **{f"{name}_share": used for name, used in report.utilisation.items()},
        "nodes_used": report.nodes.mean,
        "nodes_used_max": report.nodes.most,
    }


def _places(report: ReplayReport) -> tuple[PodPlace, ...]:
    """By name and arrival, since a pod may come again under its name."""
    times: dict[str, int] = {}
    found = []
    for pod in report.pods:
        times[pod.key] = number = times.get(pod.key, 0) + 1
        name = pod.key if number == 1 else f"{pod.key} ({number})"
        found.append(PodPlace(name, "placed" if pod.node else "unschedulable", pod.node or ""))
    return tuple(found)
