"""What to know before the answer: kinds that the input lacks, messages that differ."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from podium.commands.console import Text
from podium.commands.tables import Screen, count, some
from podium.offline.simulate.cluster_dump import HOW_TO_DUMP, dump_command
from podium.offline.simulate.recorded_messages import compare_messages
from podium.offline.simulate.report import SimulationReport

if TYPE_CHECKING:
    from podium.offline.simulate.completeness import MissingKind
    from podium.offline.simulate.recorded_messages import MessageDifference, RecordedMessages
    from podium.offline.what_if.measured_runs import InputReview

_MAX_DIFFERENCES = 3


def show_input_warnings(
    report: SimulationReport | InputReview, screen: Screen, *, key: str = ""
) -> None:
    """`key` leaves the messages of other pods out."""
    if report.missing_kinds:
        screen.heading("Incomplete input", "the answer below may be wrong")
        for missing in report.missing_kinds:
            screen.print(f"{screen.signs.no} {_sentence(missing)}", style="yellow")
            screen.print(f"  affects: {missing.effect}")
        if not all(missing.unread for missing in report.missing_kinds):
            screen.print(f"{screen.signs.arrow} {HOW_TO_DUMP}", style="dim")
    _show_differences(report, screen, key)


def _messages(report: SimulationReport | InputReview) -> RecordedMessages:
    if isinstance(report, SimulationReport):
        return compare_messages(report.pods)
    return report.messages


def _sentence(missing: MissingKind) -> str:
    objects = count(len(missing.referred_by), missing.noun)
    lacking = missing.unread or f"no {missing.kind} in the input"
    return f"{lacking}, but it matters to {objects} ({some(missing.referred_by)})"


def _show_differences(report: SimulationReport | InputReview, screen: Screen, key: str) -> None:
    found = _messages(report)
    shown = [each for each in found.differences if key in ("", each.key)]
    if not shown:
        return
    remark = "the input, the configuration or the cluster may have changed since"
    if not key:
        remark = f"{len(shown)} of {count(found.compared, 'pod')} with one; {remark}"
    screen.heading("Not what the cluster's scheduler said", remark)
    for different in shown[:_MAX_DIFFERENCES]:
        screen.print(Text(different.key, style="bold"))
        screen.print(f"  cluster: {different.recorded}")
        screen.print(f"  here:    {_here(different)}")
    if len(shown) > _MAX_DIFFERENCES:
        left = count(len(shown) - _MAX_DIFFERENCES, "more pod")
        screen.print(f"  and {left}; -o json has all of them")


def _here(different: MessageDifference) -> str:
    return f"goes to {different.node}" if different.node else different.computed


def input_warnings_document(
    report: SimulationReport | InputReview, *, key: str = ""
) -> dict[str, Any]:
    """Everything that `show_input_warnings` shows, and more."""
    found = _messages(report)
    return {
        "incomplete": [
            {
                "kind": missing.kind,
                "sentence": _sentence(missing),
                "referredBy": list(missing.referred_by),
                "affects": missing.effect,
                "command": None if missing.unread else dump_command(),
            }
            for missing in report.missing_kinds
        ],
        "recordedMessages": {
            "compared": found.compared,
            "differences": [
                {
                    "pod": different.key,
                    "recorded": different.recorded,
                    "computed": different.computed,
                    "node": different.node or None,
                }
                for different in found.differences
                if key in ("", different.key)
            ],
        },
    }
