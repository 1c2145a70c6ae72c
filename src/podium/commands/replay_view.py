"""Replays: on a screen figures beside the recorded ones and the pods that fared otherwise, and as a
report for browsers.

Contract of the report: bounded. Of pods and decisions those are kept that differ, and how many
there are is told.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from msgspec.structs import replace

from podium.commands.answering import MAX_ROWS, Answer, Report, bound_lists
from podium.commands.tables import MAX_NAMES, Screen, count, percent
from podium.golang.durations import Duration
from podium.offline.traces.decision_check import CheckedDecision, DecisionCheck, DecisionVerdict
from podium.offline.traces.replay_report import (
    ReplayAnswer,
    ReplayedPod,
    ReplayOutcome,
    ReplayReport,
    Waits,
)

MAX_SHOWN: Final = 25
"""Pods or decisions in a table."""
_NONE: Final = "none"
_WAITS: Final[tuple[tuple[str, Callable[[Waits], float]], ...]] = (
    ("wait p50", lambda waits: waits.p50_s),
    ("wait p99", lambda waits: waits.p99_s),
    ("wait max", lambda waits: waits.max_s),
)


@dataclass(frozen=True)
class ReplayView(Answer):
    """A recording decided anew, under a configuration of a name."""

    found: ReplayReport
    config: str
    has_crashed: bool = False

    @property
    def is_yes(self) -> bool:
        return not self.found.lost

    def document(self) -> ReplayAnswer:
        return self.found.answer(self.config)

    def show(self, screen: Screen, *, wide: bool, show_all: bool) -> None:  # noqa: ARG002
        report, config = self.found, self.config
        screen.print_heading(
            "Replay", _describe(report.source, report.started_at, report.duration_s)
        )
        table = screen.table("METRIC", "RECORDED", config, right=("RECORDED", config))
        table.add_row("pods to place", f"{len(report.pods):,}", f"{len(report.pods):,}")
        _add_waits(report, table.add_row)
        uses = (report.recorded_nodes, report.nodes)
        table.add_row("nodes in use, mean", *(f"{each.mean:,.1f}" for each in uses))
        table.add_row("nodes in use, most", *(f"{each.most:,}" for each in uses))
        table.add_row("evictions", screen.signs.nothing, f"{report.run.totals.evictions:,}")
        for resource, used in report.utilisation.items():
            if used:
                table.add_row(f"{resource} requested", screen.signs.nothing, percent(used))
        screen.print(table)
        _show_pods(report, screen, show_all=show_all)
        screen.print()
        agreement = report.agreement
        if agreement is None:
            screen.print(f"{screen.signs.nothing} no pod has a node both there and here")
        else:
            same, moved = report.count(ReplayOutcome.SAME), report.count(ReplayOutcome.MOVED)
            told = f"{same:,} of {count(same + moved, 'pod')} on the same node"
            screen.print(f"{screen.signs.nothing} {told} ({percent(agreement)})")
        screen.notes(report.notes)

    def report(self, document: ReplayAnswer) -> Report:
        from podium.web.report_file import Fact
        from podium.web.report_views import REPLAY

        lost = document.outcomes.only_recorded
        facts = [
            Fact.count(len(document.pods), "pod"),
            Fact(f"{document.outcomes.moved:,}", "moved"),
            Fact(f"{lost:,}", "lost", bool(lost)),
        ]
        different = replace(document, pods=tuple(_list_different(self.found)))
        bounded, totals = bound_lists(different, {"pods": MAX_ROWS})
        return Report(facts, {"replay": bounded}, REPLAY, totals)


@dataclass(frozen=True)
class ReplayCheckView(Answer):
    """Recorded decisions, each checked."""

    check: DecisionCheck
    has_crashed: bool = False

    @property
    def is_yes(self) -> bool:
        return self.check.agreement in (None, 1.0)

    def document(self) -> DecisionCheck:
        return self.check

    def show(self, screen: Screen, *, wide: bool, show_all: bool) -> None:  # noqa: ARG002
        check = self.check
        screen.print_heading(
            "Recorded decisions", _describe(check.source, check.started_at, check.duration_s)
        )
        if check.agreement is None:
            screen.print("no pod was bound in this time")
        else:
            same = check.verdicts.same
            of = count(len(check.decisions), "decision")
            screen.print(f"{same:,} of {of} as here ({percent(check.agreement)})")
        different = [each for each in check.decisions if each.verdict is not DecisionVerdict.SAME]
        if different:
            shown = different if show_all else different[:MAX_SHOWN]
            screen.print_heading(
                "Differences", _shown_remark(len(shown), len(different), "decision")
            )
            table = screen.table("AT", "POD", "RECORDED", "HERE", "WHY", whole=("POD",))
            for each in shown:
                at, best = _tell_time(each.at_s), _tell_best(each)
                table.add_row(at, each.key, each.recorded_node, best, _why(each))
            screen.print(table)
        screen.notes(check.notes)

    def report(self, document: DecisionCheck) -> Report:
        from podium.web.report_file import Fact
        from podium.web.report_views import REPLAY_CHECK

        different = tuple(
            each for each in document.decisions if each.verdict is not DecisionVerdict.SAME
        )
        facts = [
            Fact.count(len(document.decisions), "decision"),
            Fact(f"{len(different):,}", "otherwise here", bool(different)),
        ]
        shortened = replace(document, decisions=different)
        bounded, totals = bound_lists(shortened, {"decisions": MAX_ROWS})
        return Report(facts, {"replay-check": bounded}, REPLAY_CHECK, totals)


def _add_waits(report: ReplayReport, add_row: Callable[..., None]) -> None:
    sides = (report.recorded, report.here)
    add_row("placed", *(f"{each.placed:,}" for each in sides))
    add_row("never placed", *(f"{len(report.pods) - each.placed:,}" for each in sides))
    for name, read in _WAITS:
        add_row(name, *(f"{read(each):,.3f} s" for each in sides))


def _show_pods(report: ReplayReport, screen: Screen, *, show_all: bool) -> None:
    different = _list_different(report)
    if not different:
        return
    shown = different if show_all else different[:MAX_SHOWN]
    screen.print_heading("Elsewhere", _shown_remark(len(shown), len(different), "pod"))
    table = screen.table("AT", "POD", "RECORDED", "HERE", "WHY", whole=("POD",))
    for each in shown:
        table.add_row(
            _tell_time(each.arrived_s),
            each.key,
            each.recorded_node or _NONE,
            each.node or _NONE,
            each.reason,
        )
    screen.print(table)


def _list_different(report: ReplayReport) -> list[ReplayedPod]:
    """Who lost a node comes first; the others as they arrived."""
    different = [
        each
        for each in report.pods
        if each.outcome not in (ReplayOutcome.SAME, ReplayOutcome.PENDING)
    ]
    return sorted(different, key=lambda each: each.outcome is not ReplayOutcome.ONLY_RECORDED)


def _tell_best(decision: CheckedDecision) -> str:
    listed = ", ".join(decision.best[:MAX_NAMES])
    left = decision.best_count - MAX_NAMES
    return f"{listed} and {left:,} more" if left > 0 else listed or _NONE


def _why(decision: CheckedDecision) -> str:
    if decision.recorded_total is None:
        return decision.reason
    return f"total {decision.recorded_total:,}, the best has {decision.best_total:,}"


def _describe(source: str, started_at: str, duration_s: float) -> str:
    return f"{source}, recorded at {started_at}, {_tell_time(duration_s)}"


def _shown_remark(shown: int, total: int, noun: str) -> str:
    remark = count(total, noun)
    return f"{remark}; --all lists each of them" if shown < total else remark


def _tell_time(seconds: float) -> str:
    return str(Duration.of_seconds(round(seconds, 1)))
