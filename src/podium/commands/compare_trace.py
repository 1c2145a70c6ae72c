"""`podium compare --trace`: what would other configurations make of a recorded cluster?"""

from collections.abc import Sequence

from podium.commands.compare_view import ComparisonOfConfigurations
from podium.commands.feature_gate_flags import read_gates
from podium.commands.options import limit_plugins, progress_bar
from podium.commands.preparation import equip_configuration
from podium.commands.simulation_options import SimulationOptions
from podium.offline.simulate import Scenario
from podium.offline.traces.recorded_cluster import read_recorded_cluster
from podium.offline.traces.replay_report import ReplayReport
from podium.offline.what_if.comparison import DEFAULT
from podium.offline.what_if.conditions import MetricCondition
from podium.offline.what_if.measured_runs import InputReview
from podium.offline.what_if.replay_comparison import compare_replays
from podium.offline.what_if.run_metrics import choose_yardstick


def compare_trace(
    trace: str,
    configs: Sequence[str],
    seeds: Sequence[int],
    conditions: Sequence[MetricCondition],
    options: SimulationOptions,
) -> ComparisonOfConfigurations:
    """Raises InputError."""
    gates = read_gates(options.feature_gates, strict=options.strict)
    limit_plugins(options.plugin_timeout)
    equipped = [
        (name, equip_configuration(None if name == DEFAULT else name, options, gates))
        for name in configs
    ]
    cluster = read_recorded_cluster(trace)
    reports: list[ReplayReport] = []
    with progress_bar("replays", len(configs) * len(seeds)) as progress:

        def take(report: ReplayReport) -> None:
            reports.append(report)
            progress.advance(progress.task_ids[0])

        answer = compare_replays(cluster, equipped, gates, seeds=seeds, on_report=take)
    judgements = answer.judge(conditions)
    notes = dict.fromkeys(note for report in reports for note in report.notes)
    pods = tuple(each.pod for each in cluster.pods if not each.is_there_first)
    scenario = Scenario((), (), pods)
    typical = choose_yardstick(scenario, gates).typical_pod
    return ComparisonOfConfigurations(
        answer,
        judgements,
        typical,
        scenario,
        InputReview(),  # notes tell what a recording lacks
        list(notes),
        trace=trace,
    )
