"""What a request must be allowed to besides its verb.

A request is authorised before anything is known of its object. Some take a second look when it is:
an update or an apply that turns out to create; roles and bindings, which may not give away more
than their writer has; admission policies, which may not read more; the status of a resource claim,
whose parts belong to different writers.
"""

from dataclasses import replace

from podium.apiserver.access import parameter_rights
from podium.apiserver.access.authorisation import require
from podium.apiserver.access.claim_status import claim_status_errors
from podium.apiserver.access.escalation import confirm_no_escalation
from podium.apiserver.requests.call import Call
from podium.apiserver.requests.registry import Registry
from podium.golang.json_values import JsonObject
from podium.kubernetes.resources.resource import Resource
from podium.kubernetes.rules.field_errors import FieldError


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


def status_errors_of(
    call: Call, resource: Resource, subresource: str, new: JsonObject, old: JsonObject
) -> list[FieldError]:
    """What of a new status its writer may not write."""
    if call.attempt is None or call.grants is None:
        return []
    if subresource != "status" or resource.group_resource != "resourceclaims.resource.k8s.io":
        return []
    return claim_status_errors(call.user, call.attempt, call.grants, new, old)


def parameter_errors_of(
    registry: Registry,
    call: Call,
    resource: Resource,
    new: JsonObject,
    old: JsonObject | None = None,
) -> list[FieldError]:
    """What an admission policy would read that its writer may not."""
    if resource.group != parameter_rights.GROUP or call.attempt is None or call.grants is None:
        return []
    if call.user.may_do_everything:
        return []

    def find_policy(plural: str, name: str) -> JsonObject | None:
        return registry.lookup.find(parameter_rights.GROUP, plural, "", name)

    find_resource = registry.forms.resource_of_kind
    who = (call.user, call.grants)
    return parameter_rights.parameter_errors(*who, resource, new, old, find_policy, find_resource)
