"""What a node offers follows what it has: whoever changes its capacity changes its allocatable.

What was held back stays held back: of a node with 8 CPUs that offers 7, one with 16 offers 15
(`pkg/kubelet/nodestatus`, MachineInfo).
"""

from podium.client import PatchType
from podium.client.resources import NODES
from podium.kubernetes.controllers.actions import NOTHING, Plan, status_patch
from podium.kubernetes.controllers.controller import Wake
from podium.kubernetes.controllers.nodes import Node, NodeStatus
from podium.kubernetes.rules.moment import Moment
from podium.kubernetes.rules.quantity import nano
from podium.kubernetes.rules.quantity_spelling import total
from podium.simulated.informers import Informers
from podium.simulated.pods.kubelets import is_simulated

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
