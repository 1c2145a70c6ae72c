"""What controllers write into the objects they make, whatever their kind: owners and conditions."""

from typing import NamedTuple

from podium.golang.json_values import JsonObject
from podium.kubernetes.kinds.meta import Condition, ObjectMeta


class Kind(NamedTuple):
    """A kind of controllers, as owner references name it."""

    api_version: str
    name: str


def owner_reference(kind: Kind, owner: ObjectMeta) -> JsonObject:
    """The reference that a controller writes into what it makes."""
    return {
        "apiVersion": kind.api_version,
        "kind": kind.name,
        "name": owner.name,
        "uid": owner.uid,
        "controller": True,
        "blockOwnerDeletion": True,
    }


def condition_of(conditions: tuple[Condition, ...] | None, wanted: str) -> Condition | None:
    return next((each for each in conditions or () if each.type == wanted), None)


def is_true(conditions: tuple[Condition, ...] | None, wanted: str) -> bool:
    found = condition_of(conditions, wanted)
    return found is not None and found.status == "True"
