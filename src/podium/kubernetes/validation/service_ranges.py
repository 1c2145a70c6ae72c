"""Ranges of service addresses, and addresses that are taken from them."""

from collections.abc import Sequence
from typing import Final

from podium.golang.json_values import JsonObject
from podium.kubernetes.rules.field_errors import IMMUTABLE, invalid, required
from podium.kubernetes.validation.addresses import check_address, check_range, range_of
from podium.kubernetes.validation.go_forms import go_form
from podium.kubernetes.validation.names import path_segment_problems, subdomain_problems
from podium.kubernetes.validation.object_meta import (
    Errors,
    built_in_meta_errors,
    built_in_meta_update_errors,
    meta_of,
)

_PATH: Final = "spec.cidrs"
_FAMILIES: Final = (
    "may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64"
)


def _cidrs(obj: JsonObject) -> Sequence[str]:
    return (obj.get("spec") or {}).get("cidrs") or []


def range_create_errors(obj: JsonObject) -> Errors:
    errors = built_in_meta_errors(meta_of(obj), False, subdomain_problems)
    _check_ranges(errors, _cidrs(obj))
    return errors


def _check_ranges(errors: Errors, cidrs: Sequence[str]) -> None:
    if not cidrs:
        errors.append(required(_PATH, "at least one CIDR required"))
        return
    if len(cidrs) > 2:
        shown = {"CIDRs": list(cidrs)}
        errors.append(invalid(_PATH, shown, "may only hold up to 2 values"))
        return
    for index, cidr in enumerate(cidrs):
        check_range(errors, cidr, f"{_PATH}[{index}]")
    found = [range_of(cidr) for cidr in cidrs]
    families = [each.version for each in found if each is not None]
    if len(families) == 2 and families[0] == families[1]:
        errors.append(invalid(_PATH, list(cidrs), _FAMILIES))


def range_update_errors(new: JsonObject, old: JsonObject) -> Errors:
    errors = built_in_meta_update_errors(meta_of(new), meta_of(old))
    now, before = _cidrs(new), _cidrs(old)
    if len(now) == len(before):
        for index, cidr in enumerate(before):
            if now[index] != cidr:
                errors.append(invalid(f"{_PATH}[{index}]", now[index], IMMUTABLE))
    elif len(before) == 1 and len(now) == 2:
        if now[0] != before[0]:
            errors.append(invalid(f"{_PATH}[0]", now[0], IMMUTABLE))
        _check_ranges(errors, now)
    else:
        errors.append(invalid(_PATH, list(now), IMMUTABLE))
    return errors


def address_create_errors(obj: JsonObject) -> Errors:
    errors = built_in_meta_errors(meta_of(obj), False, _address_problems)
    parent = (obj.get("spec") or {}).get("parentRef")
    if parent is None:
        errors.append(required("spec.parentRef"))
        return errors
    path, group = "spec.parentRef", parent.get("group") or ""
    for problem in subdomain_problems(group) if group else ():
        errors.append(invalid(f"{path}.group", group, problem))
    for field in ("resource", "name", "namespace"):
        text = parent.get(field) or ""
        if not text and field != "namespace":
            errors.append(required(f"{path}.{field}"))
        for problem in path_segment_problems(text):
            errors.append(invalid(f"{path}.{field}", text, problem))
    return errors


def _address_problems(name: str) -> list[str]:
    """The name of an address is itself."""
    errors: Errors = []
    check_address(errors, name, "")
    return [error.detail for error in errors]


def address_update_errors(new: JsonObject, old: JsonObject) -> Errors:
    errors = built_in_meta_update_errors(meta_of(new), meta_of(old))
    now, before = ((each.get("spec") or {}).get("parentRef") for each in (new, old))
    if now != before:
        shown = now and go_form("networking", "ParentReference", now)
        errors.append(invalid("spec.parentRef", shown, IMMUTABLE))
    return errors
