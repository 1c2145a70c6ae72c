"""The quality-of-service class of a pod, which follows from requests and limits of CPU and memory.

Guaranteed: every container limits both and requests as much. BestEffort: nobody asks for anything.
Burstable: everything else. Pod-level resources decide alone where they are set.
"""

from typing import Final

from podium.api.json_values import JsonObject
from podium.api.quantity import nano

BEST_EFFORT: Final = "BestEffort"
BURSTABLE: Final = "Burstable"
GUARANTEED: Final = "Guaranteed"

_COMPUTE: Final = ("cpu", "memory")


def qos_class(spec: JsonObject) -> str:
    whole = spec.get("resources")
    if whole is not None:
        holders = [whole]
    else:
        containers = [*(spec.get("containers") or ()), *(spec.get("initContainers") or ())]
        holders = [container.get("resources") or {} for container in containers]
        if not any(holders):
            return BEST_EFFORT
    requests: dict[str, int] = {}
    limits: dict[str, int] = {}
    all_limited = True
    for resources in holders:
        _add(requests, resources.get("requests"))
        limited = _add(limits, resources.get("limits"))
        # upstream: pod-level requests without any limits may still make a pod Guaranteed, if
        # there are as many of them as limits, that is, none: so this asks only where limits are.
        if limited < len(_COMPUTE) and (whole is None or resources.get("limits")):
            all_limited = False
    if not requests and not limits:
        return BEST_EFFORT
    return GUARANTEED if all_limited and requests == limits else BURSTABLE


def _add(totals: dict[str, int], amounts: JsonObject | None) -> int:
    """Adds what is more than nothing; how many resources that were."""
    found = 0
    for name in _COMPUTE:
        amount = nano(amounts[name]) if amounts and name in amounts else 0
        if amount > 0:
            totals[name] = totals.get(name, 0) + amount
            found += 1
    return found
