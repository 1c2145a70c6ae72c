"""Days on the virtual clock: on a screen what came of each workload and the cluster over time, and
as reports for browsers.

Contract of reports: bounded. Lists end where they are too long for a page, and how many there are
is told.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Final, TypeVar

from msgspec.structs import replace

from podium.commands.answering import MAX_ROWS, Answer, Report, bound_lists
from podium.commands.compare_view import show_judgements, show_metrics
from podium.commands.console import Text
from podium.commands.tables import Screen, count, percent
from podium.offline.scenarios.run_answer import (
    ScenarioCondition,
    ScenarioRunAnswer,
    ScenarioSummary,
)
from podium.offline.scenarios.run_measures import WorkloadResult, list_resources
from podium.offline.scenarios.run_times import format_duration
from podium.offline.scenarios.running import ScenarioRun
from podium.offline.what_if.comparison_answer import (
    ComparedRun,
    ComparisonAnswer,
    Judgement,
    ScenarioComparisonDocument,
)
from podium.offline.what_if.run_metrics import describe_metrics
from podium.offline.what_if.sweep_answer import SweepRun

MAX_RUNS: Final = 5_000
"""In a report, of all configurations and inputs together."""
_CURVE_CELLS: Final = 60
_MAX_REASONS: Final = 5


@dataclass(frozen=True)
class ScenarioRunView(Answer):
    run: ScenarioRun
    config: str
    conditions: Sequence[ScenarioCondition]
    notes: Sequence[str]
    has_crashed: bool

    @property
    def is_yes(self) -> bool:
        return not any(each.holds for each in self.conditions)

    def document(self) -> ScenarioRunAnswer:
        return ScenarioRunAnswer.of(self.run, self.config, self.conditions, self.notes)

    def show(self, screen: Screen, *, wide: bool, show_all: bool) -> None:  # noqa: ARG002
        run = self.run
        report, metrics = run.report, run.metrics
        length = format_duration(report.duration_s)
        screen.print_heading(run.scenario, f"{length} with seed {run.seed}")
        _show_workloads([each for each in run.workloads if each.arrived], screen)
        screen.print_heading("Over time", f"{length} from left to right")
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
            screen.print_heading("Pending in the end")
            for reason, pods in list(report.pending_reasons.items())[:_MAX_REASONS]:
                screen.print(f"{screen.signs.no} {count(pods, 'pod')}: {reason}")
        for each in self.conditions:
            sign, style = (screen.signs.no, "red") if each.holds else (screen.signs.yes, "green")
            told = each.condition if each.holds else f"not {each.condition}"
            screen.print(Text.assemble((sign, f"bold {style}"), Text(f" {told}")))
        screen.notes(self.notes)

    def report(self, document: ScenarioRunAnswer) -> Report:
        from podium.web.report_file import Fact
        from podium.web.report_views import SCENARIO

        metrics = document.metrics
        pending = int(metrics["pending"])
        facts = [
            Fact(format_duration(document.duration_s), "simulated"),
            Fact.count(int(metrics["arrived"]), "pod"),
            Fact(f"{pending:,}", "pending", bool(pending)),
        ]
        limits = {"pods": MAX_ROWS, "workloads": MAX_ROWS, "pending_reasons": MAX_ROWS}
        bounded, totals = bound_lists(document, limits)
        words = describe_metrics(metrics)
        return Report(facts, {"scenario": bounded}, SCENARIO, totals, words)


@dataclass(frozen=True)
class ScenarioComparison(Answer):
    """Configurations on the same days, so many seconds of them."""

    scenario: str
    answer: ComparisonAnswer
    judgements: Sequence[Judgement]
    length_s: float
    has_crashed: bool

    @property
    def is_yes(self) -> bool:
        return not any(each.configurations for each in self.judgements)

    def document(self) -> ScenarioComparisonDocument:
        return self.answer.scenario_document(self.scenario, self.judgements)

    def show(self, screen: Screen, *, wide: bool, show_all: bool) -> None:  # noqa: ARG002
        show_metrics(self.answer, f"{format_duration(self.length_s)} of {self.scenario}", screen)
        screen.print()
        show_judgements(self.answer, self.judgements, screen)

    def report(self, document: ScenarioComparisonDocument) -> Report:
        from podium.web.report_file import Fact
        from podium.web.report_views import SCENARIO_COMPARISON

        answer = self.answer
        facts = [
            Fact(format_duration(self.length_s), "simulated"),
            Fact.count(len(answer.names), "configuration"),
            Fact.count(len(answer.seeds), "seed"),
        ]
        totals, words = {"runs": len(document.runs)}, describe_metrics(answer.metrics)
        bounded = replace(document, runs=bound_runs(document.runs, document.seeds))
        documents = {"scenario-comparison": bounded}
        return Report(facts, documents, SCENARIO_COMPARISON, totals, words)


_Run = TypeVar("_Run", ComparedRun, SweepRun)


def bound_runs(runs: Sequence[_Run], seeds: Sequence[int]) -> tuple[_Run, ...]:
    """The runs of the first seeds, so that each of them has all its runs."""
    kept = {*seeds[: max(1, MAX_RUNS * len(seeds) // max(1, len(runs)))]}
    return tuple(run for run in runs if run.seed in kept)


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


def show_scenarios(scenarios: Iterable[ScenarioSummary], screen: Screen) -> None:
    table = screen.table("NAME", "LENGTH", "NODES", "WHAT", right=("NODES",), whole=("NAME",))
    for each in scenarios:
        length = format_duration(each.duration_s)
        table.add_row(each.name, length, f"{each.nodes:,}", each.description)
    screen.print(table)
