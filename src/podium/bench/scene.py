"""What is measured: a cluster, the pods that come to it, and what happens meanwhile.

A case builds a scene from a plan, so that one definition serves every size. Objects are made one
by one as they are loaded: a hundred thousand nodes as untyped data would be most of the memory that
is then reported.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from podium.kubernetes.kinds.meta import KubeStruct
from podium.kubernetes.kinds.node import Node
from podium.kubernetes.kinds.pod import Pod


@dataclass(frozen=True, slots=True)
class Plan:
    """How much of everything; a case reads what it knows of."""

    nodes: int
    init: int
    pods: int
    signatures: int = 1000
    selectors: int = 100
    domains: int = 1000


@dataclass(frozen=True, slots=True)
class Arrival:
    """A pending pod, after the objects that controllers make for it."""

    pod: Pod
    objects: tuple[KubeStruct, ...] = ()


@dataclass(frozen=True, slots=True)
class Turn:
    """One thing that happens while pods are scheduled: objects come, others go."""

    put: tuple[KubeStruct, ...] = ()
    delete: tuple[KubeStruct, ...] = ()


@dataclass(frozen=True, slots=True)
class Churn:
    """Something that goes on beside the measured pods, every so often on the virtual clock."""

    every_s: float
    turn: Callable[[int], Turn]
    """What happens at the turn of a number, counted from 0."""


@dataclass(slots=True)
class Scene:
    nodes: Iterable[Node]
    measured: Iterable[Arrival]
    init: Iterable[Pod] = ()
    """Pods that are there before: on nodes, or held back by a gate."""
    objects: Iterable[KubeStruct] = ()
    churn: tuple[Churn, ...] = ()
    configuration: Mapping[str, object] | None = None
    """As a file has it; the default profile without one."""
    answers: Mapping[str, object] = field(default_factory=dict)
    """What sources of plugins have answered, by their names."""


def arrivals(pods: Iterable[Pod]) -> Iterable[Arrival]:
    return (Arrival(pod) for pod in pods)
