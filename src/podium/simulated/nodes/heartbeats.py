"""What keeps simulated nodes true: heartbeats, what they offer, and labels of kubelets.

A node with the annotation `podium.dev/failure: unreachable` falls silent; one with `not-ready`
goes on speaking and says that it is not ready. Without the annotation it recovers. With
`podium.dev/pressure: memory` (or `disk`, `pid`, several with commas) it says what it runs short of.
Conditions that somebody else has set, such as pressure, stay as they are.

What a node offers follows what it has: whoever changes its capacity changes its allocatable. What
was held back stays held back: of a node with 8 CPUs that offers 7, one with 16 offers 15
(`pkg/kubelet/nodestatus`, MachineInfo).

Labels that every node has because its kubelet or a cloud's controller writes them. A kubelet labels
its node with host name, operating system and architecture when it registers; for zone, region and
machine type there are an old and a new label, and whoever reads one of them finds the other as well
(`pkg/kubelet/kubelet_node_status.go`, `reconcileNodeLabels` in `k8s.io/cloud-provider`). A node
that somebody has made by hand gets what it lacks when it is taken over, and the other one of a pair
when one of it is written. What is taken away later stays away.
"""

from collections.abc import Mapping
from typing import Final

from podium.client import PatchType
from podium.client.resources import LEASES, NODES
from podium.golang.json_values import JsonObject
from podium.kubernetes.controllers.controller import (
    NOTHING,
    Action,
    CreateAction,
    PatchAction,
    Plan,
    Wake,
    status_patch,
)
from podium.kubernetes.controllers.node_lifecycle import LEASE_NAMESPACE
from podium.kubernetes.controllers.objects import (
    Lease,
    Node,
    NodeStatus,
    changed_condition,
    condition_of,
)
from podium.kubernetes.rules.nodes import missing_twins, written_twins
from podium.kubernetes.rules.quantity import nano
from podium.kubernetes.rules.quantity_spelling import total
from podium.kubernetes.rules.timestamps import Moment
from podium.simulated.informers import Informers
from podium.simulated.names import FAILURE, NOT_READY, PRESSURE
from podium.simulated.pods.kubelets import is_simulated
from podium.simulated.pods.stages import share

INTERVAL_S: Final = 10.0
_DURATION_S: Final = 40
_READY: Final = ("True", "KubeletReady", "kubelet is posting ready status")
_BROKEN: Final = ("False", "KubeletNotReady", "the node was told to fail")
_HEALTHY: Final = {
    "MemoryPressure": ("KubeletHasSufficientMemory", "kubelet has sufficient memory available"),
    "DiskPressure": ("KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
    "PIDPressure": ("KubeletHasSufficientPID", "kubelet has sufficient PID available"),
}
_PRESSED: Final = {
    "MemoryPressure": (
        "KubeletHasInsufficientMemory",
        "kubelet has insufficient memory available",
    ),
    "DiskPressure": ("KubeletHasDiskPressure", "kubelet has disk pressure"),
    "PIDPressure": ("KubeletHasInsufficientPID", "kubelet has insufficient PID available"),
}
_CONDITION_BY_PRESSURE: Final = {
    "memory": "MemoryPressure",
    "disk": "DiskPressure",
    "pid": "PIDPressure",
}


def decide(
    node: Node, lease: Lease | None, renewed_at_s: float | None, interval_s: float, moment: Moment
) -> Plan:
    """`renewed_at_s` is when the lease was last renewed here."""
    failure = node.metadata.annotation(FAILURE)
    if failure and failure != NOT_READY:
        return NOTHING
    actions: list[Action] = []
    conditions = _conditions(node, moment, is_broken=failure == NOT_READY)
    if conditions:
        actions.append(status_patch(NODES, node, {"conditions": conditions}))
    rest_s = 0.0 if renewed_at_s is None else renewed_at_s + interval_s - moment.now_s
    if lease is None:
        actions.append(_new_lease(node, moment))
    elif rest_s <= 1e-6:
        spec = {"holderIdentity": node.name, "renewTime": moment.micro_timestamp}
        actions.append(PatchAction(LEASES, LEASE_NAMESPACE, node.name, {"spec": spec}))
    else:
        return Plan(actions, rest_s)
    return Plan(actions, interval_s)


def _conditions(node: Node, moment: Moment, *, is_broken: bool) -> list[JsonObject]:
    present = node.status.conditions
    heartbeat = {"lastHeartbeatTime": moment.timestamp}
    made = []
    ready = condition_of(present, "Ready")
    wanted = _BROKEN if is_broken else _READY
    if ready is None or ready.status != wanted[0]:
        made.append(changed_condition(present, moment, "Ready", *wanted, **heartbeat))
    pressed = _find_pressures(node)
    for name in _HEALTHY:
        known = condition_of(present, name)
        if name in pressed:
            told = ("True", *_PRESSED[name])
        elif known is None or known.status == "Unknown" or known.reason == _PRESSED[name][0]:
            told = ("False", *_HEALTHY[name])
        else:
            continue
        if known is None or known.status != told[0]:
            made.append(changed_condition(present, moment, name, *told, **heartbeat))
    return [each for each in made if each is not None]


def _find_pressures(node: Node) -> set[str]:
    """The conditions by which the node says what it was told to run short of."""
    said = node.metadata.annotation(PRESSURE).split(",")
    return {_CONDITION_BY_PRESSURE[word] for word in said if word in _CONDITION_BY_PRESSURE}


def _new_lease(node: Node, moment: Moment) -> CreateAction:
    owner = {"apiVersion": "v1", "kind": "Node", "name": node.name, "uid": node.metadata.uid}
    body = {
        "apiVersion": LEASES.api_version,
        "kind": "Lease",
        "metadata": {
            "name": node.name,
            "namespace": LEASE_NAMESPACE,
            "ownerReferences": [owner],
        },
        "spec": {
            "holderIdentity": node.name,
            "leaseDurationSeconds": _DURATION_S,
            "renewTime": moment.micro_timestamp,
        },
    }
    return CreateAction(LEASES, LEASE_NAMESPACE, body)


class Heartbeats:
    """Keys are names of nodes."""

    name = "heartbeats"

    def __init__(self, informers: Informers, interval_s: float = INTERVAL_S) -> None:
        self._nodes, self._leases = informers.nodes, informers.leases
        self._interval_s = interval_s
        self._renewed_at_s: dict[str, float] = {}

    def watch(self, wake: Wake) -> None:
        def node_changed(_: Node | None, new: Node | None) -> None:
            if new is not None and is_simulated(new):
                wake(new.name)

        self._nodes.listen(node_changed)

    def plan(self, key: str, moment: Moment) -> Plan:
        node = self._nodes.get("", key)
        if node is None or not is_simulated(node):
            self._renewed_at_s.pop(key, None)
            return NOTHING
        if node.metadata.annotation(FAILURE) not in ("", NOT_READY):
            self._renewed_at_s.pop(key, None)
        lease = self._leases.get(LEASE_NAMESPACE, key)
        renewed_at_s = self._renewed_at_s.get(key)
        plan = decide(node, lease, renewed_at_s, self._interval_s, moment)
        if any(action.resource == LEASES for action in plan.actions):
            # The first renewals are spread, so that nodes that start together do not stay in step.
            early_s = self._interval_s * share(key, "heartbeat") if renewed_at_s is None else 0.0
            self._renewed_at_s[key] = moment.now_s - early_s
            return Plan(plan.actions, self._interval_s - early_s)
        return plan


Amounts = dict[str, str]


def allocatable_after(old: NodeStatus, new: NodeStatus) -> Amounts | None:
    """What a node offers after a change of its capacity; None if that is no matter of it."""
    before, now = old.capacity or {}, new.capacity or {}
    if before == now or old.allocatable != new.allocatable:
        return None
    offered = new.allocatable or {}
    wanted = {name: amount for name, amount in offered.items() if name in now}
    for name, amount in now.items():
        if before.get(name) == amount:
            continue
        held = nano(before.get(name, "0")) - nano(offered.get(name, before.get(name, "0")))
        wanted[name] = _without(amount, before.get(name, "0"), offered.get(name), held)
    return wanted if wanted != offered else None


def _without(amount: str, before: str, offered: str | None, held: int) -> str:
    if held <= 0 or offered is None:
        return amount
    if held >= nano(amount):
        return "0"
    return total(total(amount, offered), f"-{before}")


class AllocatableFollower:
    """Keys are names of nodes."""

    name = "allocatable"

    def __init__(self, informers: Informers) -> None:
        self._nodes = informers.nodes
        self._wanted: dict[str, Amounts] = {}

    def watch(self, wake: Wake) -> None:
        def node_changed(old: Node | None, new: Node | None) -> None:
            if old is None or new is None or not is_simulated(new):
                return
            wanted = allocatable_after(old.status, new.status)
            if wanted is not None:
                self._wanted[new.name] = wanted
                wake(new.name)

        self._nodes.listen(node_changed)

    def plan(self, key: str, moment: Moment) -> Plan:
        del moment
        node, wanted = self._nodes.get("", key), self._wanted.get(key)
        if node is None or wanted is None or node.status.allocatable == wanted:
            self._wanted.pop(key, None)
            return NOTHING
        gone = dict.fromkeys(node.status.allocatable or {})
        change = {"allocatable": {**gone, **wanted}}
        return Plan([status_patch(NODES, node, change, PatchType.MERGE)], 0.0)


HOSTNAME: Final = "kubernetes.io/hostname"
_OS: Final = "kubernetes.io/os"
_ARCH: Final = "kubernetes.io/arch"


def missing_labels(node_name: str, labels: Mapping[str, str]) -> dict[str, str]:
    """What a kubelet adds to the labels of its node."""
    twins = missing_twins(labels)
    usual = {HOSTNAME: node_name, _OS: "linux", _ARCH: "amd64", **labels, **twins}
    complete = {**usual, **missing_twins(usual)}
    return {key: text for key, text in complete.items() if key not in labels}


class KubeletLabels:
    """Keys are names of nodes."""

    name = "kubeletlabels"

    def __init__(self, informers: Informers) -> None:
        self._nodes = informers.nodes
        self._wanted: dict[str, dict[str, str]] = {}

    def watch(self, wake: Wake) -> None:
        def node_changed(old: Node | None, new: Node | None) -> None:
            if new is None or not is_simulated(new):
                return
            labels = new.metadata.labels or {}
            if old is None or not is_simulated(old) or old.metadata.uid != new.metadata.uid:
                wanted = missing_labels(new.name, labels)
            else:
                wanted = written_twins(old.metadata.labels or {}, labels)
            if wanted:
                self._wanted[new.name] = {**self._wanted.get(new.name, {}), **wanted}
                wake(new.name)

        self._nodes.listen(node_changed)

    def plan(self, key: str, moment: Moment) -> Plan:
        del moment
        node, wanted = self._nodes.get("", key), self._wanted.get(key, {})
        present = (node.metadata.labels or {}) if node is not None else {}
        changed = {name: text for name, text in wanted.items() if present.get(name) != text}
        if node is None or not changed:
            self._wanted.pop(key, None)
            return NOTHING
        return Plan([PatchAction(NODES, "", key, {"metadata": {"labels": changed}})], 0.0)
