"""What the head of the page shows and finds, and what is told to a page that stays open."""

from typing import ClassVar

from msgspec import UNSET, UnsetType, field

from podium.golang.document_structs import Count, Document, DocumentPart, Moment, PodKey
from podium.live.record_documents import QueuePartSizes
from podium.scheduler.engine import Engine
from podium.web.cluster_document import ClusterChanges
from podium.web.page_documents import Mode


class PageOverview(Document, frozen=True, kw_only=True):
    """What the head of the page shows."""

    KIND: ClassVar[str] = "PageOverview"

    mode: Mode
    """live, or report for a file on its own."""
    version: str
    """The version of Podium."""
    terminal: str
    """What commands in a terminal begin with to reach the same cluster."""
    url: str
    """Where the scheduler tells of itself."""
    input: str
    """The options by which commands in a terminal read the same input."""
    play: bool | UnsetType = UNSET
    """Whether the page can change the cluster; a report does not say."""
    schedulers: tuple[str, ...]
    """Names of the profiles."""
    at: Moment
    """When it was so."""
    nodes: Count
    """How many nodes there are."""
    pods: Count
    """How many pods have a node."""
    queue: QueuePartSizes
    """Where pods wait."""


class PodOfSearch(DocumentPart, frozen=True):
    """A pod that was found."""

    pod: PodKey
    """The pod."""
    node: str | None
    """Its node."""


class PodSearch(Document, frozen=True):
    """Pods whose names have some words in them."""

    KIND: ClassVar[str] = "PodSearch"

    count: Count
    """How many there are."""
    pods: tuple[PodOfSearch, ...]
    """Those without a node first; no more than the page shows."""


class PageChanges(DocumentPart, frozen=True, kw_only=True):
    """What is different from a mark on."""

    mark: str
    """The moment of this message."""
    at: Moment
    """When it was so."""
    nodes: Count
    """How many nodes there are."""
    pods: Count
    """How many pods have a node."""
    queue: QueuePartSizes
    """Where pods wait."""
    cluster: ClusterChanges
    """What is different of the nodes."""
    stale: bool | UnsetType = UNSET
    """Whether the scheduler did not answer: this is what it said last."""
    age_s: int | UnsetType = field(name="ageSeconds", default=UNSET)
    """How long ago that was."""


def count_queue(engine: Engine) -> QueuePartSizes:
    return QueuePartSizes(*engine.queue.sizes(), waiting=len(engine.state.waiting))
