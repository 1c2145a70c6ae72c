"""The verbs of the Kubernetes API, one method each, and the kinds that a server serves.

Objects go in as values that encode to JSON and come out as the bytes that the server sent: whoever
asked knows which of it to decode. Lists come in pages. Every call ends within its time; one that
the server puts off (429 or 5xx with Retry-After) is repeated as often as client-go would.

What a server serves: every kind with its verbs, in the version that the server prefers. Only those
ask for it who have to do with kinds that they do not know: deleting everything in a namespace, or
following owner references wherever they lead.
"""

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from typing import Any, Final

import msgspec

from podium.client.api_errors import ApiError, Gone, error_of
from podium.client.clock import Clock, LoopClock
from podium.client.resources import ResourceType
from podium.client.transport import JSON, Reply, Request, Stream, Transport
from podium.kubernetes.rules.merge_patch import PatchType

PAGE: Final = 500
_TIME_S: Final = 30.0
_RETRIES: Final = 10
_LONGEST_WAIT_S: Final = 60.0
_NO_QUERY: Final[tuple[tuple[str, str], ...]] = ()

Query = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Selection:
    """Which objects of a kind: in one namespace or all, by labels and by fields."""

    namespace: str = ""
    labels: str = ""
    fields: str = ""

    @property
    def query(self) -> Query:
        labels = (("labelSelector", self.labels),) if self.labels else ()
        fields = (("fieldSelector", self.fields),) if self.fields else ()
        return (*labels, *fields)


EVERYTHING: Final = Selection()


class _ListMeta(msgspec.Struct, rename="camel"):
    resource_version: str = ""
    continue_: str = msgspec.field(default="", name="continue")


class _List(msgspec.Struct):
    metadata: _ListMeta
    items: list[msgspec.Raw] | None = None


@dataclass(frozen=True, slots=True)
class Page:
    """A part of a list; `following` is empty on the last one."""

    items: list[msgspec.Raw]
    resource_version: str
    following: str = ""


@dataclass(frozen=True, slots=True)
class DeleteOptions:
    """How an object is to go; what is None is left to the server."""

    grace_period_s: int | None = None
    uid: str = ""
    resource_version: str = ""
    propagation: str = ""

    def encoded(self) -> bytes:
        options: dict[str, Any] = {"kind": "DeleteOptions", "apiVersion": "v1"}
        if self.grace_period_s is not None:
            options["gracePeriodSeconds"] = self.grace_period_s
        given = {"uid": self.uid, "resourceVersion": self.resource_version}
        conditions = {name: value for name, value in given.items() if value}
        if conditions:
            options["preconditions"] = conditions
        if self.propagation:
            options["propagationPolicy"] = self.propagation
        return msgspec.json.encode(options)


_AS_USUAL: Final = DeleteOptions()


class KubeClient:
    """One API server; `field_manager` signs what is written."""

    def __init__(
        self,
        transport: Transport,
        *,
        field_manager: str = "podium",
        clock: Clock | None = None,
        timeout_s: float = _TIME_S,
    ) -> None:
        self.transport = transport
        self._manager: Query = (("fieldManager", field_manager),)
        self._clock = clock or LoopClock()
        self._timeout_s = timeout_s

    async def get(self, resource: ResourceType, name: str, namespace: str = "") -> bytes:
        return await self.request("GET", resource.path(namespace, name))

    async def create(
        self,
        resource: ResourceType,
        body: object,
        namespace: str = "",
        *,
        name: str = "",
        subresource: str = "",
    ) -> bytes:
        """A new object; with a name and subresource what is posted there (binding, eviction)."""
        path = resource.path(namespace, name, subresource)
        return await self.request("POST", path, self._manager, encode_body(body))

    async def update(
        self,
        resource: ResourceType,
        name: str,
        body: object,
        namespace: str = "",
        *,
        subresource: str = "",
    ) -> bytes:
        path = resource.path(namespace, name, subresource)
        return await self.request("PUT", path, self._manager, encode_body(body))

    async def patch(
        self,
        resource: ResourceType,
        name: str,
        body: object,
        namespace: str = "",
        *,
        kind: PatchType = PatchType.MERGE,
        subresource: str = "",
        force: bool = False,
    ) -> bytes:
        """`force` takes fields over from other managers; only server-side apply knows it."""
        query = (*self._manager, ("force", "true")) if force else self._manager
        path = resource.path(namespace, name, subresource)
        return await self.request("PATCH", path, query, encode_body(body), str(kind))

    async def delete(
        self,
        resource: ResourceType,
        name: str,
        namespace: str = "",
        options: DeleteOptions = _AS_USUAL,
    ) -> bytes:
        return await self.request("DELETE", resource.path(namespace, name), body=options.encoded())

    async def delete_collection(
        self,
        resource: ResourceType,
        selection: Selection = EVERYTHING,
        options: DeleteOptions = _AS_USUAL,
    ) -> bytes:
        path = resource.path(selection.namespace)
        return await self.request("DELETE", path, selection.query, options.encoded())

    async def list_page(
        self, resource: ResourceType, selection: Selection = EVERYTHING, query: Query = _NO_QUERY
    ) -> Page:
        path = resource.path(selection.namespace)
        body = await self.request("GET", path, (*selection.query, *query))
        found = msgspec.json.decode(body, type=_List)
        return Page(found.items or [], found.metadata.resource_version, found.metadata.continue_)

    async def list(
        self,
        resource: ResourceType,
        selection: Selection = EVERYTHING,
        query: Query = _NO_QUERY,
        *,
        page: int = PAGE,
    ) -> Page:
        """All of a list, fetched in pages; `query` goes with the first only.

        If the list moves on while it is read so that a page is refused, all of it is fetched
        anew at once. A page size of 0 asks for no pages.
        """
        sized: Query = (("limit", str(page)),) if page else ()
        first = await self.list_page(resource, selection, (*query, *sized))
        items, following = first.items, first.following
        while following:
            try:
                next_page = await self.list_page(
                    resource, selection, (*sized, ("continue", following))
                )
            except Gone:
                return await self.list_page(resource, selection)
            items.extend(next_page.items)
            following = next_page.following
        return Page(items, first.resource_version)

    def watch(
        self, resource: ResourceType, selection: Selection, query: Query
    ) -> AbstractAsyncContextManager[Stream]:
        """The raw stream of a watch; `watching.events` reads it."""
        request = Request(
            "GET",
            resource.path(selection.namespace),
            (("watch", "true"), *selection.query, *query),
        )
        return self._open_stream(request)

    async def request(
        self,
        method: str,
        path: str,
        query: Query = _NO_QUERY,
        body: bytes = b"",
        content_type: str = JSON,
    ) -> bytes:
        """Any request; the body of its answer. Raises ApiError and Unreachable."""
        request = Request(method, path, query, body, content_type)
        for attempt in range(_RETRIES + 1):
            reply = await self.transport.send(request, timeout_s=self._timeout_s)
            if reply.status < 400:
                return reply.body
            wait_s = _asked_to_wait(reply)
            if wait_s is None or attempt == _RETRIES:
                break
            await self._clock.sleep(wait_s)
        raise error_of(reply)

    @asynccontextmanager
    async def _open_stream(self, request: Request) -> AsyncIterator[Stream]:
        async with self.transport.stream(request, timeout_s=self._timeout_s) as stream:
            if stream.status >= 400:
                body = b"".join([piece async for piece in stream.pieces])
                raise error_of(Reply(stream.status, stream.headers, body))
            yield stream


def encode_body(body: object) -> bytes:
    return body if isinstance(body, bytes) else msgspec.json.encode(body)


def _asked_to_wait(reply: Reply) -> float | None:
    """For how long a refusal asks to wait; None if it does not."""
    written = reply.headers.get("retry-after", "")
    if (reply.status == 429 or reply.status >= 500) and written.isdigit():
        return min(float(written), _LONGEST_WAIT_S)
    return None


class _Listed(msgspec.Struct):
    name: str
    kind: str
    namespaced: bool = False
    verbs: tuple[str, ...] = ()


class _ResourceList(msgspec.Struct):
    resources: tuple[_Listed, ...] | None = None


class _Version(msgspec.Struct, rename="camel"):
    group_version: str


class _Group(msgspec.Struct, rename="camel"):
    name: str
    versions: tuple[_Version, ...] = ()
    preferred_version: _Version | None = None

    def by_preference(self) -> list[str]:
        first = () if self.preferred_version is None else (self.preferred_version,)
        return list(dict.fromkeys(each.group_version for each in (*first, *self.versions)))


class _GroupList(msgspec.Struct):
    groups: tuple[_Group, ...] | None = None


class Served(msgspec.Struct, frozen=True):
    """A kind, and what can be done with its objects."""

    resource: ResourceType
    verbs: frozenset[str]


async def discover(client: KubeClient) -> list[Served]:
    """Every kind that is served, in the first version of its group that has it, beginning with the
    preferred one; a version that does not answer is left out.

    Raises ApiError and Unreachable.
    """
    groups = msgspec.json.decode(await client.request("GET", "/apis"), type=_GroupList)
    found = await served_in(client, "v1")
    for group in groups.groups or ():
        known: set[str] = set()
        for version in group.by_preference():
            try:
                served = await served_in(client, version)
            except ApiError:
                continue
            found += [each for each in served if each.resource.plural not in known]
            known.update(each.resource.plural for each in served)
    return found


async def served_in(client: KubeClient, api_version: str) -> list[Served]:
    """The kinds of one version, such as `v1` or `apps/v1`.

    Raises ApiError (NotFound if there is no such version) and Unreachable.
    """
    group, _, version = api_version.rpartition("/")
    path = f"/{'apis' if group else 'api'}/{api_version}"
    listed = msgspec.json.decode(await client.request("GET", path), type=_ResourceList)
    return [
        Served(
            ResourceType(group, version, each.name, each.kind, each.namespaced),
            frozenset(each.verbs),
        )
        for each in listed.resources or ()
        if "/" not in each.name
    ]
