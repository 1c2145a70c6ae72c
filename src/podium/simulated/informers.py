"""Informers: everything that the simulated cluster knows.

A store is fed by a watch, and by the answers to the cluster's own writes, as `SharedInformer` says.
"""

from collections.abc import Mapping
from typing import Any, Generic, TypeVar

from podium.client import DeletedFinalStateUnknown, ResourceType, SharedInformer, last_state
from podium.client.resources import PODS
from podium.kubernetes.controllers.pods import Pod
from podium.kubernetes.controllers.stores import Listener, PodStore, Store, Stores
from podium.kubernetes.kinds.meta import KubeObject

T = TypeVar("T", bound=KubeObject)


class Informer(SharedInformer[T], Store[T]):
    """An informer with the indexes that controllers read."""

    def __init__(self, resource: ResourceType, kind: type[T]) -> None:
        SharedInformer.__init__(self, resource, kind)

    def listen(self, listener: Listener[T]) -> None:
        self.add_event_handler(_ListenerHandler(listener))


class PodInformer(Informer[Pod], PodStore):
    def __init__(self) -> None:
        Informer.__init__(self, PODS, Pod)


class _ListenerHandler(Generic[T]):
    """A listener as a handler of an informer (a `ResourceEventHandler`)."""

    def __init__(self, listener: Listener[T]) -> None:
        self._listener = listener

    def on_add(self, obj: T, /, *, is_in_initial_list: bool) -> None:  # noqa: ARG002
        self._listener(None, obj)

    def on_update(self, old: T, new: T, /) -> None:
        self._listener(old, new)

    def on_delete(self, obj: T | DeletedFinalStateUnknown, /) -> None:
        self._listener(last_state(obj), None)


class Informers(Stores):
    def __init__(self) -> None:
        self._informers: dict[ResourceType, Informer[Any]] = {}

    @property
    def stores(self) -> Mapping[ResourceType, Informer[Any]]:
        return self._informers

    @property
    def pods(self) -> PodInformer:
        found = self._informers.get(PODS)
        if not isinstance(found, PodInformer):
            found = self._informers[PODS] = PodInformer()
        return found

    def store(self, resource: ResourceType, kind: type[T]) -> Informer[T]:
        if resource not in self._informers:
            self._informers[resource] = Informer(resource, kind)
        return self._informers[resource]
