"""What a simulated pod uses: what its annotations say, otherwise what its containers request.

    podium.dev/cpu-usage       annotation of a pod or node: cores, as a quantity
    podium.dev/memory-usage    annotation of a pod or node: bytes, as a quantity

A pod's annotation is about all of its containers together, which share it evenly; a node's is
about the whole node, in place of the sum of its pods. A container that requests nothing uses 10m
and 32Mi. Only running pods use anything.
"""

from collections.abc import Iterable
from typing import Any, Final, NamedTuple

from podium.golang.json_values import JsonObject
from podium.kubernetes.rules.quantity import NANO_PER_UNIT, QuantityError, nano

CPU_USAGE: Final = "podium.dev/cpu-usage"
MEMORY_USAGE: Final = "podium.dev/memory-usage"
_IDLE_CPU_NANO: Final = 10_000_000
_IDLE_MEMORY_BYTES: Final = 32 << 20
_KIBI: Final = 1024


class Usage(NamedTuple):
    cpu_nano: int
    memory_bytes: int

    def written(self) -> JsonObject:
        """As a metrics server writes it: nano-cores and whole KiB."""
        return {"cpu": f"{self.cpu_nano}n", "memory": f"{self.memory_bytes // _KIBI}Ki"}


class ContainerUsage(NamedTuple):
    name: str
    usage: Usage


def container_usages(pod: JsonObject) -> list[ContainerUsage]:
    """Of each container of a running pod; of others there are none."""
    if pod.get("status", {}).get("phase") != "Running":
        return []
    containers: list[JsonObject] = pod.get("spec", {}).get("containers") or []
    annotations = annotations_of(pod)
    count = max(1, len(containers))
    cpu = _told(annotations, CPU_USAGE)
    memory = _told(annotations, MEMORY_USAGE)
    return [
        ContainerUsage(
            container.get("name", ""),
            Usage(
                cpu // count if cpu is not None else _requested_cpu(container),
                memory // count // NANO_PER_UNIT
                if memory is not None
                else _requested_memory(container),
            ),
        )
        for container in containers
    ]


def node_usage(node: JsonObject, pods: Iterable[Usage]) -> Usage:
    """Of a node with the pods that are on it."""
    each = list(pods)
    annotations = annotations_of(node)
    cpu, memory = _told(annotations, CPU_USAGE), _told(annotations, MEMORY_USAGE)
    return Usage(
        sum(usage.cpu_nano for usage in each) if cpu is None else cpu,
        sum(usage.memory_bytes for usage in each) if memory is None else memory // NANO_PER_UNIT,
    )


def annotations_of(obj: JsonObject) -> dict[str, str]:
    return obj.get("metadata", {}).get("annotations") or {}


def _requested_cpu(container: JsonObject) -> int:
    written = _requests(container).get("cpu")
    return _IDLE_CPU_NANO if written is None else nano(written)


def _requested_memory(container: JsonObject) -> int:
    written = _requests(container).get("memory")
    return _IDLE_MEMORY_BYTES if written is None else nano(written) // NANO_PER_UNIT


def _requests(container: JsonObject) -> dict[str, Any]:
    return (container.get("resources") or {}).get("requests") or {}


def _told(annotations: dict[str, str], key: str) -> int | None:
    """A quantity of an annotation in nano units; None if there is none that can be read."""
    written = annotations.get(key)
    if written is None:
        return None
    try:
        return max(0, nano(written))
    except QuantityError:
        return None
