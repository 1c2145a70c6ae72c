"""What a kubelet refuses to run, whoever has bound it: too much, in the way, or in the wrong place.

A pod that the scheduler has placed is refused only where things changed meanwhile; one that names
its node itself may be refused for good reason. Pods are looked at in the order of their making, so
that of two that are too much the first is taken (`pkg/kubelet/lifecycle/predicate.go`). A node
that runs short of memory takes no more pods that ask for nothing, and one that runs short of
anything else takes critical pods only (`pkg/kubelet/eviction`).
"""

from collections.abc import Callable, Iterable
from typing import Final, NamedTuple

import msgspec

from podium.kubernetes.controllers.objects import Node
from podium.kubernetes.controllers.pods import Pod
from podium.kubernetes.kinds.pod import Pod as SchedulerPod
from podium.kubernetes.kinds.typed_objects import convert_object
from podium.kubernetes.rules.node_affinity import required_of
from podium.kubernetes.rules.pod_level_resources import BEST_EFFORT
from podium.kubernetes.rules.priorities import MIN_CRITICAL_PRIORITY
from podium.kubernetes.rules.quantity import milli_value, value
from podium.kubernetes.rules.quantity_spelling import total
from podium.kubernetes.rules.quota_usage import pod_amounts
from podium.kubernetes.rules.tolerations import (
    COMPARISON_ALLOWED,
    NO_EXECUTE,
    NO_SCHEDULE,
    find_untolerated_taint,
    is_tolerated,
)

_PORTS: Final = "node(s) didn't have free ports for the requested pod ports"
_AFFINITY: Final = "node(s) didn't match Pod's node affinity/selector"
_TAINTS: Final = "node(s) had taints that the pod didn't tolerate"
_MEMORY: Final = "MemoryPressure"
_PRESSURES: Final = (_MEMORY, "DiskPressure", "PIDPressure")
_MEMORY_TAINT: Final = "node.kubernetes.io/memory-pressure"
_ANY_ADDRESS: Final = ("", "0.0.0.0")
_FIRST: Final = ("cpu", "memory", "ephemeral-storage")
Amounts = dict[str, int]


class Rejection(NamedTuple):
    reason: str
    message: str


class Port(NamedTuple):
    protocol: str
    number: int
    address: str

    def conflicts(self, other: "Port") -> bool:
        same = (self.protocol, self.number) == (other.protocol, other.number)
        anywhere = self.address in _ANY_ADDRESS or other.address in _ANY_ADDRESS
        return same and (anywhere or self.address == other.address)


class Needs(NamedTuple):
    """What a pod takes of its node."""

    amounts: Amounts
    """CPU in thousandths, everything else in units."""
    ports: tuple[Port, ...]


def needs_of(pod: Pod) -> Needs:
    amounts = pod_amounts(msgspec.to_builtins(pod.spec), "requests")
    for claimed in pod.status.node_allocatable_resource_claim_statuses or ():
        for name, amount in (claimed.resources or {}).items():
            if name not in ((pod.spec.resources or {}).get("requests") or {}):
                amounts[name] = total(amounts.get(name, "0"), str(amount))
    sidecars = [each for each in pod.spec.init_containers or () if each.is_sidecar]
    ports = [
        Port(port.protocol, port.host_port, port.host_ip)
        for container in (*(pod.spec.containers or ()), *sidecars)
        for port in container.ports or ()
        if port.host_port
    ]
    return Needs({name: _amount(name, each) for name, each in amounts.items()}, tuple(ports))


def _amount(name: str, quantity: str) -> int:
    return milli_value(quantity) if name == "cpu" else value(quantity)


def admit(
    pod: Pod, node: Node, others: Iterable[Pod], needs: Callable[[Pod], Needs] = needs_of
) -> Rejection | None:
    """Why a node cannot take a pod that has not started; None if it can."""
    started: list[Needs] = []
    before: list[Pod] = []
    for other in others:
        if other.is_ended or other.metadata.uid == pod.metadata.uid:
            continue
        if other.status.start_time:
            started.append(needs(other))
        elif _order(other) < _order(pod):
            before.append(other)
    for other in sorted(before, key=_order):
        if _rejection(other, needs(other), node, started) is None:
            started.append(needs(other))
    return _rejection(pod, needs(pod), node, started)


def _order(pod: Pod) -> tuple[str, str]:
    return pod.metadata.creation_timestamp or "", pod.metadata.uid


def _rejection(pod: Pod, wanted: Needs, node: Node, present: list[Needs]) -> Rejection | None:
    pressed = _pressure(pod, node)
    if pressed is not None:
        return pressed
    short = _shortage(wanted.amounts, node, present)
    if short is not None:
        return short
    if not _is_right_node(pod, node):
        return _predicate("NodeAffinity", _AFFINITY)
    taken = [port for each in present for port in each.ports]
    if any(port.conflicts(other) for port in wanted.ports for other in taken):
        return _predicate("NodePorts", _PORTS)
    given, expels = pod.spec.tolerations or (), (NO_EXECUTE,)
    if (
        find_untolerated_taint(node.spec.taints, given, expels, comparison=COMPARISON_ALLOWED)
        is not None
    ):
        return _predicate("TaintToleration", _TAINTS)
    return None


def _pressure(pod: Pod, node: Node) -> Rejection | None:
    conditions = node.status.conditions or ()
    pressures = [each.type for each in conditions if each.status == "True"]
    pressures = [name for name in _PRESSURES if name in pressures]
    if not pressures or (pod.spec.priority or 0) >= MIN_CRITICAL_PRIORITY:
        return None
    if pressures == [_MEMORY] and (
        pod.status.qos_class != BEST_EFFORT
        or is_tolerated(
            pod.spec.tolerations, _MEMORY_TAINT, "", NO_SCHEDULE, comparison=COMPARISON_ALLOWED
        )
    ):
        return None
    named = " ".join(pressures)
    return Rejection("Evicted", f"Pod was rejected: The node had condition: [{named}]. ")


def _predicate(name: str, why: str) -> Rejection:
    return Rejection(name, f"Pod was rejected: Predicate {name} failed: {why}")


def _shortage(wanted: Amounts, node: Node, present: list[Needs]) -> Rejection | None:
    allocatable = node.status.allocatable
    if allocatable is None:
        return None
    places = value(allocatable.get("pods", "0"))
    if len(present) + 1 > places:
        return _out_of("pods", 1, len(present), places)
    rest = sorted(name for name in wanted if name not in _FIRST)
    for name in (*_FIRST, *rest):
        asked = wanted.get(name, 0)
        # upstream: a resource that the node does not know is somebody else's.
        if not asked or (name not in allocatable and name not in _FIRST):
            continue
        capacity = _amount(name, allocatable.get(name, "0"))
        used = sum(each.amounts.get(name, 0) for each in present)
        if asked > capacity - used:
            return _out_of(name, asked, used, capacity)
    return None


def _out_of(name: str, asked: int, used: int, capacity: int) -> Rejection:
    message = (
        f"Pod was rejected: Node didn't have enough resource: {name}, requested: {asked}, "
        f"used: {used}, capacity: {capacity}"
    )
    return Rejection(f"OutOf{name}", message)


def _is_right_node(pod: Pod, node: Node) -> bool:
    if pod.spec.node_selector is None and pod.spec.affinity is None:
        return True
    spec = {"nodeSelector": pod.spec.node_selector, "affinity": pod.spec.affinity}
    plain = {"metadata": {"name": pod.name}, "spec": msgspec.to_builtins(spec)}
    required = required_of(convert_object(plain, SchedulerPod, strict=False))
    return required.matches(node.metadata.labels, node.name)
