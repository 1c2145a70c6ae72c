"""A pod's story on a screen: when, what, and why."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import assert_never

from podium.commands.console import Text, stack_lines
from podium.commands.input_warnings import ReviewedAnswer
from podium.commands.pod_log_words import format_seconds
from podium.commands.story_document import StoryDocument
from podium.commands.tables import Screen, count
from podium.offline.simulate import PodOutcome, SimulationReport
from podium.offline.simulate.report import HistoryEntry, PodHistory
from podium.scheduler.engine.decision import Decision
from podium.scheduler.engine.observer import Line
from podium.scheduler.explain.decision_digest import digest_of, lead, rejections
from podium.scheduler.explain.pod_log_lines import ACTIVATED, BACKOFF, TIMEOUT

_WOKEN = {
    BACKOFF: "its backoff is over",
    TIMEOUT: "no event has helped it for five minutes",
    ACTIVATED: "a plugin asked for it",
}


@dataclass(frozen=True)
class StoryView(ReviewedAnswer):
    """`-o wide` adds the score of every plugin."""

    found: PodHistory
    review: SimulationReport
    notes: Sequence[str]
    notes_on_terminal: Sequence[str]
    has_crashed: bool

    @property
    def pod_key(self) -> str:
        return self.found.key

    @property
    def shown_notes(self) -> Sequence[str]:
        return self.notes_on_terminal

    @property
    def is_yes(self) -> bool:
        return bool(self.found.node)

    def answer_document(self) -> StoryDocument:
        return StoryDocument.of(self.found)

    def show_answer(self, screen: Screen, *, wide: bool, show_all: bool) -> None:  # noqa: ARG002
        _show_head(self.found, screen)
        if not self.found.entries:
            return
        screen.print_heading("Story", "seconds of virtual time")
        table = screen.table("TIME", "WHAT", "WHY", right=("TIME",), whole=("TIME", "WHAT"))
        for entry in self.found.entries:
            told = stack_lines(_why(self.found, entry, wide=wide))
            table.add_row(format_seconds(entry.line.at), _what(entry), told)
        screen.print(table)


def _show_head(history: PodHistory, screen: Screen) -> None:
    spec = history.pod.spec
    sign, style = (
        (screen.signs.yes, "bold green") if history.node else (screen.signs.no, "bold red")
    )
    lines = (
        ("Pod", Text(history.key, style="bold")),
        ("Ending", Text.assemble((sign, style), f" {_describe_ending(history)}")),
        ("Profile", Text(f"{spec.scheduler_name}, priority {spec.priority or 0}")),
    )
    for title, text in lines:
        screen.print_titled(title, text)


def _describe_ending(history: PodHistory) -> str:
    result = history.result
    if result is None:
        where = history.pod.spec.node_name
        if history.evicted_for:
            return f"ran on {where}, evicted for {history.evicted_for}"
        return f"runs on {where} from beginning to end; nothing happens to it"
    tries = count(result.attempts, "attempt")
    match result.outcome:
        case PodOutcome.PLACED:
            took = history.entries[-1].line.at - history.entries[0].line.at
            return f"bound to {result.node} after {tries} and {format_seconds(took)} s"
        case PodOutcome.UNSCHEDULABLE:
            return f"no node fits, after {tries}"
        case PodOutcome.GATED:
            return "held back, never tried"
        case PodOutcome.PREEMPTED | PodOutcome.NOT_OURS | PodOutcome.TERMINATING | PodOutcome.ERROR:
            return result.message
    assert_never(result.outcome)


def _what(entry: HistoryEntry) -> str:
    if entry.decision is not None:
        return f"attempt {entry.decision.attempt}"
    return entry.line.what


def _why(history: PodHistory, entry: HistoryEntry, *, wide: bool) -> Iterator[str]:
    line, decision = entry.line, entry.decision
    by = ", ".join(line.plugins)
    if decision is not None:
        yield from _attempt(decision, line, wide=wide)
        return
    match line.what:
        case "tried":
            yield line.detail or f"goes to {line.about}"
        case "held back":
            yield f"by {by}"
            result = history.result
            if result is not None and result.outcome is PodOutcome.GATED:
                yield result.message
        case "woken":
            yield from _describe_wakeup(line)
        case "backing off":
            yield "goes on when its backoff is over"
        case "preempting":
            yield f"evicts {line.detail} to make room on {line.about}"
        case "preempted":
            yield f"{line.about} takes its place"
        case "waiting":
            yield f"{by} wants it to wait, on {line.about}"
        case "bound":
            yield f"to {line.about}"
        case "binding failed" | "undoing failed":
            yield line.detail
        case "given up":
            yield "trying again does not help"


def _describe_wakeup(line: Line) -> Iterator[str]:
    if line.detail in _WOKEN:
        yield _WOKEN[line.detail]
        return
    yield f"{line.detail}: {line.about}" if line.about else line.detail
    if line.plugins:
        yield f"{', '.join(line.plugins)} had rejected it and waited for that"


def _attempt(decision: Decision, line: Line, *, wide: bool) -> Iterator[str]:
    if not line.about:
        rejected = rejections(decision)
        if rejected:
            told = (f"{plugin} ({count(nodes, 'node')})" for plugin, nodes in rejected.items())
            yield f"no node fits, because of {', '.join(told)}"
        yield line.detail
        return
    digest = digest_of(decision)
    if decision.pod.pod.status.nominated_node_name == line.about:
        yield f"goes to {line.about}, which it was nominated for"
        return
    points = "" if digest.score is None else f" with {digest.score:,} points"
    yield f"goes to {line.about}{points}: {lead(digest)}"
    if digest.scores and wide:
        yield ", ".join(f"{plugin} {score.weighted}" for plugin, score in digest.scores.items())
