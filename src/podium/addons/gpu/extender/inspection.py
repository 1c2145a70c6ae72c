"""What the extender shows: cards as `kubectl inspect gpushare` reads them, and metrics.

`totalGPU` and `usedGPU` are memory in the dialect's units, as there; what else is known of cards
stands beside it.

Metrics (cards, fragmentation, refusals) are read from the ledger when somebody asks.
"""

from collections.abc import Iterator
from typing import Any

import msgspec
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from podium.addons.extenders.service import PageText
from podium.addons.gpu.cards.allocations import NOTHING_CHARGED
from podium.addons.gpu.cards.fragmentation import (
    CARD_READINGS,
    REJECTED_NODES,
    REJECTED_NODES_LABELS,
    REJECTED_NODES_WORDS,
    RESERVATIONS,
    RESERVATIONS_WORDS,
    UNREADABLE,
    UNREADABLE_WORDS,
)
from podium.addons.gpu.cards.ledger import Holder
from podium.addons.gpu.extender.cluster_view import ClusterView

_JSON = "application/json"


def inspect_page(view: ClusterView, node_name: str) -> PageText | None:
    """All nodes with cards, or one by its name."""
    if node_name and node_name not in view.ledger.rows():
        body = {"nodes": [], "error": f"node {node_name} not found"}
        return PageText(404, msgspec.json.encode(body), _JSON)
    holders = view.ledger.holders()
    names = [node_name] if node_name else sorted(view.ledger.rows())
    found = [_node(view, name, holders.get(name, [])) for name in names]
    if not node_name:
        found = [node for node in found if node["devs"] or "reason" in node]
    return PageText(200, msgspec.json.encode({"nodes": found}), _JSON)


def _node(view: ClusterView, name: str, holders: list[Holder]) -> dict[str, Any]:
    ledger = view.ledger
    row = ledger.rows()[name]
    cards = ledger.cards(name)
    books = ledger.table.charged[row]
    devices = []
    for card in cards.cards:
        charged = books.get(card.index, NOTHING_CHARGED)
        devices.append(
            {
                "id": card.index,
                "totalGPU": card.memory,
                "usedGPU": charged.memory,
                "totalCores": card.cores,
                "usedCores": charged.cores,
                "uuid": card.uuid,
                "model": card.model,
                "healthy": card.healthy,
                "pods": [
                    _pod(holder, card.index) for holder in holders if card.index in holder.uses
                ],
            }
        )
    node: dict[str, Any] = {
        "name": name,
        "totalGPU": sum(device["totalGPU"] for device in devices),
        "usedGPU": sum(device["usedGPU"] for device in devices),
        "devs": devices,
    }
    reason = ledger.table.refusal_of(row)
    if reason is not None and (cards.cards or cards.detail):
        node["reason"] = reason.code
        node["message"] = cards.detail or reason.phrase
    return node


def _pod(holder: Holder, card: int) -> dict[str, Any]:
    use = holder.uses[card]
    return {
        "name": holder.pod.name,
        "namespace": holder.pod.namespace,
        "usedGPU": use.memory,
        "usedCores": use.cores,
        "reserved": holder.is_reserved,
    }


class CardMetrics(Collector):
    def __init__(self, view: ClusterView) -> None:
        self._view = view

    def collect(self) -> Iterator[Metric]:
        ledger = self._view.ledger
        for reading in CARD_READINGS:
            gauge = GaugeMetricFamily(reading.name, reading.words, labels=reading.labels)
            for labels, number in reading.read(ledger.table, ledger.rows()):
                gauge.add_metric(labels, number)
            yield gauge
        rejected = CounterMetricFamily(
            REJECTED_NODES.removesuffix("_total"),
            REJECTED_NODES_WORDS,
            labels=REJECTED_NODES_LABELS,
        )
        for (verb, reason), count in self._view.rejections.items():
            rejected.add_metric((verb, reason.code), count)
        yield rejected
        yield GaugeMetricFamily(RESERVATIONS, RESERVATIONS_WORDS, value=len(ledger.reservations))
        unread = sum(1 for _, held in ledger.pods() if held.unread)
        yield GaugeMetricFamily(UNREADABLE, UNREADABLE_WORDS, value=unread)
