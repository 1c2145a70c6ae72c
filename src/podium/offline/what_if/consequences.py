"""What changes of a cluster come to, pod by pod: what tables, JSON and tests read."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from msgspec import Meta

from podium.golang.document_structs import DocumentPart, PodKey
from podium.scheduler.explain.cause_document import CauseInFull


class MovedPod(DocumentPart, frozen=True):
    """A pod on another node than before."""

    pod: PodKey
    before: str | None
    """Its node before; null if it had none."""
    after: str
    """Its node afterwards."""


class StrandedPod(DocumentPart, frozen=True):
    """A pod that had a node, or was made by a change, and gets none."""

    pod: PodKey
    before: str | None
    """Its node before; null for a new pod."""
    message: str
    """What the scheduler says."""
    causes: tuple[CauseInFull, ...] = ()
    """Why no node fits, for changes; failures of each node or zone have none."""


class GonePod(DocumentPart, frozen=True):
    """A pod that is not made again: it has no controller."""

    pod: PodKey
    before: str
    """Its node before."""


class KeptPod(DocumentPart, frozen=True):
    """A pod that was to go and stays."""

    pod: PodKey
    node: str
    """Where it stays."""
    why: str
    """What keeps it from being evicted."""


class PreemptedPod(DocumentPart, frozen=True):
    """A pod that lost its node to a more important one, whether or not it found another."""

    pod: PodKey
    node: str
    """The node that it lost."""
    by: str
    """The pod that it made room for."""


MovedPods = Annotated[
    tuple[MovedPod, ...], Meta(description="Pods that have another node than before.")
]
StrandedPods = Annotated[
    tuple[StrandedPod, ...], Meta(description="Pods that are to run and have no node.")
]
GonePods = Annotated[
    tuple[GonePod, ...], Meta(description="Pods without a controller that would make them again.")
]
PreemptedPods = Annotated[
    tuple[PreemptedPod, ...],
    Meta(description="Pods that lost their node to more important ones, in order."),
]


@dataclass(frozen=True, slots=True)
class Consequences:
    """All of it, sorted by pod; `waiting` are pods that had no node before."""

    changes: tuple[str, ...]
    moved: Sequence[MovedPod]
    stranded: Sequence[StrandedPod]
    gone: Sequence[GonePod]
    kept: Sequence[KeptPod]
    preempted: Sequence[PreemptedPod]
    waiting_before: int
    waiting_after: int

    @property
    def is_survived(self) -> bool:
        """Whether every pod that is to run has a place, and every one that was to go has gone."""
        return not (self.stranded or self.gone or self.kept)
