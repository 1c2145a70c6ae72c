"""What `podium gpu defrag` prints as a document."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from msgspec import field

from podium.addons.gpu.packing.moves import (
    CardPlacement,
    Defragmentation,
    Move,
    MoveGroup,
    RefusedStep,
)
from podium.golang.document_structs import Count, Document, DocumentPart, Notes, PodKey, Positive
from podium.kubernetes.kinds.pod import Pod


class CardsOfNode(DocumentPart, frozen=True):
    """Cards of a node."""

    node: str
    """The node."""
    cards: tuple[Count, ...]
    """The indexes of the cards."""

    @classmethod
    def of(cls, place: CardPlacement) -> CardsOfNode:
        return cls(place.node, tuple(place.cards))


class PodOnCards(DocumentPart, frozen=True):
    """A pod, and where it fits."""

    pod: PodKey
    node: str
    """The node."""
    cards: tuple[Count, ...]
    """The indexes of the cards."""


class MovedPodOfPlan(DocumentPart, frozen=True):
    """A pod that is to be evicted, and its successor."""

    pod: PodKey
    source: CardsOfNode = field(name="from")
    """Where it is."""
    target: CardsOfNode = field(name="to")
    """Where the scheduler puts its successor; in a step that was given up, where that was to go."""
    proposed: CardsOfNode
    """Where it was proposed to go, by the cards alone."""
    equal_nodes: Positive
    """How many nodes the scheduler finds equally good, that of `to` among them."""

    @classmethod
    def of(cls, move: Move) -> MovedPodOfPlan:
        return cls(
            key_of(move.pod),
            CardsOfNode.of(move.source),
            CardsOfNode.of(move.target),
            CardsOfNode.of(move.proposed or move.target),
            move.equal_nodes,
        )


class DefragmentationStep(DocumentPart, frozen=True):
    """One thing to do."""

    moves: tuple[MovedPodOfPlan, ...]
    """Moves that make sense together only; none if a pod fits without."""
    frees: CardsOfNode | None
    """The card that becomes idle; null if the step is for a pod."""
    places: PodOnCards | None
    """The pod that fits then, and where; null if the step is for a card."""

    @classmethod
    def of(cls, step: MoveGroup) -> DefragmentationStep:
        places = None
        if step.places is not None:
            pod, place = step.places
            places = PodOnCards(key_of(pod), place.node, tuple(place.cards))
        frees = None if step.frees is None else CardsOfNode.of(step.frees)
        return cls(tuple(map(MovedPodOfPlan.of, step.moves)), frees, places)


class GivenUpStep(DocumentPart, frozen=True):
    """A step that was given up."""

    moves: tuple[MovedPodOfPlan, ...]
    """As they were proposed; none if a pod seemed to fit without."""
    reason: str
    """What the scheduler would make of it."""

    @classmethod
    def of(cls, refused: RefusedStep) -> GivenUpStep:
        return cls(tuple(map(MovedPodOfPlan.of, refused.step.moves)), refused.why)


class PodThatStays(DocumentPart, frozen=True):
    """A pod with cards that stays where it is."""

    pod: PodKey
    reason: str
    """Why it is not to be moved."""


class DefragmentationDocument(Document, frozen=True):
    """What `podium gpu defrag` prints: which pods to move so that whole cards become free, or that
    pods which wait fit."""

    KIND: ClassVar[str] = "GPUDefragmentation"

    idle_cards_before: Count
    """Cards that nobody uses now."""
    idle_cards_after: Count
    """Cards that nobody uses after all steps, with the pods that wait in their places."""
    steps: tuple[DefragmentationStep, ...]
    """What to do, in order."""
    unplaced: tuple[PodKey, ...]
    """Pods that wait and that no moves make fit."""
    checked: bool
    """Whether the scheduler was asked after each move; what is shown is its answer then."""
    refused: tuple[GivenUpStep, ...]
    """Steps that were given up, since the scheduler would bring them to nothing."""
    kept: tuple[PodThatStays, ...]
    """Pods with cards that stay where they are."""
    notes: Notes

    @classmethod
    def of(cls, plan: Defragmentation, notes: Sequence[str]) -> DefragmentationDocument:
        return cls(
            idle_cards_before=plan.idle_before,
            idle_cards_after=plan.idle_after,
            steps=tuple(map(DefragmentationStep.of, plan.steps)),
            unplaced=tuple(map(key_of, plan.unplaced)),
            checked=plan.checked,
            refused=tuple(map(GivenUpStep.of, plan.refused)),
            kept=tuple(PodThatStays(key_of(pod), why) for pod, why in plan.kept),
            notes=tuple(notes),
        )


def key_of(pod: Pod) -> str:
    return f"{pod.namespace}/{pod.name}"
