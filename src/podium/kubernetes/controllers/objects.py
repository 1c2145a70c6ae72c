"""What controllers read and write of objects whatever their kind: owners, conditions, nodes and
leases.

Conditions are written when they change, with the time at which their status did. Patches of a
status are strategic merges in which conditions are known by their type, so only those that change
are sent.

Nodes, and the leases by which they show that they are alive.
"""

from typing import NamedTuple

from podium.golang.json_values import JsonObject
from podium.kubernetes.kinds.meta import Condition, KubeObject, KubeStruct, ObjectMeta
from podium.kubernetes.kinds.node import NodeAddress, NodeSpec
from podium.kubernetes.rules.timestamps import Moment


class OwnerKind(NamedTuple):
    """A kind of controllers, as owner references name it."""

    api_version: str
    name: str


def owner_reference(kind: OwnerKind, owner: ObjectMeta) -> JsonObject:
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


def changed_condition(
    present: tuple[Condition, ...] | None,
    moment: Moment,
    type_: str,
    status: str,
    reason: str,
    message: str,
    **more: object,
) -> JsonObject | None:
    """The condition to write; None if it says nothing new."""
    known = condition_of(present, type_)
    if known is not None and (known.status, known.reason, known.message) == (
        status,
        reason,
        message,
    ):
        return None
    since = moment.timestamp
    if known is not None and known.status == status and known.last_transition_time:
        since = known.last_transition_time
    return {
        "type": type_,
        "status": status,
        "reason": reason,
        "message": message,
        "lastTransitionTime": since,
        **more,
    }


def pod_disruption(moment: Moment, reason: str, message: str) -> JsonObject:
    """The condition on a pod that somebody is about to delete."""
    return {
        "type": "DisruptionTarget",
        "status": "True",
        "reason": reason,
        "message": message,
        "lastProbeTime": None,
        "lastTransitionTime": moment.timestamp,
    }


class NodeStatus(KubeStruct, frozen=True):
    conditions: tuple[Condition, ...] | None = None
    addresses: tuple[NodeAddress, ...] | None = None
    capacity: dict[str, str] | None = None
    allocatable: dict[str, str] | None = None


class Node(KubeObject, frozen=True):
    spec: NodeSpec = NodeSpec()
    status: NodeStatus = NodeStatus()

    @property
    def address(self) -> str:
        """Where it says that it can be reached inside the cluster."""
        for entry in self.status.addresses or ():
            if entry.type == "InternalIP":
                return entry.address
        return ""


class LeaseSpec(KubeStruct, frozen=True):
    holder_identity: str | None = None
    lease_duration_seconds: int | None = None
    renew_time: str | None = None


class Lease(KubeObject, frozen=True):
    spec: LeaseSpec = LeaseSpec()
