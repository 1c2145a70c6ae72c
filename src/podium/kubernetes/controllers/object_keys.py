"""What tells objects apart: key, uid and resource version, of typed and of plain objects alike.

A plain object is what JSON decodes to, a dictionary; a typed one has `metadata` with attributes, as
those of `podium.kubernetes.kinds` have. Everything above this module reads neither form itself.

A resource version is compared as a number where both are numbers; where one is not, all that can be
said is whether they differ.
"""

from typing import Any, NamedTuple

from podium.golang.errors import InputError


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
