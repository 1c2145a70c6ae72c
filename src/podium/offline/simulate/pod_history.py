"""Everything that happened to one pod in a run: its lines in the pod log with their decisions."""

from dataclasses import dataclass

from podium.kubernetes.kinds.pod import Pod
from podium.offline.simulate.report import PodResult, SimulationReport
from podium.scheduler.engine.decision import Decision
from podium.scheduler.engine.observer import Line


@dataclass(frozen=True, slots=True)
class HistoryEntry:
    """One thing that happened; an attempt has its decision."""

    line: Line
    decision: Decision | None = None


@dataclass(frozen=True, slots=True)
class PodHistory:
    """`result` is None for a pod that was running already when the run began."""

    pod: Pod
    key: str
    result: PodResult | None
    entries: tuple[HistoryEntry, ...]

    @classmethod
    def of(cls, report: SimulationReport, pod: Pod) -> "PodHistory":
        """The pod must have been watched."""
        key = f"{pod.metadata.namespace}/{pod.metadata.name}"
        result = next((result for result in report.pods if result.key == key), None)
        decisions = [look.decision for look in report.watched[key]]
        entries: list[HistoryEntry] = []
        # From the end: of a very long life the pod log forgets early lines.
        for line in reversed(report.timeline.life(key)):
            tried = line.what == "tried" and bool(decisions)
            entries.append(HistoryEntry(line, decisions.pop() if tried else None))
        return cls(pod, key, result, tuple(reversed(entries)))

    @property
    def evicted_for(self) -> str:
        """Who took the pod's place, if somebody did."""
        found = [each.line.about for each in self.entries if each.line.what == "preempted"]
        return found[-1] if found else ""

    @property
    def node(self) -> str:
        """Where the pod is in the end, "" if nowhere."""
        if self.result is not None:
            return self.result.node
        return "" if self.evicted_for else self.pod.spec.node_name
