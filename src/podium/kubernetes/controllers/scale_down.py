"""Which pods go first when there are too many: those that are missed least.

Not placed, not running, not ready, cheap by annotation, crowded on one node, young, in this order
(`pkg/controller/controller_utils.go`).
"""

from collections import Counter
from collections.abc import Sequence
from typing import Final

from podium.golang.arithmetic import parse_int
from podium.kubernetes.controllers.pods import Pod, ready_since

DELETION_COST: Final = "controller.kubernetes.io/pod-deletion-cost"
_PHASE_ORDER: Final = {"Pending": 0, "Unknown": 1, "Running": 2}


def least_missed(pods: Sequence[Pod]) -> list[Pod]:
    """Pods in the order in which they are to be removed."""
    crowds = Counter(pod.spec.node_name for pod in pods if pod.spec.node_name)

    def rank(pod: Pod) -> tuple[bool, int, bool, int, int, str, int, str]:
        return (
            bool(pod.spec.node_name),
            _PHASE_ORDER.get(pod.status.phase, 2),
            pod.is_ready,
            parse_int(pod.metadata.annotation(DELETION_COST)) or 0,
            -crowds[pod.spec.node_name],
            _reversed(ready_since(pod)),
            -pod.restarts,
            _reversed(pod.metadata.creation_timestamp),
        )

    return sorted(pods, key=rank)


def _reversed(timestamp: str | None) -> str:
    """A text that sorts the later before the earlier."""
    return "".join(chr(0x10FFFF - ord(letter)) for letter in timestamp or "")
