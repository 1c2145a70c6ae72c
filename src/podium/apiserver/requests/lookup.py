"""The view into the store that admission has: decoded objects, kept while they do not change.

Every new pod asks for its namespace and for the priority classes. Both are decoded once per
version, and what is derived from a whole collection is worked out once per change of it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeVar

from podium.apiserver.store.collection import Collection
from podium.apiserver.store.history import HistoryLost
from podium.apiserver.store.stored import Stored
from podium.golang.json_values import JsonObject
from podium.kubernetes.admission.lookup import Summaries

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
        self._summaries: dict[tuple[str, str, str, Any], _Followed] = {}

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
    ) -> Summaries[T]:
        resource = self._registry.table.find(group, version, plural)
        if resource is None:
            return Summaries()
        collection = self._registry.collection(resource)
        history, read = collection.history, self._registry.read
        key = (group, plural, namespace, summarise)
        kept = self._summaries.get(key)
        try:
            if kept is None or kept.collection is not collection:
                changes = None
            else:
                changes = history.since(kept.place, limit=history.end - kept.place)
        except HistoryLost:
            changes = None
        if kept is None or changes is None:
            summaries = Summaries(
                (stored.name, summarise(read(resource, stored)))
                for stored in collection.current(namespace)
            )
            kept = self._summaries[key] = _Followed(collection, summaries)
        else:
            # What has changed more than once is read once.
            for stored in {each.version.key: each.version for each in changes}.values():
                if stored.namespace == namespace:
                    now = collection.items.get(stored.key)
                    if now is None:
                        kept.summaries.remove(stored.name)
                    else:
                        kept.summaries.put(stored.name, summarise(read(resource, now)))
        kept.place = history.end
        return kept.summaries


@dataclass(slots=True)
class _Followed:
    """Summaries of a collection, and the place in its history up to which they are true."""

    collection: Collection
    summaries: Summaries[Any]
    place: int = 0
