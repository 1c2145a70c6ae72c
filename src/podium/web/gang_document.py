"""Pods that are placed together or not at all: how far each member is, and its life.

A member says itself which gang it belongs to, by Kubernetes' own field or by the labels of
coscheduling, so a gang is there from its first member to its last; what it asks for is in its
PodGroup, if there is one.
"""

from collections.abc import Iterable
from typing import ClassVar, Final

from podium.golang.document_structs import Count, Document, DocumentPart, Moment, PodKey
from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.kinds.pod_groups import PodGroup
from podium.kubernetes.kinds.scheduler_plugins import (
    SchedulingSigsPodGroup,
    SchedulingXPodGroup,
    min_available,
    pod_group_name,
)
from podium.kubernetes.rules.timestamps import micro_time_text
from podium.live.record_documents import PodPlace
from podium.live.scheduler_records import SchedulerRecords
from podium.scheduler.cluster.catalog import group_of
from podium.scheduler.engine import Engine
from podium.web.line_words import LineInWords
from podium.web.page_documents import NotThere

MAX_MEMBERS: Final = 100


class GangMember(DocumentPart, frozen=True):
    """A pod of a gang."""

    pod: PodKey
    """The pod."""
    place: PodPlace
    """Where it is on its way."""
    node: str | None
    """Its node."""
    log: tuple[LineInWords, ...]
    """What happened to it, oldest first."""


class GangView(Document, frozen=True):
    """A gang and how far its members are, for the page."""

    KIND: ClassVar[str] = "GangView"

    namespace: str
    """Its namespace."""
    name: str
    """Its name."""
    at: Moment
    """When it was so."""
    min_members: int | None
    """How many have to be placed together; null if nothing says so."""
    count: Count
    """How many members there are."""
    placed: Count
    """How many have a node."""
    members: tuple[GangMember, ...]
    """The members, no more than a hundred."""


def gang_of(pod: Pod) -> str:
    """`namespace/name` of the gang that a pod belongs to, "" if to none."""
    native = group_of(pod)
    name = native[1] if native is not None else pod_group_name(pod.metadata.labels)
    return f"{pod.metadata.namespace}/{name}" if name else ""


def gang_document(engine: Engine, records: SchedulerRecords, namespace: str, name: str) -> GangView:
    """Raises NotThere."""
    gang = f"{namespace}/{name}"
    pods = [(key, pod) for key, pod in engine.state.pods.items() if gang_of(pod) == gang]
    wanted = _count_wanted_members(engine, namespace, name, [pod for _, pod in pods])
    if not pods and wanted is None:
        raise NotThere("no pod belongs to a gang of that name")
    members: list[GangMember] = []
    for key, pod in sorted(pods)[:MAX_MEMBERS]:
        found = records.pod(pod.metadata.namespace, pod.metadata.name)
        if found is not None:
            log = tuple(map(LineInWords.of, found.log))
            members.append(GangMember(key, found.place, found.node, log))
    return GangView(
        namespace=namespace,
        name=name,
        at=micro_time_text(engine.clock()),
        min_members=wanted,
        count=len(pods),
        placed=sum(bool(pod.spec.node_name) for _, pod in pods),
        members=tuple(members),
    )


def _count_wanted_members(
    engine: Engine, namespace: str, name: str, pods: Iterable[Pod]
) -> int | None:
    """How many members have to have a node; None if nothing says so."""
    catalog = engine.cluster.catalog
    native = catalog.get(PodGroup, name, namespace)
    if native is not None:
        gang = native.spec.scheduling_policy.gang
        return gang.min_count if gang is not None else None
    for kind in (SchedulingXPodGroup, SchedulingSigsPodGroup):
        group = catalog.get(kind, name, namespace)
        if group is not None:
            return group.spec.min_member
    return max((min_available(pod.metadata.labels) for pod in pods), default=0) or None
