"""What the scheduler has decided about volumes and claims but the API server does not show yet.

Between Reserve and the API server's answer, a volume is taken and a claim is on its way although
the catalog still says otherwise. Decisions stand here as changed copies laid over the catalog. A
copy holds only while the object it was made from is the current one: as soon as the API server
shows something newer, that is the truth and the copy is forgotten.
"""

from collections.abc import Collection
from typing import Generic, NamedTuple, TypeVar

from podium.kubernetes.kinds.storage import PersistentVolume, PersistentVolumeClaim
from podium.scheduler.cluster.catalog import Catalog, object_key

T = TypeVar("T", PersistentVolume, PersistentVolumeClaim)

_RESOURCE_NAMES: dict[type, str] = {
    PersistentVolume: "persistentvolumes",
    PersistentVolumeClaim: "persistentvolumeclaims",
}


class AssumeError(Exception):
    """An object changed or went away since the decision about it was made."""


class _Assumed(NamedTuple, Generic[T]):
    stored: T
    changed: T


class AssumedObjects(Generic[T]):
    """One kind of objects as the scheduler has to see them."""

    def __init__(self, catalog: Catalog, kind: type[T]) -> None:
        self._catalog = catalog
        self._kind: type[T] = kind
        self._assumed: dict[str, _Assumed[T]] = {}
        self._touched: set[str] = set()

    def get(self, key: str) -> T | None:
        """The object by its key, with the scheduler's decisions in it."""
        stored = self.stored(key)
        held = self._assumed.get(key)
        if stored is None or held is None:
            return stored
        if not _same(stored, held.stored):
            del self._assumed[key]
            return stored
        return held.changed

    def stored(self, key: str) -> T | None:
        """The object as the API server shows it."""
        return self._catalog.get(self._kind, key)

    def assume(self, changed: T) -> None:
        key = object_key(changed.metadata)
        stored = self.stored(key)
        if stored is None:
            raise AssumeError(not_found(self._kind, key))
        old, new = stored.metadata.resource_version, changed.metadata.resource_version
        if old != new:
            raise AssumeError(f'"{key}" is out of sync (stored: {old or 0}, assume: {new or 0})')
        self._assumed[key] = _Assumed(stored, changed)
        self._touched.add(key)

    def restore(self, changed: T) -> None:
        """Take a decision back, unless a newer object has made it void already."""
        key = object_key(changed.metadata)
        held = self._assumed.get(key)
        version = changed.metadata.resource_version
        if held is not None and held.changed.metadata.resource_version == version:
            del self._assumed[key]
            self._touched.add(key)

    def take_touched(self) -> Collection[str]:
        """Keys whose decisions were made or taken back since the last call."""
        touched, self._touched = self._touched, set()
        return touched


def not_found(kind: type, key: str) -> str:
    return f'{_RESOURCE_NAMES[kind]} "{key}" not found'


def _same(stored: T, before: T) -> bool:
    """Whether an object has not changed; without resource versions only identity can tell."""
    version = stored.metadata.resource_version
    if not version:
        return stored is before
    return version == before.metadata.resource_version
