"""APIServices and requests for certificates."""

from typing import Final

from podium.golang.json_values import JsonObject
from podium.kubernetes.tables.ages import human_duration
from podium.kubernetes.tables.printer import (
    NONE,
    Cells,
    Printer,
    age_of,
    columns_of,
    name_of,
    spec_of,
    status_of,
)


def _api_service(obj: JsonObject, now: float) -> Cells:
    service = spec_of(obj).get("service")
    shown = "Local" if service is None else f"{service.get('namespace')}/{service.get('name')}"
    return [name_of(obj), shown, _availability(obj), age_of(obj, now)]


def _availability(obj: JsonObject) -> str:
    for condition in status_of(obj).get("conditions") or ():
        if condition.get("type") == "Available":
            status, reason = str(condition.get("status") or ""), condition.get("reason")
            return status if status == "True" or not reason else f"{status} ({reason})"
    return "Unknown"


def _certificate_request(obj: JsonObject, now: float) -> Cells:
    spec = spec_of(obj)
    expiration = spec.get("expirationSeconds")
    return [
        name_of(obj),
        age_of(obj, now),
        spec.get("signerName") or NONE,
        spec.get("username") or "",
        NONE if expiration is None else human_duration(expiration),
        _decision(obj),
    ]


def _decision(obj: JsonObject) -> str:
    types = {each.get("type") for each in status_of(obj).get("conditions") or ()}
    told = "Denied" if "Denied" in types else "Approved" if "Approved" in types else "Pending"
    if "Failed" in types:
        told += ",Failed"
    return f"{told},Issued" if status_of(obj).get("certificate") else told


API_SERVICE: Final = Printer(columns_of("Name", "Service", "Available", "Age"), _api_service)
CERTIFICATE_REQUEST: Final = Printer(
    columns_of("Name", "Age", "SignerName", "Requestor", "RequestedDuration", "Condition"),
    _certificate_request,
)
