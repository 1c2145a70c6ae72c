"""`/metrics/resources`: what pods ask for and are limited to, a series for each pod and resource.

There are as many series as pods have resources, so the text comes in pieces and whoever sends it
lets others work in between. Amounts are worked out once for pods that share their containers.

Contract: pods that have ended are left out, and so is what is zero. Requests are those of the pod's
spec, without what a resize has given; overhead is added to requests always, to limits only where
there is one (`pkg/scheduler/metrics/resources/resources.go`, `podRequestsAndLimitsByLifecycle`;
`staging/src/k8s.io/component-helpers/resource/helpers.go`, `PodRequests` and `PodLimits`).

Worked example: a container {requests cpu 100m; limits cpu 1, memory 1Gi}, a sidecar {limits cpu
500m}, overhead {cpu 50m, memory 10Mi}: requests 0.15 cores and 10Mi, limits 1.55 cores and 1034Mi.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final

from podium.kubernetes.kinds.meta import ResourceList
from podium.kubernetes.kinds.pod import Pod, ResourceRequirements
from podium.kubernetes.rules.quantity import NANO_PER_UNIT, nano
from podium.kubernetes.rules.requests import (
    ALL_REQUESTS,
    CPU,
    EPHEMERAL_STORAGE,
    MEMORY,
    pod_requests,
)
from podium.live.exposition import go_number
from podium.live.metric_definitions import POD_LIMIT, POD_REQUEST, Definition

_PODS_AT_ONCE: Final = 200
_ENDED: Final = ("Succeeded", "Failed")
_POD_LEVEL: Final = (CPU, MEMORY)
_BYTES: Final = (MEMORY, EPHEMERAL_STORAGE, "storage")

Amounts = Mapping[str, int]
"""Resource -> nano units."""


def resource_pieces(pods: Iterable[Pod]) -> Iterator[bytes]:
    """The text, a few hundred pods at a time."""
    living = [pod for pod in pods if not (pod.spec.node_name and pod.status.phase in _ENDED)]
    yield from _family(POD_REQUEST, living, _requests)
    yield from _family(POD_LIMIT, living, pod_limits)


def pod_limits(pod: Pod) -> dict[str, int]:
    """A pod's total limits in nano units, added up as requests are."""
    spec = pod.spec
    running: dict[str, int] = {}
    for container in spec.containers or ():
        _add(running, _limits(container.resources))
    sidecars: dict[str, int] = {}
    starting: dict[str, int] = {}
    for container in spec.init_containers or ():
        amounts = _limits(container.resources)
        if container.restart_policy == "Always":
            _add(running, amounts)
            _add(sidecars, amounts)
            amounts = sidecars
        else:
            _add(amounts, sidecars)
        _raise(starting, amounts)
    _raise(running, starting)
    pod_level = _limits(spec.resources)
    running.update(
        (name, amount)
        for name, amount in pod_level.items()
        if name in _POD_LEVEL or name.startswith("hugepages-")
    )
    for name, amount in _nanos(spec.overhead).items():
        if running.get(name):
            running[name] += amount
    return running


def _requests(pod: Pod) -> dict[str, int]:
    return pod_requests(pod, status_resources=False, rules=ALL_REQUESTS)


def _family(
    definition: Definition, pods: Sequence[Pod], amounts_of: Callable[[Pod], Amounts]
) -> Iterator[bytes]:
    """One metric; nothing at all if no pod has any of it."""
    start = f"# HELP {definition.name} {definition.help}\n# TYPE {definition.name} gauge\n"
    known: dict[tuple[int, ...], list[tuple[str, str]]] = {}
    for at in range(0, len(pods), _PODS_AT_ONCE):
        lines: list[str] = []
        for pod in pods[at : at + _PODS_AT_ONCE]:
            spec = pod.spec
            parts = (spec.containers, spec.init_containers, spec.overhead, spec.resources)
            key = tuple(map(id, parts))  # the pods are held, so nothing else gets their numbers
            ends = known.get(key)
            if ends is None:
                ends = known[key] = _ends(amounts_of(pod))
            lines.extend(_lines(definition.name, pod, ends))
        if lines:
            yield (start + "".join(lines)).encode()
            start = ""


def _ends(amounts: Amounts) -> list[tuple[str, str]]:
    """(labels that are the resource's, its value) of what is not zero."""
    return [
        (
            f'resource="{_escape_label(name)}",',
            f'unit="{_unit(name)}"}} {go_number(amount / NANO_PER_UNIT)}\n',
        )
        for name, amount in sorted(amounts.items())
        if amount
    ]


def _lines(name: str, pod: Pod, ends: list[tuple[str, str]]) -> Iterator[str]:
    metadata, spec = pod.metadata, pod.spec
    priority = "" if spec.priority is None else spec.priority
    before = (
        f'{name}{{namespace="{metadata.namespace}",node="{_escape_label(spec.node_name)}",'
        f'pod="{metadata.name}",priority="{priority}",'
    )
    scheduler = f'scheduler="{_escape_label(spec.scheduler_name)}",'
    for resource, rest in ends:
        yield f"{before}{resource}{scheduler}{rest}"


def _unit(name: str) -> str:
    if name == CPU:
        return "cores"
    if name in _BYTES or name.startswith("hugepages-"):
        return "bytes"
    return "integer" if name.startswith("attachable-volumes-") else ""


def _escape_label(value: str) -> str:
    return value.replace("\\", r"\\").replace("\n", r"\n").replace('"', r"\"")


def _limits(resources: ResourceRequirements | None) -> dict[str, int]:
    return {} if resources is None else _nanos(resources.limits)


def _nanos(resources: ResourceList | None) -> dict[str, int]:
    return {name: nano(quantity) for name, quantity in (resources or {}).items()}


def _add(total: dict[str, int], amounts: Amounts) -> None:
    for name, amount in amounts.items():
        total[name] = total.get(name, 0) + amount


def _raise(total: dict[str, int], amounts: Amounts) -> None:
    for name, amount in amounts.items():
        total[name] = max(total.get(name, 0), amount)
