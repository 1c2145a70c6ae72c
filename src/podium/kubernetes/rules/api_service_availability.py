"""Whether the service of an APIService can be asked, as far as stored objects tell.

upstream: `remote_available_controller.go`, whose reasons and texts these are. The rest is found
out by asking the service itself.
"""

from typing import Final, NamedTuple

from podium.golang.json_values import JsonObject
from podium.golang.quoting import quoted
from podium.kubernetes.admission.lookup import Lookup

_SERVICE_LABEL: Final = "kubernetes.io/service-name"


class Availability(NamedTuple):
    """The condition Available of an APIService, without its time."""

    status: str
    reason: str
    message: str

    def condition(self, now: str) -> JsonObject:
        return {
            "type": "Available",
            "status": self.status,
            "lastTransitionTime": now,
            "reason": self.reason,
            "message": self.message,
        }


LOCAL: Final = Availability("True", "Local", "Local APIServices are always available")
PASSED: Final = Availability("True", "Passed", "all checks passed")


def failed_discovery(why: str) -> Availability:
    return Availability("False", "FailedDiscoveryCheck", why)


def condition_of(api_service: JsonObject) -> JsonObject | None:
    for each in (api_service.get("status") or {}).get("conditions") or ():
        if each.get("type") == "Available":
            found: JsonObject = each
            return found
    return None


def is_available(api_service: JsonObject) -> bool:
    condition = condition_of(api_service)
    return condition is not None and condition.get("status") == "True"


def missing_service(lookup: Lookup, reference: JsonObject) -> Availability | None:
    """Why the service cannot be asked; None if it might."""
    namespace, name = reference["namespace"], reference["name"]
    told = f"service/{name} in {quoted(namespace)}"
    service = lookup.find("", "services", namespace, name)
    if service is None:
        return Availability("False", "ServiceNotFound", f"{told} is not present")
    if service["spec"].get("type") != "ClusterIP":
        return None
    number = reference["port"]
    port = next(
        (each for each in service["spec"].get("ports") or () if each["port"] == number), None
    )
    if port is None:
        return Availability(
            "False", "ServicePortError", f"{told} is not listening on port {number}"
        )
    slices = lookup.summaries("discovery.k8s.io", "endpointslices", namespace, _read_slice)
    found = [each for _, each in slices if each.service == name]
    if not found:
        return Availability("False", "EndpointsNotFound", f"cannot find endpointslices for {told}")
    port_name = port.get("name") or ""
    if not any(each.is_ready and port_name in each.ports for each in found):
        return Availability(
            "False",
            "MissingEndpoints",
            f"endpointslices for {told} have no addresses with port name {quoted(port_name)}",
        )
    return None


class _Slice(NamedTuple):
    service: str
    ports: frozenset[str]
    is_ready: bool


def _read_slice(obj: JsonObject) -> _Slice:
    labels = obj["metadata"].get("labels") or {}
    return _Slice(
        labels.get(_SERVICE_LABEL, ""),
        frozenset(
            each["name"] for each in obj.get("ports") or () if "name" in each and "port" in each
        ),
        any(
            (each.get("conditions") or {}).get("ready") is not False
            for each in obj.get("endpoints") or ()
        ),
    )
