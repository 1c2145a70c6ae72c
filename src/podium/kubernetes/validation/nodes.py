"""Nodes and namespaces."""

import re
from typing import Final

from podium.golang.json_values import JsonObject
from podium.kubernetes.rules.field_errors import duplicate, forbidden, invalid
from podium.kubernetes.validation.addresses import check_range
from podium.kubernetes.validation.names import label_problems, subdomain_problems
from podium.kubernetes.validation.object_meta import (
    Errors,
    built_in_meta_errors,
    built_in_meta_update_errors,
    check_label_key,
    meta_of,
)
from podium.kubernetes.validation.placement import check_taints
from podium.kubernetes.validation.resource_amounts import check_amount

_FEATURE: Final = re.compile(r"(?!.*/(?![a-zA-Z]))[A-Z][a-zA-Z0-9/]*")
_STANDARD_FINALIZERS: Final = ("kubernetes", "orphan", "foregroundDeletion")


def create_errors(node: JsonObject) -> Errors:
    errors = built_in_meta_errors(meta_of(node), False, subdomain_problems)
    spec: JsonObject = node.get("spec") or {}
    if spec.get("taints"):
        # upstream: taints once were an annotation, and are still told as metadata.
        check_taints(errors, spec["taints"], "metadata.taints")
    _check_status(errors, node)
    ranges = spec.get("podCIDRs") or []
    for index, text in enumerate(ranges):
        check_range(errors, text, f"spec.podCIDRs[{index}]")
    if len(ranges) > 2 or (len(ranges) == 2 and (":" in ranges[0]) == (":" in ranges[1])):
        detail = "may specify no more than one CIDR for each IP family"
        errors.append(invalid("spec.podCIDRs", ranges, detail))
    return errors


def update_errors(new: JsonObject, old: JsonObject) -> Errors:
    return [*create_errors(new), *status_errors(new, old)]


def status_errors(new: JsonObject, old: JsonObject) -> Errors:
    """What holds for every change of a node; for one of its status there is nothing else."""
    errors = built_in_meta_update_errors(meta_of(new), meta_of(old))
    _check_status(errors, new)
    spec: JsonObject = new.get("spec") or {}
    before: JsonObject = old.get("spec") or {}
    seen: set[tuple[str, str]] = set()
    for index, address in enumerate((new.get("status") or {}).get("addresses") or ()):
        this = address.get("type"), address.get("address")
        if this in seen:
            shown = {"Type": this[0], "Address": this[1]}
            errors.append(duplicate(f"status.addresses[{index}]", shown))
        seen.add(this)
    _check_fixed(errors, spec, before)
    if spec.get("taints"):
        check_taints(errors, spec["taints"], "metadata.taints")
    if (spec.get("externalID") or "") != (before.get("externalID") or ""):
        errors.append(forbidden("spec.externalID", "may not be updated"))
    return errors


def _check_fixed(errors: Errors, spec: JsonObject, before: JsonObject) -> None:
    """What may be set once."""
    ranges, earlier = spec.get("podCIDRs") or [], before.get("podCIDRs") or []
    detail = 'node updates may not change podCIDR except from "" to valid'
    if earlier and len(ranges) != len(earlier):
        errors.append(forbidden("spec.podCIDRs", detail))
    elif earlier:
        for text, kept in zip(ranges, earlier, strict=True):
            if text != kept:
                errors.append(forbidden("spec.podCIDRs", detail))
    provider, kept = spec.get("providerID") or "", before.get("providerID") or ""
    if kept and provider != kept:
        detail = 'node updates may not change providerID except from "" to valid'
        errors.append(forbidden("spec.providerID", detail))


def _check_status(errors: Errors, node: JsonObject) -> None:
    status: JsonObject = node.get("status") or {}
    for field in ("capacity", "allocatable"):
        for name, amount in sorted((status.get(field) or {}).items()):
            check_amount(errors, name, amount, f"status.{field}.{name}")
    features = status.get("declaredFeatures") or []
    for index, feature in enumerate(features):
        at = f"status.declaredFeatures[{index}]"
        if not _FEATURE.fullmatch(feature):
            detail = (
                f'invalid feature name "{feature}": must start with an UpperCamelCase segment, '
                "with subsequent segments separated by '/' (e.g., MyFeature or "
                "MyFeature/mySubFeature), and contain only alphanumeric characters and slashes"
            )
            errors.append(invalid(at, feature, detail))
        if index and features[index - 1] == feature:
            errors.append(duplicate(at, feature))
        elif index and features[index - 1] > feature:
            errors.append(invalid(at, feature, "list must be sorted alphabetically"))


def namespace_create_errors(namespace: JsonObject) -> Errors:
    errors = built_in_meta_errors(meta_of(namespace), False, label_problems)
    for finalizer in (namespace.get("spec") or {}).get("finalizers") or ():
        _check_finalizer(errors, finalizer, "spec.finalizers")
    return errors


def namespace_update_errors(new: JsonObject, old: JsonObject) -> Errors:
    changed = built_in_meta_update_errors(meta_of(new), meta_of(old))
    return [*namespace_create_errors(new), *changed]


def namespace_status_errors(new: JsonObject, old: JsonObject) -> Errors:
    errors = built_in_meta_update_errors(meta_of(new), meta_of(old))
    phase = (new.get("status") or {}).get("phase") or ""
    if not meta_of(new).get("deletionTimestamp"):
        if phase != "Active":
            detail = "may only be 'Active' if `deletionTimestamp` is empty"
            errors.append(invalid("status.Phase", phase, detail))
    elif phase != "Terminating":
        detail = "may only be 'Terminating' if `deletionTimestamp` is not empty"
        errors.append(invalid("status.Phase", phase, detail))
    return errors


def namespace_finalize_errors(new: JsonObject, old: JsonObject) -> Errors:
    errors = built_in_meta_update_errors(meta_of(new), meta_of(old))
    for index, finalizer in enumerate((new.get("spec") or {}).get("finalizers") or ()):
        _check_finalizer(errors, finalizer, f"spec.finalizers[{index}]")
    return errors


def _check_finalizer(errors: Errors, name: str, path: str) -> None:
    check_label_key(errors, name, path)
    if "/" not in name and name not in _STANDARD_FINALIZERS:
        detail = "name is neither a standard finalizer name nor is it fully qualified"
        errors.append(invalid(path, name, detail))
