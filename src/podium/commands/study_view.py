"""A study for people and for programs: tables of means, differences and a figure in characters."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from podium.addons.gpu.study.results import Cell, PolicySummary, RunResult
from podium.addons.gpu.study.study_answer import Bounds, StudyAnswer, study_answer
from podium.commands.answering import Answer, Report
from podium.commands.study_bound import show_bounds
from podium.commands.tables import Screen, count

_CURVE_STEP = 2
_CELL_WIDTH = 15


@dataclass(frozen=True)
class StudyView(Answer):
    """`shown` are the percentages of demand that there are columns for; `took_s` is for people
    alone: documents and reports of the same runs are equal to the byte."""

    results: Sequence[RunResult]
    summaries: Sequence[PolicySummary]
    baseline: str
    shown: Sequence[int]
    bounds: Bounds
    seeds: int
    notes: Sequence[str]
    took_s: float
    is_verified: bool
    has_crashed: bool = False

    @property
    def is_yes(self) -> bool:
        return self.is_verified

    def document(self) -> StudyAnswer:
        return study_answer(self.results, self.summaries, self.bounds, self.notes)

    def show(self, screen: Screen, *, wide: bool, show_all: bool) -> None:  # noqa: ARG002
        show_bounds(self.bounds, self.seeds, screen)
        notes = [*self.notes[:-1], f"{self.notes[-1]} in {self.took_s:.1f} s"]
        show_study(self.summaries, self.baseline, notes, screen)

    def report(self, document: StudyAnswer) -> Report:  # noqa: ARG002
        from podium.web.report_file import Fact
        from podium.web.report_views import GPU_PACKING
        from podium.web.study_view import study_view

        view = study_view(self.results, self.baseline, self.shown, self.notes)
        facts = [
            Fact.count(len(view.traces), "trace"),
            Fact.count(len(view.seeds), "seed"),
            Fact.count(len(self.results), "run"),
        ]
        return Report(facts, {"study": view}, GPU_PACKING)


def show_study(
    summaries: Sequence[PolicySummary], baseline: str, notes: Sequence[str], screen: Screen
) -> None:
    for trace in dict.fromkeys(summary.trace for summary in summaries):
        some = [summary for summary in summaries if summary.trace == trace]
        seeds = count(len(some[0].seeds), "seed")
        screen.print_heading(trace, f"GPU allocated, % of capacity, by % of it asked for; {seeds}")
        _show_cells(((each.policy, each.allocation) for each in some), screen)
        screen.print_heading(trace, "fragmentation, % of idle GPU")
        _show_cells(((each.policy, each.fragmentation_ratio) for each in some), screen)
        gains = [(each.policy, each.allocation_gain) for each in some if each.allocation_gain]
        if gains:
            screen.print_heading(
                trace, f"GPU allocated, difference to {baseline} seed by seed, points"
            )
            _show_cells(gains, screen, signed=True)
        screen.print_heading(
            trace, "fragmentation, % of idle GPU, as demand grows from 0 % to the right"
        )
        _show_curves(some, screen)
    screen.notes(notes)


def _show_cells(
    rows: Iterable[tuple[str, Mapping[int, Cell]]], screen: Screen, *, signed: bool = False
) -> None:
    listed = list(rows)
    columns = sorted({percent for _, cells in listed for percent in cells})
    # On a narrow screen the last columns, where policies differ, are worth most.
    names = max((len(policy) for policy, _ in listed), default=0)
    columns = columns[-max(1, (screen.width - names) // _CELL_WIDTH) :]
    headings = [str(percent) for percent in columns]
    table = screen.table("POLICY", *headings, right=headings, whole=["POLICY", *headings])
    for policy, cells in listed:
        table.add_row(policy, *(_cell(cells.get(percent), signed) for percent in columns))
    screen.print(table)


def _cell(cell: Cell | None, signed: bool) -> str:
    if cell is None:
        return ""
    mean = f"{cell.mean:+.2f}" if signed else f"{cell.mean:.2f}"
    return mean if cell.deviation is None else f"{mean} ±{cell.deviation:.2f}"


def _show_curves(summaries: Sequence[PolicySummary], screen: Screen) -> None:
    table = screen.table("POLICY", "", "AT THE END", right=["AT THE END"], whole=["POLICY", ""])
    for summary in summaries:
        known = [value for value in summary.curve if value is not None]
        values = summary.curve[::_CURVE_STEP]
        shares = [None if value is None else value / 100 for value in values]
        table.add_row(summary.policy, screen.curve(shares), f"{known[-1]:.1f}")
    screen.print(table)
