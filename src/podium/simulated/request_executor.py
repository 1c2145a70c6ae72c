"""Carrying out plans: writes through the client, and their results into the stores.

Actions of one kind that follow each other go out together, a bounded number at a time; the next
kind waits for them. Creations start slowly: one, then two, then four, so that what is refused for
all of them is refused once and not hundreds of times (`slowStartBatch` in
`pkg/controller/replicaset/replica_set.go`). What is gone already is no problem for who wants to
delete or change it; everything else that is refused is raised, after the rest of its batch was
tried.

Events of controllers that repeat: one Event with a count, as kube-controller-manager's recorder
leaves it, instead of one for each attempt.
"""

import asyncio
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Final, assert_never

import msgspec

from podium.client import DeleteOptions, KubeClient, ResourceType
from podium.client.api_errors import Conflict, NotFound
from podium.client.event_correlator import EventCorrelator, EventKey, Told
from podium.golang.json_values import JsonObject
from podium.kubernetes.controllers.controller import Action, CreateAction, DeleteAction, PatchAction
from podium.kubernetes.kinds.meta import KubeStruct, ObjectMeta
from podium.kubernetes.resources.resource_types import EVENTS
from podium.kubernetes.rules.timestamps import seconds_of
from podium.simulated.informers import Informers

_AT_A_TIME: Final = 32


class _Answer(KubeStruct, frozen=True):
    kind: str = ""
    metadata: ObjectMeta = ObjectMeta()


_ANSWERS: Final = msgspec.json.Decoder(_Answer)


class RequestExecutor:
    """Writes for the whole simulated cluster."""

    def __init__(self, client: KubeClient, informers: Informers) -> None:
        self.client = client
        self._informers = informers
        self._room = asyncio.Semaphore(_AT_A_TIME)
        self._events = CountedEvents()

    async def execute(self, actions: Iterable[Action]) -> None:
        """Raises the first of the problems, ApiError or Unreachable."""
        for (kind, _), group in groupby(actions, key=_batch_key):
            together = list(group)
            for batch in _growing_batches(together) if kind is CreateAction else (together,):
                await self._write_all(batch)

    async def _write_all(self, batch: Sequence[Action]) -> None:
        if len(batch) == 1:
            await self.write(batch[0])
            return
        results = await asyncio.gather(*map(self.write, batch), return_exceptions=True)
        for result in results:
            if isinstance(result, BaseException):
                raise result

    async def write(self, action: Action) -> None:
        async with self._room:
            match action:
                case CreateAction() if action.resource == EVENTS:
                    await self._tell(action)
                case CreateAction():
                    body = await self.client.create(action.resource, action.body, action.namespace)
                    self._update_store(action.resource, body)
                case PatchAction():
                    await self._patch(action)
                case DeleteAction():
                    await self._delete(action)
                case _:
                    assert_never(action)

    async def _tell(self, event: CreateAction) -> None:
        """An event is created once, and counted from then on."""
        counted = self._events.correlate(event)
        if counted is None:
            return
        write, told = counted
        if isinstance(write, PatchAction):
            try:
                await self._change(write)
            except NotFound:  # it has expired
                told.first = None
                write = CreateAction(EVENTS, event.namespace, {**event.body, **write.body})
        if isinstance(write, CreateAction):
            body = await self.client.create(EVENTS, write.body, write.namespace)
            told.first = _ANSWERS.decode(body).metadata.name

    async def _patch(self, action: PatchAction) -> None:
        try:
            body = await self._change(action)
        except NotFound:
            return
        self._update_store(action.resource, body)

    async def _change(self, action: PatchAction) -> bytes:
        return await self.client.patch(
            action.resource,
            action.name,
            action.body,
            action.namespace,
            kind=action.kind,
            subresource=action.subresource,
        )

    async def _delete(self, action: DeleteAction) -> None:
        options = DeleteOptions(
            grace_period_s=action.grace_period_s, uid=action.uid, propagation=action.propagation
        )
        try:
            body = await self.client.delete(action.resource, action.name, action.namespace, options)
        except (NotFound, Conflict):
            # It is gone, or there is another one of that name: either way this one is gone.
            self._gone(action)
            return
        answer = _ANSWERS.decode(body)
        if answer.kind == "Status" or _is_gone(answer.metadata):
            self._gone(action)
        else:
            self._update_store(action.resource, body)

    def _update_store(self, resource: ResourceType, body: bytes) -> None:
        store = self._informers.stores.get(resource)
        if store is None:
            return
        obj = store.decode(msgspec.Raw(body))
        store.put(obj)
        if obj.metadata.is_terminating and _is_gone(obj.metadata):
            store.drop(obj)

    def _gone(self, action: DeleteAction) -> None:
        store = self._informers.stores.get(action.resource)
        known = store and store.get(action.namespace, action.name)
        if store is not None and known and known.metadata.uid == action.uid:
            store.drop(known)


def _batch_key(action: Action) -> tuple[type[Action], ResourceType | None]:
    """What goes out together; a pod waits for the claims that are made before it."""
    return type(action), action.resource if isinstance(action, CreateAction) else None


def _growing_batches(actions: Sequence[Action]) -> Iterator[Sequence[Action]]:
    done, size = 0, 1
    while done < len(actions):
        yield actions[done : done + size]
        done, size = done + size, 2 * size


def _is_gone(metadata: ObjectMeta) -> bool:
    """Whether nothing keeps an object that was deleted: neither finalizers nor grace."""
    return not metadata.finalizers and not metadata.deletion_grace_period_seconds


class CountedEvents:
    """What a controller tells of, and what is written of it."""

    def __init__(self) -> None:
        self._correlator: EventCorrelator[str] = EventCorrelator()

    def correlate(self, event: CreateAction) -> tuple[CreateAction | PatchAction, Told[str]] | None:
        """The write that an event comes to; None if it is only counted. The name under which it
        was created is to be kept in `first`."""
        body = event.body
        about, source = body["involvedObject"], body["source"]
        key = EventKey(
            source["component"],
            (about["apiVersion"], about["kind"], about["namespace"], about["name"], about["uid"]),
            body["type"],
            body["reason"],
        )
        now = seconds_of(body["lastTimestamp"])
        occurrence = self._correlator.correlate(key, body["message"], now)
        if occurrence is None:
            return None
        told = occurrence.told
        counted: JsonObject = {"count": told.count, "message": occurrence.message}
        if told.first is None:
            return CreateAction(EVENTS, event.namespace, {**body, **counted}), told
        counted["lastTimestamp"] = body["lastTimestamp"]
        return PatchAction(EVENTS, event.namespace, told.first, counted), told
