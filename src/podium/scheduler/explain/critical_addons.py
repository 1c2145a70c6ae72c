"""The toleration `CriticalAddonsOnly`: a mark of the past that people still write.

Before there were priorities it was one of two marks of a critical add-on, and the rescheduler,
which tainted nodes for such pods, looked for it. Today nothing reads it but taints of that key;
what makes a pod critical is its priority.
"""

from typing import Final

from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.rules.priorities import MIN_CRITICAL_PRIORITY

CRITICAL_ADDONS_ONLY: Final = "CriticalAddonsOnly"


def describe_critical_toleration(pod: Pod) -> list[str]:
    """A note on the toleration, for a pod that has it."""
    spec = pod.spec
    if not any(each.key == CRITICAL_ADDONS_ONLY for each in spec.tolerations or ()):
        return []
    priority = spec.priority or 0
    told = (
        f"tolerates {CRITICAL_ADDONS_ONLY}, which marked critical add-ons before there were"
        " priorities and is a toleration like any other today"
    )
    if priority >= MIN_CRITICAL_PRIORITY:
        by = spec.priority_class_name or "its number"
        return [f"{told}; the pod is critical by its priority ({by})"]
    return [f"{told}; what makes a pod critical is priorityClassName system-cluster-critical"]
