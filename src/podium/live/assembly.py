"""A scheduler with everything that belongs to it, put together from its configuration.

`podium run` and `podium up` differ in how they reach the API server and in what they show; what
schedules is this.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from random import Random
from typing import Final

from podium.client import Clock, KubeClient, LoopClock
from podium.client.clock import run_in_own_task
from podium.client.extenders.client import ExtenderClient
from podium.client.extenders.objects import TypedObjects
from podium.kubernetes.kinds.node import Node
from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.live.event_recorder import EventRecorder
from podium.live.feed import RawObjects
from podium.live.metered_transport import WriteMetrics
from podium.live.scheduler import LiveScheduler
from podium.live.scheduler_records import DecisionRecords, SchedulerRecords
from podium.scheduler.config.flags.client_settings import ClientSettings
from podium.scheduler.config.types import Configuration
from podium.scheduler.engine import Engine
from podium.scheduler.engine.observer import Observer
from podium.scheduler.engine.queue.backoff import MAX_UNSCHEDULABLE_S
from podium.scheduler.engine.requests import Event
from podium.scheduler.engine.search import Seeded
from podium.scheduler.framework.log import SILENT, Log
from podium.scheduler.framework.registry import PluginRegistry

_LOG: Final = logging.getLogger("podium.live")
_LAST_WORDS_S: Final = 2.0


def live_engine(
    configuration: Configuration,
    registry: PluginRegistry,
    *,
    wall: Callable[[], float],
    randomness: Random,
    gates: FeatureGates,
    validate: bool = False,
    client_settings: ClientSettings | None = None,
    max_unschedulable_s: float = MAX_UNSCHEDULABLE_S,
    log: Log = SILENT,
) -> Engine:
    """An engine whose choices among equals nobody can foresee. Raises ConfigurationError.

    `wall` gives seconds since 1970 and never goes back.
    """
    return Engine(
        configuration,
        registry,
        gates=gates,
        choice=Seeded(randomness.getrandbits(64)),
        clock=wall,
        validate=validate,
        client_settings=client_settings,
        max_unschedulable_s=max_unschedulable_s,
        log=log,
    )


class Assembly:
    """`client` reads and writes; `events_client` writes events and has limits of its own."""

    def __init__(
        self,
        engine: Engine,
        client: KubeClient,
        events_client: KubeClient,
        *,
        host: str,
        randomness: Random,
        clock: Clock | None = None,
        observers: Sequence[Observer] = (),
        leads: Callable[[], bool] = lambda: True,
        metrics: WriteMetrics | None = None,
    ) -> None:
        """`leads` says whether decisions may be made at this moment; `metrics` counts writes.

        Raises ConfigurationError if certificates of extenders cannot be used.
        """
        clock, wall = clock or LoopClock(), engine.clock
        self.engine = engine
        self.recorder = EventRecorder(
            events_client, host=host, clock=clock, wall=wall, randomness=randomness
        )
        engine.observers.on_error = _log_broken
        decisions = DecisionRecords(wall)
        self.records = SchedulerRecords(engine, decisions)
        for observer in (_EventWriter(self.recorder), decisions, *observers):
            engine.observers.add(observer)
        extenders = engine.configuration.extenders
        raw = RawObjects(TypedObjects(self._node)) if extenders else None
        self._extenders = ExtenderClient(extenders, raw) if raw is not None else None
        self.scheduler = LiveScheduler(
            engine,
            client,
            self.recorder.tell,
            wall=wall,
            randomness=randomness,
            clock=clock,
            extenders=self._extenders,
            raw=raw,
            leads=leads,
            metrics=metrics,
        )

    @asynccontextmanager
    async def follow_cluster(self, *, begin: bool = True) -> AsyncIterator[LiveScheduler]:
        """The cluster is watched and events are written for as long as the context; `begin` False
        leaves it to the scheduler's `begin` when watching starts."""
        if begin:
            self.scheduler.begin()
        telling = asyncio.ensure_future(self.recorder.run())
        try:
            yield self.scheduler
        finally:
            await self.scheduler.end()
            await run_in_own_task(self.recorder.flush(_LAST_WORDS_S))
            telling.cancel()
            await asyncio.gather(telling, return_exceptions=True)
            if self._extenders is not None:
                await self._extenders.close()

    def _node(self, name: str) -> Node:
        nodes = self.engine.cluster.nodes
        if not nodes.is_present(name):
            raise KeyError(name)
        return nodes.node(nodes.row(name))


class _EventWriter(Observer):
    """Hands events on to those who write them down."""

    def __init__(self, recorder: EventRecorder) -> None:
        self._recorder = recorder

    def event_told(self, event: Event) -> None:
        self._recorder.record(event)


def _log_broken(observer: Observer, problem: Exception) -> None:
    """One that breaks is that observer's trouble: scheduling goes on."""
    name = type(observer).__name__
    _LOG.error("%s, which observes the scheduler, broke", name, exc_info=problem)
