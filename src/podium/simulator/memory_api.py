"""The API server's side of binding, for a cluster that exists in memory only.

Binding plugins write through an `ApiHandle` and are coroutines, because a real server takes its
time. This one answers at once, so a coroutine can be driven to its end without an event loop; one
that still has to wait is waiting for something that does not exist offline.
"""

from collections.abc import Coroutine
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

from msgspec.structs import replace

from podium.api.pod import Pod
from podium.cluster.pod_info import PodInfo
from podium.engine.intake import Intake

T = TypeVar("T")

_EPOCH = datetime(2026, 1, 1, tzinfo=UTC)


class OutsideWorldError(RuntimeError):
    """A plugin waits for something that only a live cluster has."""


class MemoryApi:
    """Carries out bindings and tells the engine of them, as a watch would.

    Pods start one virtual second after the other, all of them later than those that run already:
    who started first matters when victims are chosen.
    """

    def __init__(self, intake: Intake, running: tuple[Pod, ...] = ()) -> None:
        self._intake = intake
        starts = (pod.status.start_time for pod in running)
        known = [time for time in map(_parsed, starts) if time is not None]
        self._last_start = max(known, default=_EPOCH)

    async def bind(self, pod: PodInfo, node_name: str) -> None:
        self.place(pod.pod, node_name)

    def place(self, pod: Pod, node_name: str) -> None:
        """The pod runs on the node from now on."""
        self._last_start += timedelta(seconds=1)
        start = self._last_start.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        status = replace(pod.status, phase="Running", start_time=start, nominated_node_name="")
        spec = replace(pod.spec, node_name=node_name)
        self._intake.pod_put(replace(pod, spec=spec, status=status))


def finish(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine that waits for nothing."""
    try:
        coroutine.send(None)
    except StopIteration as done:
        result: T = done.value
        return result
    coroutine.close()
    raise OutsideWorldError("a plugin waits for something outside, which no simulation has")


def _parsed(text: str | None) -> datetime | None:
    try:
        return datetime.fromisoformat(text).astimezone(UTC) if text else None
    except ValueError:
        return None
