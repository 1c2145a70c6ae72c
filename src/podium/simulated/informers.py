"""What the simulated cluster knows: informers, and the kinds that its server serves.

A store is fed by a watch, and by the answers to the cluster's own writes, as `SharedInformer` says.

The kinds that the server serves, looked up now and then. New kinds appear when somebody defines
them; half a minute is soon enough to notice.
"""

from collections.abc import Mapping
from typing import Any, Final, Generic, TypeVar

from podium.client import (
    Clock,
    DeletedFinalStateUnknown,
    KubeClient,
    ResourceType,
    SharedInformer,
    last_state,
)
from podium.client.kube_client import Served, discover
from podium.client.resources import PODS
from podium.kubernetes.controllers.pods import Pod
from podium.kubernetes.controllers.stores import KindStore, Listener, PodStore, Stores
from podium.kubernetes.kinds.meta import KubeObject

T = TypeVar("T", bound=KubeObject)


class Informer(SharedInformer[T], KindStore[T]):
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


REFRESH_S: Final = 30.0


class DiscoveredKinds:
    def __init__(self, client: KubeClient, clock: Clock) -> None:
        self._client = client
        self._clock = clock
        self._found: list[Served] = []
        self._at_s: float | None = None

    async def all(self) -> list[Served]:
        """Raises ApiError and Unreachable."""
        now = self._clock.now()
        if self._at_s is None or now - self._at_s >= REFRESH_S:
            self._found = await discover(self._client)
            self._at_s = now
        return self._found
