"""The taints that conditions of a node become, as the node lifecycle controller gives them.

NoSchedule for everything that speaks against new pods, NoExecute besides where pods are to leave
(`pkg/controller/nodelifecycle/node_lifecycle_controller.go`). A node that never said whether it is
ready gets none.
"""

from collections.abc import Mapping
from typing import Final

NOT_READY: Final = "node.kubernetes.io/not-ready"
UNREACHABLE: Final = "node.kubernetes.io/unreachable"
MEMORY_PRESSURE: Final = "node.kubernetes.io/memory-pressure"
_BY_CONDITION: Final = {
    ("Ready", "False"): NOT_READY,
    ("Ready", "Unknown"): UNREACHABLE,
    ("MemoryPressure", "True"): MEMORY_PRESSURE,
    ("DiskPressure", "True"): "node.kubernetes.io/disk-pressure",
    ("PIDPressure", "True"): "node.kubernetes.io/pid-pressure",
    ("NetworkUnavailable", "True"): "node.kubernetes.io/network-unavailable",
}
CONDITION_KEYS: Final = frozenset(_BY_CONDITION.values())
_EXECUTED: Final = frozenset({NOT_READY, UNREACHABLE})


def condition_taints(states: Mapping[str, str]) -> dict[tuple[str, str], str]:
    """(key, effect) of each taint, and the condition that it stands for; `states` are statuses by
    the types of conditions."""
    found: dict[tuple[str, str], str] = {}
    for (name, status), key in _BY_CONDITION.items():
        if states.get(name) == status:
            found[key, "NoSchedule"] = name
            if key in _EXECUTED:
                found[key, "NoExecute"] = name
    return found
