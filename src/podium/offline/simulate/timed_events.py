"""What happens to a cluster in the course of a timed run, and when.

`at` is in seconds from the start of the run. Events come in the order of their times; where several
have one time, they happen in the order in which they come.
"""

from dataclasses import dataclass

from podium.kubernetes.kinds.meta import KubeStruct
from podium.kubernetes.kinds.node import Node
from podium.kubernetes.kinds.pod import Pod


@dataclass(frozen=True, slots=True)
class PodArrival:
    """A pod appears. Once it is bound it runs for `duration_s`, then it has finished and its room
    is free; None is for ever. `workload` is what it is counted under."""

    at: float
    pod: Pod
    duration_s: float | None = None
    workload: str = ""


@dataclass(frozen=True, slots=True)
class PodRemoval:
    """Somebody deletes a pod, by its key (`namespace/name`), and nobody makes it again."""

    at: float
    key: str


@dataclass(frozen=True, slots=True)
class NodePut:
    """A node arrives or changes; one that arrives gets the pods of daemon sets."""

    at: float
    node: Node


@dataclass(frozen=True, slots=True)
class NodeRemoval:
    """A node is gone and its pods are lost: controllers make theirs again, others are gone."""

    at: float
    name: str


@dataclass(frozen=True, slots=True)
class ObjectPut:
    """An object that is neither node nor pod arrives or changes."""

    at: float
    obj: KubeStruct


@dataclass(frozen=True, slots=True)
class ObjectRemoval:
    at: float
    obj: KubeStruct


TimedEvent = PodArrival | PodRemoval | NodePut | NodeRemoval | ObjectPut | ObjectRemoval
