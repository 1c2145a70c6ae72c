"""Defaults of claims on devices and of the slices that offer them."""

from podium.golang.json_values import JsonObject
from podium.kubernetes.rules.quantity_spelling import canonical


def set_claim_defaults(claim: JsonObject) -> None:
    """Defaults of a ResourceClaim."""
    if claim.get("spec") is None:
        claim["spec"] = {}
    _set_claim_spec(claim["spec"])
    status = claim.get("status")
    if status is None:
        status = claim["status"] = {}
    allocation = status.get("allocation")
    if allocation:
        for result in (allocation.get("devices") or {}).get("results") or ():
            _set_tolerations(result)


def set_claim_template_defaults(template: JsonObject) -> None:
    """Defaults of a ResourceClaimTemplate."""
    spec = template.get("spec")
    if spec is None:
        spec = template["spec"] = {}
    if spec.get("metadata") is None:
        spec["metadata"] = {}
    if spec.get("spec") is None:
        spec["spec"] = {}
    _set_claim_spec(spec["spec"])


def set_slice_defaults(resource_slice: JsonObject) -> None:
    """Defaults of a ResourceSlice; taints get their time when the slice is written."""
    spec = resource_slice.get("spec") or {}
    for device in spec.get("devices") or ():
        _canonical_capacities(device.get("capacity"))
        for mapping in (device.get("nodeAllocatableResourceMappings") or {}).values():
            written = mapping.get("allocationMultiplier")
            mapping["allocationMultiplier"] = "1" if written is None else canonical(written)
    for counters in spec.get("sharedCounters") or ():
        _canonical_capacities(counters.get("counters"))


def _canonical_capacities(capacities: JsonObject | None) -> None:
    for capacity in (capacities or {}).values():
        if capacity.get("value") is not None:
            capacity["value"] = canonical(capacity["value"])


def _set_claim_spec(spec: JsonObject) -> None:
    if spec.get("devices") is None:
        spec["devices"] = {}
    for request in spec["devices"].get("requests") or ():
        if request.get("exactly") is not None:
            _set_request(request["exactly"])
        for alternative in request.get("firstAvailable") or ():
            _set_request(alternative)


def _set_request(request: JsonObject) -> None:
    if not request.get("allocationMode"):
        request["allocationMode"] = "ExactCount"
    if request["allocationMode"] == "ExactCount" and not request.get("count"):
        request["count"] = 1
    _set_tolerations(request)


def _set_tolerations(holder: JsonObject) -> None:
    for toleration in holder.get("tolerations") or ():
        if not toleration.get("operator"):
            toleration["operator"] = "Equal"
