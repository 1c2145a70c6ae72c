"""Controllers run through an API server: their plans are carried out, one key at a time.

The loop that wakes a controller and comes back to keys whose writes failed is the client's.
"""

from typing import Any, Final, Protocol

from podium.client import ControlLoop, RateLimitingQueue
from podium.client.api_errors import ApiError, Conflict, NotFound
from podium.kubernetes.controllers.controller import Controller, FailureReporter, Wake
from podium.simulated.clock import ClusterClock
from podium.simulated.request_executor import RequestExecutor

_WORKERS: Final = 8
_GATHER_S: Final = 0.02
"""How long changes are gathered before they are looked at; real seconds."""
_NAMESPACE_GOES: Final = "NamespaceTerminating"


class Synchroniser(Protocol):
    """A controller that has to ask the API before it can decide."""

    name: str

    def watch(self, wake: Wake) -> None: ...

    async def sync(self, key: Any) -> float | None:
        """Do what is to be done; after how many seconds to look again."""


class Planned:
    """A controller whose plans are carried out (a `Synchroniser`)."""

    def __init__(
        self, controller: Controller, executor: RequestExecutor, clock: ClusterClock
    ) -> None:
        self.name = controller.name
        self.watch = controller.watch
        self._controller = controller
        self._executor = executor
        self._clock = clock

    async def sync(self, key: Any) -> float | None:
        plan = self._controller.plan(key, self._clock.moment())
        try:
            await self._executor.execute(plan.actions)
        except ApiError as problem:
            if problem.has_cause(_NAMESPACE_GOES):
                # upstream: nothing can be made there any more, so nothing is tried again.
                return plan.again_after_s
            # A write that came too late is no failure: it is tried again.
            is_late = isinstance(problem, Conflict | NotFound)
            if not is_late and isinstance(self._controller, FailureReporter):
                report = self._controller.plan_after_failure(key, problem, self._clock.moment())
                await self._executor.execute(report.actions)
            raise
        return plan.again_after_s


def make_control_loop(
    controller: Synchroniser, clock: ClusterClock, *, workers: int = _WORKERS
) -> ControlLoop[Any]:
    """The loop that runs a controller; changes are gathered for a moment before they count."""
    queue: RateLimitingQueue[Any] = RateLimitingQueue(clock=clock)
    gather_s = _GATHER_S * clock.speed
    controller.watch(lambda key: queue.add_after(key, gather_s))
    return ControlLoop(controller.name, controller.sync, queue, workers=workers)
