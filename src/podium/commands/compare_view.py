"""Configurations side by side: on a screen figures, differences, and who goes elsewhere; and as a
report for browsers."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from podium.commands.answering import Report
from podium.commands.console import Text
from podium.commands.input_warnings import ReviewedAnswer
from podium.commands.tables import Screen, amount, count
from podium.kubernetes.rules.requests import CPU, MEMORY
from podium.offline.simulate import Scenario
from podium.offline.what_if.comparison_answer import (
    ComparisonAnswer,
    ComparisonDocument,
    Judgement,
    PairedDifference,
)
from podium.offline.what_if.measured_runs import InputReview, PodPlace
from podium.offline.what_if.run_metrics import TypicalPod, describe_metric, describe_metrics

MAX_ROWS: Final = 25
SIGNIFICANT: Final = 0.05
_PARTS: Final = ("_share", "_fragmentation")
_EXACT: Final = ("wait_mean_s", "wait_p50_s", "wait_p99_s", "wait_max_s", "cost")


@dataclass(frozen=True)
class ComparisonOfConfigurations(ReviewedAnswer):
    """Of the pods of files, or of a recorded cluster, which is a `trace` and measures nothing by a
    typical pod."""

    answer: ComparisonAnswer
    judgements: Sequence[Judgement]
    typical_pod: TypicalPod
    scenario: Scenario
    review: InputReview
    notes: Sequence[str]
    has_crashed: bool = False
    trace: str | UnsetType = UNSET

    @property
    def is_yes(self) -> bool:
        return not any(each.configurations for each in self.judgements)

    def answer_document(self) -> ComparisonDocument:
        return self.answer.document(self.judgements, self.typical_pod, trace=self.trace)

    def show_answer(self, screen: Screen, *, wide: bool, show_all: bool) -> None:  # noqa: ARG002
        answer, remark = self.answer, ""
        if self.trace is UNSET:
            pod = self.typical_pod
            typical = f"cpu={amount(CPU, pod.cpu_milli)},memory={amount(MEMORY, pod.memory_bytes)}"
            remark = f"the typical pod has {typical}"
        show_metrics(answer, remark, screen)
        _show_pods(answer, screen, show_all=show_all)
        screen.print()
        for index, name in enumerate(answer.names):
            if index:
                moved = sum(_differs(places, index) for places in answer.different_pods)
                of = count(answer.pod_count, "pod")
                told = f"{name}: {moved:,} of {of} not as with {answer.names[0]}"
                screen.print(f"{screen.signs.nothing} {told}")
        show_judgements(answer, self.judgements, screen)

    def report(self, document: ComparisonDocument) -> Report:
        from podium.web.comparison_view import comparison_view
        from podium.web.report_file import Fact
        from podium.web.report_views import COMPARISON

        answer = self.answer
        facts = [
            Fact.count(len(answer.names), "configuration"),
            Fact.count(len(answer.seeds), "seed"),
            Fact.count(len(self.scenario.nodes), "node"),
            Fact.count(answer.pod_count, "pod"),
        ]
        # Pods are in the view, with reasons, and no more of them than a browser can take.
        documents = {
            "comparison": replace(document, different_pods=()),
            "comparison-view": comparison_view(answer, self.scenario),
        }
        words = describe_metrics(answer.metrics)
        return Report(facts, documents, COMPARISON, metric_words=words)


def show_judgements(
    answer: ComparisonAnswer, judgements: Sequence[Judgement], screen: Screen
) -> None:
    for each in judgements:
        sign, style = (screen.signs.yes, "green")
        told = f"not {each.condition.text}"
        if each.configurations:
            sign, style = (screen.signs.no, "red")
            names = ", ".join(answer.names[index] for index in each.configurations)
            told = f"{each.condition.text}: {names}"
        screen.print(Text.assemble((sign, f"bold {style}"), Text(f" {told}")))


def show_metrics(answer: ComparisonAnswer, remark: str, screen: Screen) -> None:
    """Each metric of each configuration, and how others differ from the first."""
    seeds = f"means over {len(answer.seeds)} seeds" if len(answer.seeds) > 1 else ""
    screen.print_heading("Configurations", "; ".join(filter(None, (seeds, remark))))
    others = range(1, len(answer.names))
    tested = len(answer.seeds) > 1
    named = [f"{_letter(i)} {name}" for i, name in enumerate(answer.names)]
    differences = [
        heading for i in others for heading in (f"{_letter(i)} - A", *(["P"] if tested else []))
    ]
    right = [*named, *differences]
    table = screen.table("METRIC", *named, *differences, right=right, whole=("METRIC",))
    for metric in answer.metrics:
        summaries = [answer.summary(index, metric) for index in range(len(answer.names))]
        row = [format_metric(metric, each.mean) for each in summaries]
        for each in summaries[1:]:
            if each.difference is not None:
                row += _difference(metric, each.difference, screen)
        table.add_row(describe_metric(metric), *row)
    screen.print(table)


def _letter(index: int) -> str:
    """A, B, ... Z, then 26, 27, ..."""
    return chr(ord("A") + index) if index < 26 else str(index)


def _difference(metric: str, found: PairedDifference, screen: Screen) -> list[str]:
    told = screen.signs.nothing
    if found.lowest or found.highest:
        value = format_metric(metric, abs(found.mean))
        told = f"{'-' if found.mean < 0 else '+'}{value}"
    if found.p_value is None:
        return [told]
    if not (found.lowest or found.highest):
        return [told, screen.signs.nothing]
    mark = "*" if found.p_value < SIGNIFICANT else " "
    return [told, f"{found.p_value:.3f}{mark}"]


def format_metric(metric: str, number: float) -> str:
    """A value in the unit of its metric."""
    if metric.endswith(_PARTS):
        return f"{100 * number:.1f}%"
    if metric in _EXACT:
        return f"{number:,.3f}"
    return f"{number:,.0f}" if number == int(number) else f"{number:,.2f}"


def _show_pods(answer: ComparisonAnswer, screen: Screen, *, show_all: bool) -> None:
    different = answer.different_pods
    if not different:
        return
    shown = different if show_all else different[:MAX_ROWS]
    remark = count(len(different), "pod")
    if len(answer.seeds) > 1:
        remark += f" with seed {answer.seeds[0]}"
    if len(shown) < len(different):
        remark += "; --all lists each of them"
    screen.print_heading("Elsewhere", remark)
    named = [f"{_letter(i)} {name}" for i, name in enumerate(answer.names)]
    table = screen.table("POD", *named, whole=("POD",))
    for places in shown:
        table.add_row(places[0].pod, *(place.node or place.outcome for place in places))
    screen.print(table)


def _differs(places: Sequence[PodPlace], index: int) -> bool:
    return places[0] != places[index]
