"""What a scheduler does, a notice for each pod, for somebody who watches: on a terminal, on a page.

Bindings come as they happen, each with why that node; a pod that waits at Permit, with for whom and
until when. A pod that does not fit is told of when the reason changes, not at every attempt, and
preemptions with who has to go for whom.
"""

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import Final, Generic, TypeVar, assert_never

from podium.scheduler.cluster.pod_info import PodInfo
from podium.scheduler.engine.binding_cycle import Binding
from podium.scheduler.engine.decision import Decision
from podium.scheduler.engine.observer import Observer
from podium.scheduler.engine.requests import Event
from podium.scheduler.explain.decision_digest import digest_of, why
from podium.scheduler.framework.queued import MAX_WAIT_S, QueuedPod
from podium.scheduler.framework.status import Status

_REMEMBERED: Final = 10_000

T = TypeVar("T")


class DecisionOutcome(StrEnum):
    """What became of a pod."""

    BOUND = "bound"
    PENDING = "pending"
    BROKEN = "broken"
    EVICTED = "evicted"
    WAITING = "waiting"


@dataclass(frozen=True, slots=True)
class Notice:
    """What has become of a pod; `node` is where it goes, waits for or has to leave, `text` what
    there is to say beside that, `at` seconds since 1970."""

    at: float
    outcome: DecisionOutcome
    pod: str
    node: str
    text: str

    @property
    def sentence(self) -> str:
        """All of it but the pod, in one clause."""
        match self.outcome:
            case DecisionOutcome.BOUND:
                return f"{self.node}: {self.text}" if self.text else self.node
            case DecisionOutcome.PENDING:
                return self.text
            case DecisionOutcome.BROKEN:
                return f"not bound to {self.node}: {self.text}"
            case DecisionOutcome.EVICTED:
                return f"has to leave {self.node or 'its node'} for {self.text}"
            case DecisionOutcome.WAITING:
                return f"waits at Permit for {self.node}: {self.text}"
        assert_never(self.outcome)


class _Recent(Generic[T]):
    """What was last said of a pod, by UID; of the latest pods only."""

    def __init__(self) -> None:
        self._found: OrderedDict[str, T] = OrderedDict()

    def put(self, uid: str, value: T) -> None:
        self._found[uid] = value
        self._found.move_to_end(uid)
        if len(self._found) > _REMEMBERED:
            self._found.popitem(last=False)

    def take(self, uid: str) -> T | None:
        return self._found.pop(uid, None)


class DecisionNotices(Observer):
    """Tells everybody of each notice; `wall` gives seconds since 1970."""

    def __init__(self, wall: Callable[[], float], *tell: Callable[[Notice], None]) -> None:
        self._tell = tell
        self._wall = wall
        self._reasons: _Recent[str] = _Recent()
        self._placements: _Recent[str] = _Recent()
        self._victims: _Recent[tuple[str, ...]] = _Recent()

    def pod_decided(self, decision: Decision) -> None:
        if decision.bound is None:
            return
        uid = decision.pod.uid
        victims = self._victims.take(uid) or ()
        self._placements.put(uid, why(digest_of(decision), victims))
        if decision.waits_s:
            now = self._wall()
            until = ", ".join(
                f"{plugin} until {time_of_day(now + min(seconds, MAX_WAIT_S))}"
                for plugin, seconds in decision.waits_s.items()
            )
            self._say(DecisionOutcome.WAITING, decision.pod.key, decision.bound, until)

    def binding_ended(
        self,
        queued: QueuedPod,  # noqa: ARG002
        binding: Binding,
        problem: Status | None,
    ) -> None:
        pod = binding.cycle.pod
        if problem is not None:
            self._say(DecisionOutcome.BROKEN, pod.key, binding.node_name, problem.message)
            return
        self._reasons.take(pod.uid)
        reason = self._placements.take(pod.uid) or ""
        self._say(DecisionOutcome.BOUND, pod.key, binding.node_name, reason)

    def event_told(self, event: Event) -> None:
        pod = event.pod
        if event.reason == "FailedScheduling" and self._is_new(pod.uid, event.note):
            self._say(DecisionOutcome.PENDING, pod.key, "", event.note)
        elif event.reason == "Preempted":
            # The note has the preemptor's UID in it, which says nothing to people.
            whom = event.related.key if event.related is not None else "another"
            if isinstance(event.related, PodInfo):
                uid = event.related.uid
                self._victims.put(uid, (*(self._victims.take(uid) or ()), pod.key))
            self._say(DecisionOutcome.EVICTED, pod.key, pod.pod.spec.node_name, whom)

    def _is_new(self, uid: str, note: str) -> bool:
        known = self._reasons.take(uid)
        self._reasons.put(uid, note)
        return known != note

    def _say(self, outcome: DecisionOutcome, key: str, node: str, text: str) -> None:
        notice = Notice(self._wall(), outcome, key, node, text)
        for tell in self._tell:
            tell(notice)


def time_of_day(wall_s: float) -> str:
    return datetime.fromtimestamp(wall_s, UTC).astimezone().strftime("%H:%M:%S")
