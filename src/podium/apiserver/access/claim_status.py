"""Who may write which part of a resource claim's status.

The right to `resourceclaims/status` alone allows none of what others rely on: to allocate or
reserve a claim takes `resourceclaims/binding` in the whole cluster, to report the devices of a
driver takes `resourceclaims/driver` by the driver's name. Neither is served: they are rights only.
"""

from dataclasses import replace
from typing import Final

from podium.apiserver.access.attempts import Attempt, forbidden
from podium.apiserver.access.authorisation import judge
from podium.apiserver.access.grants import Grants
from podium.apiserver.access.users import User, service_account_of
from podium.golang.json_values import JsonObject
from podium.kubernetes.rules.field_errors import FieldError
from podium.kubernetes.rules.field_errors import forbidden as forbidden_field

_NODE_OF_ACCOUNT: Final = "authentication.kubernetes.io/node-name"
_DEVICE: Final = ("driver", "pool", "device", "shareID")


def claim_status_errors(
    user: User, attempt: Attempt, grants: Grants, new: JsonObject, old: JsonObject
) -> list[FieldError]:
    """What of a new status its writer may not write."""
    after, before = new.get("status") or {}, old.get("status") or {}
    errors: list[FieldError] = []
    if any(after.get(part) != before.get(part) for part in ("allocation", "reservedFor")):
        binding = replace(attempt, subresource="binding", namespace="", name="")
        refused = _refusal(user, grants, [binding])
        if refused:
            errors.append(
                forbidden_field(
                    "status.allocation",
                    "changing status.allocation or status.reservedFor requires"
                    f' resource="resourceclaims/binding", verb="{attempt.verb}" permission:'
                    f" {refused}",
                )
            )
    allocation = after.get("allocation")
    if allocation is None:
        return errors  # what is said of devices goes with the allocation
    verbs = [f"arbitrary-node:{attempt.verb}"]
    if _is_on(user, _node_of(allocation)):
        verbs.insert(0, f"associated-node:{attempt.verb}")
    for driver in sorted(_changed_drivers(after, before)):
        refused = _refusal(
            user,
            grants,
            [replace(attempt, verb=verb, subresource="driver", name=driver) for verb in verbs],
        )
        if refused:
            errors.append(
                forbidden_field(
                    "status.devices",
                    'changing status.devices requires resource="resourceclaims/driver",'
                    f' verb="[{" ".join(verbs)}]" permission: {refused}',
                )
            )
    return errors


def _refusal(user: User, grants: Grants, attempts: list[Attempt]) -> str:
    """Why none of these is allowed, in the words of the first; empty if one is."""
    verdicts = [judge(user, attempt, grants) for attempt in attempts]
    if any(verdict.allowed for verdict in verdicts):
        return ""
    return forbidden(user, attempts[0], verdicts[0].reason).message


def _changed_drivers(after: JsonObject, before: JsonObject) -> set[str]:
    new, old = _by_device(after), _by_device(before)
    changed = {key for key in (*new, *old) if new.get(key) != old.get(key)}
    return {key[0] for key in changed}


def _by_device(status: JsonObject) -> dict[tuple[str, ...], JsonObject]:
    return {
        tuple(device.get(field) or "" for field in _DEVICE): device
        for device in status.get("devices") or ()
    }


def _is_on(user: User, node: str) -> bool:
    """Whether a user is a service account whose token belongs to a pod of a node."""
    nodes = list(user.extra.get(_NODE_OF_ACCOUNT, ()))
    return bool(node) and nodes == [node] and service_account_of(user.name) is not None


def _node_of(allocation: JsonObject) -> str:
    """The one node that an allocation is bound to, if it is bound to one by name."""
    terms = (allocation.get("nodeSelector") or {}).get("nodeSelectorTerms") or []
    if len(terms) != 1 or terms[0].get("matchExpressions"):
        return ""
    match terms[0].get("matchFields") or []:
        case [{"key": "metadata.name", "operator": "In", "values": [str(name)]}]:
            return name
    return ""
