"""All that a run knows about one pod: its result, its attempts, and the decision explained."""

from collections.abc import Sequence
from dataclasses import dataclass

from podium.offline.simulate.report import PodOutcome, PodResult, SimulationReport
from podium.offline.simulate.watching import Look
from podium.scheduler.explain.cause import Cause
from podium.scheduler.explain.explanation import Explanation


@dataclass(frozen=True, slots=True)
class ExplainedPod:
    """`premise` says under which assumption the pod was decided, `attempts` how it went.

    A pod that was never tried has no attempts. `causes` say why the pod has no node, the one that
    matters most first; a pod that got one has none.
    """

    result: PodResult
    premise: str
    attempts: tuple[Explanation, ...]
    runs_on: str = ""
    causes: tuple[Cause, ...] = ()

    @classmethod
    def of(cls, report: SimulationReport, key: str, *, runs_on: str, alone: bool) -> "ExplainedPod":
        place = next(at for at, result in enumerate(report.pods) if result.key == key)
        attempts = tuple(
            Explanation(look.decision, look.examination, look.causes, look.findings)
            for look in report.watched[key]
            if look.examination is not None
        )
        premise = _premise(runs_on, alone, place) if attempts else "never tried"
        result = report.pods[place]
        return cls(result, premise, attempts, runs_on, _causes(result, report.watched[key]))

    @property
    def last(self) -> Explanation | None:
        return self.attempts[-1] if self.attempts else None

    @property
    def widest(self) -> Explanation | None:
        """The last attempt that looked at more than a nominated node, if there was one."""
        looked = [one for one in self.attempts if not one.on_nominated_node]
        return looked[-1] if looked else self.last


def _causes(result: PodResult, looks: Sequence[Look]) -> tuple[Cause, ...]:
    """The causes of the last attempt that failed, or of never having been tried."""
    if result.placed:
        return ()
    if result.turned_away_from:
        return result.causes
    told = next((look.causes for look in reversed(looks) if look.causes), ())
    return told if told and result.outcome is not PodOutcome.PREEMPTED else result.causes


def _premise(runs_on: str, alone: bool, ahead: int) -> str:
    if runs_on:
        return f"runs on {runs_on}; decided as if it were pending now and its place were free"
    if alone:
        return "decided alone, without the other pending pods"
    if ahead == 0:
        return "first in the queue"
    return f"decided after {ahead} pending pod{'s' if ahead > 1 else ''} ahead of it in the queue"
