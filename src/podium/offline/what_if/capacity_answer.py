"""How many more pods fit: the answer that tables, JSON and scripts read."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Self

from podium.golang.document_structs import Count, DocumentPart, Notes, Positive
from podium.offline.simulate.reviewed_document import ReviewedDocument
from podium.offline.what_if.records import Record, pick


class ReasonCount(DocumentPart, frozen=True):
    """How many nodes give one reason."""

    reason: str
    """Why nodes take no more."""
    nodes: Positive
    """How many say so."""


class NodeRoom(DocumentPart, frozen=True):
    """Copies that one node takes."""

    name: str
    """The node."""
    fits: Count
    """Copies that it takes."""
    reasons: tuple[str, ...] = ()
    """Why it takes no more."""


class PodRoom(DocumentPart, frozen=True):
    """How many copies of one pod fit."""

    namespace: str
    """The namespace of the pod."""
    name: str
    """The name of the pod that copies were made of."""
    workload: str | None
    """What it belongs to, such as `deployment/web`."""
    fits: Count
    """How many copies get a node."""
    message: str | None = None
    """What the scheduler says to the next one; null if the limit of utilisation came first."""
    stopped_by: str | None = None
    """The resource that reached the limit of utilisation."""
    reasons: tuple[ReasonCount, ...] = ()
    """Why nodes take no more, the commonest first."""
    nodes: tuple[NodeRoom, ...] = ()
    """Every node, by name."""

    @property
    def title(self) -> str:
        """What people call the pod."""
        return f"{self.namespace}/{self.workload or self.name}"


@dataclass(frozen=True, slots=True)
class Mix:
    """Nodes to add by shape, with which `fits` pods fit. `price` is None where shapes have none;
    `proven` says that no mix is cheaper."""

    nodes: Mapping[str, int]
    fits: int
    price: Fraction | None
    proven: bool


class AddedShape(DocumentPart, frozen=True):
    """Nodes of one shape."""

    shape: str
    """The name of the node in the file of shapes."""
    nodes: Positive
    """How many to add."""


class NodesToAdd(DocumentPart, frozen=True):
    """What to add so that as many fit as are wanted."""

    found: bool = False
    """Whether some mix of the shapes is enough."""
    nodes: tuple[AddedShape, ...] = ()
    """Nodes to add by shape."""
    fits: Count = 0
    """How many pods fit then."""
    price: float | None = None
    """What the nodes cost together, if shapes have prices."""
    cheapest: bool = False
    """Whether no other mix is cheaper, or smaller if there are no prices; else it is the best of
    those that were tried."""

    @classmethod
    def of(cls, mix: Mix | None) -> Self:
        if mix is None:
            return cls()
        nodes = tuple(AddedShape(shape, number) for shape, number in mix.nodes.items())
        price = None if mix.price is None else float(mix.price)
        return cls(True, nodes, mix.fits, price, mix.proven)


class CapacityAnswer(ReviewedDocument, frozen=True, kw_only=True):
    """What `podium capacity` prints: how many more of some pods fit."""

    KIND: ClassVar[str] = "Capacity"

    enough: bool
    """Whether as many fit as are wanted, or at least one of each."""
    wanted: Positive | None
    """How many have to fit."""
    pods: tuple[PodRoom, ...]
    """Each pod with the cluster for itself."""
    together: tuple[PodRoom, ...]
    """Pods that take turns, if there are several."""
    add: NodesToAdd | None
    """What to add so that as many fit as are wanted."""
    notes: Notes = ()


def count_reasons(reasons: Mapping[str, int]) -> tuple[ReasonCount, ...]:
    """The commonest first."""
    return tuple(
        ReasonCount(reason, nodes)
        for reason, nodes in sorted(reasons.items(), key=lambda kv: (-kv[1], kv[0]))
    )


def room_records(alone: Sequence[PodRoom], together: Sequence[PodRoom]) -> list[Record]:
    """Each pod and how many copies of it fit."""
    return [
        {
            **pick(room, "namespace", "name", "workload", "fits"),
            "fits_together": turn.fits,
            **pick(room, "stopped_by", "message"),
        }
        for room, turn in zip(alone, together, strict=True)
    ]


def room_node_records(rooms: Iterable[PodRoom]) -> list[Record]:
    """Each pod and node, how many copies fit there alone, and why no more."""
    return [
        {
            **pick(room, "namespace", "name"),
            "node": each.name,
            "fits": each.fits,
            "reasons": "; ".join(each.reasons) or None,
        }
        for room in rooms
        for each in room.nodes
    ]
