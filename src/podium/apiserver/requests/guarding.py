"""What a request must be allowed to besides its verb.

A request is authorised before anything is known of the object. Some need a second look at that
point: an update or an apply that turns out to create, and roles and bindings, which may not give
away more than their writer has.
"""

from dataclasses import replace

from podium.apiserver.access.authorisation import require
from podium.apiserver.access.escalation import confirm_no_escalation
from podium.apiserver.json_values import JsonObject
from podium.apiserver.requests.call import Call
from podium.apiserver.resources.resource import Resource


def require_create(call: Call) -> None:
    """Refuse to create on behalf of somebody who may only update or patch."""
    if call.attempt is not None and call.grants is not None:
        require(call.user, replace(call.attempt, verb="create"), call.grants)


def guard_policy(
    call: Call, resource: Resource, new: JsonObject, old: JsonObject | None = None
) -> None:
    """Refuse a role or binding by which somebody would give more than they have."""
    if call.attempt is not None and call.grants is not None:
        confirm_no_escalation(call.user, call.attempt, call.grants, resource, new, old)
