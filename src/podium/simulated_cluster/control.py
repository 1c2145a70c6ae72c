"""Controllers of a simulated cluster: what wakes them, and what they decide.

A controller says which changes concern which of its keys (`watch`), and plans for one key at a
time. The loop that runs it and comes back to keys whose writes failed is the client's.
"""

from collections.abc import Callable
from typing import Any, Final, Protocol, runtime_checkable

from podium.client import ControlLoop, RateLimitingQueue
from podium.client.api_errors import ApiError, Conflict, NotFound
from podium.kubernetes.rules.moment import Moment
from podium.simulated_cluster.actions import Plan
from podium.simulated_cluster.clock import ClusterClock
from podium.simulated_cluster.request_executor import RequestExecutor

Wake = Callable[[Any], None]
"""Given a key, makes its controller look at it."""

_WORKERS: Final = 8
_GATHER_S: Final = 0.02
"""How long changes are gathered before they are looked at; real seconds."""
_NAMESPACE_GOES: Final = "NamespaceTerminating"


class Controller(Protocol):
    """Decides for one key at a time, from what the informers say."""

    name: str

    def watch(self, wake: Wake) -> None:
        """Listen to the stores that matter; called once."""

    def plan(self, key: Any, moment: Moment) -> Plan: ...


@runtime_checkable
class FailureReporter(Protocol):
    """A controller that reports in Events and in the status of its objects what was refused."""

    def plan_after_failure(self, key: Any, problem: ApiError, moment: Moment) -> Plan:
        """What to write after a refusal. Contract: a refusal that lasts changes the status once,
        whatever its text; the write wakes the controller, which would be refused again at once."""


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
