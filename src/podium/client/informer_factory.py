"""Informers by resource, each made once: client-go's SharedInformerFactory.

Whoever asks for the informer of a resource gets the one that is there. What was asked for is
followed from the moment at which the factory runs, and what is asked for later from then on.

    async with SharedInformerFactory(client) as factory:
        pods = factory.informer(PODS, dict)
        await factory.wait_for_cache_sync()
"""

import asyncio
from random import Random
from types import TracebackType
from typing import Any, Self, TypeVar

from podium.client.clock import Clock
from podium.client.kube_client import EVERYTHING, KubeClient, Selection
from podium.client.resources import ResourceType
from podium.client.shared_informer import SharedInformer
from podium.golang.errors import InputError

T = TypeVar("T")


class SharedInformerFactory:
    """`selection` holds for all informers: one namespace, labels, fields."""

    def __init__(
        self,
        client: KubeClient,
        *,
        selection: Selection = EVERYTHING,
        clock: Clock | None = None,
        randomness: Random | None = None,
    ) -> None:
        self._client = client
        self._selection = selection
        self._clock = clock
        self._randomness = randomness
        self._informers: dict[ResourceType, tuple[type, SharedInformer[Any]]] = {}
        self._tasks: dict[ResourceType, asyncio.Task[None]] = {}
        self._group: asyncio.TaskGroup | None = None

    def informer(self, resource: ResourceType, kind: type[T]) -> SharedInformer[T]:
        """Raises InputError if it is there with objects of another kind."""
        held_kind, held = self._informers.get(resource, (kind, None))
        if held is None:
            held = SharedInformer(resource, kind, selection=self._selection)
            self._informers[resource] = (kind, held)
            self._start(resource, held)
        elif held_kind is not kind:
            names = f"{held_kind.__name__}, not {kind.__name__}"
            raise InputError(f"{resource.plural} are read as {names}")
        return held

    async def wait_for_cache_sync(self, *, within_s: float | None = None) -> None:
        """Until everything that was asked for is there. Raises InputError as `wait_for_sync`."""
        for _, informer in list(self._informers.values()):
            await informer.wait_for_sync(within_s=within_s)

    @property
    def trouble(self) -> dict[str, str]:
        """Resources that cannot be followed right now, and why."""
        found = {each.resource.plural: each.trouble for _, each in self._informers.values()}
        return {plural: trouble for plural, trouble in found.items() if trouble}

    async def __aenter__(self) -> Self:
        self._group = await asyncio.TaskGroup().__aenter__()
        for resource, (_, informer) in self._informers.items():
            self._start(resource, informer)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        assert self._group is not None
        group, self._group = self._group, None
        for task in self._tasks.values():
            task.cancel()
        if isinstance(problem, Exception):
            # It is its author's, and goes on as it is; the group would wrap it.
            kind = problem = trace = None
        await group.__aexit__(kind, problem, trace)

    def _start(self, resource: ResourceType, informer: SharedInformer[Any]) -> None:
        if self._group is not None and resource not in self._tasks:
            running = informer.run(self._client, clock=self._clock, randomness=self._randomness)
            self._tasks[resource] = self._group.create_task(running)
