"""What follows from the requests and limits of a pod's containers: the pod's own, and its class.

A pod that has pod-level limits gets pod-level requests: what its containers request together, or
else the limit. Huge pages cannot be overcommitted, so their pod-level limit follows from the
containers' limits in the same way.

Contract: runs after container requests were filled from container limits, before quantities are
rounded; formulas of sums with init containers and sidecars as in the pod's effective request.

The quality-of-service class of a pod, which follows from requests and limits of CPU and memory.
Guaranteed: every container limits both and requests as much. BestEffort: nobody asks for anything.
Burstable: everything else. Pod-level resources decide alone where they are set. The API server
writes the class of the pods that it keeps (`qos_class`); who reads a pod that no server has seen
works it out (`qos_class_of`), and arrives at the same.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from podium.golang.json_values import JsonObject
from podium.kubernetes.kinds.meta import Quantity
from podium.kubernetes.kinds.pod import Pod, ResourceRequirements
from podium.kubernetes.rules.quantity import nano
from podium.kubernetes.rules.quantity_spelling import total

_HUGE_PAGES = "hugepages-"
_SHARED = ("cpu", "memory")

Amounts = dict[str, str]


def set_pod_level_defaults(spec: JsonObject) -> None:
    resources = spec["resources"]
    if resources.get("limits") or resources.get("requests"):
        _limit_huge_pages(spec, resources)
    if resources.get("limits"):
        _request(spec, resources)


def _limit_huge_pages(spec: JsonObject, resources: JsonObject) -> None:
    limits = dict(resources.get("limits") or {})
    requested = resources.get("requests") or {}
    for name, amount in effective_amounts(spec, "limits").items():
        if name.startswith(_HUGE_PAGES) and name not in requested:
            limits.setdefault(name, amount)
    if limits:
        resources["limits"] = limits


def _request(spec: JsonObject, resources: JsonObject) -> None:
    requests = dict(resources.get("requests") or {})
    for name, amount in effective_amounts(spec, "requests").items():
        if name in _SHARED:
            requests.setdefault(name, amount)
    for name, amount in resources["limits"].items():
        if name in _SHARED or name.startswith(_HUGE_PAGES):
            requests.setdefault(name, amount)
    if requests:
        resources["requests"] = requests


def effective_amounts(spec: JsonObject, which: str) -> Amounts:
    """What the containers request or limit together: `which` is `requests` or `limits`."""
    amounts: Amounts = {}
    for container in spec.get("containers") or ():
        _add(amounts, _items(container, which))
    sidecars: Amounts = {}
    starting: Amounts = {}
    for container in spec.get("initContainers") or ():
        wanted = dict(_items(container, which))
        if container.get("restartPolicy") == "Always":
            _add(amounts, wanted.items())
            _add(sidecars, wanted.items())
            wanted = {name: sidecars[name] for name in wanted}
        else:
            _add(wanted, [(name, sidecars[name]) for name in wanted if name in sidecars])
        _raise(starting, wanted)
    _raise(amounts, starting)
    return amounts


def _items(container: JsonObject, which: str) -> Iterable[tuple[str, str]]:
    resources = container.get("resources") or {}
    amounts: JsonObject = resources.get(which) or {}
    return [(name, str(amount)) for name, amount in amounts.items()]


def _add(amounts: Amounts, more: Iterable[tuple[str, str]]) -> None:
    for name, amount in list(more):
        amounts[name] = total(amounts[name], amount) if name in amounts else amount


def _raise(amounts: Amounts, least: Amounts) -> None:
    for name, amount in least.items():
        if name not in amounts or nano(amounts[name]) < nano(amount):
            amounts[name] = amount


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
        return _class_of([_write_holder(whole)], pod_level=True)
    containers = [*(spec.get("containers") or ()), *(spec.get("initContainers") or ())]
    return _class_of([_write_holder(c.get("resources") or {}) for c in containers], pod_level=False)


def qos_class_of(pod: Pod) -> str:
    """The class by a typed pod."""
    spec = pod.spec
    if spec.resources is not None:
        return _class_of([_requests_and_limits(spec.resources)], pod_level=True)
    containers = (*(spec.containers or ()), *(spec.init_containers or ()))
    return _class_of(
        [_requests_and_limits(container.resources) for container in containers], pod_level=False
    )


def _write_holder(resources: JsonObject) -> _Holder:
    return resources.get("requests"), resources.get("limits")


def _requests_and_limits(resources: ResourceRequirements | None) -> _Holder:
    return (None, None) if resources is None else (resources.requests, resources.limits)


def _class_of(holders: Sequence[_Holder], *, pod_level: bool) -> str:
    requests: dict[str, int] = {}
    limits: dict[str, int] = {}
    all_limited = True
    for requested, limited in holders:
        _add_amounts(requests, requested)
        # upstream: pod-level requests without any limits may still make a pod Guaranteed, if
        # there are as many of them as limits, that is, none: so this asks only where limits are.
        if _add_amounts(limits, limited) < len(_COMPUTE) and (not pod_level or limited):
            all_limited = False
    if not requests and not limits:
        return BEST_EFFORT
    return GUARANTEED if all_limited and requests == limits else BURSTABLE


def _add_amounts(totals: dict[str, int], amounts: _Amounts) -> int:
    """Adds what is more than nothing; how many resources that were."""
    found = 0
    for name in _COMPUTE:
        amount = nano(amounts[name]) if amounts and name in amounts else 0
        if amount > 0:
            totals[name] = totals.get(name, 0) + amount
            found += 1
    return found
