"""What the engine and binding plugins ask for, done on the API server.

Nobody waits for a write but the pods it is about: the next attempt begins while bindings, evictions
and status patches are on their way, and what comes of them is told to the engine when it is known.
Contract: every binding and preemption that was begun is reported to the engine exactly once, unless
the whole driver stops; a write that fails or a plugin that breaks is that pod's trouble alone.

What plugins of the binding cycle have done on a real API server, with objects of any kind. It is
everything that plugins may ask for at once: `ApiHandle`, `ConcurrentApi` and `ExtenderApi` of the
framework.

Objects of any kind on a real API server, typed: what `ApiHandle` offers to plugins. Kinds that
Podium knows need no discovery; for others (a CRD's, in a Struct of the plugin's own) the server is
asked once what it calls them. What goes wrong is an `ApiCallFailed`, so that plugins need not know
which client speaks for them.

What was changed in a typed object, done to the whole object that the server has. Typed objects hold
what scheduling reads; written back as they are, they would take all other fields away. So the two
typed forms, before and after, are compared, and only where they differ is the stored object
changed. Items of a list keep what the typed form does not know as long as they can be recognised:
by place if the lists are equally long, else by their `name` or by being equal.
"""

import asyncio
import logging
import traceback
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from random import Random
from typing import Any, Final, TypeVar, assert_never

import msgspec

from podium.client import Clock, DeleteOptions, KubeClient, ResourceType, Unreachable, resources
from podium.client.api_errors import AlreadyExists, ApiError, Conflict, NotFound
from podium.client.extenders.client import ExtenderClient
from podium.client.kube_client import served_in
from podium.golang.errors import ObjectError
from podium.kubernetes.kinds.devices import ResourceClaim
from podium.kubernetes.kinds.meta import KubeObject
from podium.kubernetes.kinds.typed_objects import convert_object
from podium.kubernetes.rules.merge_patch import difference
from podium.live.metered_transport import WriteMetrics
from podium.live.pod_writes import PodGroupWrites, PodWrites, with_retries
from podium.scheduler.cluster.pod_info import PodInfo
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
from podium.scheduler.framework.asking import (
    BindAnswer,
    BindCall,
    CallFailed,
    NobodyToAsk,
    WrongAnswers,
)
from podium.scheduler.framework.faults import QueueOrderBroken, describe
from podium.scheduler.framework.handle import (
    ApiCallFailed,
    DeferredWrite,
    ObjectConflict,
    ObjectExists,
    ObjectNotFound,
)
from podium.scheduler.framework.status import Status, error

K = TypeVar("K", bound=KubeObject)
Tell = Callable[[PodInfo, str, str, str], None]


class LiveApi:
    def __init__(
        self,
        client: KubeClient,
        pods: PodWrites,
        tell: Tell,
        *,
        clock: Clock,
        randomness: Random,
        metrics: WriteMetrics,
        extenders: ExtenderClient | None = None,
    ) -> None:
        """`tell` records a Normal event: pod, reason, action, note."""
        self._pods = pods
        self._tell = tell
        self._clock = clock
        self._metrics = metrics
        self._extenders = extenders
        self._objects = ObjectAccess(client, clock=clock, randomness=randomness)
        self.get = self._objects.get
        self.update = self._objects.update
        self.patch = self._objects.patch
        self.delete = self._objects.delete

    async def bind(self, pod: PodInfo, node_name: str) -> None:
        await self._pods.bind(pod, node_name)

    async def ask_to_bind(self, call: BindCall) -> BindAnswer | CallFailed:
        if self._extenders is None:
            raise NobodyToAsk(f"{call.extender.url_prefix} has to bind, and nobody asks it to")
        (answer,) = await self._extenders.ask((call,))
        if not isinstance(answer, BindAnswer | CallFailed):
            raise WrongAnswers(f"a binding was answered with {type(answer).__name__}")
        return answer

    async def first_failure(
        self, work: Sequence[Coroutine[Any, Any, Status | None]]
    ) -> Status | None:
        tasks = [asyncio.ensure_future(each) for each in work]
        try:
            for done in asyncio.as_completed(tasks):
                failure = await done
                if failure is not None:
                    return failure
            return None
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def create(self, obj: K, *, generate_name: str = "") -> K:
        if not isinstance(obj, ResourceClaim):
            return await self._objects.create(obj, generate_name=generate_name)
        ok = False
        try:
            stored = await self._objects.create(obj, generate_name=generate_name)
            ok = True
        finally:
            self._metrics.claim_created(ok=ok)
        return stored

    def take_turn(self, uid: str) -> AbstractAsyncContextManager[None]:
        return self._pods.turns.hold(uid)

    async def tell(self, pod: PodInfo, reason: str, action: str, note: str) -> None:
        self._tell(pod, reason, action, note)

    async def pause(self, seconds: float) -> None:
        await self._clock.sleep(seconds)


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
        return _read_typed(await _await_answer(self._client.get(resource, name, namespace)), kind)

    async def create(self, obj: K, *, generate_name: str = "") -> K:
        kind = type(obj)
        resource = await self._resource(kind)
        body = _write_object(obj, resource)
        metadata: dict[str, Any] = body.setdefault("metadata", {})
        for name in _GIVEN_BY_SERVER:
            metadata.pop(name, None)
        if not obj.metadata.name and generate_name:
            metadata["generateName"] = generate_name
        creating = self._client.create(resource, body, obj.metadata.namespace)
        return _read_typed(await _await_answer(creating), kind)

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
        found = await _await_answer(self._client.get(resource, metadata.name, metadata.namespace))
        stored: dict[str, Any] = msgspec.json.decode(found)
        before = _write_object(_read_typed(found, kind), resource)
        after = _write_object(obj, resource)
        if not metadata.resource_version:
            after["metadata"]["resourceVersion"] = before["metadata"]["resourceVersion"]
        updating = self._client.update(
            resource,
            metadata.name,
            change(stored, before, after),
            metadata.namespace,
            subresource=subresource,
        )
        return _read_typed(await _await_answer(updating), kind)

    async def delete(self, obj: KubeObject) -> None:
        metadata = obj.metadata
        resource = await self._resource(type(obj))
        options = DeleteOptions(uid=metadata.uid)
        await _await_answer(
            self._client.delete(resource, metadata.name, metadata.namespace, options)
        )

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

        def send_patch() -> Awaitable[bytes]:
            return self._client.patch(
                resource, name, dict(patch), namespace, subresource=subresource
            )

        if resource == resources.PODS and subresource == "status":
            call = with_retries(send_patch, self._clock, self._randomness)
            return _read_typed(await _await_answer(call), kind)
        return _read_typed(await _await_answer(send_patch()), kind)

    async def _resource(self, kind: type[KubeObject]) -> ResourceType:
        made = kind()
        key = (made.api_version, made.kind)
        found = _KNOWN.get(key) or self._discovered.get(key)
        if found is None:
            for served in await _await_answer(served_in(self._client, made.api_version)):
                known = served.resource
                self._discovered[known.api_version, known.kind] = known
            found = self._discovered.get(key)
        if found is None:
            raise ObjectNotFound(f"the server has no kind {made.kind} in {made.api_version}")
        return found


async def _await_answer(call: Awaitable[T]) -> T:
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


def _read_typed(stored: bytes, kind: type[K]) -> K:
    try:
        return convert_object(msgspec.json.decode(stored), kind, strict=False)
    except (ObjectError, msgspec.DecodeError) as problem:
        raise ApiCallFailed(f"the server sent no {kind.__name__}: {problem}") from problem


def _write_object(obj: KubeObject, resource: ResourceType) -> dict[str, Any]:
    body: dict[str, Any] = msgspec.to_builtins(obj)
    return body | {"apiVersion": resource.api_version, "kind": resource.kind}


def change(stored: Any, before: Any, after: Any) -> Any:
    """The stored value with the difference between two typed forms of it, all plain JSON values.

    >>> change({"a": 1, "x": 9}, {"a": 1}, {"a": 2, "b": 3})
    {'a': 2, 'x': 9, 'b': 3}
    """
    if before == after:
        return stored
    if isinstance(stored, dict) and isinstance(before, dict) and isinstance(after, dict):
        return _changed_object(stored, before, after)
    if isinstance(stored, list) and isinstance(before, list) and isinstance(after, list):
        return _changed_list(stored, before, after)
    return after


def _changed_object(
    stored: dict[str, Any], before: dict[str, Any], after: dict[str, Any]
) -> dict[str, Any]:
    out = {key: value for key, value in stored.items() if key in after or key not in before}
    for key, value in after.items():
        out[key] = change(stored.get(key), before.get(key), value)
    return out


def _changed_list(stored: list[Any], before: list[Any], after: list[Any]) -> list[Any]:
    if len(stored) != len(before):
        return after
    if len(before) == len(after):
        return [change(*items) for items in zip(stored, before, after, strict=True)]
    return [_changed_item(stored, before, item) for item in after]


def _changed_item(stored: list[Any], before: list[Any], item: Any) -> Any:
    name = item.get("name") if isinstance(item, dict) else None
    for kept, known in zip(stored, before, strict=True):
        if known == item or (name and isinstance(known, dict) and known.get("name") == name):
            return change(kept, known, item)
    return item


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

    async def wait_until_idle(self) -> None:
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
        task.add_done_callback(self._on_task_done)

    def _on_task_done(self, task: asyncio.Task[None]) -> None:
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
        self._engine.bindings.finish_binding(binding, problem)

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
        self._engine.preemptions.finish_preemption(request.preemptor, told)

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
        self._engine.preemptions.confirm_eviction(
            request.preemptor, eviction.victim, request.node_name, was_gone=not was_there
        )

    # the rest

    async def _write(self, request: PluginWrite) -> None:
        write, key = request.write, request.pod.key
        if not isinstance(write, DeferredWrite):
            kind = type(write).__name__
            _LOG.error("there is no writer for a %s of pod %s", kind, key)
            return
        try:
            await write.carry_out(self._api)
        except ApiCallFailed as problem:
            _LOG.warning("a write for pod %s failed: %s", key, problem)
