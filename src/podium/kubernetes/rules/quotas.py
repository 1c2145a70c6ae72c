"""Resource quotas: what a namespace may have, and what it has."""

from collections.abc import Iterable, Mapping
from typing import Literal

from podium.golang.json_values import JsonObject
from podium.kubernetes.kinds.meta import KubeObject, KubeStruct
from podium.kubernetes.rules.quantity_spelling import canonical, total
from podium.kubernetes.rules.quota_usage import (
    Amounts,
    Counted,
    is_in_scope,
    tracked_names,
    usage_of,
)


class ResourceQuotaSpec(KubeStruct, frozen=True):
    hard: dict[str, str] | None = None
    scopes: tuple[str, ...] | None = None
    scope_selector: JsonObject | None = None


class ResourceQuotaStatus(KubeStruct, frozen=True):
    hard: dict[str, str] | None = None
    used: dict[str, str] | None = None


class ResourceQuota(KubeObject, frozen=True):
    api_version: Literal["v1"] = "v1"
    kind: Literal["ResourceQuota"] = "ResourceQuota"
    spec: ResourceQuotaSpec = ResourceQuotaSpec()
    status: ResourceQuotaStatus = ResourceQuotaStatus()


def quota_usage(
    quota_spec: JsonObject, contents: Mapping[Counted, Iterable[JsonObject]], now_s: float
) -> Amounts:
    """What the contents of a namespace take of each amount that a quota limits and somebody
    counts; zero where nothing is there."""
    hard = quota_spec.get("hard") or {}
    used: Amounts = {}
    for kind, objects in contents.items():
        names = tracked_names(kind, hard)
        used |= dict.fromkeys(names, "0")
        for obj in objects:
            if not is_in_scope(quota_spec, kind, obj):
                continue
            usage = usage_of(kind, obj, now_s)
            for name in names:
                if name in usage:
                    used[name] = total(used[name], usage[name])
    return {name: canonical(amount) for name, amount in used.items()}
