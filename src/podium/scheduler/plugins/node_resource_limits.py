"""NodeResourceLimits: one point for a node on which a pod's limits could be used to the full.

Policy files called it `ResourceLimitsPriority`; it went after 1.18 and was meant to break ties, so
a point is all there is. A node gets it if it has as much CPU as the pod's CPU limit, or as much
memory as its memory limit; a limit that is not set counts for nothing. The limits are the sum over
the containers, or that of an init container if larger
(`pkg/scheduler/framework/plugins/noderesources/resource_limits.go` at v1.18).

Example: limits of 2 CPU and 8Gi, a node with 4 CPU and 4Gi: the CPU fits, so 1.
"""

from collections.abc import Callable, Iterable
from typing import Final

import numpy as np

from podium.kubernetes.kinds.meta import Quantity
from podium.kubernetes.kinds.pod import Container, Pod
from podium.kubernetes.rules.quantity import milli_value, value
from podium.scheduler.cluster.growth import Ints, Rows
from podium.scheduler.cluster.nodes import CPU, MEMORY
from podium.scheduler.framework.cycle import Cycle
from podium.scheduler.framework.points import ScorePlugin

_COMPARED: Final = ((CPU, "cpu", milli_value), (MEMORY, "memory", value))


class NodeResourceLimits(ScorePlugin):
    name = "NodeResourceLimits"
    in_range = True

    def score(self, cycle: Cycle, rows: Rows) -> Ints:
        allocatable = cycle.nodes.allocatable
        fits = np.zeros_like(allocatable[CPU, rows], dtype=np.bool_)
        for index, resource, amount in _COMPARED:
            limit = _limit(cycle.pod.pod, resource, amount)
            if limit:
                fits |= limit <= allocatable[index, rows]
        return fits.astype(np.int64)


def _limit(pod: Pod, resource: str, amount: Callable[[Quantity], int]) -> int:
    def limits(containers: Iterable[Container] | None) -> list[int]:
        given = [c.resources.limits for c in containers or () if c.resources is not None]
        return [amount(found[resource]) for found in given if found and resource in found]

    return max(sum(limits(pod.spec.containers)), *limits(pod.spec.init_containers), 0)
