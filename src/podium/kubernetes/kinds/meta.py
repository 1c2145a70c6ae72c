"""The parts every Kubernetes object shares: metadata, owners and label selectors.

All objects in this package are frozen msgspec Structs that hold the fields scheduling reads. A
field that Kubernetes knows and scheduling does not read is named in the Struct's `UNREAD` set: it
is skipped in silence, while a name found in neither place is a user's typo and can be refused.
"""

from typing import ClassVar

import msgspec

Quantity = str | int | float
ResourceList = dict[str, Quantity]


class KubeStruct(msgspec.Struct, rename="camel", kw_only=True, omit_defaults=True, frozen=True):
    """What all typed parts of Kubernetes objects are made of."""

    UNREAD: ClassVar[frozenset[str]] = frozenset()


class OwnerReference(KubeStruct, frozen=True):
    api_version: str = ""
    kind: str = ""
    name: str = ""
    uid: str = ""
    controller: bool = False
    block_owner_deletion: bool = False


class ObjectMeta(KubeStruct, frozen=True):
    UNREAD = frozenset({"generateName", "managedFields", "selfLink"})

    name: str = ""
    namespace: str = ""
    uid: str = ""
    labels: dict[str, str] | None = None
    annotations: dict[str, str] | None = None
    owner_references: tuple[OwnerReference, ...] | None = None
    creation_timestamp: str | None = None
    deletion_timestamp: str | None = None
    resource_version: str = ""
    generation: int = 0
    finalizers: tuple[str, ...] | None = None
    deletion_grace_period_seconds: int | None = None

    @property
    def key(self) -> tuple[str, str]:
        return self.namespace, self.name

    @property
    def controller(self) -> OwnerReference | None:
        """The owner that is responsible for the object."""
        for owner in self.owner_references or ():
            if owner.controller:
                return owner
        return None

    @property
    def is_terminating(self) -> bool:
        return self.deletion_timestamp is not None

    def annotation(self, name: str) -> str:
        return (self.annotations or {}).get(name, "")

    def label(self, name: str) -> str:
        return (self.labels or {}).get(name, "")


class KubeObject(KubeStruct, frozen=True):
    """What all kinds have in common; by itself, an object of which only the metadata are read."""

    cluster_scoped: ClassVar[bool] = False
    """Whether objects of the kind are in no namespace."""

    api_version: str = ""
    kind: str = ""
    metadata: ObjectMeta = ObjectMeta()

    @property
    def name(self) -> str:
        return self.metadata.name

    @property
    def namespace(self) -> str:
        return self.metadata.namespace


class Condition(KubeStruct, frozen=True):
    type: str = ""
    status: str = ""
    reason: str = ""
    message: str = ""
    last_transition_time: str | None = None
    last_update_time: str | None = None


class LabelSelectorRequirement(KubeStruct, frozen=True):
    key: str = ""
    operator: str = ""
    values: tuple[str, ...] | None = None


class LabelSelector(KubeStruct, frozen=True):
    """A selector as written; `labels.selector_of` compiles it. Null and empty differ."""

    match_labels: dict[str, str] | None = None
    match_expressions: tuple[LabelSelectorRequirement, ...] | None = None
