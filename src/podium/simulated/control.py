"""Controllers run through an API server, unless somebody else is doing their work already.

Their plans are carried out, one key at a time; the loop that wakes a controller and comes back to
keys whose writes failed is the client's. Two controllers of the same kind in one cluster undo each
other's work: kube-controller-manager holds a lease in kube-system, and while that is renewed,
Podium's controllers have no place there.
"""

import time
from collections.abc import Callable, Collection
from typing import Any, Final, NamedTuple, Protocol

import msgspec

from podium.client import ControlLoop, KubeClient, RateLimitingQueue
from podium.client.api_errors import ApiError, Conflict, NotFound
from podium.client.resources import LEASES
from podium.kubernetes.controllers.controller import (
    Controller,
    FailureReporter,
    Wake,
    WorksWithoutCreations,
)
from podium.kubernetes.controllers.objects import Lease
from podium.kubernetes.rules.timestamps import seconds_of
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
                if isinstance(self._controller, WorksWithoutCreations):
                    left = self._controller.plan_without_creations(key, self._clock.moment())
                    await self._executor.execute(left.actions)
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


_NAMESPACE: Final = "kube-system"
_NAME: Final = "kube-controller-manager"
_FRESH_S: Final = 60.0


class Rival(NamedTuple):
    name: str
    age_s: float


async def rival_of(
    client: KubeClient, controllers: Collection[str], wall: Callable[[], float] = time.time
) -> Rival | None:
    """Who is at work already, if any of these controllers is to run. Raises ApiError."""
    if not controllers:
        return None
    try:
        lease = msgspec.json.decode(await client.get(LEASES, _NAME, _NAMESPACE), type=Lease)
    except NotFound:
        return None
    if not lease.spec.holder_identity or not lease.spec.renew_time:
        return None
    age_s = wall() - seconds_of(lease.spec.renew_time)
    return Rival(_NAME, max(0.0, age_s)) if age_s < _FRESH_S else None
