"""The life of nodes: who has not been heard of is unknown, and taints tell everybody.

A node is heard of when its lease or its Ready condition is renewed. Silence for longer than the
grace period makes all its conditions Unknown. Conditions become taints: NoSchedule ones for
everything that speaks against new pods, NoExecute ones where pods are to leave. The pods of a node
that is not ready are not ready either (`pkg/controller/nodelifecycle`).

The grace is 50 cluster seconds. What counts is when news were seen, not what they say of the time.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Final

from podium.golang.json_values import JsonObject
from podium.kubernetes.controllers.controller import (
    NOTHING,
    Action,
    PatchAction,
    Plan,
    Wake,
    status_patch,
)
from podium.kubernetes.controllers.objects import Lease, Node, changed_condition, condition_of
from podium.kubernetes.controllers.pods import Pod
from podium.kubernetes.controllers.stores import Stores
from podium.kubernetes.kinds.meta import Condition
from podium.kubernetes.kinds.node import Taint
from podium.kubernetes.resources.resource_types import NODES, PODS
from podium.kubernetes.rules.merge_patch import PatchType
from podium.kubernetes.rules.nodes import (
    CONDITION_KEYS,
    NOT_READY,
    condition_taints,
)
from podium.kubernetes.rules.timestamps import Moment

GRACE_S: Final = 50.0
LEASE_NAMESPACE: Final = "kube-node-lease"
_UNSCHEDULABLE: Final = "node.kubernetes.io/unschedulable"
_SILENT: Final = ("NodeStatusUnknown", "Kubelet stopped posting node status.")
_NEVER_HEARD: Final = ("NodeStatusNeverUpdated", "Kubelet never posted node status.")
_REPORTED: Final = ("Ready", "MemoryPressure", "DiskPressure", "PIDPressure")
_OWN_KEYS: Final = CONDITION_KEYS | {_UNSCHEDULABLE}


def decide(
    node: Node, pods: Sequence[Pod], heard_at_s: float, grace_s: float, moment: Moment
) -> Plan:
    """`heard_at_s` is when there was last news of the node, in cluster seconds."""
    silent_s = moment.now_s - heard_at_s
    is_silent = silent_s >= grace_s
    conditions = _silence(node, moment) if is_silent else []
    actions: list[Action] = []
    if conditions:
        actions.append(status_patch(NODES, node, {"conditions": conditions}))
    states = _states(node, is_silent=is_silent)
    taints = wanted_taints(node, states, moment)
    if taints is not None:
        body = {
            "metadata": {"resourceVersion": node.metadata.resource_version},
            "spec": {"taints": taints},
        }
        # The conditions come first, and change the version that this patch depends on.
        if conditions:
            return Plan(actions, 0.0)
        actions.append(PatchAction(NODES, "", node.name, body))
    if states.get("Ready") != "True":
        actions += _unready(pods, moment)
    return Plan(actions, None if is_silent else grace_s - silent_s)


def _states(node: Node, *, is_silent: bool) -> dict[str, str]:
    states = {each.type: each.status for each in node.status.conditions or ()}
    if is_silent:
        states |= dict.fromkeys(_REPORTED, "Unknown")
    return states


def _silence(node: Node, moment: Moment) -> list[JsonObject]:
    """The conditions of a node of which nothing is heard."""
    made = []
    for name in _REPORTED:
        known = condition_of(node.status.conditions, name)
        if known is not None and known.status == "Unknown":
            continue
        reason, message = _NEVER_HEARD if known is None else _SILENT
        made.append(
            changed_condition(node.status.conditions, moment, name, "Unknown", reason, message)
        )
    return [each for each in made if each is not None]


def wanted_taints(node: Node, states: dict[str, str], moment: Moment) -> list[JsonObject] | None:
    """All taints that the node should have; None if it has them."""
    wanted = set(condition_taints(states))
    if node.spec.unschedulable:
        wanted.add((_UNSCHEDULABLE, "NoSchedule"))
    if "Ready" not in states and any(t.key == NOT_READY for t in node.spec.taints or ()):
        # Nobody has said anything yet: what the server has put on a new node stays.
        wanted.add((NOT_READY, "NoSchedule"))
    present = {(taint.key, taint.effect) for taint in node.spec.taints or ()}
    ours = {(k, e) for k, e in present if k in _OWN_KEYS and e in ("NoSchedule", "NoExecute")}
    if ours == wanted:
        return None
    kept = [
        _write_taint(taint)
        for taint in node.spec.taints or ()
        if (taint.key, taint.effect) not in ours - wanted
    ]
    added = [
        {"key": key, "effect": effect, "timeAdded": moment.timestamp}
        for key, effect in sorted(wanted - present)
    ]
    return kept + added


def _write_taint(taint: Taint) -> JsonObject:
    fields = {"key": taint.key, "value": taint.value, "effect": taint.effect}
    return {name: value for name, value in fields.items() if value}


def _unready(pods: Iterable[Pod], moment: Moment) -> list[Action]:
    return [
        PatchAction(
            PODS,
            pod.namespace,
            pod.name,
            {
                "status": {
                    "conditions": [
                        {
                            "type": "Ready",
                            "status": "False",
                            "lastTransitionTime": moment.timestamp,
                        }
                    ]
                }
            },
            "status",
            PatchType.STRATEGIC,
        )
        for pod in pods
        if pod.is_ready
    ]


class NodeLifecycle:
    """Keys are names of nodes."""

    name = "nodelifecycle"

    def __init__(self, stores: Stores, now: Callable[[], float], grace_s: float = GRACE_S) -> None:
        self._nodes, self._leases, self._pods = stores.nodes, stores.leases, stores.pods
        self._now = now
        self._grace_s = grace_s
        self._heard_at_s: dict[str, float] = {}

    def watch(self, wake: Wake) -> None:
        def node_changed(old: Node | None, new: Node | None) -> None:
            if new is None:
                if old is not None:
                    self._heard_at_s.pop(old.name, None)
                return
            if old is None or _find_posted_condition(new) not in (
                None,
                _find_posted_condition(old),
            ):
                self._heard_at_s[new.name] = self._now()
            wake(new.name)

        def lease_changed(old: Lease | None, new: Lease | None) -> None:
            if new is None or new.namespace != LEASE_NAMESPACE:
                return
            # A renewal is only noted: the node is looked at when its time has run out.
            if old is None or old.spec.renew_time != new.spec.renew_time:
                self._heard_at_s[new.name] = self._now()

        self._nodes.listen(node_changed)
        self._leases.listen(lease_changed)

    def plan(self, key: str, moment: Moment) -> Plan:
        node = self._nodes.get("", key)
        if node is None:
            return NOTHING
        heard_at_s = self._heard_at_s.get(key, moment.now_s)
        return decide(node, self._pods.on_node.of(key), heard_at_s, self._grace_s, moment)


def _find_posted_condition(node: Node) -> Condition | None:
    """What the node itself has last said of being ready."""
    ready = condition_of(node.status.conditions, "Ready")
    if ready is None or ready.reason in (_SILENT[0], _NEVER_HEARD[0]):
        return None
    return ready
