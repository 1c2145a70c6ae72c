"""What a pod asks for and may use at most, as Trimaran adds it up.

upstream: containers are summed, a single init container counts if it is larger, overhead is added;
sidecars and pod-level resources are not looked at. Limits are never less than requests.
"""

from typing import NamedTuple
from weakref import WeakKeyDictionary

from podium.kubernetes.kinds.meta import ResourceList
from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.rules.quantity import milli_value, value
from podium.scheduler.cluster.pod_info import PodShape


class EffectiveResources(NamedTuple):
    cpu_request_milli: int
    cpu_limit_milli: int
    memory_request_bytes: int
    memory_limit_bytes: int

    @property
    def is_best_effort(self) -> bool:
        return not any(self)


_known: WeakKeyDictionary[PodShape, EffectiveResources] = WeakKeyDictionary()


def effective_resources(shape: PodShape) -> EffectiveResources:
    """Worked out once for all pods of a shape."""
    found = _known.get(shape)
    if found is None:
        found = _known[shape] = _effective(shape.first)
    return found


def _effective(pod: Pod) -> EffectiveResources:
    requests = _amounts(pod, "requests")
    limits = _amounts(pod, "limits")
    return EffectiveResources(
        requests[0], max(limits[0], requests[0]), requests[1], max(limits[1], requests[1])
    )


def _amounts(pod: Pod, kind: str) -> tuple[int, int]:
    spec = pod.spec
    running = [_amount(getattr(c.resources, kind, None)) for c in spec.containers or ()]
    starting = [_amount(getattr(c.resources, kind, None)) for c in spec.init_containers or ()]
    overhead = _amount(spec.overhead)
    cpu, memory = (
        max(sum(each[at] for each in running), *(each[at] for each in starting), 0) + overhead[at]
        for at in (0, 1)
    )
    return cpu, memory


def _amount(resources: ResourceList | None) -> tuple[int, int]:
    known = resources or {}
    return milli_value(known.get("cpu", 0)), value(known.get("memory", 0))
