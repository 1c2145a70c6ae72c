"""The kinds of the group `coordination.k8s.io`."""

from typing import Final

from podium.golang.json_values import JsonObject
from podium.kubernetes.kinds.record import Cells, Kind, Printer, Validation, WriteStrategy
from podium.kubernetes.rules.field_errors import forbidden, invalid
from podium.kubernetes.tables.printer import age_of, columns_of, name_of, spec_of
from podium.kubernetes.validation.names import subdomain_problems
from podium.kubernetes.validation.object_meta import (
    NOT_NEGATIVE,
    Errors,
    built_in_meta_errors,
    built_in_meta_update_errors,
    meta_of,
)


def _lease_create_errors(lease: JsonObject) -> Errors:
    errors = built_in_meta_errors(meta_of(lease), True, subdomain_problems)
    _check_lease_spec(errors, lease.get("spec") or {})
    return errors


def _lease_update_errors(new: JsonObject, old: JsonObject) -> Errors:
    errors = built_in_meta_update_errors(meta_of(new), meta_of(old))
    _check_lease_spec(errors, new.get("spec") or {})
    return errors


def _check_lease_spec(errors: Errors, spec: JsonObject) -> None:
    duration, transitions = spec.get("leaseDurationSeconds"), spec.get("leaseTransitions")
    if duration is not None and duration <= 0:
        errors.append(invalid("spec.leaseDurationSeconds", duration, "must be greater than 0"))
    if transitions is not None and transitions < 0:
        errors.append(invalid("spec.leaseTransitions", transitions, NOT_NEGATIVE))
    if spec.get("preferredHolder") and not spec.get("strategy"):
        detail = "may only be specified if `strategy` is defined"
        errors.append(forbidden("spec.preferredHolder", detail))


def _lease(obj: JsonObject, now: float) -> Cells:
    return [name_of(obj), spec_of(obj).get("holderIdentity") or "", age_of(obj, now)]


_LEASE: Final = Printer(columns_of("Name", "Holder", "Age"), _lease)

KINDS: Final = (
    Kind(
        "coordination.k8s.io",
        "Lease",
        "leases",
        description="Who holds a role, and until when.",
        gated_fields=tuple(
            ("CoordinatedLeaderElection", ("spec", field))
            for field in ("preferredHolder", "strategy")
        ),
        validation=Validation(_lease_create_errors, _lease_update_errors),
        strategy=WriteStrategy(gates_each_field=True),
        printer=_LEASE,
    ),
)
