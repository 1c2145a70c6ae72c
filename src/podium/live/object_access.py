"""Objects of any kind on a real API server, typed: what `ApiHandle` offers to plugins.

Kinds that Podium knows need no discovery; for others (a CRD's, in a Struct of the plugin's own) the
server is asked once what it calls them. What goes wrong is an `ApiCallFailed`, so that plugins need
not know which client speaks for them.
"""

from collections.abc import Awaitable, Mapping
from random import Random
from typing import Any, Final, TypeVar

import msgspec

from podium.client import Clock, DeleteOptions, KubeClient, ResourceType, Unreachable, resources
from podium.client.api_errors import AlreadyExists, ApiError, Conflict, NotFound
from podium.client.discovery import served_in
from podium.golang.errors import ObjectError
from podium.kubernetes.kinds.meta import KubeObject
from podium.kubernetes.kinds.typed_objects import convert_object
from podium.kubernetes.rules.merge_patch import difference
from podium.live.retrying import with_retries
from podium.live.typed_changes import change
from podium.scheduler.framework.handle import (
    ApiCallFailed,
    ObjectConflict,
    ObjectExists,
    ObjectNotFound,
)

K = TypeVar("K", bound=KubeObject)
T = TypeVar("T")

Kind = tuple[str, str]
_KNOWN: Final[dict[Kind, ResourceType]] = {
    (found.api_version, found.kind): found
    for found in vars(resources).values()
    if isinstance(found, ResourceType)
}
_GIVEN_BY_SERVER: Final = ("uid", "resourceVersion", "creationTimestamp", "generation")


class ObjectAccess:
    def __init__(self, client: KubeClient, *, clock: Clock, randomness: Random) -> None:
        """The clock and the randomness are for pauses before another try."""
        self._client = client
        self._clock = clock
        self._randomness = randomness
        self._discovered: dict[Kind, ResourceType] = {}

    async def get(self, kind: type[K], name: str, namespace: str = "") -> K:
        resource = await self._resource(kind)
        return _typed(await _told(self._client.get(resource, name, namespace)), kind)

    async def create(self, obj: K, *, generate_name: str = "") -> K:
        kind = type(obj)
        resource = await self._resource(kind)
        body = _written(obj, resource)
        metadata: dict[str, Any] = body.setdefault("metadata", {})
        for name in _GIVEN_BY_SERVER:
            metadata.pop(name, None)
        if not obj.metadata.name and generate_name:
            metadata["generateName"] = generate_name
        creating = self._client.create(resource, body, obj.metadata.namespace)
        return _typed(await _told(creating), kind)

    async def update(self, obj: K, *, base: K | None = None, subresource: str = "") -> K:
        """Without a `base`, reads the object, does to it what was changed in the typed one, and
        writes it back; with one, sends the difference as a patch."""
        kind, metadata = type(obj), obj.metadata
        if base is not None:
            changes = _difference(base, obj)
            return await self.patch(
                kind, metadata.name, changes, metadata.namespace, subresource=subresource
            )
        resource = await self._resource(kind)
        found = await _told(self._client.get(resource, metadata.name, metadata.namespace))
        stored: dict[str, Any] = msgspec.json.decode(found)
        before = _written(_typed(found, kind), resource)
        after = _written(obj, resource)
        if not metadata.resource_version:
            after["metadata"]["resourceVersion"] = before["metadata"]["resourceVersion"]
        updating = self._client.update(
            resource,
            metadata.name,
            change(stored, before, after),
            metadata.namespace,
            subresource=subresource,
        )
        return _typed(await _told(updating), kind)

    async def delete(self, obj: KubeObject) -> None:
        metadata = obj.metadata
        resource = await self._resource(type(obj))
        options = DeleteOptions(uid=metadata.uid)
        await _told(self._client.delete(resource, metadata.name, metadata.namespace, options))

    async def patch(
        self,
        kind: type[K],
        name: str,
        patch: Mapping[str, Any],
        namespace: str = "",
        *,
        subresource: str = "",
    ) -> K:
        resource = await self._resource(kind)

        def patching() -> Awaitable[bytes]:
            return self._client.patch(
                resource, name, dict(patch), namespace, subresource=subresource
            )

        if resource == resources.PODS and subresource == "status":
            call = with_retries(patching, self._clock, self._randomness)
            return _typed(await _told(call), kind)
        return _typed(await _told(patching()), kind)

    async def _resource(self, kind: type[KubeObject]) -> ResourceType:
        made = kind()
        key = (made.api_version, made.kind)
        found = _KNOWN.get(key) or self._discovered.get(key)
        if found is None:
            for served in await _told(served_in(self._client, made.api_version)):
                known = served.resource
                self._discovered[known.api_version, known.kind] = known
            found = self._discovered.get(key)
        if found is None:
            raise ObjectNotFound(f"the server has no kind {made.kind} in {made.api_version}")
        return found


async def _told(call: Awaitable[T]) -> T:
    """A call's answer, or what went wrong with it in the words of the framework."""
    try:
        return await call
    except NotFound as problem:
        raise ObjectNotFound(str(problem)) from problem
    except AlreadyExists as problem:
        raise ObjectExists(str(problem)) from problem
    except Conflict as problem:
        raise ObjectConflict(str(problem)) from problem
    except (ApiError, Unreachable) as problem:
        raise ApiCallFailed(str(problem)) from problem


def _difference(base: KubeObject, obj: KubeObject) -> dict[str, Any]:
    """What was changed, as a patch that the server refuses for an object that has moved on."""
    found = difference(msgspec.to_builtins(base), msgspec.to_builtins(obj))
    changes: dict[str, Any] = found if isinstance(found, dict) else {}
    version = {"uid": obj.metadata.uid, "resourceVersion": obj.metadata.resource_version}
    return {**changes, "metadata": {**changes.get("metadata", {}), **version}}


def _typed(stored: bytes, kind: type[K]) -> K:
    try:
        return convert_object(msgspec.json.decode(stored), kind, strict=False)
    except (ObjectError, msgspec.DecodeError) as problem:
        raise ApiCallFailed(f"the server sent no {kind.__name__}: {problem}") from problem


def _written(obj: KubeObject, resource: ResourceType) -> dict[str, Any]:
    body: dict[str, Any] = msgspec.to_builtins(obj)
    return body | {"apiVersion": resource.api_version, "kind": resource.kind}
