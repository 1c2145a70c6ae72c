"""A sweep: for people a table of means and percentiles for each input, for programs every run."""

from collections.abc import Mapping
from dataclasses import dataclass

from msgspec.structs import replace

from podium.commands.answering import Answer, Report
from podium.commands.compare_view import format_metric
from podium.commands.input_warnings import review_fields, show_input_warnings
from podium.commands.scenario_view import bound_runs
from podium.commands.tables import Screen, count
from podium.offline.what_if.comparison_answer import TypicalRequests
from podium.offline.what_if.measured_runs import InputReview, MeasuredRun
from podium.offline.what_if.run_matrix import NamedInput, RunMatrix
from podium.offline.what_if.run_metrics import describe_metric, describe_metrics
from podium.offline.what_if.scenario_runs import NamedScenario
from podium.offline.what_if.sweep_answer import (
    PERCENTILES,
    MatrixCell,
    MetricSpread,
    SweepCell,
    SweepDocument,
    SweepInput,
    SweepRun,
    summarise_cells,
)


@dataclass(frozen=True)
class SweepView(Answer):
    """`keys` are those of the runs; `reviews` are by the number of the input."""

    matrix: RunMatrix
    keys: tuple[str, ...]
    runs: tuple[MeasuredRun, ...]
    reviews: Mapping[int, InputReview]
    has_crashed: bool

    @property
    def is_yes(self) -> bool:
        return True

    def document(self) -> SweepDocument:
        matrix = self.matrix
        inputs = [each.name for each in matrix.inputs]
        configurations = [each.name for each in matrix.configurations]
        return SweepDocument(
            tuple(matrix.seeds),
            tuple(self._input(number, given) for number, given in enumerate(matrix.inputs)),
            tuple(
                SweepCell(inputs[cell.input], configurations[cell.configuration], _spreads(cell))
                for cell in summarise_cells(self.runs)
            ),
            tuple(
                SweepRun(
                    key,
                    inputs[run.input],
                    configurations[run.configuration],
                    run.seed,
                    run.metrics,
                )
                for key, run in zip(self.keys, self.runs, strict=True)
            ),
        )

    def show(self, screen: Screen, *, wide: bool, show_all: bool) -> None:  # noqa: ARG002
        matrix = self.matrix
        cells = summarise_cells(self.runs)
        for number, given in enumerate(matrix.inputs):
            review = self.reviews.get(number, InputReview())
            show_input_warnings(review, screen)
            screen.print_heading(given.name, count(len(matrix.seeds), "seed"))
            _show_cells([cell for cell in cells if cell.input == number], matrix, screen)
            screen.notes(list(review.notes))

    def report(self, document: SweepDocument) -> Report:
        from podium.web.report_file import Fact
        from podium.web.report_views import SWEEP

        matrix = self.matrix
        facts = [
            Fact.count(len(matrix.inputs), "input"),
            Fact.count(len(matrix.configurations), "configuration"),
            Fact.count(len(matrix.seeds), "seed"),
        ]
        metrics = (metric.name for cell in document.cells for metric in cell.metrics)
        totals, words = {"runs": len(document.runs)}, describe_metrics(metrics)
        bounded = replace(document, runs=bound_runs(document.runs, document.seeds))
        return Report(facts, {"sweep": bounded}, SWEEP, totals, words)

    def _input(self, number: int, given: NamedInput | NamedScenario) -> SweepInput:
        review = self.reviews.get(number, InputReview())
        return SweepInput(
            name=given.name,
            typical_pod=_typical_pod(given),
            notes=tuple(review.notes),
            **review_fields(review),
        )


def _show_cells(cells: list[MatrixCell], matrix: RunMatrix, screen: Screen) -> None:
    headings = ["MEAN", *(f"P{percent}" for percent in PERCENTILES)]
    table = screen.table(
        "METRIC", "CONFIGURATION", *headings, right=headings, whole=["METRIC", *headings]
    )
    for at, spread in enumerate(cells[0].spreads):
        for cell in cells:
            found = cell.spreads[at]
            values = (found.mean, *found.percentiles)
            table.add_row(
                describe_metric(spread.metric) if cell is cells[0] else "",
                matrix.configurations[cell.configuration].name,
                *(format_metric(spread.metric, value) for value in values),
            )
    screen.print(table)


def _typical_pod(given: NamedInput | NamedScenario) -> TypicalRequests | None:
    """Scenarios have none."""
    if isinstance(given, NamedScenario):
        return None
    pod = given.yardstick.typical_pod
    return TypicalRequests(pod.cpu_milli, pod.memory_bytes)


def _spreads(cell: MatrixCell) -> tuple[MetricSpread, ...]:
    found = []
    for each in cell.spreads:
        p5, p50, p95 = each.percentiles
        found.append(MetricSpread(each.metric, each.mean, each.lowest, p5, p50, p95, each.highest))
    return tuple(found)
