"""What the contents of a namespace take of the amounts that its quotas limit."""

from collections.abc import Iterable, Mapping

from podium.golang.json_values import JsonObject
from podium.kubernetes.rules.quantity_spelling import canonical, total
from podium.kubernetes.rules.quota_usage import (
    Amounts,
    Counted,
    is_in_scope,
    tracked_names,
    usage_of,
)


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
