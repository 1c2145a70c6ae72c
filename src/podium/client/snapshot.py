"""Many collections of a cluster, read once and at one point.

Lists of different kinds are made one after the other by nature, and a cluster does not hold still
meanwhile. So a first, tiny list says which revision the store has, and all others are requested at
exactly that one: what is read fits together as if it had been read at once. Where the server has
forgotten that revision (410), or keeps a kind elsewhere, the list is started anew as it is by
then, and the snapshot says of which kinds that is true.

Contract: nothing but lists is ever asked for. Lists come in pages, several kinds at a time but no
more than allowed, and a page is decoded while the next one is on its way. A kind that is not served
or that may not be read is left out and named; any other refusal is raised.
"""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from podium.client.api_errors import (
    BadRequest,
    Forbidden,
    Gone,
    NotFound,
    ResourceVersionTooLarge,
)
from podium.client.clock import unwrap_errors
from podium.client.kube_client import EVERYTHING, KubeClient, Query, Selection
from podium.client.resources import ResourceType
from podium.kubernetes.kinds.typed_objects import (
    DecodedItems,
    KubeObject,
    decode_list_items,
    decode_list_meta,
)

PAGE: Final = 500
MAX_LISTS_AT_ONCE: Final = 4
_ONE: Final[Query] = (("limit", "1"),)


@dataclass(frozen=True, slots=True)
class Listing:
    """One collection to read, and into what."""

    resource: ResourceType
    struct: type[KubeObject]
    selection: Selection = EVERYTHING
    on_decoded: Callable[[Sequence[KubeObject]], None] = lambda _: None
    """Called with each page of new objects, in the thread that has decoded them; one at a time."""

    def decode(self, body: bytes) -> DecodedItems[KubeObject]:
        """Raises ObjectError."""
        decoded = decode_list_items(body, self.struct)
        self.on_decoded(decoded.items)
        return decoded


class Unread(StrEnum):
    """Why a kind was left out."""

    FORBIDDEN = "forbidden"
    NOT_SERVED = "not served"


@dataclass(slots=True)
class Snapshot:
    """`revision` is what all of it is true of but for the kinds in `later`; `problems` are objects
    that could not be decoded."""

    revision: str = ""
    objects: dict[ResourceType, list[KubeObject]] = field(default_factory=dict)
    unread: dict[ResourceType, Unread] = field(default_factory=dict)
    later: list[ResourceType] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class ListProgress:
    """How far a list has come; `left` is None while the server does not say."""

    resource: ResourceType
    read: int
    left: int | None


OnProgress = Callable[[ListProgress], None]


async def read_snapshot(
    client: KubeClient,
    listings: Sequence[Listing],
    *,
    page: int = PAGE,
    lists_at_once: int = MAX_LISTS_AT_ONCE,
    on_progress: OnProgress = lambda _: None,
) -> Snapshot:
    """The kinds that come first are requested first. Raises ApiError, Unreachable, and ObjectError
    for an answer that is no list."""
    with ThreadPoolExecutor(1, "decoding") as decoding:
        reading = _Reading(client, page, on_progress, decoding)
        await reading.find_revision(listings)
        turns = asyncio.Semaphore(lists_at_once)

        async def take_turn(listing: Listing) -> None:
            async with turns:
                await reading.read(listing)

        with unwrap_errors(BaseException):
            async with asyncio.TaskGroup() as group:
                for listing in listings:
                    if listing.resource not in reading.snapshot.unread:
                        group.create_task(take_turn(listing))
        return reading.snapshot


class _Reading:
    def __init__(
        self, client: KubeClient, page: int, on_progress: OnProgress, decoding: Executor
    ) -> None:
        self._client = client
        self._decoding = decoding
        self._page: Query = (("limit", str(page)),)
        self._on_progress = on_progress
        self.snapshot = Snapshot()

    async def find_revision(self, listings: Iterable[Listing]) -> None:
        """Ask the first kind that may be read; without any there is none."""
        for listing in listings:
            try:
                body = await self._ask(listing, _ONE)
            except (Forbidden, NotFound) as problem:
                self._leave_out(listing, problem)
                continue
            self.snapshot.revision = decode_list_meta(body).resource_version
            return

    async def read(self, listing: Listing) -> None:
        try:
            self.snapshot.objects[listing.resource] = await self._read_somehow(listing)
        except (Forbidden, NotFound) as problem:
            self._leave_out(listing, problem)

    async def _read_somehow(self, listing: Listing) -> list[KubeObject]:
        version = self.snapshot.revision
        exactly: Query = (("resourceVersion", version), ("resourceVersionMatch", "Exact"))
        try:
            return await self._read_pages(listing, (*exactly, *self._page))
        except (Gone, ResourceVersionTooLarge, BadRequest):
            self.snapshot.later.append(listing.resource)
        try:
            return await self._read_pages(listing, self._page)
        except Gone:
            # As client-go does: what changes too fast for pages is requested at once.
            return await self._read_pages(listing, ())

    async def _read_pages(self, listing: Listing, first: Query) -> list[KubeObject]:
        loop = asyncio.get_running_loop()
        found: list[KubeObject] = []
        problems: list[str] = []
        coming: asyncio.Task[bytes] | None = asyncio.create_task(self._ask(listing, first))
        try:
            while coming is not None:
                body = await coming
                metadata = decode_list_meta(body)
                coming = None
                if metadata.continue_:
                    following = (*self._page, ("continue", metadata.continue_))
                    coming = asyncio.create_task(self._ask(listing, following))
                # In a thread, so that the next page is requested and received meanwhile.
                items, wrong = await loop.run_in_executor(self._decoding, listing.decode, body)
                found += items
                problems += (f"{listing.resource.plural} {each}" for each in wrong)
                left = metadata.remaining_item_count if metadata.continue_ else 0
                self._on_progress(ListProgress(listing.resource, len(found), left))
        finally:
            if coming is not None:
                coming.cancel()
                await asyncio.gather(coming, return_exceptions=True)
        self.snapshot.problems += problems
        return found

    async def _ask(self, listing: Listing, query: Query) -> bytes:
        path = listing.resource.path(listing.selection.namespace)
        return await self._client.request("GET", path, (*listing.selection.query, *query))

    def _leave_out(self, listing: Listing, problem: Forbidden | NotFound) -> None:
        why = Unread.FORBIDDEN if isinstance(problem, Forbidden) else Unread.NOT_SERVED
        self.snapshot.unread[listing.resource] = why
