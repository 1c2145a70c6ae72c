"""One node, opened: what it is, what it has, who is on it and who came and went."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Final, cast

from podium.addons.gpu.cards.overview import CardView, view_dialect
from podium.addons.gpu.dialects import find_dialect
from podium.addons.gpu.dialects.dialect_detection import find_spoken_dialects
from podium.golang.document_structs import Count, Document, DocumentPart, Moment, PodKey
from podium.kubernetes.kinds.node import Node
from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.rules.timestamps import micro_time_text
from podium.scheduler.cluster.pod_info import PodInfo
from podium.scheduler.engine import Engine
from podium.scheduler.engine.observer import Line, LogLineKind
from podium.web.page_documents import NotThere

MAX_PODS: Final = 500
MAX_LINES: Final = 200
_ARRIVALS: Final = ("bound", "waiting", "preempting", "binding failed")


class TaintOfNode(DocumentPart, frozen=True):
    """A taint."""

    key: str
    """The taint's key."""
    value: str
    """The taint's value."""
    effect: str
    """The taint's effect."""


class AmountOfNode(DocumentPart, frozen=True):
    """A resource of one node: cpu in milli, memory in bytes."""

    name: str
    """Its name."""
    allocatable: int
    """What pods may have."""
    requested: int
    """What pods ask for."""


class PodOfNode(DocumentPart, frozen=True):
    """A pod on the node."""

    pod: PodKey
    """The pod."""
    requests: Mapping[str, int]
    """What it asks for, by resource."""
    priority: int
    """Its priority."""
    phase: str
    """The pod's phase."""
    assumed: bool
    """Whether the API server does not know yet that it is there."""

    @classmethod
    def of(cls, engine: Engine, info: PodInfo) -> "PodOfNode":
        return cls(
            pod=info.key,
            requests={name: amount for name, amount in info.shape.accounted.items() if amount},
            priority=info.pod.spec.priority or 0,
            phase=info.pod.status.phase or "Pending",
            assumed=engine.cluster.is_assumed(info.uid),
        )


class CardOfNode(DocumentPart, frozen=True):
    """A GPU card."""

    dialect: str
    """The dialect that its agent speaks."""
    index: int
    """Its position on the node."""
    model: str
    """Its model."""
    healthy: bool
    """Whether it works."""
    cores: int
    """Its cores, in percent."""
    used_cores: int
    """Cores that pods have."""
    memory_bytes: int
    """Its memory."""
    used_memory_bytes: int
    """Memory that pods have."""
    owners: tuple[PodKey, ...]
    """Pods that have a share of it."""

    @classmethod
    def of(cls, dialect: str, view: CardView, unit: int) -> "CardOfNode":
        card, used = view.card, view.used
        return cls(
            dialect=dialect,
            index=card.index,
            model=card.model,
            healthy=card.healthy,
            cores=card.cores,
            used_cores=used.cores,
            memory_bytes=card.memory * unit,
            used_memory_bytes=used.memory * unit,
            owners=tuple(owner.key for owner in view.owners),
        )


class ArrivalOnNode(DocumentPart, frozen=True):
    """Who came, and whom that cost his place."""

    at: Moment
    """When it was so."""
    pod: PodKey
    """The pod."""
    what: LogLineKind
    """What happened."""
    detail: str
    """More about it."""

    @classmethod
    def of(cls, line: Line, key: str) -> "ArrivalOnNode":
        return cls(micro_time_text(line.at), key, cast(LogLineKind, line.what), line.detail)


class NodeDocument(Document, frozen=True):
    """One node, opened on the page."""

    KIND: ClassVar[str] = "NodeView"

    name: str
    """Its name."""
    unschedulable: bool
    """Whether it takes no new pods."""
    labels: Mapping[str, str]
    """Its labels."""
    taints: tuple[TaintOfNode, ...]
    """Its taints."""
    resources: tuple[AmountOfNode, ...]
    """Amounts of each resource: cpu in milli, memory in bytes."""
    pod_count: Count
    """How many pods are on it."""
    pods: tuple[PodOfNode, ...]
    """The largest of them."""
    cards: tuple[CardOfNode, ...]
    """Its GPU cards."""
    story: tuple[ArrivalOnNode, ...]
    """What happened on it, oldest first."""


@dataclass(frozen=True, slots=True)
class NodeReading:
    """A node at one moment; `columns` are resources with what it has and what is requested."""

    node: Node
    columns: tuple[tuple[str, int, int], ...]
    pods: tuple[PodInfo, ...]


def read_node(engine: Engine, name: str) -> NodeReading:
    """Raises NotThere."""
    cluster = engine.cluster
    nodes, usage = cluster.nodes, cluster.usage
    if not nodes.is_present(name):
        raise NotThere("there is no such node")
    usage.grow()
    row = nodes.row(name)
    columns = [
        (resource, int(nodes.allocatable[index, row]), int(usage.requested[index, row]))
        for index, resource in enumerate(nodes.resources)
    ]
    columns.insert(2, ("pods", int(nodes.allowed_pods[row]), int(usage.pod_count[row])))
    return NodeReading(nodes.node(row), tuple(columns), tuple(usage.pods(row)))


def node_document(engine: Engine, name: str) -> NodeDocument:
    """Raises NotThere."""
    return reading_document(engine, read_node(engine, name), _story(engine, name))


def reading_document(
    engine: Engine, reading: NodeReading, story: Iterable[ArrivalOnNode] = ()
) -> NodeDocument:
    """A node as it was read, which may have been before."""
    node, pods = reading.node, reading.pods
    return NodeDocument(
        name=node.metadata.name,
        unschedulable=node.spec.unschedulable,
        labels=dict(sorted((node.metadata.labels or {}).items())),
        taints=tuple(
            TaintOfNode(taint.key, taint.value, taint.effect) for taint in node.spec.taints or ()
        ),
        resources=tuple(
            AmountOfNode(resource, has, uses)
            for resource, has, uses in reading.columns
            if has or uses
        ),
        pod_count=len(pods),
        pods=tuple(PodOfNode.of(engine, info) for info in _largest(pods)),
        cards=tuple(_cards(node, [info.pod for info in pods], engine)),
        story=tuple(story),
    )


def _largest(pods: Sequence[PodInfo]) -> list[PodInfo]:
    def size(info: PodInfo) -> tuple[int, str]:
        return -info.shape.accounted.get("cpu", 0), info.key

    return sorted(pods, key=size)[:MAX_PODS]


def _cards(node: Node, pods: list[Pod], engine: Engine) -> Iterator[CardOfNode]:
    """GPU cards, in each dialect that the node's agents speak."""
    for spoken in find_spoken_dialects([node]):
        view = view_dialect(find_dialect(spoken), [node], pods, engine.clock(), {})
        for seen in view.nodes:
            for card in seen.cards:
                yield CardOfNode.of(spoken, card, view.memory_unit)


def _story(engine: Engine, name: str) -> Iterator[ArrivalOnNode]:
    """The newest last."""
    log = engine.state.pod_log
    lines = [
        (line, key)
        for key in log.pods()
        for line in log.lines(key)
        if line.about == name and line.what in _ARRIVALS
    ]
    lines.sort(key=lambda each: each[0].at)
    return (ArrivalOnNode.of(line, key) for line, key in lines[-MAX_LINES:])
