"""Requests and limits of a pod as a whole, where they follow from those of its containers.

A pod that has pod-level limits gets pod-level requests: what its containers request together, or
else the limit. Huge pages cannot be overcommitted, so their pod-level limit follows from the
containers' limits in the same way.

Contract: runs after container requests were filled from container limits, before quantities are
rounded; formulas of sums with init containers and sidecars as in the pod's effective request.
"""

from collections.abc import Iterable

from podium.golang.json_values import JsonObject
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
