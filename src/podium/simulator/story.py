"""All that a run knows about one pod: its result, its attempts, and the decision explained."""

from dataclasses import dataclass

from podium.engine.decision import Decision
from podium.simulator.explanation import Explanation
from podium.simulator.report import PodResult, Report


@dataclass(frozen=True, slots=True)
class PodStory:
    """`premise` says under which assumption the pod was decided."""

    result: PodResult
    premise: str
    decisions: tuple[Decision, ...]
    explanation: Explanation | None
    runs_on: str = ""

    @classmethod
    def of(cls, report: Report, key: str, *, runs_on: str, alone: bool) -> "PodStory":
        place = next(at for at, result in enumerate(report.pods) if result.key == key)
        result, watched = report.pods[place], report.watched[key]
        decisions = tuple(watched.decisions)
        examined = bool(decisions) and decisions[-1].attempt > 0
        explanation = Explanation(decisions[-1], watched.examination) if examined else None
        return cls(result, _premise(runs_on, alone, place), decisions, explanation, runs_on)


def _premise(runs_on: str, alone: bool, ahead: int) -> str:
    if runs_on:
        return f"runs on {runs_on}; decided as if it were pending now and its place were free"
    if alone:
        return "decided alone, without the other pending pods"
    if ahead == 0:
        return "first in the queue"
    return f"decided after {ahead} pending pod{'s' if ahead > 1 else ''} ahead of it in the queue"
