"""What the engine asks for, done on the API server, each request as a task of its own.

Nobody waits for a write but the pods it is about: the next attempt begins while bindings, evictions
and status patches are on their way, and what comes of them is told to the engine when it is known.
Contract: every binding and preemption that was begun is reported to the engine exactly once, unless
the whole driver stops; a write that fails or a plugin that breaks is that pod's trouble alone.
"""

import asyncio
import logging
import traceback
from collections.abc import Callable, Coroutine
from typing import Any, Final, assert_never

from podium.live.api_handle import LiveApi
from podium.live.pod_writes import PodGroupWrites, PodWrites
from podium.scheduler.engine import Engine
from podium.scheduler.engine.binding_cycle import Binding
from podium.scheduler.engine.requests import (
    Bind,
    Event,
    Evict,
    Nominate,
    PatchPodGroupStatus,
    PatchStatus,
    PluginWrite,
    Preempt,
    PreemptForGroup,
    Request,
)
from podium.scheduler.engine.scheduler import CRASHED
from podium.scheduler.framework.faults import QueueOrderBroken, describe
from podium.scheduler.framework.handle import ApiCallFailed, DeferredWrite
from podium.scheduler.framework.status import error

_LOG: Final = logging.getLogger("podium.live")


class ApiDispatcher:
    def __init__(
        self,
        engine: Engine,
        pods: PodWrites,
        groups: PodGroupWrites,
        api: LiveApi,
        *,
        stir: Callable[[], None],
    ) -> None:
        """`stir` is called when the engine has heard something."""
        self._engine = engine
        self._pods = pods
        self._groups = groups
        self._api = api
        self._stir = stir
        self._tasks: set[asyncio.Task[None]] = set()
        self.broken_order: QueueOrderBroken | None = None
        """Why pods cannot be ordered any more, if what was reported has shown it."""

    def __len__(self) -> int:
        """How many requests are under way."""
        return len(self._tasks)

    def dispatch_all(self) -> None:
        """Begin everything that the engine has asked for since the last call."""
        for request in self._engine.take_requests():
            if not isinstance(request, Event):  # observers have heard of those
                self._begin(self._dispatch(request))

    async def drained(self) -> None:
        """Wait until nothing is under way."""
        while self._tasks:
            await asyncio.wait(self._tasks)

    async def stop(self) -> None:
        """Drop what is under way; the API server keeps what has reached it."""
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _begin(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        problem = None if task.cancelled() else task.exception()
        if isinstance(problem, QueueOrderBroken):
            self.broken_order = problem
        elif problem is not None:
            _LOG.error("a request broke", exc_info=problem)
        self._stir()

    async def _dispatch(self, request: Request) -> None:
        match request:
            case Bind():
                await self._bind(request.binding)
            case PatchStatus():
                await self._pods.tell_failure(request)
            case Nominate():
                await self._pods.nominate(request.pod, request.node_name)
            case Preempt() | PreemptForGroup():
                await self._preempt(request)
            case PluginWrite():
                await self._write(request)
            case PatchPodGroupStatus():
                await self._groups.tell(request)
            case Event():
                raise TypeError("events are told by observers and begin no task")
            case _:
                assert_never(request)

    # bindings

    async def _bind(self, binding: Binding) -> None:
        try:
            problem = await binding.run(self._api)
        except Exception as crash:
            _LOG.error("binding %s broke\n%s", binding.cycle.pod.key, traceback.format_exc())
            problem = error(CRASHED + describe(crash))
        self._engine.bindings.finished(binding, problem)

    # making room

    async def _preempt(self, request: Preempt | PreemptForGroup) -> None:
        problem: Exception | None = None
        try:
            await asyncio.gather(*(self._pods.nominate(weaker, "") for weaker in request.clear))
            problem = await self._evict_all(request)
        except Exception as crash:
            problem = crash
        if problem is not None:
            _LOG.warning("preemption for %s: %s", request.preemptor.key, problem)
        told = str(problem) if problem is not None else None
        self._engine.preemptions.finished(request.preemptor, told)

    async def _evict_all(self, request: Preempt | PreemptForGroup) -> Exception | None:
        """All but the last victim together, then the last, unless something went wrong."""
        *others, last = request.evict or (None,)
        work = (self._evict(request, each) for each in others if each is not None)
        outcomes = await asyncio.gather(*work, return_exceptions=True)
        problems = [each for each in outcomes if isinstance(each, Exception)]
        if problems:
            return problems[0]
        if last is not None:
            await self._evict(request, last)
        return None

    async def _evict(self, request: Preempt | PreemptForGroup, eviction: Evict) -> None:
        was_there = await self._pods.evict(eviction)
        self._engine.preemptions.evicted(
            request.preemptor, eviction.victim, request.node_name, was_gone=not was_there
        )

    # the rest

    async def _write(self, request: PluginWrite) -> None:
        write, key = request.write, request.pod.key
        if not isinstance(write, DeferredWrite):
            kind = type(write).__name__
            _LOG.error("nobody knows how to write a %s for pod %s", kind, key)
            return
        try:
            await write.carry_out(self._api)
        except ApiCallFailed as problem:
            _LOG.warning("a write for pod %s failed: %s", key, problem)
