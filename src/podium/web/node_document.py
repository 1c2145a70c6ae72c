"""One node, opened: what it is, what it has, who is on it and who came and went."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from podium.addons.gpu.cards.overview import CardView, view_dialect
from podium.addons.gpu.dialects import find_dialect
from podium.addons.gpu.dialects.dialect_detection import find_spoken_dialects
from podium.kubernetes.kinds.node import Node
from podium.kubernetes.rules.timestamps import micro_time_text
from podium.scheduler.cluster.pod_info import PodInfo
from podium.scheduler.engine import Engine
from podium.scheduler.engine.observer import Line
from podium.web.page_documents import NotThere

MAX_PODS: Final = 500
MAX_LINES: Final = 200
_ARRIVALS: Final = ("bound", "waiting", "preempting", "binding failed")


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


def node_document(engine: Engine, name: str) -> dict[str, Any]:
    """Raises NotThere."""
    return reading_document(engine, read_node(engine, name), _story(engine, name))


def reading_document(
    engine: Engine, reading: NodeReading, story: list[dict[str, Any]]
) -> dict[str, Any]:
    """A node as it was read, which may have been before."""
    node, pods = reading.node, reading.pods
    return {
        "name": node.metadata.name,
        "unschedulable": node.spec.unschedulable,
        "labels": dict(sorted((node.metadata.labels or {}).items())),
        "taints": [
            {"key": taint.key, "value": taint.value, "effect": taint.effect}
            for taint in node.spec.taints or ()
        ],
        "resources": [
            {"name": resource, "allocatable": has, "requested": uses}
            for resource, has, uses in reading.columns
            if has or uses
        ],
        "podCount": len(pods),
        "pods": [_pod(engine, info) for info in _largest(pods)],
        "cards": list(_cards(node, [info.pod for info in pods], engine)),
        "story": story,
    }


def _largest(pods: Sequence[PodInfo]) -> list[PodInfo]:
    def size(info: PodInfo) -> tuple[int, str]:
        return -info.shape.accounted.get("cpu", 0), info.key

    return sorted(pods, key=size)[:MAX_PODS]


def _pod(engine: Engine, info: PodInfo) -> dict[str, Any]:
    return {
        "pod": info.key,
        "requests": {name: amount for name, amount in info.shape.accounted.items() if amount},
        "priority": info.pod.spec.priority or 0,
        "phase": info.pod.status.phase or "Pending",
        "assumed": engine.cluster.is_assumed(info.uid),
    }


def _cards(node: Node, pods: list[Any], engine: Engine) -> Iterator[dict[str, Any]]:
    """GPU cards, in each dialect that the node's agents speak."""
    for spoken in find_spoken_dialects([node]):
        dialect = find_dialect(spoken)
        view = view_dialect(dialect, [node], pods, engine.clock(), {})
        for seen in view.nodes:
            for card in seen.cards:
                yield {"dialect": spoken, **_card(card, view.memory_unit)}


def _card(view: CardView, unit: int) -> dict[str, Any]:
    card, used = view.card, view.used
    return {
        "index": card.index,
        "model": card.model,
        "healthy": card.healthy,
        "cores": card.cores,
        "usedCores": used.cores,
        "memoryBytes": card.memory * unit,
        "usedMemoryBytes": used.memory * unit,
        "owners": [owner.key for owner in view.owners],
    }


def _story(engine: Engine, name: str) -> list[dict[str, Any]]:
    """Who came, and whom that cost his place; the newest last."""
    log = engine.state.pod_log
    lines = [
        (line, key)
        for key in log.pods()
        for line in log.lines(key)
        if line.about == name and line.what in _ARRIVALS
    ]
    lines.sort(key=lambda each: each[0].at)
    return [_line(line, key) for line, key in lines[-MAX_LINES:]]


def _line(line: Line, key: str) -> dict[str, Any]:
    return {"at": micro_time_text(line.at), "pod": key, "what": line.what, "detail": line.detail}
