"""Claims that want to look at devices in use: only in namespaces that are marked for it."""

from typing import Final

from podium.golang.json_values import JsonObject
from podium.kubernetes import status_errors
from podium.kubernetes.admission.lookup import Lookup
from podium.kubernetes.resources.resource import Resource
from podium.kubernetes.rules.field_errors import FieldError, forbidden

_MARK: Final = "resource.kubernetes.io/admin-access"
_TOLD: Final = (
    f"admin access to devices requires the `{_MARK}: true` label on the containing namespace"
)


def refuse_administration(resource: Resource, claim: JsonObject, lookup: Lookup) -> None:
    """Refuse a ResourceClaim or ResourceClaimTemplate with requests for administrators."""
    path, spec = "spec", claim.get("spec") or {}
    if resource.kind == "ResourceClaimTemplate":
        path, spec = "spec.spec", spec.get("spec") or {}
    problems = list(_problems(spec, path))
    if not problems:
        return
    namespace = lookup.find("", "namespaces", "", claim["metadata"].get("namespace") or "")
    labels = ((namespace or {}).get("metadata") or {}).get("labels") or {}
    if labels.get(_MARK) != "true":
        name = claim["metadata"].get("name", "")
        raise status_errors.invalid(resource.group, resource.kind, name, problems)


def _problems(spec: JsonObject, path: str) -> list[FieldError]:
    requests = (spec.get("devices") or {}).get("requests") or ()
    return [
        # upstream: the path leaves out which alternative it is.
        forbidden(f"{path}.devices.requests[{number}].adminAccess", _TOLD)
        for number, request in enumerate(requests)
        if (request.get("exactly") or {}).get("adminAccess")
    ]
