"""ResourceQuota: nothing is written that takes more than its namespace may have.

What is used is added up from the objects themselves, so a quota holds from the moment it is there.

upstream: kube-apiserver goes by the quota's status, and refuses everything until a controller has
written it; what it adds to that status here is left to the controller.
"""

from collections.abc import Sequence
from functools import partial
from typing import Final, NamedTuple

import msgspec

from podium.golang.json_values import JsonObject
from podium.kubernetes import status_errors
from podium.kubernetes.admission.lookup import Lookup
from podium.kubernetes.resources.resource import ApiResource
from podium.kubernetes.rules.quantity import nano
from podium.kubernetes.rules.quantity_spelling import canonical, total
from podium.kubernetes.rules.quota_usage import (
    CLAIMS,
    PODS,
    SERVICES,
    Amounts,
    Counted,
    is_charged,
    is_in_scope,
    missing_amounts,
    tracked_names,
    usage_of,
)
from podium.kubernetes.rules.timestamps import seconds_of

_MEASURED: Final = (PODS, SERVICES, CLAIMS)


class _Quota(NamedTuple):
    name: str
    spec: JsonObject
    scope: bytes
    """What decides which objects count; quotas with the same add up the same."""


class _Charge(NamedTuple):
    """What an object in the store takes, and what decides for which quotas it counts."""

    usage: Amounts
    seen: JsonObject


def refuse_beyond_quota(
    resource: ApiResource, new: JsonObject, lookup: Lookup, old: JsonObject | None = None
) -> None:
    """StatusError if a new or changed object takes more than is left."""
    namespace = new["metadata"].get("namespace") or ""
    quotas = lookup.get_derived("", "resourcequotas", _by_namespace).get(namespace)
    kind = Counted(resource.group, resource.plural)
    if not quotas or (old is not None and not _may_take_more(kind, new, old)):
        return
    for quota in quotas:
        _refuse_beyond(quota, resource, new, lookup, old)


def _may_take_more(kind: Counted, new: JsonObject, old: JsonObject) -> bool:
    """Changes matter only of what is measured, and only those of its specification."""
    return kind in _MEASURED and new.get("spec") != old.get("spec")


def _refuse_beyond(
    quota: _Quota, resource: ApiResource, new: JsonObject, lookup: Lookup, old: JsonObject | None
) -> None:
    kind = Counted(resource.group, resource.plural)
    hard: Amounts = quota.spec.get("hard") or {}
    names = tracked_names(kind, hard)
    if not names or not is_in_scope(quota.spec, kind, new):
        return
    name = new["metadata"].get("name", "")
    if kind == PODS and (missing := missing_amounts(names, new)):
        why = f"failed quota: {quota.name}: {missing}"
        raise status_errors.forbidden(resource, name, why)
    asked = usage_of(kind, new)
    if old is not None and is_in_scope(quota.spec, kind, old):
        asked = _difference(asked, usage_of(kind, old))
    asked = {each: asked[each] for each in names if nano(asked.get(each, "0")) > 0}
    if not asked:
        return
    used = _sum_usage(quota, resource, new, lookup)
    exceeded = [
        each for each in asked if nano(asked[each]) + nano(used.get(each, "0")) > nano(hard[each])
    ]
    if exceeded:
        why = (
            f"exceeded quota: {quota.name}, requested: {_format_amounts(asked, exceeded)}, "
            f"used: {_format_amounts(used, exceeded)}, limited: {_format_amounts(hard, exceeded)}"
        )
        raise status_errors.forbidden(resource, name, why)


def _difference(new: Amounts, old: Amounts) -> Amounts:
    """What is requested in addition; nothing where less is."""
    return {
        name: total(amount, f"-{old[name]}") if nano(old.get(name, "0")) else amount
        for name, amount in new.items()
        if nano(amount) > nano(old.get(name, "0"))
    }


class _Used:
    """What the objects of a namespace take, those that are in a quota's scope: a `RunningSum`.

    Most objects count the same at all times. A pod that is being deleted counts until its grace
    period is over, so that is looked at when somebody asks.
    """

    def __init__(self, quota_spec: JsonObject, kind: Counted) -> None:
        self._quota_spec = quota_spec
        self._kind = kind
        self._used: Amounts = {}
        self._leaving: list[_Charge] = []

    def add(self, charge: _Charge) -> None:
        if is_in_scope(self._quota_spec, self._kind, charge.seen):
            if self._is_leaving(charge):
                self._leaving.append(charge)
            else:
                _add_to(self._used, self._usage(charge, None))

    def remove(self, charge: _Charge) -> None:
        if is_in_scope(self._quota_spec, self._kind, charge.seen):
            if self._is_leaving(charge):
                self._leaving.remove(charge)
            else:
                usage = self._usage(charge, None)
                _add_to(self._used, {name: _negate_amount(usage[name]) for name in usage})

    def at(self, now_s: float | None) -> Amounts:
        if not self._leaving:
            return self._used
        used = dict(self._used)
        for charge in self._leaving:
            _add_to(used, self._usage(charge, now_s))
        return used

    def _is_leaving(self, charge: _Charge) -> bool:
        return self._kind == PODS and "deletionTimestamp" in (charge.seen.get("metadata") or ())

    def _usage(self, charge: _Charge, now_s: float | None) -> Amounts:
        if self._kind == PODS and not is_charged(charge.seen, now_s):
            return {self._kind.count_name: "1"}
        return charge.usage or usage_of(self._kind, {})


def _add_to(used: Amounts, usage: Amounts) -> None:
    for name, amount in usage.items():
        used[name] = total(used[name], amount) if name in used else amount


def _negate_amount(amount: str) -> str:
    return amount[1:] if amount.startswith("-") else f"-{amount}"


def _sum_usage(quota: _Quota, resource: ApiResource, new: JsonObject, lookup: Lookup) -> Amounts:
    """What the objects of the namespace take of a quota's amounts."""
    kind = Counted(resource.group, resource.plural)
    metadata = new["metadata"]
    created = metadata.get("creationTimestamp")
    now_s = seconds_of(created) if created else None
    charges = lookup.summaries(
        kind.group,
        kind.plural,
        metadata["namespace"],
        _SUMMARIES.get(kind, _charge_for_other),
        resource.version,
    )
    return charges.sum(quota.scope, partial(_Used, quota.spec, kind)).at(now_s)


def _charge_for_pod(obj: JsonObject) -> _Charge:
    return _Charge(usage_of(PODS, obj), _reduce_object(obj))


def _charge_for_service(obj: JsonObject) -> _Charge:
    return _Charge(usage_of(SERVICES, obj), {})


def _charge_for_claim(obj: JsonObject) -> _Charge:
    return _Charge(usage_of(CLAIMS, obj), _reduce_object(obj))


def _charge_for_other(_: JsonObject) -> _Charge:
    return _Charge({}, {})


_SUMMARIES: Final = {
    PODS: _charge_for_pod,
    SERVICES: _charge_for_service,
    CLAIMS: _charge_for_claim,
}
_SEEN: Final = {
    "metadata": ("deletionTimestamp", "deletionGracePeriodSeconds"),
    "spec": (
        "activeDeadlineSeconds",
        "affinity",
        "priorityClassName",
        "volumeAttributesClassName",
    ),
    "status": ("currentVolumeAttributesClassName", "modifyVolumeStatus", "phase", "qosClass"),
}


def _reduce_object(obj: JsonObject) -> JsonObject:
    """The little of an object that scopes and grace periods are about."""
    return {
        part: {name: obj[part][name] for name in names if name in obj[part]}
        for part, names in _SEEN.items()
        if obj.get(part)
    }


def _by_namespace(quotas: Sequence[JsonObject]) -> dict[str, list[_Quota]]:
    found: dict[str, list[_Quota]] = {}
    for each in quotas:
        metadata = each["metadata"]
        spec = each.get("spec") or {}
        scope = msgspec.json.encode((spec.get("scopes"), spec.get("scopeSelector")))
        quota = _Quota(metadata["name"], spec, scope)
        found.setdefault(metadata["namespace"], []).append(quota)
    return found


def _format_amounts(amounts: Amounts, names: Sequence[str]) -> str:
    return ",".join(f"{name}={canonical(amounts.get(name, '0'))}" for name in sorted(names))
