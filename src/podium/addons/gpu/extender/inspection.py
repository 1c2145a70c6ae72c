"""Nodes, their cards and who has them, in the shape that `kubectl inspect gpushare` reads.

`totalGPU` and `usedGPU` are memory in the dialect's units, as there; what else is known of cards
stands beside it.
"""

from typing import Any

import msgspec

from podium.addons.extenders.service import PageText
from podium.addons.gpu.cards.allocations import NOTHING_CHARGED
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
