"""What happened to each pod, in order, and the last decisions in full.

Every transition leaves a line: queued, attempted, rejected by whom, woken by what, placed, bound.
`lines` gives a pod's lines back. Lines are small and bounded in number; decisions hold a column per
plugin and are bounded in bytes. What is oldest is forgotten first.

A line is written for every attempt, so it holds what is at hand (names, a message that exists
anyway) and no text is made for it; whoever reads it finds the words.
"""

from collections import OrderedDict

from msgspec import Struct

from podium.scheduler.engine.decision import Decision

MAX_PODS = 10_000
MAX_LINES = 200
MAX_DECISION_BYTES = 16 * 1024 * 1024


class Line(Struct, frozen=True, gc=False):
    """One thing that happened to a pod.

    | what | detail | plugins | about |
    |---|---|---|---|
    | queued, deleted, given up (by a driver) | | | |
    | backing off (rejected, but not waiting for an event) | | | |
    | held back | | who holds it back | |
    | tried | why it failed | who rejected it | the node it goes to |
    | woken | the event's name | who waited for it | the object it happened to |
    | preempting | the victims | | the node |
    | preempted | | | for whom |
    | waiting | | who asked for it | the node |
    | bound | | | the node |
    | binding failed | why | whose fault it is | the node |
    | undoing failed | why | | |
    """

    at: float
    what: str
    detail: str = ""
    plugins: tuple[str, ...] = ()
    about: str = ""


class PodLog:
    def __init__(
        self,
        most_pods: int = MAX_PODS,
        most_lines: int = MAX_LINES,
        most_bytes: int = MAX_DECISION_BYTES,
    ) -> None:
        self._lines_by_pod: OrderedDict[str, list[Line]] = OrderedDict()
        self._most_pods = most_pods
        self._most_lines = most_lines
        self._decisions: OrderedDict[str, tuple[Decision, int]] = OrderedDict()
        self._most_bytes = most_bytes
        self.decision_bytes = 0

    def keep(self, decision: Decision) -> None:
        """Remember a pod's latest decision, forgetting the oldest ones to make room."""
        self._drop(decision.pod.key)
        size = decision.nbytes
        self._decisions[decision.pod.key] = (decision, size)
        self.decision_bytes += size
        while self.decision_bytes > self._most_bytes and len(self._decisions) > 1:
            self._drop(next(iter(self._decisions)))

    def decision(self, key: str) -> Decision | None:
        """A pod's latest decision, if it is still remembered."""
        held = self._decisions.get(key)
        return held[0] if held is not None else None

    def _drop(self, key: str) -> None:
        held = self._decisions.pop(key, None)
        if held is not None:
            self.decision_bytes -= held[1]

    def note(
        self,
        key: str,
        at: float,
        what: str,
        detail: str = "",
        plugins: tuple[str, ...] = (),
        about: str = "",
    ) -> None:
        lines = self._lines_by_pod.get(key)
        if lines is None:
            lines = self._lines_by_pod[key] = []
            if len(self._lines_by_pod) > self._most_pods:
                self._lines_by_pod.popitem(last=False)
        lines.append(Line(at, what, detail, plugins, about))
        if len(lines) > self._most_lines:
            del lines[1]

    def lines(self, key: str) -> list[Line]:
        """What happened to a pod so far, oldest first."""
        return list(self._lines_by_pod.get(key, ()))

    def pods(self) -> list[str]:
        return list(self._lines_by_pod)


class NoPodLog(PodLog):
    """For drivers whose pods are too many to write down, and that observe what they need."""

    def keep(self, decision: Decision) -> None:
        pass

    def note(
        self,
        key: str,
        at: float,
        what: str,
        detail: str = "",
        plugins: tuple[str, ...] = (),
        about: str = "",
    ) -> None:
        pass
