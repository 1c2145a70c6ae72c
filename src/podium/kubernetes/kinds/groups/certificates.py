"""The kinds of the group `certificates.k8s.io`."""

from typing import Final

from podium.golang.json_values import JsonObject
from podium.kubernetes.kinds.record import (
    STATUS_VERBS,
    Cells,
    Kind,
    Printer,
    Subresource,
    Validation,
    WriteStrategy,
    read_texts,
)
from podium.kubernetes.strategy.preparation import keep_field
from podium.kubernetes.tables.printer import (
    NONE,
    age_of,
    columns_of,
    human_duration,
    name_of,
    spec_of,
    status_of,
)
from podium.kubernetes.validation import certificate_requests

_DECIDED: Final = ("Approved", "Denied")


def _prepare_update(new: JsonObject, old: JsonObject, _now: str) -> None:
    """A write to the request itself changes its metadata only."""
    keep_field(new, old, "spec")


def _prepare_status_update(new: JsonObject, old: JsonObject, now: str) -> None:
    """A write to the status: conditions that are a decision stay as they are."""
    conditions = _conditions(new)
    for kind in _DECIDED:
        before = [each for each in _conditions(old) if each.get("type") == kind]
        places = [index for index, each in enumerate(conditions) if each.get("type") == kind]
        if len(before) == len(places):
            for index, condition in zip(places, before, strict=True):
                conditions[index] = condition
    _date_conditions(new, old, now)


def _prepare_approval(new: JsonObject, old: JsonObject, now: str) -> None:
    """A write to the approval: nothing but the conditions changes."""
    keep_field(new, old, "spec")
    _date_conditions(new, old, now)
    conditions = _conditions(new)
    new["status"] = dict(old.get("status") or {})
    new["status"].pop("conditions", None)
    if conditions:
        new["status"]["conditions"] = conditions


def _conditions(request: JsonObject) -> list[JsonObject]:
    found: list[JsonObject] = (request.get("status") or {}).get("conditions") or []
    return found


def _date_conditions(new: JsonObject, old: JsonObject, now: str) -> None:
    for condition in _conditions(new):
        if not condition.get("lastUpdateTime"):
            condition["lastUpdateTime"] = now
        if condition.get("lastTransitionTime"):
            continue
        same = (
            each["lastTransitionTime"]
            for each in _conditions(old)
            if each.get("lastTransitionTime")
            and (each.get("type"), each.get("status"))
            == (condition.get("type"), condition.get("status"))
        )
        condition["lastTransitionTime"] = next(same, now)


def _cells(obj: JsonObject, now: float) -> Cells:
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


KINDS: Final = (
    Kind(
        "certificates.k8s.io",
        "CertificateSigningRequest",
        "certificatesigningrequests",
        ("csr",),
        description="Asks for a certificate; kept, and signed by nobody here.",
        namespaced=False,
        has_status=True,
        subresources=(
            Subresource(
                "approval",
                "CertificateSigningRequest",
                STATUS_VERBS,
                prepare=_prepare_approval,
                validate=certificate_requests.approval_errors,
            ),
        ),
        validation=Validation(
            certificate_requests.create_errors,
            certificate_requests.update_errors,
            certificate_requests.status_errors,
        ),
        strategy=WriteStrategy(
            empty_status={}, update=_prepare_update, status=_prepare_status_update
        ),
        printer=Printer(
            columns_of("Name", "Age", "SignerName", "Requestor", "RequestedDuration", "Condition"),
            _cells,
        ),
        selectable_fields=read_texts("spec.signerName"),
    ),
)
