"""Controllers: what wakes them, what they decide, and the loop that runs them.

A controller says which changes concern which of its keys (`watch`), and plans for one key at a
time. The loop takes keys from a queue, carries plans out and comes back to keys whose writes
failed. No failure of one key stops another.
"""

import asyncio
import logging
from collections.abc import Callable, Hashable
from typing import Any, Final, Protocol, runtime_checkable

from podium.client import Unreachable
from podium.client.api_errors import AlreadyExists, ApiError, Conflict
from podium.simulated_cluster.actions import Plan
from podium.simulated_cluster.clock import ClusterClock
from podium.simulated_cluster.request_executor import RequestExecutor
from podium.simulated_cluster.work_queue import WorkQueue
from podium.workloads.moment import Moment

Wake = Callable[[Any], None]
"""Given a key, makes its controller look at it."""

_LOG: Final = logging.getLogger("podium.simulated_cluster")
_WORKERS: Final = 8
_GATHER_S: Final = 0.02
"""How long changes are gathered before they are looked at; real seconds."""


class Controller(Protocol):
    """Decides for one key at a time, from what the informers says."""

    name: str

    def watch(self, wake: Wake) -> None:
        """Listen to the stores that matter; called once."""

    def plan(self, key: Any, moment: Moment) -> Plan: ...


@runtime_checkable
class FailureReporter(Protocol):
    """A controller that tells of its failures in the status of its objects."""

    def plan_after_failure(self, key: Any, problem: ApiError, moment: Moment) -> Plan: ...


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
            if isinstance(self._controller, FailureReporter):
                report = self._controller.plan_after_failure(key, problem, self._clock.moment())
                await self._executor.execute(report.actions)
            raise
        return plan.again_after_s


class ControlLoop:
    """Runs one controller; keys wait in its queue until `run` is called."""

    def __init__(
        self, controller: Synchroniser, clock: ClusterClock, *, workers: int = _WORKERS
    ) -> None:
        self._controller = controller
        self._workers = workers
        self.queue = WorkQueue(clock)
        gather_s = _GATHER_S * clock.speed
        controller.watch(lambda key: self.queue.add_after(key, gather_s))

    async def run(self) -> None:
        """Until cancelled."""
        async with asyncio.TaskGroup() as group:
            for _ in range(self._workers):
                group.create_task(self._work())

    async def _work(self) -> None:
        while True:
            key = await self.queue.take()
            try:
                again_after_s = await self._controller.sync(key)
            except (ApiError, Unreachable) as problem:
                self._tell(key, problem, self.queue.failed(key))
            except Exception:
                _LOG.exception("%s: %s: this is a bug", self._controller.name, _shown(key))
                self.queue.failed(key)
            else:
                self.queue.done(key, again_after_s)

    def _tell(self, key: Hashable, problem: Exception, pause_s: float) -> None:
        usual = isinstance(problem, Conflict | AlreadyExists) or pause_s < 0.1
        level = logging.DEBUG if usual else logging.WARNING
        name = self._controller.name
        _LOG.log(level, "%s: %s: %s; again in %.2g s", name, _shown(key), problem, pause_s)


def _shown(key: Hashable) -> str:
    if isinstance(key, tuple):
        return "/".join(str(part) for part in key if part)
    return str(key)
