"""What the simulated cluster knows of one kind of objects: an informer with the indexes that its
controllers read.

A store is fed by a watch, and by the answers to the cluster's own writes, as `SharedInformer` says.

Contract: listeners are told (old, new) of every change, in order; either is None when there is
none.
"""

from collections.abc import Callable, Iterable
from typing import Generic, TypeVar

from podium.client import (
    NAMESPACE_INDEX,
    DeletedFinalStateUnknown,
    ResourceType,
    SharedInformer,
    last_state,
)
from podium.kubernetes.controllers.pods import Pod
from podium.kubernetes.kinds.meta import KubeObject

T = TypeVar("T", bound=KubeObject)
Listener = Callable[[T | None, T | None], None]


class Store(SharedInformer[T]):
    """One kind."""

    def __init__(self, resource: ResourceType, kind: type[T]) -> None:
        super().__init__(resource, kind)
        self.in_namespace = self.indexer.index(NAMESPACE_INDEX)
        self.owned_by = self.indexer.add_index("controller", _controller_uid)
        self.orphans = self.indexer.add_index("orphans", _namespace_if_orphan)
        self.dependents_of = self.indexer.add_index("owners", _owner_uids)

    def __len__(self) -> int:
        return len(self.indexer)

    def all(self) -> list[T]:
        return self.indexer.list()

    def get(self, namespace: str, name: str) -> T | None:
        return self.indexer.get(namespace, name)

    def find(self, key: tuple[str, str]) -> T | None:
        return self.indexer.get_by_key(key)

    def listen(self, listener: Listener[T]) -> None:
        self.add_event_handler(_ListenerHandler(listener))


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


class PodStore(Store[Pod]):
    """Pods, also by the node that they are on and the claims that they use."""

    def __init__(self, resource: ResourceType) -> None:
        super().__init__(resource, Pod)
        self.on_node = self.indexer.add_index(
            "node", lambda pod: (pod.spec.node_name,) if pod.spec.node_name else ()
        )
        self.using_claim = self.indexer.add_index(
            "claims", lambda pod: tuple((pod.namespace, name) for name in pod.claim_names)
        )


def _controller_uid(obj: KubeObject) -> Iterable[str]:
    owner = obj.metadata.controller
    return (owner.uid,) if owner is not None else ()


def _owner_uids(obj: KubeObject) -> Iterable[str]:
    return tuple(owner.uid for owner in obj.metadata.owner_references or ())


def _namespace_if_orphan(obj: KubeObject) -> Iterable[str]:
    return (obj.metadata.namespace,) if obj.metadata.controller is None else ()
