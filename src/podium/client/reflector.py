"""Keeps a store true to a collection: list, watch, read its events, begin again where that fails.

A streaming list is tried first, a list in pages after it. Then changes are followed from where the
list stood; a watch that ends in time is reopened where it was, one that is too old (410) makes a
new list, of which only the differences are told. What fails is tried again after a growing pause.

The rules are client-go's (`tools/cache/reflector.go`): a connection that is refused while a watch
is opened, or a 429, waits and opens again without a new list; a watch that breaks off is one that
has ended, but one that ends at once without a word is an error; bookmarks move the place from
which a watch goes on.

The events of a watch, read from its bytes, and the objects in them. An event is a line of JSON. The
object in it stays as it came; only what every reader needs is looked at: the kind of event, the
object's key and its resource version. A line that breaks off with the stream is no event, since
whatever it would have told comes again when the watch resumes.

Reading objects as they come: one that makes no sense stops no other. Whoever takes in a collection
decodes each object once, on arrival. What cannot be decoded is counted, logged with its key, and
passed over.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Container, Iterable, Iterator
from random import Random
from typing import Any, Final, Generic, Protocol, TypeVar

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
from podium.golang.errors import InputError, ObjectError, PodiumError
from podium.kubernetes.controllers.indexer import Key

ADDED: Final = "ADDED"
MODIFIED: Final = "MODIFIED"
DELETED: Final = "DELETED"
BOOKMARK: Final = "BOOKMARK"
ERROR: Final = "ERROR"

_LONGEST_LINE: Final = 64 << 20
_INITIAL_END: Final = "k8s.io/initial-events-end"


class BrokenStream(PodiumError):
    """What came is no watch: lines without end, or no JSON."""


class WatchEvent(msgspec.Struct):
    type: str
    object: msgspec.Raw


class HeadMeta(msgspec.Struct, rename="camel"):
    name: str = ""
    namespace: str = ""
    uid: str = ""
    resource_version: str = ""
    annotations: dict[str, str] | None = None


class Head(msgspec.Struct):
    """What every object has."""

    metadata: HeadMeta

    @property
    def key(self) -> Key:
        return Key(self.metadata.namespace, self.metadata.name)

    @property
    def ends_initial_events(self) -> bool:
        return (self.metadata.annotations or {}).get(_INITIAL_END) == "true"


_EVENTS: Final = msgspec.json.Decoder(WatchEvent)
_HEADS: Final = msgspec.json.Decoder(Head)


def head_of(written: msgspec.Raw | bytes) -> Head:
    """Raises BrokenStream for what is no object."""
    try:
        return _HEADS.decode(written)
    except (msgspec.MsgspecError, UnicodeDecodeError) as problem:
        raise BrokenStream(f"not an object: {problem}") from None


async def events(pieces: AsyncIterator[bytes]) -> AsyncIterator[list[WatchEvent]]:
    """The events of each piece that completes some, together."""
    rest: list[bytes] = []
    size = 0
    async for piece in pieces:
        last = piece.rfind(b"\n")
        if last < 0:
            rest.append(piece)
            size += len(piece)
            if size > _LONGEST_LINE:
                raise BrokenStream(f"a line is longer than {_LONGEST_LINE} B")
            continue
        whole = b"".join((*rest, piece[:last]))
        rest, size = [piece[last + 1 :]], len(piece) - last - 1
        found = [_event(line) for line in whole.split(b"\n") if line.strip()]
        if found:
            yield found


def _event(line: bytes) -> WatchEvent:
    try:
        return _EVENTS.decode(line)
    except (msgspec.MsgspecError, UnicodeDecodeError) as problem:
        raise BrokenStream(f"not an event: {problem}") from None


T = TypeVar("T")
Decoder = Callable[[msgspec.Raw], T]

_STEP: Final = 100
"""How many objects of a list are taken in at a time."""
_LOG: Final = logging.getLogger("podium.client")
_UNDECODABLE: Final = (msgspec.MsgspecError, UnicodeDecodeError, ObjectError, ValueError)


def decoder_of(kind: type[T]) -> Decoder[T]:
    """For a struct of msgspec, or `dict` for plain objects."""
    decode: Decoder[T] = msgspec.json.Decoder(kind).decode
    return decode


class ObjectReader(Generic[T]):
    """`what` names the collection in the log."""

    def __init__(self, what: str, decode: Decoder[T]) -> None:
        self.undecodable = 0
        """How many objects could not be read, and were passed over."""
        self._what = what
        self._decode = decode

    def read(self, key: Key, item: Any) -> T | None:
        try:
            return self._decode(item)
        except _UNDECODABLE as problem:
            self._pass_over(str(key), problem)
            return None

    def read_list(
        self,
        items: Iterable[msgspec.Raw],
        delete_unlisted: Callable[[Container[Key]], None],
        put: Callable[[Head, msgspec.Raw], None],
    ) -> Iterator[None]:
        """Become a list, in steps: deletions first, then its items in their order, each once."""
        heads: dict[Key, tuple[Head, msgspec.Raw]] = {}
        for number, item in enumerate(items):
            if number % _STEP == _STEP - 1:
                yield
            try:
                head = head_of(item)
            except BrokenStream as problem:
                self._pass_over("an item", problem)
                continue
            heads[head.key] = (head, item)
        delete_unlisted(heads.keys())
        for number, (head, item) in enumerate(heads.values()):
            if number % _STEP == _STEP - 1:
                yield
            put(head, item)

    def _pass_over(self, which: str, problem: Exception) -> None:
        self.undecodable += 1
        _LOG.error("%s: %s cannot be read and is passed over: %s", self._what, which, problem)


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
        # upstream: a list from a known version is requested at once, not in pages.
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
