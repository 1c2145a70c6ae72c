"""Keeps a store true to a collection: list, watch, and begin again where that fails.

A streaming list is tried first, a list in pages after it. Then changes are followed from where the
list stood; a watch that ends in time is reopened where it was, one that is too old (410) makes a
new list, of which only the differences are told. What fails is tried again after a growing pause.

The rules are client-go's (`tools/cache/reflector.go`): a connection that is refused while a watch
is opened, or a 429, waits and opens again without a new list; a watch that breaks off is one that
has ended, but one that ends at once without a word is an error; bookmarks move the place from
which a watch goes on.
"""

import asyncio
import logging
from collections.abc import Iterable, Iterator
from random import Random
from typing import Final, Generic, Protocol, TypeVar

import msgspec

from podium.client.api_errors import (
    Gone,
    ResourceVersionTooLarge,
    TooManyRequests,
    decode_status,
    error_of_status,
)
from podium.client.clock import Clock
from podium.client.kube_client import EVERYTHING, PAGE, KubeClient, Query, Selection
from podium.client.rate_limit import RelistBackoff
from podium.client.resources import ResourceType
from podium.client.transport import RequestFailed, Stream, Unreachable
from podium.client.watching import (
    ADDED,
    BOOKMARK,
    DELETED,
    ERROR,
    MODIFIED,
    BrokenStream,
    Head,
    WatchEvent,
    events,
    head_of,
)
from podium.golang.errors import InputError
from podium.kubernetes.controllers.object_keys import Key

_LOG: Final = logging.getLogger("podium.client")
_SHORT_S: Final = 1.0
_WATCH_S: Final = 300
_BEYOND_S: Final = 30.0
_STREAMED_LIST: Final[Query] = (
    ("sendInitialEvents", "true"),
    ("resourceVersionMatch", "NotOlderThan"),
)


class _VeryShortWatch(Exception):
    """A watch that ended at once, without an event."""


_TROUBLE: Final = (RequestFailed, BrokenStream, _VeryShortWatch, InputError)


class ReflectorStore(Protocol):
    """What a reflector keeps: an `ObjectStore`, or the `DeltaFIFO` of an informer."""

    def put(self, head: Head, item: msgspec.Raw) -> None:
        """Take in one version of an object."""

    def remove(self, head: Head, item: msgspec.Raw) -> None:
        """An object was deleted; `item` is its last version."""

    def replacing(self, items: Iterable[msgspec.Raw], version: str) -> Iterator[None]:
        """Become a list, in steps, so that others have a turn in between."""


StoreT = TypeVar("StoreT", bound=ReflectorStore)


class Reflector(Generic[StoreT]):
    """Keeps `store` for as long as `run` runs; `synced` is set once it was complete."""

    def __init__(
        self,
        client: KubeClient,
        resource: ResourceType,
        store: StoreT,
        *,
        clock: Clock,
        randomness: Random,
        selection: Selection = EVERYTHING,
        streams_lists: bool = True,
        page: int = PAGE,
    ) -> None:
        self.store = store
        self.synced = asyncio.Event()
        self.trouble = ""
        """Why it does not follow right now; empty while it does."""
        self.version = ""
        """The resource version up to which everything is known."""
        self._client = client
        self._resource = resource
        self._clock = clock
        self._randomness = randomness
        self._selection = selection
        self._streams_lists = streams_lists
        self._page = page
        self._backoff = RelistBackoff(randomness)
        self._is_listed = False

    async def run(self) -> None:
        """Until cancelled."""
        while True:
            try:
                self._is_listed = False
                if not self._streams_lists or not await self._stream_list():
                    await self._list()
                while True:
                    await self._resume()
            except _TROUBLE as problem:
                await self._pause(problem)

    async def _pause(self, problem: Exception) -> None:
        self.trouble = str(problem) or type(problem).__name__
        delay_s = self._backoff.next(self._clock.now())
        _LOG.warning("%s: %s; again in %.1f s", self._resource.plural, self.trouble, delay_s)
        await self._clock.sleep(delay_s)

    # --- lists --------------------------------------------------------------------------------

    async def _stream_list(self) -> bool:
        """Whether a list came by watch; that watch has ended then."""
        version = self.version
        while True:
            try:
                await self._watch(version, *_STREAMED_LIST)
                return self._is_listed
            except (Gone, ResourceVersionTooLarge):
                if self._is_listed or not version:
                    raise
                version = ""
            except (RequestFailed, BrokenStream, _VeryShortWatch) as problem:
                if self._is_listed:
                    raise
                if not _is_passing(problem):
                    _LOG.info("%s: no streaming list: %s", self._resource.plural, problem)
                    return False
                await self._pause(problem)

    async def _list(self) -> None:
        version = self.version or "0"
        # upstream: a list from a known version is asked for at once, not in pages.
        page = 0 if self.version else self._page
        try:
            found = await self._client.list(
                self._resource, self._selection, (("resourceVersion", version),), page=page
            )
        except (Gone, ResourceVersionTooLarge):
            found = await self._client.list(self._resource, self._selection, page=self._page)
        await self._become(found.items, found.resource_version)

    async def _become(self, items: Iterable[msgspec.Raw], version: str) -> None:
        for _ in self.store.replacing(items, version):
            await asyncio.sleep(0)
        self.version = version
        self._is_listed = True
        self.trouble = ""
        self.synced.set()

    # --- watches ------------------------------------------------------------------------------

    async def _resume(self) -> None:
        """Watch from where the last list or watch ended."""
        try:
            await self._watch(self.version)
        except (Unreachable, TooManyRequests) as problem:
            if not _is_passing(problem):
                raise
            await self._pause(problem)

    async def _watch(self, version: str, *options: tuple[str, str]) -> None:
        """One watch to its end; with the options for it, one that brings a list first."""
        timeout_s = _WATCH_S + round(self._randomness.random() * _WATCH_S)
        query: Query = (
            ("allowWatchBookmarks", "true"),
            *((("resourceVersion", version),) if version else ()),
            *options,
            ("timeoutSeconds", str(timeout_s)),
        )
        begun = self._clock.now()
        count = 0
        async with self._client.watch(self._resource, self._selection, query) as stream:
            self.trouble = "" if self._is_listed else self.trouble
            try:
                # A server that forgets the time limit itself is left.
                async with asyncio.timeout(timeout_s + _BEYOND_S):
                    count = await self._follow(stream)
            except TimeoutError:
                return
        if not count and self._clock.now() - begun < _SHORT_S:
            raise _VeryShortWatch("a watch ended at once, without an event")

    async def _follow(self, stream: Stream) -> int:
        """Take in events until the stream ends or breaks; how many there were."""
        count = 0
        collected: dict[Key, msgspec.Raw] = {}
        try:
            async for batch in events(stream.pieces):
                count += len(batch)
                for event in batch:
                    if event.type == ERROR:
                        raise _error(event)
                    head = head_of(event.object)
                    if self._is_listed:
                        self._take(event, head)
                    elif head.ends_initial_events and event.type == BOOKMARK:
                        await self._become(collected.values(), head.metadata.resource_version)
                        collected = {}
                    elif event.type == DELETED:
                        collected.pop(head.key, None)
                    elif event.type != BOOKMARK:
                        collected[head.key] = event.object
        except Unreachable as problem:
            _LOG.info("%s: %s", self._resource.plural, problem)
        return count

    def _take(self, event: WatchEvent, head: Head) -> None:
        if event.type in (ADDED, MODIFIED):
            self.store.put(head, event.object)
        elif event.type == DELETED:
            self.store.remove(head, event.object)
        elif event.type != BOOKMARK:
            _LOG.warning("%s: unknown event type %r", self._resource.plural, event.type)
        if head.metadata.resource_version:
            self.version = head.metadata.resource_version


def _is_passing(problem: Exception) -> bool:
    """Whether it says nothing about the request: the server is down, or busy."""
    if isinstance(problem, Unreachable):
        return problem.refused
    return isinstance(problem, TooManyRequests)


def _error(event: WatchEvent) -> Exception:
    status = decode_status(event.object)
    if status is None:
        return BrokenStream("an ERROR event without a Status")
    return error_of_status(status)
