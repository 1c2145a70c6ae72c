"""Objects beside nodes and pods that plugins look up by name.

Namespaces, services, controllers, volumes, claims, classes, budgets: each kind is a map from
`namespace/name` (or `name` for cluster-wide kinds) to the typed object, with a version that moves
on every change so that a reader can tell whether its conclusions still hold, and a short memory of
what changed so that a reader with an index of its own need not start again.
"""

from collections.abc import Iterator, Sequence
from typing import TypeVar

from podium.kubernetes.kinds.meta import KubeStruct, ObjectMeta
from podium.kubernetes.kinds.workloads import Namespace

K = TypeVar("K", bound=KubeStruct)

_MAX_REMEMBERED = 4096


def object_key(metadata: ObjectMeta) -> str:
    return f"{metadata.namespace}/{metadata.name}" if metadata.namespace else metadata.name


class Catalog:
    """All objects of the cluster that are neither nodes nor pods."""

    def __init__(self) -> None:
        self._kinds: dict[type, dict[str, KubeStruct]] = {}
        self._versions: dict[type, int] = {}
        self._changed: dict[type, list[str]] = {}
        self.changes = 0
        """Moves on every change of any kind."""

    def put(self, obj: KubeStruct) -> None:
        kind, key = type(obj), object_key(_metadata(obj))
        self._kinds.setdefault(kind, {})[key] = obj
        self._note(kind, key)

    def remove(self, obj: KubeStruct) -> None:
        kind, key = type(obj), object_key(_metadata(obj))
        self._kinds.get(kind, {}).pop(key, None)
        self._note(kind, key)

    def get(self, kind: type[K], name: str, namespace: str = "") -> K | None:
        key = f"{namespace}/{name}" if namespace else name
        found = self._kinds.get(kind, {}).get(key)
        return found if isinstance(found, kind) else None

    def all(self, kind: type[K]) -> Iterator[K]:
        for obj in self._kinds.get(kind, {}).values():
            if isinstance(obj, kind):
                yield obj

    def everything(self) -> Iterator[KubeStruct]:
        """All objects of all kinds."""
        for objects in self._kinds.values():
            yield from objects.values()

    def version(self, kind: type[KubeStruct]) -> int:
        return self._versions.get(kind, 0)

    def changed_since(self, kind: type[KubeStruct], version: int) -> Sequence[str] | None:
        """Keys put or removed after a version; None when that is too long ago to tell."""
        changed = self._changed.get(kind, [])
        count = self.version(kind) - version
        if count > len(changed):
            return None
        return changed[len(changed) - count :]

    def _note(self, kind: type, key: str) -> None:
        self.changes += 1
        self._versions[kind] = self._versions.get(kind, 0) + 1
        changed = self._changed.setdefault(kind, [])
        changed.append(key)
        if len(changed) > 2 * _MAX_REMEMBERED:
            del changed[:_MAX_REMEMBERED]

    def namespace_labels(self, name: str) -> dict[str, str]:
        """A namespace's labels; an unknown namespace has none."""
        namespace = self.get(Namespace, name)
        return (namespace.metadata.labels or {}) if namespace else {}


def _metadata(obj: KubeStruct) -> ObjectMeta:
    metadata = getattr(obj, "metadata", None)
    if not isinstance(metadata, ObjectMeta):
        raise TypeError(f"{type(obj).__name__} has no metadata")
    return metadata
