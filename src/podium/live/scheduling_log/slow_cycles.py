"""Scheduling that takes long is told with its steps (upstream: `k8s.io/utils/trace`).

Whatever takes 100 ms or more is told. Of its steps those are told that took more than their share
of that, and all of them from verbosity 4 on:

    Trace[1496136167]: "Scheduling" namespace:default,name:web (16-Nov-2026 05:19:52.299) (total ...
    Trace[1496136167]: ---"Computing predicates done" 120ms (05:19:52.419)
    Trace[1496136167]: [150.466979ms] [150.466979ms] END
"""

from datetime import UTC, datetime
from typing import Final

from podium.golang.durations import Duration
from podium.live.scheduling_log.line_writer import LineWriter
from podium.scheduler.engine.decision import Decision

_THRESHOLD_S: Final = 0.1
_ALL_STEPS_FROM: Final = 4


class SlowCycles(LineWriter):
    level = 2

    def search_ended(self, decision: Decision) -> None:
        durations = decision.durations_s
        whole_s = durations.get("total", 0.0)
        total_s = whole_s - durations.get("post_filter", 0.0)
        if total_s < _THRESHOLD_S:
            return
        begun = self.engine.clock() - whole_s
        metadata = decision.pod.pod.metadata
        trace = f"Trace[{self.randomness.getrandbits(31)}]:"
        fields = f"namespace:{metadata.namespace},name:{metadata.name}"
        took = f"(total time: {int(total_s * 1000)}ms)"
        lines = [f'{trace} "Scheduling" {fields} ({_local(begun, "%d-%b-%Y ")}) {took}:']
        steps = _steps(decision)
        at = begun
        for name, seconds in steps:
            at += seconds
            share_s = _THRESHOLD_S / (len(steps) + 1)
            if seconds >= share_s or self.log.verbosity >= _ALL_STEPS_FROM:
                lines.append(f'{trace} ---"{name}" {int(seconds * 1000)}ms ({_local(at)})')
        exact = Duration.of_seconds(total_s)
        lines.append(f"{trace} [{exact}] [{exact}] END")
        self.log.lines(lines, v=self.level)


def _steps(decision: Decision) -> list[tuple[str, float]]:
    """The steps that came to an end, with their seconds."""
    durations = decision.durations_s
    steps: list[tuple[str, float]] = []
    if "filter" in durations and not (decision.is_error and decision.chosen is None):
        seconds = durations["pre_filter"] + durations["filter"]
        steps.append(("Computing predicates done", seconds))
        if "score" in durations and len(decision.feasible) > 1:
            steps.append(("Prioritizing done", durations["score"]))
    return steps


def _local(at: float, date: str = "") -> str:
    time = datetime.fromtimestamp(at, UTC).astimezone()
    return f"{time:{date}%H:%M:%S}.{time.microsecond // 1000:03d}"
