"""The quality-of-service class of a pod, which follows from requests and limits of CPU and memory.

Guaranteed: every container limits both and requests as much. BestEffort: nobody asks for anything.
Burstable: everything else. Pod-level resources decide alone where they are set. The API server
writes the class of the pods that it keeps (`qos_class`); who reads a pod that no server has seen
works it out (`qos_class_of`), and arrives at the same.
"""

from collections.abc import Mapping, Sequence
from typing import Final

from podium.golang.json_values import JsonObject
from podium.kubernetes.kinds.meta import Quantity
from podium.kubernetes.kinds.pod import Pod, ResourceRequirements
from podium.kubernetes.rules.quantity import nano

BEST_EFFORT: Final = "BestEffort"
BURSTABLE: Final = "Burstable"
GUARANTEED: Final = "Guaranteed"

_COMPUTE: Final = ("cpu", "memory")

_Amounts = Mapping[str, Quantity] | None
_Holder = tuple[_Amounts, _Amounts]
"""(requests, limits) of a container or of a whole pod."""


def qos_class(spec: JsonObject) -> str:
    """The class by a pod's spec as JSON."""
    whole = spec.get("resources")
    if whole is not None:
        return _class_of([_written(whole)], pod_level=True)
    containers = [*(spec.get("containers") or ()), *(spec.get("initContainers") or ())]
    return _class_of([_written(c.get("resources") or {}) for c in containers], pod_level=False)


def qos_class_of(pod: Pod) -> str:
    """The class by a typed pod."""
    spec = pod.spec
    if spec.resources is not None:
        return _class_of([_typed(spec.resources)], pod_level=True)
    containers = (*(spec.containers or ()), *(spec.init_containers or ()))
    return _class_of([_typed(container.resources) for container in containers], pod_level=False)


def _written(resources: JsonObject) -> _Holder:
    return resources.get("requests"), resources.get("limits")


def _typed(resources: ResourceRequirements | None) -> _Holder:
    return (None, None) if resources is None else (resources.requests, resources.limits)


def _class_of(holders: Sequence[_Holder], *, pod_level: bool) -> str:
    requests: dict[str, int] = {}
    limits: dict[str, int] = {}
    all_limited = True
    for requested, limited in holders:
        _add(requests, requested)
        # upstream: pod-level requests without any limits may still make a pod Guaranteed, if
        # there are as many of them as limits, that is, none: so this asks only where limits are.
        if _add(limits, limited) < len(_COMPUTE) and (not pod_level or limited):
            all_limited = False
    if not requests and not limits:
        return BEST_EFFORT
    return GUARANTEED if all_limited and requests == limits else BURSTABLE


def _add(totals: dict[str, int], amounts: _Amounts) -> int:
    """Adds what is more than nothing; how many resources that were."""
    found = 0
    for name in _COMPUTE:
        amount = nano(amounts[name]) if amounts and name in amounts else 0
        if amount > 0:
            totals[name] = totals.get(name, 0) + amount
            found += 1
    return found
