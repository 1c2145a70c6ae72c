"""What happened on a node: who came when, how long each stayed, and who had to go for whom.

Put together from the lives of the pods that the scheduler remembers. Of a pod that was there before
the scheduler, or whose beginning is forgotten, nobody knows when it came.
"""

from collections.abc import Iterator, Mapping
from typing import ClassVar, Final, Literal, NamedTuple, cast

from msgspec import field

from podium.golang.document_structs import Count, Document, DocumentPart, Moment, PodKey
from podium.kubernetes.rules.timestamps import micro_time_text
from podium.scheduler.engine import Engine
from podium.scheduler.engine.observer import PodLog
from podium.web.page_documents import NotThere

MAX_STAYS: Final = 200


class Stay(NamedTuple):
    """One pod on one node; `how` it ended is "" while it lasts, `by` is the pod that it made room
    for."""

    pod: str
    since: float | None
    until: float | None = None
    how: str = ""
    by: str = ""


StayEnding = Literal["", "preempted", "deleted"]


class StayOnNode(DocumentPart, frozen=True):
    """One pod on the node."""

    pod: PodKey
    """The pod."""
    since: Moment | None = field(name="from")
    """When it came; null if that is not remembered."""
    until: Moment | None = field(name="to")
    """When it had to go; null while it is there."""
    how: StayEnding
    """deleted or preempted, empty while it is there."""
    by: PodKey | None
    """The pod that it was evicted for."""

    @classmethod
    def of(cls, stay: Stay) -> "StayOnNode":
        how = cast(StayEnding, stay.how)
        return cls(stay.pod, _moment(stay.since), _moment(stay.until), how, stay.by or None)


class NodeStory(Document, frozen=True):
    """Who was on a node, from when to when, for the page."""

    KIND: ClassVar[str] = "NodeStory"

    name: str
    """The node."""
    at: Moment
    """When it was so."""
    is_present: bool
    """Whether the node is there."""
    count: Count
    """How many stays are known."""
    stays: tuple[StayOnNode, ...]
    """By the time when they came."""


def node_story_document(
    engine: Engine, name: str, remembered: Mapping[str, list[Stay]]
) -> NodeStory:
    """`remembered` are the stays on all nodes. Raises NotThere."""
    is_present = engine.cluster.nodes.is_present(name)
    stays = [*remembered.get(name, ()), *_find_unremembered(engine, name, remembered)]
    if not stays and not is_present:
        raise NotThere("there is no such node, and nobody is known to have been there")
    # Those that are there now matter most, then those that left last.
    stays.sort(key=lambda stay: (stay.until is None, stay.until or 0.0, stay.since or 0.0))
    shown = sorted(stays[-MAX_STAYS:], key=lambda stay: (stay.since or 0.0, stay.pod))
    return NodeStory(
        name=name,
        at=micro_time_text(engine.clock()),
        is_present=is_present,
        count=len(stays),
        stays=tuple(map(StayOnNode.of, shown)),
    )


def _moment(at: float | None) -> str | None:
    return None if at is None else micro_time_text(at)


def remembered_stays(log: PodLog) -> dict[str, list[Stay]]:
    """By node, as the lives of the pods tell of them."""
    found: dict[str, list[Stay]] = {}
    evicted: list[tuple[str, Stay]] = []
    for key in log.pods():
        here, stay = "", Stay(key, None)
        for line in log.lines(key):
            if line.what == "bound":
                here, stay = line.about, Stay(key, line.at)
            elif line.what in ("preempted", "deleted") and here:
                ended = stay._replace(until=line.at, how=line.what, by=line.about)
                found.setdefault(here, []).append(ended)
                here = ""
            elif line.what == "preempting":
                evicted += [
                    (line.about, Stay(victim, None, line.at, "preempted", key))
                    for victim in line.detail.split(", ")
                ]
        if here:
            found.setdefault(here, []).append(stay)
    # Of a victim that was there before the scheduler, only the preemptor's life tells.
    for name, stay in evicted:
        if all(stay.pod != each.pod for each in found.get(name, ())):
            found.setdefault(name, []).append(stay)
    return found


def _find_unremembered(
    engine: Engine, name: str, remembered: Mapping[str, list[Stay]]
) -> Iterator[Stay]:
    """Pods that are on a node now and of whose coming nothing is told."""
    cluster = engine.cluster
    if not cluster.nodes.is_present(name):
        return
    told = {stay.pod for stay in remembered.get(name, ()) if not stay.how or stay.since is None}
    cluster.usage.grow()
    for info in cluster.usage.pods(cluster.nodes.row(name)):
        if info.key not in told:
            yield Stay(info.key, None)
