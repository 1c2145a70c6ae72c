"""What a scheduler does, a line for each pod, for somebody who watches a terminal.

Bindings come as they happen, each with why that node; a pod that waits at Permit, with for whom and
until when. A pod that does not fit is told of when the reason changes, not at every attempt, and
preemptions with who has to go for whom. An output that knows no Unicode gets plain characters.
"""

from collections import OrderedDict
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Final, Generic, TypeVar

from podium.cli.console import Console, Text
from podium.cli.placement_words import why
from podium.cluster.pod_info import PodInfo
from podium.engine.binding_cycle import Binding
from podium.engine.decision import Decision
from podium.engine.observer import Observer
from podium.engine.requests import Event
from podium.explain.decision_digest import digest_of
from podium.framework.queued import QueuedPod
from podium.framework.status import Status
from podium.framework.waiting import MAX_WAIT_S

_REMEMBERED: Final = 10_000
_BOUND: Final = "→"
_PENDING: Final = "…"
_BROKEN: Final = "!"
_EVICTED: Final = "x"
_WAITING: Final = "~"
_PLAIN: Final = {_BOUND: "->", _PENDING: "..."}


T = TypeVar("T")


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


class DecisionLines(Observer):
    """An observer that prints; `wall` gives seconds since 1970."""

    def __init__(self, console: Console, wall: Callable[[], float]) -> None:
        self._console = console
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
                f"{plugin} until {_time_of_day(now + min(seconds, MAX_WAIT_S))}"
                for plugin, seconds in decision.waits_s.items()
            )
            text = f"waits at Permit for {decision.bound}: {until}"
            self._print(_WAITING, "yellow", decision.pod.key, text)

    def binding_ended(
        self,
        queued: QueuedPod,  # noqa: ARG002
        binding: Binding,
        problem: Status | None,
    ) -> None:
        pod = binding.cycle.pod
        if problem is not None:
            text = f"not bound to {binding.node_name}: {problem.message}"
            self._print(_BROKEN, "red", pod.key, text)
            return
        self._reasons.take(pod.uid)
        reason = self._placements.take(pod.uid)
        text = f"{binding.node_name}: {reason}" if reason else binding.node_name
        self._print(_BOUND, "green", pod.key, text)

    def event_told(self, event: Event) -> None:
        pod = event.pod
        if event.reason == "FailedScheduling" and self._is_new(pod.uid, event.note):
            self._print(_PENDING, "yellow", pod.key, event.note)
        elif event.reason == "Preempted":
            # The note has the preemptor's UID in it, which says nothing to people.
            whom = event.related.key if event.related is not None else "another"
            if isinstance(event.related, PodInfo):
                uid = event.related.uid
                self._victims.put(uid, (*(self._victims.take(uid) or ()), pod.key))
            where = pod.pod.spec.node_name or "its node"
            self._print(_EVICTED, "red", pod.key, f"has to leave {where} for {whom}")

    def _is_new(self, uid: str, note: str) -> bool:
        known = self._reasons.take(uid)
        self._reasons.put(uid, note)
        return known != note

    def _print(self, sign: str, colour: str, key: str, text: str) -> None:
        time = _time_of_day(self._wall())
        if self._console.options.ascii_only:
            encoding = self._console.encoding
            sign = _PLAIN.get(sign, sign)
            text = text.encode(encoding, "replace").decode(encoding)
        line = Text.assemble((f"{time} ", "dim"), (f"{sign} ", colour), key, " ", (text, "dim"))
        self._console.print(line, soft_wrap=True)


def _time_of_day(wall_s: float) -> str:
    return datetime.fromtimestamp(wall_s, UTC).astimezone().strftime("%H:%M:%S")
