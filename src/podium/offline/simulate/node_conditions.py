"""What conditions of nodes mean for pods, in a cluster without a node lifecycle controller.

A node of a file may say that it is short of memory, or not ready, and have no taint: nobody was
there to add it. Here it gets what that controller would have added
(`kubernetes.rules.node_condition_taints`), so that the scheduler sees it; taints are never removed.

A Policy that names CheckNodeMemoryPressure means the predicate of its time: a node short of memory
refuses pods that ask for nothing. Then all other pods tolerate the taint, as the admission plugin
PodTolerationRestriction had them do when taints took the predicate's place.
"""

from collections import Counter
from collections.abc import Iterable
from typing import Final

from msgspec.structs import replace

from podium.kubernetes.kinds.node import Node, Taint
from podium.kubernetes.kinds.pod import Pod, Toleration
from podium.kubernetes.rules.nodes import MEMORY_PRESSURE, condition_taints
from podium.kubernetes.rules.pod_level_resources import BEST_EFFORT, qos_class_of

_TOLERATION = Toleration(key=MEMORY_PRESSURE, operator="Exists", effect="NoSchedule")
SPARED: Final = (
    "CheckNodeMemoryPressure of the Policy: nodes short of memory refuse only pods that ask for"
    " nothing"
)


def has_memory_pressure(nodes: Iterable[Node]) -> bool:
    return any(taint.key == MEMORY_PRESSURE for node in nodes for taint in node.spec.taints or ())


def taint_by_conditions(nodes: Iterable[Node]) -> tuple[list[Node], list[str]]:
    """The nodes with the taints that their conditions ask for, and what to say about it."""
    tainted: list[Node] = []
    added: Counter[str] = Counter()
    for node in nodes:
        states = {each.type: each.status for each in node.status.conditions or ()}
        given = node.spec.taints or ()
        present = {(taint.key, taint.effect) for taint in given}
        wanted = condition_taints(states) if states else {}
        missing = [(key, effect) for key, effect in wanted if (key, effect) not in present]
        if not missing:
            tainted.append(node)
            continue
        more = tuple(Taint(key=key, effect=effect) for key, effect in missing)
        tainted.append(replace(node, spec=replace(node.spec, taints=(*given, *more))))
        added.update({wanted[each] for each in missing})
    notes = [
        f"{_count(nodes_with)} tainted because of the condition {name}"
        for name, nodes_with in sorted(added.items())
    ]
    return tainted, notes


def tolerate_memory_pressure(pod: Pod) -> Pod:
    """The pod with a toleration for nodes short of memory, unless it asks for nothing."""
    if qos_class_of(pod) == BEST_EFFORT:
        return pod
    tolerations = (*(pod.spec.tolerations or ()), _TOLERATION)
    return replace(pod, spec=replace(pod.spec, tolerations=tolerations))


def _count(nodes: int) -> str:
    return "1 node" if nodes == 1 else f"{nodes} nodes"
