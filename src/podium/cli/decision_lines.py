"""What a scheduler does, a line for each pod, for somebody who watches a terminal.

Bindings come as they happen. A pod that does not fit is told of when the reason changes, not at
every attempt, and preemptions with who has to go for whom. An output that knows no Unicode gets
plain characters.
"""

from collections import OrderedDict
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Final

from podium.cli.console import Console, Text
from podium.engine.binding_cycle import Binding
from podium.engine.observer import Observer
from podium.engine.requests import Event
from podium.framework.queued import QueuedPod
from podium.framework.status import Status

_REMEMBERED: Final = 10_000
_BOUND: Final = "→"
_PENDING: Final = "…"
_BROKEN: Final = "!"
_EVICTED: Final = "x"
_PLAIN: Final = {_BOUND: "->", _PENDING: "..."}


class DecisionLines(Observer):
    """An observer that prints; `wall` gives seconds since 1970."""

    def __init__(self, console: Console, wall: Callable[[], float]) -> None:
        self._console = console
        self._wall = wall
        self._reasons: OrderedDict[str, str] = OrderedDict()

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
        self._reasons.pop(pod.uid, None)
        self._print(_BOUND, "green", pod.key, binding.node_name)

    def event_told(self, event: Event) -> None:
        pod = event.pod
        if event.reason == "FailedScheduling" and self._is_new(pod.uid, event.note):
            self._print(_PENDING, "yellow", pod.key, event.note)
        elif event.reason == "Preempted":
            # The note has the preemptor's UID in it, which says nothing to people.
            whom = event.related.key if event.related is not None else "another"
            where = pod.pod.spec.node_name or "its node"
            self._print(_EVICTED, "red", pod.key, f"has to leave {where} for {whom}")

    def _is_new(self, uid: str, note: str) -> bool:
        known = self._reasons.pop(uid, None)
        self._reasons[uid] = note
        if len(self._reasons) > _REMEMBERED:
            self._reasons.popitem(last=False)
        return known != note

    def _print(self, sign: str, colour: str, key: str, text: str) -> None:
        time = datetime.fromtimestamp(self._wall(), UTC).astimezone().strftime("%H:%M:%S")
        if self._console.options.ascii_only:
            encoding = self._console.encoding
            sign = _PLAIN.get(sign, sign)
            text = text.encode(encoding, "replace").decode(encoding)
        line = Text.assemble((f"{time} ", "dim"), (f"{sign} ", colour), key, " ", (text, "dim"))
        self._console.print(line, soft_wrap=True)
