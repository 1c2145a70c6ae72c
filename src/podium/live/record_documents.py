"""Records of a running scheduler as documents: what it knows of a pod, its queue, its sources.

The page shows the same with more beside it (`podium.web`), so that what derives from a part here
has its fields in the same words.
"""

from collections.abc import Mapping
from typing import ClassVar, Literal

from msgspec import UNSET, UnsetType, field

from podium.golang.document_structs import (
    Amount,
    Count,
    Document,
    DocumentPart,
    Moment,
    PodKey,
    Positive,
)
from podium.scheduler.engine.decision import NodeScore
from podium.scheduler.engine.observer import LogLineKind
from podium.scheduler.explain.decision_digest import ChoiceFigures

PodPlace = Literal[
    "active", "backoff", "unschedulable", "gated", "waiting", "binding", "bound", "gone", "unknown"
]


class QueuedState(DocumentPart, frozen=True, kw_only=True):
    """A pod in the queue."""

    priority: int
    """The pod's priority."""
    attempts: Count
    """How often it was tried."""
    since: Moment
    """Since when it is in this part of the queue."""
    first_tried: Moment | None
    """When it was tried first."""
    rejected_by: tuple[str, ...]
    """Plugins that turned it away in its last attempt."""
    pending_at: tuple[str, ...]
    """Plugins that have said Pending: they will activate it."""
    gated_by: str | None
    """The plugin that keeps it out of the queue."""
    backoff_until: Moment | None
    """When its backoff is over."""
    retried_at: Moment | None
    """When it is tried again even if no event helps it."""


class QueuePosition(QueuedState, frozen=True, kw_only=True):
    """A pod's own entry in the queue."""

    ahead: Count | UnsetType | None = UNSET
    """Pods before it in the active queue; null or left out in the others."""


class WaitAtPermit(DocumentPart, frozen=True, kw_only=True):
    """A pod that Permit plugins hold on a node."""

    node: str
    """The node it is reserved on."""
    plugins: tuple[str, ...]
    """Permit plugins that have not allowed it yet."""
    since: Moment
    """Since when it waits."""
    deadline: Moment
    """When it is rejected unless it was allowed."""


class ScoredNode(DocumentPart, frozen=True):
    """A node that fits, with its scores."""

    name: str
    """The node's name."""
    total: int | None
    """The sum of its weighted scores; null where nothing was scored."""
    scores: Mapping[str, NodeScore]
    """Scores of the node, by plugin."""


class WholeDecision(ChoiceFigures, frozen=True, kw_only=True):
    """What only a decision that is still remembered whole can tell."""

    reasons: Mapping[str, Count]
    """Reasons with the number of nodes that have them."""
    top_nodes: tuple[ScoredNode, ...]
    """The ten best nodes."""
    evicts: tuple[PodKey, ...]
    """Pods to evict for it."""
    durations_s: Mapping[str, Amount] = field(name="durationsSeconds")
    """Time by extension point."""


class RecordedAttempt(DocumentPart, frozen=True):
    """An attempt as it was made."""

    at: Moment
    """When it was decided."""
    attempt: Positive
    """Its number, from 1."""
    profile: str
    """The profile that decided."""
    node: str | None
    """The node that was chosen."""
    message: str | None
    """Why it failed."""
    is_error: bool
    """Whether the attempt broke."""
    examined_nodes: Count
    """Nodes that filters looked at."""
    feasible_nodes: Count
    """Those that fit."""
    nominated_node: str | None
    """The node to clear for it."""
    rejected_by: Mapping[str, Count]
    """Plugins with the number of nodes that they ruled out."""
    details: WholeDecision | None
    """What only a decision that is still remembered whole can tell."""


class PodLogLine(DocumentPart, frozen=True):
    """One thing that happened to a pod."""

    at: Moment
    """When."""
    what: LogLineKind
    """What happened."""
    detail: str
    """The message of an attempt, an event's name, the victims, or what went wrong."""
    plugins: tuple[str, ...]
    """Who rejected the pod, held it back, waited for the event or asked to wait."""
    about: str
    """The node, the object that an event happened to, or the pod that another was evicted for."""


class PodRecord(Document, frozen=True, kw_only=True):
    """What a running scheduler knows of a pod: /debug/podium/pods/NAMESPACE/NAME, and
    `--recorded`."""

    KIND: ClassVar[str] = "PodRecord"

    namespace: str
    """The pod's namespace."""
    name: str
    """The pod's name."""
    uid: str | None
    """Null, as what follows, for a pod that is gone."""
    scheduler_name: str | None
    """The scheduler that it asks for."""
    priority: int | None
    """Its priority."""
    node: str | None
    """The node it is bound to."""
    nominated_node: str | None
    """The node of its status on which it waits for victims to leave."""
    place: PodPlace
    """Where it is: a part of the queue, waiting (for Permit plugins), binding, bound, gone, or
    unknown."""
    queue: QueuePosition | UnsetType = UNSET
    """Its entry in the queue; left out if it has none."""
    waiting: WaitAtPermit | UnsetType = UNSET
    """What it waits for at Permit; left out if it does not."""
    decision: RecordedAttempt | None
    """Its last attempt; null if it was never tried, or that is forgotten."""
    log: tuple[PodLogLine, ...]
    """What happened to it, oldest first."""


class QueuePartSizes(DocumentPart, frozen=True):
    """How many pods each part of the queue has."""

    active: Count
    """Pods to be tried, in this order."""
    backoff: Count
    """Pods that wait for their backoff to be over."""
    unschedulable: Count
    """Pods that wait for an event."""
    gated: Count
    """Pods that are kept out of the queue."""
    waiting: Count
    """Pods that Permit plugins hold."""


class QueuedWithMessage(QueuedState, frozen=True, kw_only=True):
    """A pod in the queue, with what its last attempt came to."""

    message: str | None
    """Why its last attempt failed."""


class QueuedPodEntry(QueuedWithMessage, frozen=True):
    """A pod in the queue, by its name."""

    pod: PodKey


class WaitingPodEntry(WaitAtPermit, frozen=True):
    """A pod that Permit plugins hold on a node, by its name."""

    pod: PodKey


class QueueRecord(Document, frozen=True, kw_only=True):
    """What waits in a running scheduler: /debug/podium/queue."""

    KIND: ClassVar[str] = "QueueRecord"

    at: Moment
    """When it was so."""
    sizes: QueuePartSizes
    """How many pods each part has."""
    active: tuple[QueuedPodEntry, ...]
    """Pods to be tried, in this order; no more than were asked for."""
    backoff: tuple[QueuedPodEntry, ...]
    """Pods that wait for their backoff to be over; no more than were asked for."""
    unschedulable: tuple[QueuedPodEntry, ...]
    """Pods that wait for an event; no more than were asked for."""
    gated: tuple[QueuedPodEntry, ...]
    """Pods that are kept out of the queue; no more than were asked for."""
    waiting: tuple[WaitingPodEntry, ...]
    """Pods that Permit plugins hold; no more than were asked for."""


class SourceRecord(DocumentPart, frozen=True):
    """A source of data that plugins decide by."""

    name: str
    """What the source is called in the log."""
    age_s: Amount | None = field(name="ageSeconds")
    """How long ago the last answer came; null before the first."""
    stale: bool
    """Whether there is no answer that still counts."""
    problem: str | None
    """Why the last question got no answer; null if it got one."""
    refresh_every_s: Amount = field(name="refreshEverySeconds")
    """How often is asked."""
    max_age_s: Amount = field(name="maxAgeSeconds")
    """How old an answer may be and still count."""
    timeout_s: Amount = field(name="timeoutSeconds")
    """How long one question may take."""


class SourceRecordList(Document, frozen=True):
    """The data from outside that plugins of a running scheduler decide by:
    /debug/podium/sources."""

    KIND: ClassVar[str] = "SourceRecordList"

    at: Moment
    """When it was so."""
    sources: tuple[SourceRecord, ...]
    """Every source of every plugin, each once."""
