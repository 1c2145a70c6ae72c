"""Priority: which number a pod gets from its class, and which class from nothing at all.

The class decides; a pod may repeat what it says but not choose something else. Without a class the
default class of the cluster counts; if several claim to be the default, the one with the lowest
value (`plugin/pkg/admission/priority`).
"""

from collections.abc import Iterable
from typing import Final, NamedTuple

from podium.kubernetes.kinds.workloads import PriorityClass

PREEMPT: Final = "PreemptLowerPriority"
SYSTEM_PRIORITIES: Final = {
    "system-cluster-critical": 2_000_000_000,
    "system-node-critical": 2_000_001_000,
}
"""The classes that every cluster has."""
MIN_CRITICAL_PRIORITY: Final = SYSTEM_PRIORITIES["system-cluster-critical"]
"""From here on a pod is critical: a kubelet takes it whatever the node runs short of."""
MAX_USER_PRIORITY: Final = 1_000_000_000


class Priority(NamedTuple):
    value: int
    preemption_policy: str


class PriorityConflict(ValueError):
    """A pod says something else in a field than what follows from its class."""

    def __init__(self, field: str, noun: str, written: object, computed: object) -> None:
        super().__init__(
            f"the {noun} ({written}) must not be provided in pod spec; priority admission "
            f"controller computed {computed} from the given PriorityClass name"
        )
        self.field = field
        self.written = written
        self.computed = computed


def default_priority_class(classes: Iterable[PriorityClass]) -> PriorityClass | None:
    defaults = (each for each in classes if each.global_default)
    return min(defaults, key=lambda each: each.value, default=None)


def resolve_priority(
    chosen: PriorityClass | None, written: int | None, written_policy: str | None
) -> Priority:
    """What a pod gets from its class, None if neither it nor the cluster has one.

    Raises PriorityConflict if what is written in the pod differs.
    """
    value = chosen.value if chosen is not None else 0
    policy = (chosen.preemption_policy if chosen is not None else None) or PREEMPT
    if written not in (None, value):
        raise PriorityConflict("priority", "integer value of priority", written, value)
    if written_policy not in (None, policy):
        noun = "string value of PreemptionPolicy"
        raise PriorityConflict("preemptionPolicy", noun, written_policy, policy)
    return Priority(value, policy)
