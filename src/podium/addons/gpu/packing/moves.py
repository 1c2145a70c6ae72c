"""What a plan of moves consists of, and whom it is checked with.

A plan is made on the cards alone. Whether the scheduler would do just that, with all its other
reasons, is asked of a `MoveScheduler`: each step is carried out there, and given up if it comes to
nothing.
"""

from collections.abc import Mapping, Sequence
from typing import Protocol

from msgspec import Struct

from podium.addons.gpu.cards.allocations import Allocation
from podium.kubernetes.kinds.pod import Pod


class Placement(Struct, frozen=True):
    """Cards of a node, by their indexes."""

    node: str
    cards: tuple[int, ...]


class Move(Struct, frozen=True):
    """`target` is where the scheduler puts the pod, or if nobody asked it where the pod fits best
    by its request; `proposed` is the latter, if the scheduler has another place. `equal_nodes` is
    how many nodes are as good as the target for it, the target among them."""

    pod: Pod
    source: Placement
    target: Placement
    proposed: Placement | None = None
    equal_nodes: int = 1


class Step(Struct, frozen=True):
    """Moves that make sense together only. `frees` is the card that becomes idle, `places` the pod
    that fits after them, with its place."""

    moves: tuple[Move, ...]
    frees: Placement | None = None
    places: tuple[Pod, Placement] | None = None


class RefusedStep(Struct, frozen=True):
    """A step that would come to nothing, for what the scheduler would do."""

    step: Step
    why: str


class Defragmentation(Struct, frozen=True):
    """`unplaced` are pods that wait and cannot be helped; `kept` pods that must stay, and why.
    `checked` if the scheduler was asked about each step; `refused` are those that it defeats."""

    steps: tuple[Step, ...]
    idle_before: int
    idle_after: int
    unplaced: tuple[Pod, ...] = ()
    kept: tuple[tuple[Pod, str], ...] = ()
    checked: bool = False
    refused: tuple[RefusedStep, ...] = ()

    @property
    def moves(self) -> list[Move]:
        return [move for step in self.steps for move in step.moves]


class PlacedPod(Struct, frozen=True):
    """Where the scheduler puts a pod, one of `equal_nodes` that are equally good."""

    node: str
    allocation: Allocation
    equal_nodes: int = 1


class MoveAnswer(Struct, frozen=True):
    """What came of evictions: how many were made, where pods went by their keys, successors and
    pods that waited alike, and what keeps the others from all nodes."""

    evicted: int
    placed: Mapping[str, PlacedPod]
    messages: Mapping[str, str]


class MoveScheduler(Protocol):
    """A scheduler on an imagined cluster, which keeps what it did until that is taken back."""

    def place_waiting(self, pods: Sequence[Pod]) -> Mapping[str, PlacedPod]:
        """Have the pods that wait tried, before anything is moved; those that found a place."""
        ...

    def evict(self, pods: Sequence[Pod], until: str = "") -> MoveAnswer:
        """Evict pods one after the other and place their successors, until one of them finds no
        place, or until the pod of this key has one."""
        ...

    def take_back(self) -> None:
        """Undo the last call of `evict`."""
        ...


def key_of(pod: Pod) -> str:
    return f"{pod.namespace}/{pod.name}"
