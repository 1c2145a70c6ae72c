"""The parts that all objects share: metadata and owners."""

from typing import Any

import msgspec

JsonObject = dict[str, Any]
"""Content that is passed on as it is, or a document that is being written."""


class Part(msgspec.Struct, rename="camel", kw_only=True, frozen=True, omit_defaults=True):
    """What all typed parts of objects are made of."""


class Owner(Part, frozen=True):
    api_version: str = ""
    kind: str = ""
    name: str = ""
    uid: str = ""
    controller: bool = False
    block_owner_deletion: bool = False


class Meta(Part, frozen=True):
    name: str = ""
    namespace: str = ""
    uid: str = ""
    resource_version: str = ""
    generation: int = 0
    labels: dict[str, str] | None = None
    annotations: dict[str, str] | None = None
    owner_references: tuple[Owner, ...] | None = None
    finalizers: tuple[str, ...] | None = None
    creation_timestamp: str | None = None
    deletion_timestamp: str | None = None
    deletion_grace_period_seconds: int | None = None

    @property
    def key(self) -> tuple[str, str]:
        return self.namespace, self.name

    @property
    def controller(self) -> Owner | None:
        """The owner that is responsible for the object."""
        return next((owner for owner in self.owner_references or () if owner.controller), None)

    @property
    def is_terminating(self) -> bool:
        return self.deletion_timestamp is not None

    def annotation(self, name: str) -> str:
        return (self.annotations or {}).get(name, "")

    def label(self, name: str) -> str:
        return (self.labels or {}).get(name, "")


class Thing(Part, frozen=True):
    """An object of which only the metadata matter; also what all other kinds have in common."""

    metadata: Meta = Meta()

    @property
    def name(self) -> str:
        return self.metadata.name

    @property
    def namespace(self) -> str:
        return self.metadata.namespace


class Condition(Part, frozen=True):
    type: str = ""
    status: str = ""
    reason: str = ""
    message: str = ""
    last_transition_time: str | None = None
    last_update_time: str | None = None


def condition_of(conditions: tuple[Condition, ...] | None, wanted: str) -> Condition | None:
    return next((each for each in conditions or () if each.type == wanted), None)


def is_true(conditions: tuple[Condition, ...] | None, wanted: str) -> bool:
    found = condition_of(conditions, wanted)
    return found is not None and found.status == "True"


def owner_reference(api_version: str, kind: str, owner: Meta) -> JsonObject:
    """The reference that a controller writes into what it makes."""
    return {
        "apiVersion": api_version,
        "kind": kind,
        "name": owner.name,
        "uid": owner.uid,
        "controller": True,
        "blockOwnerDeletion": True,
    }
