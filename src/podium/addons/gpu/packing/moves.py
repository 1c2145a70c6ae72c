"""What a plan of moves consists of, whom it is checked with, and which pods may be moved.

A plan is made on the cards alone. Whether the scheduler would do just that, with all its other
reasons, is asked of a `MoveScheduler`: each step is carried out there, and given up if it comes to
nothing.

Which pods may be moved to other cards, and what their moving costs of disruption budgets. A pod is
moved by evicting it: its controller makes another one, for which the scheduler chooses anew. So a
pod without a controller cannot be moved, nor one that belongs to its node.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, Protocol

from msgspec import Struct

from podium.addons.gpu.cards.allocations import Allocation
from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.kinds.workloads import PodDisruptionBudget
from podium.kubernetes.rules.labels import SelectorError, selector_of
from podium.kubernetes.rules.priorities import MIN_CRITICAL_PRIORITY


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


MOVING_ANNOTATION: Final = "podium.dev/gpu-moving"
"""`forbidden` on a pod keeps it where it is."""
FORBIDDEN: Final = "forbidden"
_SAFE_TO_EVICT: Final = "cluster-autoscaler.kubernetes.io/safe-to-evict"
_OF_NODES: Final = ("DaemonSet", "Node")


def why_unmovable(pod: Pod) -> str:
    """Why a pod that holds cards must stay; empty if it may be moved."""
    owner = pod.metadata.controller
    if pod.metadata.is_terminating:
        return "it is on its way out"
    if owner is None:
        return "nothing would make it anew"
    if owner.kind in _OF_NODES:
        return f"its {owner.kind} keeps it on the node"
    if pod.metadata.annotation(MOVING_ANNOTATION) == FORBIDDEN:
        return f"annotation {MOVING_ANNOTATION}"
    if pod.metadata.annotation(_SAFE_TO_EVICT) == "false":
        return f"annotation {_SAFE_TO_EVICT}"
    if priority_of(pod) >= MIN_CRITICAL_PRIORITY:
        return "it is critical"
    return ""


def priority_of(pod: Pod) -> int:
    return pod.spec.priority or 0


class BudgetsLeft:
    """What disruption budgets still allow."""

    def __init__(self, budgets: Iterable[PodDisruptionBudget]) -> None:
        self._budgets = tuple(budgets)
        self._left = [budget.status.disruptions_allowed for budget in self._budgets]

    def take(self, pods: Iterable[Pod]) -> bool:
        """Count the eviction of all of these pods, if that is allowed."""
        left = list(self._left)
        for pod in pods:
            for at, budget in enumerate(self._budgets):
                if _covers(budget, pod):
                    left[at] -= 1
                    if left[at] < 0:
                        return False
        self._left = left
        return True

    def allow(self, pods: Iterable[Pod]) -> bool:
        """Whether they could be evicted."""
        before = self._left
        allowed = self.take(pods)
        self._left = before
        return allowed


def _covers(budget: PodDisruptionBudget, pod: Pod) -> bool:
    if budget.namespace != pod.namespace:
        return False
    try:
        selector = selector_of(budget.spec.selector)
    except SelectorError:
        return True  # nobody can tell, and the server would refuse
    return selector.matches(pod.metadata.labels or {})
