"""`podium compare --trace`: what would other configurations make of a recorded cluster?"""

from collections.abc import Sequence
from typing import Final

from podium.commands.compare_document import comparison_document
from podium.commands.compare_view import show_comparison
from podium.commands.documents import print_document
from podium.commands.exit_codes import NO, OK
from podium.commands.feature_gate_flags import read_gates
from podium.commands.options import limit_plugins, progress_bar
from podium.commands.preparation import equip_configuration
from podium.commands.simulation_options import SimulationOptions
from podium.commands.tables import Screen
from podium.offline.simulate import Scenario
from podium.offline.traces.recorded_cluster import read_recorded_cluster
from podium.offline.traces.replay_report import ReplayReport
from podium.offline.what_if.comparison import DEFAULT
from podium.offline.what_if.conditions import Condition
from podium.offline.what_if.replay_comparison import compare_replays
from podium.offline.what_if.run_metrics import choose_yardstick

_NO_WARNINGS: Final = {"incomplete": [], "recordedMessages": {"compared": 0, "differences": []}}
"""Notes tell what a recording lacks."""


def compare_trace(
    trace: str,
    configs: Sequence[str],
    seeds: Sequence[int],
    conditions: Sequence[Condition],
    options: SimulationOptions,
    output: str,
    *,
    show_all: bool,
) -> int:
    """The exit code. Raises InputError."""
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
    if output in ("json", "yaml"):
        pods = tuple(each.pod for each in cluster.pods if not each.is_there_first)
        yardstick = choose_yardstick(Scenario((), (), pods), gates)
        fields = comparison_document(answer, judgements, yardstick, notes)
        print_document("Comparison", {**_NO_WARNINGS, "trace": trace, **fields}, output)
    else:
        screen = Screen()
        show_comparison(answer, judgements, None, screen, show_all=show_all)
        screen.notes(list(notes))
    return NO if any(each.configurations for each in judgements) else OK
