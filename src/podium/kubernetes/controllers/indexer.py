"""Objects by key, and by whatever else is requested: client-go's Indexer.

An index is made by a function from an object to the values that it is found under, none or several.
Values are anything hashable. Indexes may be added at any time, also of objects that are there.

Contract: written by the thread of the event loop only. Reading is safe from every thread, since
each answer is one copy of one dictionary; what is handed out is a list of its own, while the
objects in it are shared and not to be changed.

What tells objects apart: key, uid and resource version, of typed and of plain objects alike. A
plain object is what JSON decodes to, a dictionary; a typed one has `metadata` with attributes, as
those of `podium.kubernetes.kinds` have. Everything above this module reads neither form itself.

A resource version is compared as a number where both are numbers; where one is not, all that can be
said is whether they differ.
"""

import builtins
from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import Any, Final, Generic, NamedTuple, TypeVar

from podium.golang.errors import InputError, closest, did_you_mean


class Key(NamedTuple):
    """What tells objects of a kind apart; the namespace is empty for those that have none."""

    namespace: str
    name: str

    def __str__(self) -> str:
        """`<namespace>/<name>`, or the bare name, as client-go writes keys."""
        return f"{self.namespace}/{self.name}" if self.namespace else self.name


class Identity(NamedTuple):
    """Which version of which object."""

    key: Key
    uid: str
    resource_version: str


def identity_of(obj: Any) -> Identity:
    """Of an object that is a dictionary, or that has `metadata`."""
    if isinstance(obj, dict):
        metadata = obj.get("metadata") or {}
        return Identity(
            Key(metadata.get("namespace") or "", metadata.get("name") or ""),
            metadata.get("uid") or "",
            metadata.get("resourceVersion") or "",
        )
    metadata = obj.metadata
    key = Key(metadata.namespace or "", metadata.name or "")
    return Identity(key, metadata.uid or "", metadata.resource_version or "")


def uid_of(obj: Any) -> str:
    """What `identity_of` says, for the path of every event."""
    if isinstance(obj, dict):
        return identity_of(obj).uid
    uid: str = obj.metadata.uid or ""
    return uid


def version_of(obj: Any) -> str:
    if isinstance(obj, dict):
        return identity_of(obj).resource_version
    version: str = obj.metadata.resource_version or ""
    return version


def labels_of(obj: Any) -> dict[str, str]:
    metadata = obj.get("metadata") or {} if isinstance(obj, dict) else obj.metadata
    found = metadata.get("labels") if isinstance(metadata, dict) else metadata.labels
    return found or {}


def meta_namespace_key(obj: Any) -> Key:
    """client-go's MetaNamespaceKeyFunc; of what was deleted unseen, the key that it had
    (DeletionHandlingMetaNamespaceKeyFunc).

    >>> str(meta_namespace_key({"metadata": {"namespace": "shop", "name": "web-0"}}))
    'shop/web-0'
    """
    if isinstance(obj, DeletedFinalStateUnknown):
        return obj.key
    return identity_of(obj).key


def split_meta_namespace_key(written: str) -> Key:
    """A key from its text. Raises InputError.

    >>> split_meta_namespace_key("n1")
    Key(namespace='', name='n1')
    """
    namespace, _, name = written.rpartition("/")
    if "/" in namespace:
        raise InputError(f'"{written}" is no key', remedy="write namespace/name, or a name")
    return Key(namespace, name)


class DeletedFinalStateUnknown(NamedTuple):
    """An object that was deleted while nobody watched: what a list lacks. `obj` is how it was last
    known."""

    key: Key
    obj: Any


def last_state(obj: Any) -> Any:
    """What `on_delete` was told of, as it was at the end or as it was last known."""
    return obj.obj if isinstance(obj, DeletedFinalStateUnknown) else obj


def is_newer(version: str, known: str) -> bool:
    """Whether a resource version comes after one that is known, as far as can be said."""
    if version.isdecimal() and known.isdecimal():
        return int(version) > int(known)
    return version != known


def is_older(version: str, known: str) -> bool:
    """Whether it certainly comes before one that is known."""
    return version.isdecimal() and known.isdecimal() and int(version) < int(known)


T = TypeVar("T")
IndexFunc = Callable[[T], Iterable[Hashable]]

NAMESPACE_INDEX: Final = "namespace"


def index_by_namespace(obj: Any) -> tuple[str]:
    """client-go's MetaNamespaceIndexFunc."""
    return (meta_namespace_key(obj).namespace,)


class Index(Generic[T]):
    """Objects by something that they say."""

    def __init__(self, values_of: IndexFunc[T]) -> None:
        self.values_of = values_of
        self._found: dict[Hashable, dict[Key, T]] = {}

    def of(self, value: Hashable) -> list[T]:
        return list(self._found.get(value, {}).values())

    def keys_of(self, value: Hashable) -> list[Key]:
        return list(self._found.get(value, {}))

    def values(self) -> list[Hashable]:
        """Everything under which an object is found."""
        return list(self._found)

    def put(self, key: Key, old: T | None, new: T | None) -> None:
        if old is not None:
            for value in self.values_of(old):
                found = self._found.get(value)
                if found is not None:
                    found.pop(key, None)
                    if not found:
                        del self._found[value]
        if new is not None:
            for value in self.values_of(new):
                self._found.setdefault(value, {})[key] = new


class Indexer(Generic[T]):
    """A store with indexes; with one by namespace unless nobody asks for it."""

    def __init__(
        self,
        indexers: Mapping[str, IndexFunc[T]] | None = None,
        *,
        by_namespace: bool = True,
    ) -> None:
        self._objects: dict[tuple[str, str], T] = {}
        self._indexes: dict[str, Index[T]] = {}
        if by_namespace:
            self.add_index(NAMESPACE_INDEX, index_by_namespace)
        for name, values_of in (indexers or {}).items():
            self.add_index(name, values_of)

    def __len__(self) -> int:
        return len(self._objects)

    def add_index(self, name: str, values_of: IndexFunc[T]) -> Index[T]:
        """A further index, of what there is and of what will be. Raises InputError for a name that
        is taken."""
        if name in self._indexes:
            raise InputError(f'there is an index "{name}" already')
        made: Index[T] = Index(values_of)
        for key, obj in self._objects.items():
            made.put(Key(*key), None, obj)
        self._indexes[name] = made
        return made

    def index(self, name: str) -> Index[T]:
        """Raises InputError if there is no such index."""
        found = self._indexes.get(name)
        if found is None:
            known = did_you_mean(closest(name, sorted(self._indexes)))
            raise InputError(f'there is no index "{name}"', remedy=known)
        return found

    # --- reading ------------------------------------------------------------------------------

    def get(self, namespace: str, name: str) -> T | None:
        return self._objects.get((namespace, name))

    def get_by_key(self, key: tuple[str, str]) -> T | None:
        return self._objects.get(key)

    def list(self) -> builtins.list[T]:
        return [*self._objects.values()]

    def list_keys(self) -> builtins.list[Key]:
        return [Key(*key) for key in [*self._objects]]

    def by_index(self, name: str, value: Hashable) -> builtins.list[T]:
        return self.index(name).of(value)

    def index_keys(self, name: str, value: Hashable) -> builtins.list[Key]:
        return self.index(name).keys_of(value)

    def index_values(self, name: str) -> builtins.list[Hashable]:
        """client-go's ListIndexFuncValues."""
        return self.index(name).values()

    # --- writing ------------------------------------------------------------------------------

    def put(self, key: Key, obj: T) -> T | None:
        """client-go's Add and Update; what was there before."""
        old = self._objects.get(key)
        self._objects[key] = obj
        for index in self._indexes.values():
            index.put(key, old, obj)
        return old

    def delete(self, key: Key) -> T | None:
        """What was there, None if nothing was."""
        old = self._objects.pop(key, None)
        if old is not None:
            for index in self._indexes.values():
                index.put(key, old, None)
        return old
