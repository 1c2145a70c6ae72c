"""How a deletion is asked for: in the query, or as a DeleteOptions body."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from podium.apiserver.requests import query
from podium.apiserver.requests.query import Parameters
from podium.golang.json_values import JsonObject
from podium.kubernetes import status_errors
from podium.kubernetes.rules import field_errors
from podium.kubernetes.rules.field_errors import FieldError

FOREGROUND: Final = "Foreground"
BACKGROUND: Final = "Background"
ORPHAN: Final = "Orphan"
_POLICIES: Final = (FOREGROUND, BACKGROUND, ORPHAN)


@dataclass(frozen=True, slots=True)
class DeleteOptions:
    """When and how to delete, and only if what."""

    grace_period_s: int | None = None
    uid: str | None = None
    resource_version: str | None = None
    orphan_dependents: bool | None = None
    propagation: str | None = None
    dry_run: bool = False

    @property
    def says_what_follows(self) -> bool:
        """Whether they say what is to become of the objects that depend on a deleted one."""
        return self.propagation is not None or self.orphan_dependents is not None

    def as_object(self) -> JsonObject:
        """The options that were given, as a DeleteOptions has them."""
        preconditions = {"uid": self.uid, "resourceVersion": self.resource_version}
        written = {
            "gracePeriodSeconds": self.grace_period_s,
            "preconditions": {key: value for key, value in preconditions.items() if value} or None,
            "orphanDependents": self.orphan_dependents,
            "propagationPolicy": self.propagation,
        }
        return {key: value for key, value in written.items() if value is not None}

    def with_grace(self, seconds: int) -> "DeleteOptions":
        return replace(self, grace_period_s=seconds)


def from_parameters(parameters: Parameters) -> DeleteOptions:
    dry_run = parameters.get("dryRun", ())
    propagation = query.text(parameters, "propagationPolicy") or None
    orphan = query.flag(parameters, "orphanDependents")
    _check(orphan, propagation, dry_run)
    return DeleteOptions(
        grace_period_s=query.integer(parameters, "gracePeriodSeconds"),
        orphan_dependents=orphan,
        propagation=propagation,
        dry_run=bool(dry_run),
    )


def from_object(value: JsonObject) -> DeleteOptions:
    """Options from a body that the schema of DeleteOptions has decoded."""
    preconditions = value.get("preconditions") or {}
    dry_run = value.get("dryRun") or ()
    propagation = value.get("propagationPolicy")
    orphan = value.get("orphanDependents")
    _check(orphan, propagation, dry_run)
    return DeleteOptions(
        grace_period_s=value.get("gracePeriodSeconds"),
        uid=preconditions.get("uid"),
        resource_version=preconditions.get("resourceVersion"),
        orphan_dependents=orphan,
        propagation=propagation,
        dry_run=bool(dry_run),
    )


def _check(orphan: bool | None, propagation: str | None, dry_run: Sequence[str]) -> None:
    problems: list[FieldError] = []
    if orphan is not None and propagation is not None:
        problems.append(
            field_errors.invalid(
                "propagationPolicy",
                propagation,
                "orphanDependents and deletionPropagation cannot be both set",
            )
        )
    if propagation is not None and propagation not in _POLICIES:
        problems.append(
            field_errors.not_supported("propagationPolicy", propagation, (*_POLICIES, "nil"))
        )
    problems += query.dry_run_problems(dry_run)
    if problems:
        raise status_errors.invalid("meta.k8s.io", "DeleteOptions", "", problems)
