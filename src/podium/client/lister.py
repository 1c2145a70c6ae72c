"""Reading what an informer knows, as client-go's listers do: never a request, never a wait.

What is handed out is shared with everybody who reads it and not to be changed.
"""

from collections.abc import Mapping
from typing import Generic, TypeVar

from podium.kubernetes.controllers.indexer import NAMESPACE_INDEX, Indexer
from podium.kubernetes.controllers.object_keys import labels_of
from podium.kubernetes.rules.labels import Selector, selector_of_map

T = TypeVar("T")
Labels = Selector | Mapping[str, str] | None


class Lister(Generic[T]):
    """Of all namespaces; with `of_namespace`, or for kinds without any, by bare names."""

    def __init__(self, indexer: Indexer[T], namespace: str = "") -> None:
        self._indexer = indexer
        self._namespace = namespace

    def of_namespace(self, namespace: str) -> "Lister[T]":
        return Lister(self._indexer, namespace)

    def get(self, name: str) -> T | None:
        return self._indexer.get(self._namespace, name)

    def list(self, labels: Labels = None) -> list[T]:
        """All, or those with these labels; a mapping is one that they all have to equal."""
        if self._namespace:
            found = self._indexer.by_index(NAMESPACE_INDEX, self._namespace)
        else:
            found = self._indexer.list()
        if labels is None:
            return found
        selector = labels if isinstance(labels, Selector) else selector_of_map(labels)
        return [obj for obj in found if selector.matches(labels_of(obj))]
