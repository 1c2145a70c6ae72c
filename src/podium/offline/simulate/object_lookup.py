"""The objects of an input as admission looks them up: what an API server's store is to it.

Written objects are kept as JSON, as admission left them; objects that were read from a cluster are
typed, and become JSON when somebody asks for their kind. Namespaces that nobody wrote down are
there as soon as something is in them.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final, TypeVar

import msgspec

from podium.golang.json_values import JsonObject
from podium.kubernetes.admission import SYSTEM_CLASSES
from podium.kubernetes.admission.lookup import Summaries
from podium.kubernetes.kinds.meta import KubeObject
from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.kinds.workloads import NAMESPACE_LABEL
from podium.kubernetes.resources.resource import ApiResource
from podium.kubernetes.resources.table import ResourcesByGroup
from podium.kubernetes.rules.pod_level_resources import qos_class_of

T = TypeVar("T")
Key = tuple[str, str]
"""(group, plural)"""
_NAMESPACES: Final = ("", "namespaces")
_PRIORITY_CLASSES: Final = ("scheduling.k8s.io", "priorityclasses")
_QUOTAS: Final = ("", "resourcequotas")


@dataclass(slots=True)
class _Followed:
    """Summaries, and how many of the changes they have taken in."""

    summaries: Summaries[Any]
    place: int = 0


class ObjectLookup:
    """Implements `kubernetes.admission.Lookup` without a store."""

    def __init__(self, resources: ResourcesByGroup, typed: Iterable[KubeObject] = ()) -> None:
        self._objects: dict[Key, dict[tuple[str, str], JsonObject]] = {
            _PRIORITY_CLASSES: {("", each["metadata"]["name"]): each for each in SYSTEM_CLASSES}
        }
        self._typed: dict[Key, list[KubeObject]] = {}
        self._derived: dict[tuple[Key, Any], Any] = {}
        self._summaries: dict[tuple[Key, str, Any], _Followed] = {}
        self._changed: dict[Key, list[tuple[str, str]]] = {}
        """Namespaces and names of what was put, in order."""
        self._undo: list[tuple[Key, tuple[str, str], JsonObject | None]] | None = None
        """What was there before each change, while changes are to be undone."""
        self.missing: tuple[str, str] | None = None
        """Kind and name of what was looked for last and is not there."""
        self._resources = resources
        keys: dict[type, Key | None] = {}
        for obj in typed:
            kind = type(obj)
            if kind not in keys:
                keys[kind] = _key_of(resources.find_kind(*_group_version(obj), obj.kind))
            key = keys[kind]
            if key is not None:
                self._typed.setdefault(key, []).append(obj)

    def put(self, resource: ApiResource, obj: JsonObject) -> None:
        metadata = obj["metadata"]
        name = (metadata.get("namespace") or "", metadata["name"])
        self._set((resource.group, resource.plural), name, obj)

    def remove(self, resource: ApiResource, namespace: str, name: str) -> None:
        """An object is gone; nothing happens if there is none."""
        key = (resource.group, resource.plural)
        if (namespace, name) in self._of(key):
            self._set(key, (namespace, name), None)

    @contextmanager
    def roll_back_on_exit(self) -> Iterator[None]:
        """Afterwards everything is as it was before."""
        undo = self._undo = []
        try:
            yield
        finally:
            self._undo = None
            for key, name, before in reversed(undo):
                self._set(key, name, before)

    def _set(self, key: Key, name: tuple[str, str], obj: JsonObject | None) -> None:
        objects = self._of(key)
        if self._undo is not None:
            self._undo.append((key, name, objects.get(name)))
        if obj is not None:
            objects[name] = obj
        else:
            objects.pop(name, None)
        self._changed.setdefault(key, []).append(name)
        for derived in [each for each in self._derived if each[0] == key]:
            del self._derived[derived]

    def find(
        self, group: str, plural: str, namespace: str, name: str, version: str = "v1"
    ) -> JsonObject | None:
        key = (group, plural)
        found = self._of(key).get((namespace, name))
        if found is None and key == _NAMESPACES:
            return {
                "metadata": {"name": name, "labels": {NAMESPACE_LABEL: name}},
                "status": {"phase": "Active"},
            }
        if found is None:
            resource = self._resources.find(group, version, plural)
            self.missing = (resource.kind if resource is not None else plural, name)
        return found

    def get_derived(
        self, group: str, plural: str, derive: Callable[[Sequence[JsonObject]], T]
    ) -> T:
        key = (group, plural)
        if (key, derive) not in self._derived:
            self._derived[key, derive] = derive(list(self._of(key).values()))
        found: T = self._derived[key, derive]
        return found

    def summaries(
        self,
        group: str,
        plural: str,
        namespace: str,
        summarise: Callable[[JsonObject], T],
        version: str = "v1",
    ) -> Summaries[T]:
        del version
        key = (group, plural)
        objects, changed = self._of(key), self._changed.setdefault(key, [])
        kept = self._summaries.get((key, namespace, summarise))
        if kept is None:
            summaries = Summaries(
                (name, summarise(obj))
                for (found_in, name), obj in objects.items()
                if found_in == namespace
            )
            kept = self._summaries[key, namespace, summarise] = _Followed(summaries)
        else:
            for found_in, name in changed[kept.place :]:
                if found_in != namespace:
                    continue
                obj = objects.get((found_in, name))
                if obj is not None:
                    kept.summaries.put(name, summarise(obj))
                else:
                    kept.summaries.remove(name)
        kept.place = len(changed)
        return kept.summaries

    def has_quotas(self, namespace: str) -> bool:
        return any(found_in == namespace for found_in, _ in self._of(_QUOTAS))

    def _of(self, key: Key) -> dict[tuple[str, str], JsonObject]:
        """The objects of a resource by namespace and name."""
        found = self._objects.setdefault(key, {})
        for obj in self._typed.pop(key, ()):
            found.setdefault((obj.namespace, obj.name), _as_stored(obj))
        return found


def _as_stored(obj: KubeObject) -> JsonObject:
    """A typed object as the server has it, with the one field of its status that quotas read."""
    value = as_json(obj)
    if isinstance(obj, Pod):
        value.setdefault("status", {}).setdefault("qosClass", qos_class_of(obj))
    return value


def as_json(struct: msgspec.Struct) -> JsonObject:
    """What the server would send of it."""
    value: JsonObject = msgspec.json.decode(msgspec.json.encode(struct))
    return value


def _group_version(obj: KubeObject) -> tuple[str, str]:
    group, _, version = obj.api_version.rpartition("/")
    return group, version


def _key_of(resource: ApiResource | None) -> Key | None:
    return None if resource is None else (resource.group, resource.plural)
