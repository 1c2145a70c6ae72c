"""The API handle of drivers that have no API server: writes go to the engine's own cluster.

Binding plugins write through an `ApiHandle` and are coroutines, because a real server takes its
time. This one tells the engine of every write as a watch would, and nothing in it takes time, so a
coroutine can be driven to its end without an event loop. The bench uses it as it is; the simulator
has controllers on top, `podium.testing` lets a test say what comes of a binding.

Objects in memory by the rules of an API server, as far as plugins can see them. An object that was
read and has changed since is not overwritten, one that took another's name is not taken for it, a
status is written by its subresource only, and each write moves the resource version. Nothing waits:
a coroutine from here can be driven to its end without an event loop.
"""

from collections.abc import Coroutine, Mapping
from contextlib import AbstractAsyncContextManager, nullcontext, suppress
from typing import TypeVar

import msgspec
from msgspec.structs import replace

from podium.golang.errors import ObjectError
from podium.golang.json_values import ReadOnlyJson
from podium.kubernetes.kinds.meta import KubeObject, ObjectMeta
from podium.kubernetes.kinds.node import Node
from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.kinds.typed_objects import convert_object
from podium.kubernetes.rules.merge_patch import merge
from podium.scheduler.cluster.catalog import object_key
from podium.scheduler.cluster.pod_info import PodInfo
from podium.scheduler.engine.scheduler import Engine
from podium.scheduler.framework.handle import (
    ApiCallFailed,
    ApiHandle,
    DeferredWrite,
    ObjectConflict,
    ObjectExists,
    ObjectNotFound,
)

K = TypeVar("K", bound=KubeObject)

STATUS = "status"


class MemoryObjects:
    """Objects of any kind by the rules of an API server; where they are is the subclass's."""

    def __init__(self) -> None:
        self._names_made = 0

    async def get(self, kind: type[K], name: str, namespace: str = "") -> K:
        return self._get_object(kind, name, namespace)

    async def create(self, obj: K, *, generate_name: str = "") -> K:
        metadata = obj.metadata
        name = metadata.name or self._make_name(generate_name)
        if self._find(type(obj), name, metadata.namespace) is not None:
            raise ObjectExists(f'{_plural(type(obj))} "{name}" already exists')
        uid = metadata.uid or f"uid-{type(obj).__name__}-{metadata.namespace}-{name}"
        return self._put(_with(obj, metadata=replace(metadata, name=name, uid=uid)), "")

    async def update(self, obj: K, *, base: K | None = None, subresource: str = "") -> K:
        metadata = obj.metadata
        stored = self._get_object(type(obj), metadata.name, metadata.namespace)
        if not _is_current(stored, metadata.resource_version, base):
            raise _conflict(
                obj,
                "the object has been modified; please apply your changes to the latest version "
                "and try again",
            )
        self._require_same(obj, stored)
        return self._write(stored, obj, subresource)

    async def patch(
        self,
        kind: type[K],
        name: str,
        patch: Mapping[str, ReadOnlyJson],
        namespace: str = "",
        *,
        subresource: str = "",
    ) -> K:
        stored = self._get_object(kind, name, namespace)
        of_metadata = patch.get("metadata")
        if len(patch) == 1 and isinstance(of_metadata, Mapping):
            with suppress(msgspec.ValidationError):  # told below, with its place
                metadata = merge(msgspec.to_builtins(stored.metadata), of_metadata)
                changed = _with(stored, metadata=msgspec.convert(metadata, ObjectMeta))
                if changed.metadata.key == stored.metadata.key:
                    return await self.update(changed, subresource=subresource)
        merged = merge(msgspec.to_builtins(stored), patch)
        try:
            changed = convert_object(merged, kind, strict=False)
        except ObjectError as problem:
            raise ApiCallFailed(f'{_plural(kind)} "{name}" is invalid: {problem}') from None
        if changed.metadata.key != stored.metadata.key:
            raise ApiCallFailed(f'{_plural(kind)} "{name}" is invalid: metadata.name: is immutable')
        return await self.update(changed, subresource=subresource)

    async def delete(self, obj: KubeObject) -> None:
        metadata = obj.metadata
        stored = self._get_object(type(obj), metadata.name, metadata.namespace)
        self._require_same(obj, stored)
        self._discard(stored)

    def take_turn(self, uid: str) -> AbstractAsyncContextManager[None]:  # noqa: ARG002
        """Nothing here waits, so everybody has his turn at once."""
        return nullcontext()

    def _require_same(self, obj: KubeObject, stored: KubeObject) -> None:
        wanted, found = obj.metadata.uid, stored.metadata.uid
        if wanted and found and wanted != found:
            raise _conflict(
                obj,
                f"Precondition failed: UID in precondition: {wanted}, UID in object meta: {found}",
            )

    def _write(self, stored: K, wanted: K, subresource: str) -> K:
        """What a server would store: the status, or all but the status."""
        if subresource not in ("", STATUS):
            raise ApiCallFailed(f"{subresource} of {_plural(type(stored))} cannot be written here")
        has_status = hasattr(stored, STATUS)
        if subresource:
            if not has_status:
                raise ObjectNotFound(f"{_plural(type(stored))} have no status to write")
            written = _with(stored, status=getattr(wanted, STATUS))
        else:
            kept = {STATUS: getattr(stored, STATUS)} if has_status else {}
            metadata = replace(wanted.metadata, uid=stored.metadata.uid)
            written = _with(wanted, metadata=metadata, **kept)
        return self._put(written, stored.metadata.resource_version)

    def _put(self, obj: K, before: str) -> K:
        """Store an object; `before` is the version it had."""
        obj = _with(obj, metadata=replace(obj.metadata, resource_version=_next(before)))
        self._store(obj)
        return obj

    def _get_object(self, kind: type[K], name: str, namespace: str) -> K:
        found = self._find(kind, name, namespace)
        if found is None:
            raise ObjectNotFound(f'{_plural(kind)} "{name}" not found')
        return found

    def _find(self, kind: type[K], name: str, namespace: str) -> K | None:
        raise NotImplementedError

    def _store(self, obj: KubeObject) -> None:
        raise NotImplementedError

    def _discard(self, obj: KubeObject) -> None:
        raise NotImplementedError

    def _make_name(self, start: str) -> str:
        if not start:
            raise ApiCallFailed("metadata.name: name or generateName is required")
        self._names_made += 1
        return f"{start}{self._names_made:05d}"


def with_next_version(obj: K) -> K:
    """An object that was changed, if it has been written before: without another version nobody
    would take it for a change."""
    version = obj.metadata.resource_version
    if not version:
        return obj
    return _with(obj, metadata=replace(obj.metadata, resource_version=_next(version)))


def _next(version: str) -> str:
    return str(int(version) + 1) if version.isdecimal() else "1"


def _with(obj: K, **fields: object) -> K:
    changed: K = replace(obj, **fields)
    return changed


def _is_current(stored: K, version: str, base: K | None) -> bool:
    """Whether an object is as it was read. Those that were never written here may have no version;
    then nothing but the object itself can tell."""
    if not version and base is None:
        return True
    if version or stored.metadata.resource_version:
        return version == stored.metadata.resource_version
    return stored is base or stored == base


def _conflict(obj: KubeObject, why: str) -> ObjectConflict:
    name = obj.metadata.name
    return ObjectConflict(f'Operation cannot be fulfilled on {_plural(type(obj))} "{name}": {why}')


def _plural(kind: type[KubeObject]) -> str:
    """How messages name a kind: `resourceclaims.resource.k8s.io`."""
    made = kind()
    name, group = made.kind.lower(), made.api_version.rpartition("/")[0]
    plural = name + ("es" if name.endswith("s") else "s")
    return f"{plural}.{group}" if group else plural


T = TypeVar("T")


class LiveClusterNeeded(RuntimeError):
    """A plugin waits for something that only a live cluster has."""


class InMemoryApi(MemoryObjects):
    """An `ApiHandle` over an engine."""

    def __init__(self, engine: Engine) -> None:
        super().__init__()
        self._engine = engine

    async def bind(self, pod: PodInfo, node_name: str) -> None:
        current = self._engine.state.pods.get(pod.key, pod.pod)
        spec = replace(current.spec, node_name=node_name)
        self._engine.intake.pod_put(with_next_version(replace(current, spec=spec)))

    async def tell(self, pod: PodInfo, reason: str, action: str, note: str) -> None:
        """Events have no reader here."""

    async def pause(self, seconds: float) -> None:
        """Whatever is waited for has happened already."""

    def _find(self, kind: type[K], name: str, namespace: str) -> K | None:
        if kind.cluster_scoped:
            namespace = ""
        found: KubeObject | None
        if issubclass(kind, Pod):
            key = object_key(ObjectMeta(name=name, namespace=namespace))
            found = self._engine.state.pods.get(key)
        elif issubclass(kind, Node):
            nodes = self._engine.cluster.nodes
            found = nodes.node(nodes.row(name)) if nodes.is_present(name) else None
        else:
            found = self._engine.cluster.catalog.get(kind, name, namespace)
        return found if isinstance(found, kind) else None

    def _store(self, obj: KubeObject) -> None:
        self._engine.intake.put(obj)

    def _discard(self, obj: KubeObject) -> None:
        match obj:
            case Pod():
                self._engine.intake.pod_deleted(obj)
            case Node():
                self._engine.intake.node_deleted(obj.name)
            case _:
                self._engine.intake.object_deleted(obj)


def carry_out(write: DeferredWrite, api: ApiHandle) -> None:
    """Carry out what a plugin left to be written; if it fails, the next attempt finds things as
    they are."""
    with suppress(ApiCallFailed):
        run_to_end(write.carry_out(api))


def run_to_end(coroutine: Coroutine[object, object, T]) -> T:
    """Run a coroutine that waits for nothing. Raises LiveClusterNeeded."""
    try:
        coroutine.send(None)
    except StopIteration as ended:
        result: T = ended.value
        return result
    coroutine.close()
    raise LiveClusterNeeded("a plugin waits for something outside, which no simulation has")
