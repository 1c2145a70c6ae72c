"""What a rebalancing comes to: the moves, and the answer that tables, JSON and scripts read."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from msgspec import field

from podium.golang.document_structs import Count, DocumentPart, Notes, PodKey, PodOnNode
from podium.offline.simulate.reviewed_document import ReviewedDocument
from podium.offline.what_if.consequences import KeptPod
from podium.offline.what_if.rebalance_commands import (
    UNKNOWN,
    Successor,
    close_command,
    evict_command,
    open_command,
    wait_until_gone,
    wait_until_placed,
    wait_until_ready,
    wait_until_scheduled,
)
from podium.offline.what_if.records import Record, pick
from podium.scheduler.explain.proposals.shell import BY_DEFAULT, Kubectl


@dataclass(frozen=True, slots=True)
class MoveStep:
    """One pod is evicted while some nodes are closed, so that the scheduler puts its successor
    where the plan has it. `placed` are pods that waited and find a node in this step."""

    pod: str
    source: str
    target: str
    closed: tuple[str, ...] = ()
    placed: tuple[tuple[str, str], ...] = ()
    successor: Successor = UNKNOWN

    def list_commands(self, kubectl: Kubectl = BY_DEFAULT) -> list[str]:
        """Each waits for what the next one builds on."""
        namespace = self.pod.partition("/")[0]
        told = [close_command(kubectl, self.closed)] if self.closed else []
        told.append(evict_command(kubectl, self.pod))
        if not self.successor.keeps_name:
            # One of the same name can be there again before the question is put.
            told.append(wait_until_gone(kubectl, self.pod))
        told.append(wait_until_placed(kubectl, namespace, self.target, self.successor))
        if self.closed:
            told.append(open_command(kubectl, self.closed))
        told.append(wait_until_ready(kubectl, namespace, self.target, self.successor))
        return [*told, *(wait_until_scheduled(kubectl, pod) for pod, _ in self.placed)]


class RebalanceMove(DocumentPart, frozen=True):
    """A pod that is moved, with all that it takes."""

    pod: PodKey
    source: str = field(name="from")
    """The node that it is evicted from."""
    target: str = field(name="to")
    """The node that its successor gets."""
    closed: tuple[str, ...] = field(name="cordonedMeanwhile")
    """Nodes that are closed for the moment of the move."""
    placed: tuple[PodOnNode, ...] = field(name="places")
    """Pods that waited and find a node in this step."""
    commands: tuple[str, ...]
    """For a shell."""

    @classmethod
    def of(cls, step: MoveStep, kubectl: Kubectl) -> "RebalanceMove":
        placed = tuple(PodOnNode(pod, node) for pod, node in step.placed)
        commands = tuple(step.list_commands(kubectl))
        return cls(step.pod, step.source, step.target, step.closed, placed, commands)


class GoalMeasure(DocumentPart, frozen=True):
    """The figure that the goal is about."""

    name: str
    """What is measured; a skew is between 0 and 1."""
    better: Literal["more", "less"]
    """Which is better."""
    before: float
    """As the cluster is."""
    after: float
    """After all steps."""
    wanted: float | None
    """What it has to be; null: as good as it gets."""
    bound: float
    """What no moves can better, as far as is proven."""

    @property
    def is_reached(self) -> bool:
        return self._reaches(self.after)

    @property
    def allows_wanted(self) -> bool:
        """Whether what is wanted is not proven to be out of reach."""
        return self._reaches(self.bound)

    def _reaches(self, value: float) -> bool:
        if self.wanted is None:
            return True
        if self.better == "more":
            return value >= self.wanted - 1e-9
        return value <= self.wanted + 1e-9


class RebalanceAnswer(ReviewedDocument, frozen=True, kw_only=True):
    """What `podium rebalance` prints: the fewest moves that reach a goal."""

    KIND: ClassVar[str] = "Rebalance"

    goal: str
    """What the moves are for."""
    reached: bool
    """Whether the moves reach it."""
    measure: GoalMeasure
    """The figure that the goal is about."""
    cordoned: tuple[str, ...]
    """Nodes that are cordoned first and stay so."""
    left_out: tuple[str, ...]
    """Nodes that no pod of the cluster may use, by taints or what pods say of nodes; they are
    neither empty nor full."""
    steps: tuple[RebalanceMove, ...]
    """One move each, in the order in which the scheduler makes them as shown."""
    commands: tuple[str, ...]
    """Of all steps, in order."""
    moves: Count
    """How many pods are moved."""
    fewest_moves: int | None
    """How many no plan can do with less; null where that is not known, or none at all."""
    kept: tuple[KeptPod, ...]
    """Pods that are not moved, without those that belong to their nodes."""
    given_up: tuple[str, ...]
    """What the scheduler did otherwise in plans that were tried and left."""
    time_limit_s: float = field(name="timeLimitSeconds")
    """How long the solver was allowed to search."""
    timed_out: bool
    """Whether it stopped there."""
    notes: Notes = ()


def list_all_commands(
    closed: tuple[str, ...], steps: tuple[RebalanceMove, ...], kubectl: Kubectl
) -> tuple[str, ...]:
    """Of nodes that are closed first and of all steps, in order."""
    first = (close_command(kubectl, closed),) if closed else ()
    return (*first, *(command for step in steps for command in step.commands))


def step_records(answer: RebalanceAnswer) -> list[Record]:
    """Each move in order, with the commands that make it."""
    return [
        {
            "step": number,
            "namespace": step.pod.partition("/")[0],
            "name": step.pod.partition("/")[2],
            "source_node": step.source,
            "target_node": step.target,
            "placed": len(step.placed),
            "commands": "; ".join(step.commands),
        }
        for number, step in enumerate(answer.steps, 1)
    ]


def goal_record(answer: RebalanceAnswer) -> Record:
    """What the moves come to, in one record."""
    return {
        **pick(answer, "goal", "reached"),
        "measure": answer.measure.name,
        **pick(answer.measure, "before", "after", "wanted", "bound"),
        **pick(answer, "moves", "fewest_moves"),
        "first_command": answer.commands[0] if answer.cordoned else None,
    }
