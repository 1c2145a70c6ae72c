"""Everybody who waits: where in the queue, why, in groups of one reason, and what would wake them.

The parts are those of the scheduler's own records. Reasons are taken from the message of the last
attempt without its numbers, so that pods that wait for the same thing stand together however many
nodes there are.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import ClassVar, Final

from podium.golang.document_structs import Count, DocumentPart, PodKey, extend_part
from podium.live.record_documents import QueuedPodEntry, QueueRecord, WaitingPodEntry
from podium.live.scheduler_records import DecisionRecords, SchedulerRecords
from podium.scheduler.engine import Engine
from podium.scheduler.framework.events import Action, ClusterEvent, Resource
from podium.scheduler.framework.queued import QueuedPod
from podium.web.gang_document import gang_of

MAX_LISTED: Final = 200
MAX_GROUPS: Final = 100
MAX_EXAMPLES: Final = 100
_HEAD: Final = re.compile(r"^0/\d+ nodes are available: ")
_COUNT: Final = re.compile(r"(^|, )\d+ ")
_UNTOLD: Final = "not tried yet"

_POD_LEAVES: Final = "a pod leaves a node"
_EVENT_WORDS: Final[Mapping[tuple[str, Action], str]] = {
    (Resource.NODE, Action.ADD): "a node is added",
    (Resource.NODE, Action.UPDATE_NODE_ALLOCATABLE): "a node gets more resources",
    (Resource.NODE, Action.UPDATE_NODE_LABEL): "a node's labels change",
    (Resource.NODE, Action.UPDATE_NODE_TAINT): "a taint is taken off a node",
    (Resource.NODE, Action.UPDATE_NODE_CONDITION): "a node's conditions change",
    (Resource.NODE, Action.UPDATE_NODE_ANNOTATION): "a node's annotations change",
    (Resource.POD, Action.ADD): "a pod is placed",
    (Resource.POD, Action.DELETE): _POD_LEAVES,
    (Resource.POD, Action.UPDATE_POD_LABEL): "a pod's labels change",
    (Resource.POD, Action.UPDATE_POD_SCALE_DOWN): "a pod asks for less",
    (Resource.POD, Action.UPDATE_POD_TOLERATION): "the pod tolerates more",
    (Resource.POD, Action.UPDATE_POD_SCHEDULING_GATES_ELIMINATED): "its gates are removed",
    (Resource.POD, Action.UPDATE_POD_GENERATED_RESOURCE_CLAIM): "its claim is made",
}
_KIND_WORDS: Final = {
    Action.ADD: "is added",
    Action.DELETE: "is deleted",
    Action.UPDATE: "changes",
}


class StuckPod(QueuedPodEntry, frozen=True, kw_only=True):
    """A pod in the queue that is not to be tried now."""

    woken_by: tuple[str, ...]
    """What would have it tried again, in words."""


class WaitingGangMember(WaitingPodEntry, frozen=True, kw_only=True):
    """A pod that Permit plugins hold, with its gang."""

    gang: str | None
    """The gang that it belongs to."""


class PodsOfReason(DocumentPart, frozen=True):
    """Pods that wait for the same reason."""

    reason: str
    """Why they wait, whatever the numbers."""
    count: Count
    """How many there are."""
    rejected_by: tuple[str, ...]
    """Plugins that turned one of them away."""
    pods: tuple[PodKey, ...]
    """Some of them."""
    woken_by: tuple[str, ...]
    """What would have the first one tried again, in words."""


class QueueView(QueueRecord, frozen=True, kw_only=True):
    """Who waits, why, and what would wake them, for the page."""

    KIND: ClassVar[str] = "QueueView"

    backoff: tuple[StuckPod, ...]
    """Pods that wait for their backoff to be over; the first of them."""
    unschedulable: tuple[StuckPod, ...]
    """Pods that wait for an event; the first of them."""
    gated: tuple[StuckPod, ...]
    """Pods that are kept out of the queue; the first of them."""
    waiting: tuple[WaitingGangMember, ...]
    """Pods that Permit plugins hold; the first of them."""
    groups: tuple[PodsOfReason, ...]
    """Pods by the reason for which they wait."""


def queue_document(
    engine: Engine, records: SchedulerRecords, decisions: DecisionRecords
) -> QueueView:
    found = records.queue(MAX_LISTED)
    parts = engine.queue.parts()
    backoff = [*parts.backoff, *parts.error_backoff]
    return extend_part(
        found,
        QueueView,
        backoff=_add_events(engine, found.backoff, backoff),
        unschedulable=_add_events(engine, found.unschedulable, parts.unschedulable),
        gated=_add_events(engine, found.gated, parts.gated),
        waiting=tuple(_add_gang(engine, entry) for entry in found.waiting),
        groups=tuple(_groups(engine, [*parts.unschedulable, *backoff, *parts.gated], decisions)),
    )


def _add_events(
    engine: Engine, entries: Sequence[QueuedPodEntry], pods: Sequence[QueuedPod]
) -> tuple[StuckPod, ...]:
    return tuple(
        extend_part(entry, StuckPod, woken_by=waking_events(engine, queued))
        for entry, queued in zip(entries, pods, strict=False)
    )


def _add_gang(engine: Engine, entry: WaitingPodEntry) -> WaitingGangMember:
    pod = engine.state.pods.get(entry.pod)
    gang = gang_of(pod) or None if pod is not None else None
    return extend_part(entry, WaitingGangMember, gang=gang)


def _groups(
    engine: Engine, stuck: Iterable[QueuedPod], decisions: DecisionRecords
) -> Iterator[PodsOfReason]:
    groups: dict[str, list[QueuedPod]] = {}
    for queued in stuck:
        record = decisions.get(queued.info.key)
        message = record.message if record is not None else ""
        if queued.gating_plugin:
            reason = f"held back by {queued.gating_plugin}"
        else:
            reason = reason_of(message) or _UNTOLD
        groups.setdefault(reason, []).append(queued)
    ranked = sorted(groups.items(), key=lambda group: (-len(group[1]), group[0]))
    for reason, members in ranked[:MAX_GROUPS]:
        rejectors = set[str]().union(*(each.rejectors for each in members))
        yield PodsOfReason(
            reason=reason,
            count=len(members),
            rejected_by=tuple(sorted(rejectors)),
            pods=tuple(each.info.key for each in members[:MAX_EXAMPLES]),
            woken_by=waking_events(engine, members[0]),
        )


@lru_cache(maxsize=1024)
def reason_of(message: str) -> str:
    """What a message says, whatever the numbers.

    >>> reason_of("0/3 nodes are available: 3 Insufficient cpu. preemption: 0/3 nodes are ...")
    'Insufficient cpu'
    """
    # Behind the reasons, in a sentence of its own, is what PostFilter made of them.
    told = _HEAD.sub("", message).partition(". ")[0].rstrip(".")
    return _COUNT.sub(r"\1", told)


def waking_events(engine: Engine, queued: QueuedPod) -> tuple[str, ...]:
    """What would have the pod tried again, in words; events that sound alike stand once."""
    profile = queued.info.pod.spec.scheduler_name
    interests = engine.queue.interests
    told = [
        words
        for plugin in sorted(queued.rejectors | queued.pending)
        for event in interests.events_of(profile, plugin)
        for words in _event_words(event)
    ]
    return tuple(dict.fromkeys(told))


def _event_words(event: ClusterEvent) -> Iterator[str]:
    if event.resource is Resource.ANY:
        yield "anything happens"
        return
    resource = event.resource
    if resource in (Resource.ASSIGNED_POD, Resource.UNSCHEDULABLE_POD):
        resource = Resource.POD
    actions = Action(event.action)
    for action in actions:
        words = _EVENT_WORDS.get((resource, action))
        if words is not None:
            yield words
    if resource not in (Resource.NODE, Resource.POD):
        kind = str(resource).rpartition("/")[2]
        for action, words in _KIND_WORDS.items():
            if actions & action:
                yield f"a {kind} {words}"
