"""A run of a scenario on a screen: what came of each workload, and the cluster over time."""

from collections.abc import Iterable, Sequence
from statistics import fmean
from typing import Final

from podium.commands.console import Text
from podium.commands.tables import Screen, count, percent
from podium.offline.scenarios.durations import format_duration
from podium.offline.scenarios.run_measures import list_resources
from podium.offline.scenarios.running import ScenarioRun
from podium.offline.scenarios.workload_results import WorkloadResult
from podium.offline.what_if.conditions import Condition

_CURVE_CELLS: Final = 60
_MAX_REASONS: Final = 5


def show_scenario_run(
    run: ScenarioRun, judged: Iterable[tuple[Condition, bool]], screen: Screen
) -> None:
    report, metrics = run.report, run.metrics
    length = format_duration(report.duration_s)
    screen.heading(run.scenario, f"{length} with seed {run.seed}")
    _show_workloads([each for each in run.workloads if each.arrived], screen)
    screen.heading("Over time", f"{length} from left to right")
    _show_curves(run, screen)
    screen.print()
    nodes = f"{count(round(metrics['node_hours']), 'node hour')}"
    if run.is_priced:
        nodes += f", cost {metrics['cost']:,.2f}"
    for told in (
        nodes,
        f"{count(int(metrics['scale_ups']), 'node')} added by the autoscaler,"
        f" {int(metrics['scale_downs']):,} removed",
        f"{count(int(metrics['node_failures']), 'node failure')},"
        f" {count(int(metrics['node_losses']), 'pod')} lost their node",
        f"{count(int(metrics['evictions']), 'eviction')} by preemption",
    ):
        if not told.startswith("0 "):
            screen.print(f"{screen.signs.nothing} {told}")
    if report.pending_reasons:
        screen.heading("Pending in the end")
        for reason, pods in list(report.pending_reasons.items())[:_MAX_REASONS]:
            screen.print(f"{screen.signs.no} {count(pods, 'pod')}: {reason}")
    for condition, holds in judged:
        sign, style = (screen.signs.no, "red") if holds else (screen.signs.yes, "green")
        told = condition.text if holds else f"not {condition.text}"
        screen.print(Text.assemble((sign, f"bold {style}"), Text(f" {told}")))


def _show_workloads(workloads: Sequence[WorkloadResult], screen: Screen) -> None:
    numbers = ("ARRIVED", "PLACED", "PENDING", "WAIT P50", "WAIT P99", "EVICTED", "NODE LOST")
    table = screen.table("WORKLOAD", *numbers, right=numbers, whole=("WORKLOAD",))
    for each in workloads:
        table.add_row(
            each.workload or "already there",
            f"{each.arrived:,}",
            f"{each.placed:,}",
            f"{each.pending:,}",
            format_duration(each.wait_s(50)),
            format_duration(each.wait_s(99)),
            f"{each.evictions:,}",
            f"{each.node_losses:,}",
        )
    screen.print(table)


def _show_curves(run: ScenarioRun, screen: Screen) -> None:
    samples = run.report.samples
    table = screen.table("", " ", "MEAN", "MOST", right=("MEAN", "MOST"), whole=("", " "))
    for resource in list_resources(run.report):
        values = [sample.utilisation.get(resource, 0.0) for sample in samples]
        mean = percent(fmean(values))
        table.add_row(resource, screen.curve(_thin_out(values)), mean, percent(max(values)))
    for name, numbers in (
        ("pending", [sample.pending for sample in samples]),
        ("running", [sample.running for sample in samples]),
        ("nodes", [sample.nodes for sample in samples]),
    ):
        most = max(numbers, default=0)
        shares = [number / most if most else 0.0 for number in numbers]
        mean = f"{sum(numbers) / len(numbers):,.1f}" if numbers else "0"
        table.add_row(name, screen.curve(_thin_out(shares)), mean, f"{most:,}")
    screen.print(table)


def _thin_out(values: Sequence[float]) -> list[float | None]:
    """The means of as many parts as there are cells."""
    cells = min(_CURVE_CELLS, len(values))
    parts = [
        values[len(values) * at // cells : len(values) * (at + 1) // cells] for at in range(cells)
    ]
    return [fmean(part) for part in parts]


def show_scenarios(rows: Iterable[tuple[str, str, str, str]], screen: Screen) -> None:
    table = screen.table("NAME", "LENGTH", "NODES", "WHAT", right=("NODES",), whole=("NAME",))
    for row in rows:
        table.add_row(*row)
    screen.print(table)
