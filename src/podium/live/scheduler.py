"""The live scheduler: watches and sources in, attempts one after the other, writes out.

Everything happens in one event loop. `follow` keeps the engine's picture of the cluster true;
`schedule`, which only a leader runs, tries pods for as long as there are any and sleeps otherwise.
An attempt takes a fraction of a millisecond, so attempts are made in short bursts, between which
watches, bindings and health checks have their turn.

Sources of plugins, fetched in the background for as long as the scheduler watches. Each source has
a task of its own, so that a slow one holds up no other and no cycle waits for any. A fetch ends
within the source's time; after a failure the next one comes later and later. The log says when a
source fails and when it works again, not how often it was tried.
"""

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress
from random import Random
from typing import Any, Final

from podium.client import (
    Clock,
    KubeClient,
    LoopClock,
    ObjectStore,
    Reflector,
    ResourceType,
    Selection,
)
from podium.client.api_errors import NotFound
from podium.client.extenders.client import ExtenderClient
from podium.client.rate_limit import RelistBackoff
from podium.kubernetes.kinds.typed_objects import KubeObject
from podium.live.api_dispatcher import ApiDispatcher, LiveApi, Tell
from podium.live.feed import (
    PODS,
    UNFINISHED,
    Feed,
    RawObjects,
    Watched,
    kinds_before_pods,
    resource_of,
)
from podium.live.metered_transport import WriteMetrics, make_uncounted
from podium.live.pod_writes import PodGroupWrites, PodWrites
from podium.scheduler.engine import Engine
from podium.scheduler.engine.validation import InvariantBroken
from podium.scheduler.framework.asking import drive_async
from podium.scheduler.framework.events import WatchedKind
from podium.scheduler.framework.faults import QueueOrderBroken, describe
from podium.scheduler.framework.sources import SourceColumn
from podium.user_code.guarded_calls import fetch_guarded

_LOG: Final = logging.getLogger("podium.live")
_BURST_S: Final = 0.005
_TICK_S: Final = 1.0
_PAUSE_AFTER_CRASH_S: Final = 1.0
_LOOK_S: Final = 0.5
_LOOK_FOR_KINDS_S: Final = 10.0
"""How often to look whether optional kinds are served by now."""


class LiveScheduler:
    def __init__(
        self,
        engine: Engine,
        client: KubeClient,
        tell: Tell,
        *,
        wall: Callable[[], float],
        randomness: Random,
        clock: Clock | None = None,
        extenders: ExtenderClient | None = None,
        raw: RawObjects | None = None,
        leads: Callable[[], bool] = lambda: True,
        metrics: WriteMetrics | None = None,
    ) -> None:
        """`tell` records a plugin's own event: pod, reason, action, note; `raw` is where extenders
        look for objects; `leads` says whether decisions may be made at this moment."""
        metrics = metrics or make_uncounted()
        self._engine = engine
        self._client = client
        self._clock = clock or LoopClock()
        self._randomness = randomness
        self._leads = leads
        self._ask = extenders.ask if extenders is not None else None
        self._stirred = asyncio.Event()
        self._feed = Feed(engine, self._stirred.set, raw)
        self._reflectors: dict[ResourceType, Reflector[ObjectStore[Any]]] = {}
        self._next_tick = 0.0
        self._watching: asyncio.Task[None] | None = None
        self._refreshing = SourceRefreshing(
            engine, clock=self._clock, randomness=randomness, stir=self._stirred.set
        )
        self.synced = asyncio.Event()
        pods = PodWrites(
            client,
            engine.state.pods.get,
            clock=self._clock,
            wall=wall,
            randomness=randomness,
            metrics=metrics,
            generations=engine.gates["PodObservedGenerationTracking"],
        )
        api = LiveApi(
            client,
            pods,
            tell,
            clock=self._clock,
            randomness=randomness,
            metrics=metrics,
            extenders=extenders,
        )
        groups = PodGroupWrites(client, wall)
        self.dispatcher = ApiDispatcher(engine, pods, groups, api, stir=self._stirred.set)

    @property
    def trouble(self) -> dict[str, str]:
        """Kinds that cannot be followed right now, and why."""
        return {
            resource.plural: reflector.trouble
            for resource, reflector in self._reflectors.items()
            if reflector.trouble
        }

    def store_of(self, resource: ResourceType) -> ObjectStore[Any]:
        """The objects of a kind as watches have shown them. Raises KeyError if none does."""
        return self._reflectors[resource].store

    # --- watching -----------------------------------------------------------------------------

    def begin(self) -> None:
        """Start to watch, and to fetch what plugins want from outside, if that has not been done
        yet."""
        if self._watching is None:
            self._refreshing.begin()
            self._watching = asyncio.get_running_loop().create_task(self.follow())

    async def end(self) -> None:
        """Stop to watch and to fetch."""
        await self._refreshing.end()
        if self._watching is not None:
            self._watching.cancel()
            await asyncio.gather(self._watching, return_exceptions=True)

    async def ready(self) -> None:
        """Return once everything has been seen and every source was asked once. Raises what
        watching broke with."""
        while not self.synced.is_set():
            self._check_watching()
            with suppress(TimeoutError):
                async with asyncio.timeout(_LOOK_S):
                    await self.synced.wait()
        await self._refreshing.asked_once()

    def _check_watching(self) -> None:
        """Whoever cannot see, or has no order to decide in, must not decide."""
        broken_order = self._feed.broken_order or self.dispatcher.broken_order
        if broken_order is not None:
            raise broken_order
        if self._watching is not None and self._watching.done():
            self._watching.result()

    async def follow(self) -> None:
        """Watch until cancelled; `synced` is set once everything has been seen.

        Kinds that the server does not serve are left out, with a word in the log unless they are
        optional, and watched as soon as it does.
        """
        asked_for, missing = await self._kinds_asked_for()
        kinds = kinds_before_pods(self._engine.gates, asked_for)
        async with asyncio.TaskGroup() as group:
            reflectors = [self._start(group, kind, Selection()) for kind in kinds]
            for (resource, _), reflector in zip(kinds, reflectors, strict=True):
                await self._until_synced(resource, reflector)
            pods = self._start(group, PODS, UNFINISHED)
            await self._until_synced(PODS[0], pods)
            self.synced.set()
            await self._watch_when_served(group, missing)

    def _start(
        self, group: asyncio.TaskGroup, watched: Watched, selection: Selection
    ) -> Reflector[ObjectStore[KubeObject]]:
        resource, struct = watched
        reflector = Reflector(
            self._client,
            resource,
            ObjectStore(
                resource.plural, self._feed.decoder_of(struct), self._feed.handler_of(struct)
            ),
            clock=self._clock,
            randomness=self._randomness,
            selection=selection,
        )
        self._reflectors[resource] = reflector
        group.create_task(reflector.run(), name=f"watching {resource.plural}")
        return reflector

    async def _until_synced(self, resource: ResourceType, reflector: Reflector[Any]) -> None:
        while not reflector.synced.is_set():
            try:
                async with asyncio.timeout(_LOOK_S):
                    await reflector.synced.wait()
            except TimeoutError:
                if reflector.trouble and not await self._is_served(resource):
                    readers = self._readers_of(resource)
                    _LOG.warning(
                        "%s are not served and left out%s", _name_resource(resource), readers
                    )
                    return

    async def _kinds_asked_for(self) -> tuple[list[WatchedKind], list[WatchedKind]]:
        """What plugins read beside the rest, and apart from it what is optional and not served."""
        asked_for: list[WatchedKind] = []
        missing: list[WatchedKind] = []
        for kind in self._engine.state.watched_kinds:
            is_there = not kind.optional or await self._is_served(resource_of(kind))
            (asked_for if is_there else missing).append(kind)
        return asked_for, missing

    async def _watch_when_served(
        self, group: asyncio.TaskGroup, missing: list[WatchedKind]
    ) -> None:
        """Begin to watch optional kinds when the server begins to serve them."""
        while missing:
            await self._clock.sleep(_LOOK_FOR_KINDS_S)
            for kind in tuple(missing):
                resource = resource_of(kind)
                if await self._is_served(resource, in_doubt=False):
                    _LOG.info("%s are served by now and watched", _name_resource(resource))
                    self._start(group, (resource, kind.struct), Selection())
                    missing.remove(kind)

    def _readers_of(self, resource: ResourceType) -> str:
        """Which plugins miss a kind, and what there is to do about it."""
        names = {
            plugin.name
            for profile in self._engine.profiles.values()
            for plugin in profile.plugins.values()
            for kind in plugin.watched_kinds
            if resource_of(kind) == resource
        }
        if not names:
            return ""
        return (
            f"; {', '.join(sorted(names))} reads them: install their CustomResourceDefinition,"
            " which is noticed without a restart"
        )

    async def _is_served(self, resource: ResourceType, *, in_doubt: bool = True) -> bool:
        """Whether the server knows a kind; `in_doubt` is the answer if it does not say."""
        path = f"/apis/{resource.api_version}" if resource.group else f"/api/{resource.version}"
        try:
            found = await self._client.request("GET", path)
        except NotFound:
            return False
        except Exception:
            return in_doubt
        return f'"{resource.plural}"'.encode() in found

    # --- scheduling ---------------------------------------------------------------------------

    async def schedule(self) -> None:
        """Try pods until cancelled; what is under way then is dropped. Raises QueueOrderBroken."""
        try:
            while True:
                try:
                    await self._work()
                except (InvariantBroken, QueueOrderBroken):
                    raise
                except Exception:
                    self._check_watching()
                    # Whatever broke here may be over the next time; pods wait, nobody is lost.
                    _LOG.exception("the scheduling loop broke and goes on")
                    await self._clock.sleep(_PAUSE_AFTER_CRASH_S)
        finally:
            await self.dispatcher.stop()

    async def _work(self) -> None:
        begun = self._clock.now()
        while True:
            self._stirred.clear()
            if not self._leads():
                # Held up for so long that the lease may be another's: who knows it will say so.
                await self._clock.sleep(_TICK_S)
                continue
            self._check_watching()
            self._tick()
            attempt = await drive_async(self._engine.schedule_in_steps(), self._ask)
            now = self._clock.now()
            if not self._leads():
                continue  # the attempt took longer than the lease lasted: nothing of it is written
            self.dispatcher.dispatch_all()
            if attempt is None:
                await self._sleep()
                begun = self._clock.now()
            elif now - begun >= _BURST_S:
                await asyncio.sleep(0)
                begun = self._clock.now()

    def _tick(self) -> None:
        """Let time have its effect when a backoff ends, and once a second."""
        now = self._engine.clock()
        wake = self._engine.queue.next_wake()
        if now >= self._next_tick or (wake is not None and wake <= now):
            self._next_tick = now + _TICK_S
            self._engine.tick()

    async def _sleep(self) -> None:
        """Until something is heard, or time has an effect of its own."""
        self._check_watching()
        engine = self._engine
        now = engine.clock()
        wakes = [now + _TICK_S]
        wakes.extend(waiting.deadline for waiting in engine.state.waiting)
        wake = engine.queue.next_wake()
        if wake is not None:
            wakes.append(wake)
        with suppress(TimeoutError):
            async with asyncio.timeout(max(0.0, min(wakes) - now)):
                await self._stirred.wait()


def _name_resource(resource: ResourceType) -> str:
    return f"{resource.plural} ({resource.api_version})"


_JITTER: Final = 0.1
"""Of the time between two fetches: schedulers that start together do not ask together for ever."""
_LONGEST_BACKOFF_S: Final = 60.0
_LAST_WORDS_S: Final = 2.0
_MAX_PROBLEM: Final = 512
"""Characters of what a failed fetch says of itself."""


class SourceRefreshing:
    def __init__(
        self, engine: Engine, *, clock: Clock, randomness: Random, stir: Callable[[], None]
    ) -> None:
        """`stir` is called when the engine has heard something."""
        self._engine = engine
        self._clock = clock
        self._randomness = randomness
        self._stir = stir
        self._tasks: list[asyncio.Task[None]] = []
        self._asked: dict[str, asyncio.Event] = {}

    def begin(self) -> None:
        loop = asyncio.get_running_loop()
        for column in self._engine.sources:
            self._asked[column.name] = asyncio.Event()
            refreshing = self._refresh(column)
            task = loop.create_task(refreshing, name=f"source {column.name}")
            self._tasks.append(task)

    async def end(self) -> None:
        """Stop; a fetch that does not let itself be stopped is left behind."""
        tasks, self._tasks = self._tasks, []
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=_LAST_WORDS_S)

    async def asked_once(self) -> None:
        """Return when every source has answered or failed for the first time."""
        for asked in self._asked.values():
            await asked.wait()

    async def _refresh(self, column: SourceColumn) -> None:
        source = column.source
        first_s = min(1.0, source.refresh_every_s)
        longest_s = max(_LONGEST_BACKOFF_S, source.refresh_every_s)
        backoff = RelistBackoff(self._randomness, first_s=first_s, longest_s=longest_s)
        told = ""
        while True:
            problem = await self._fetch(column)
            self._asked[column.name].set()
            if problem and not told:
                _LOG.warning("source %s cannot be fetched: %s", source.name, problem)
            elif problem and problem != told:
                _LOG.warning("source %s still cannot be fetched: %s", source.name, problem)
            elif told and not problem:
                _LOG.info("source %s is fetched again", source.name)
            told = problem
            if problem:
                wait_s = backoff.next(self._clock.now())
            else:
                wait_s = source.refresh_every_s * (1 - _JITTER * self._randomness.random())
            await self._clock.sleep(wait_s)

    async def _fetch(self, column: SourceColumn) -> str:
        """Ask once; what went wrong, or nothing."""
        source, sources = column.source, self._engine.sources
        try:
            async with asyncio.timeout(source.timeout_s):
                value = await fetch_guarded(source)
            sources.put(source.name, source.checked(value), self._engine.clock())
        except TimeoutError as late:
            problem = str(late) or f"no answer within {source.timeout_s:g} s"
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is None or task.cancelling():
                raise
            problem = "the fetch was cancelled"
        except Exception as broken:
            problem = describe(broken)
        else:
            self._stir()
            return ""
        problem = problem[:_MAX_PROBLEM]
        sources.fail(source.name, problem)
        return problem
