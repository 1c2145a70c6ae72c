"""The view into the store that admission has: decoded objects, kept while they do not change.

Every new pod asks for its namespace and for the priority classes. Both are decoded once per
version, and what is derived from a whole collection is worked out once per change of it.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeVar

from podium.apiserver.store.stored import Stored
from podium.golang.json_values import JsonObject

if TYPE_CHECKING:
    from podium.apiserver.requests.registry import Registry

T = TypeVar("T")
_MAX_OBJECTS: Final = 1024


class StoreLookup:
    """Reads other objects on behalf of admission; what it gives is not to be changed."""

    def __init__(self, registry: "Registry") -> None:
        self._registry = registry
        self._objects: dict[tuple[str, str, str, str], tuple[Stored, JsonObject]] = {}
        self._derived: dict[tuple[str, str, Any], tuple[int, Any]] = {}
        self._summaries: dict[tuple[str, str, str, Any], dict[str, tuple[Stored, Any]]] = {}

    def find(
        self, group: str, plural: str, namespace: str, name: str, version: str = "v1"
    ) -> JsonObject | None:
        resource = self._registry.table.find(group, version, plural)
        if resource is None:
            return None
        stored = self._registry.collection(resource).get(namespace, name)
        key = (group, plural, namespace, name)
        if stored is None:
            self._objects.pop(key, None)
            return None
        kept = self._objects.get(key)
        if kept is not None and kept[0] is stored:
            return kept[1]
        if len(self._objects) >= _MAX_OBJECTS:
            self._objects.clear()
        value = self._registry.read(resource, stored)
        self._objects[key] = (stored, value)
        return value

    def derived(self, group: str, plural: str, derive: Callable[[Sequence[JsonObject]], T]) -> T:
        resource = self._registry.table.find(group, "v1", plural)
        if resource is None:
            return derive(())
        collection = self._registry.collection(resource)
        key = (group, plural, derive)
        kept = self._derived.get(key)
        if kept is not None and kept[0] == collection.history.end:
            found: T = kept[1]
            return found
        objects = [self._registry.read(resource, each) for each in collection.current()]
        found = derive(objects)
        self._derived[key] = (collection.history.end, found)
        return found

    def summaries(
        self,
        group: str,
        plural: str,
        namespace: str,
        summarise: Callable[[JsonObject], T],
        version: str = "v1",
    ) -> list[tuple[str, T]]:
        resource = self._registry.table.find(group, version, plural)
        if resource is None:
            return []
        key = (group, plural, namespace, summarise)
        kept = self._summaries.get(key, {})
        found: dict[str, tuple[Stored, T]] = {}
        for stored in self._registry.collection(resource).current(namespace):
            known = kept.get(stored.name)
            if known is None or known[0] is not stored:
                known = (stored, summarise(self._registry.read(resource, stored)))
            found[stored.name] = known
        self._summaries[key] = found
        return [(name, summary) for name, (_, summary) in found.items()]
