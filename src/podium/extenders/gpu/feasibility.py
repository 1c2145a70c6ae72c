"""Which of the nodes of a call a pod fits, and why not the others.

Nodes that the scheduler sends in full and that nobody else knows (an autoscaler asks about machines
that it might start) are judged by what was sent; all others by what the ledger knows of them.
"""

from collections.abc import Mapping
from typing import Final

import numpy as np
from msgspec import Struct

from podium.api.node import Node
from podium.api.pod import Pod
from podium.extenders.extender import Nodes, Unresolvable
from podium.extenders.gpu.cluster_view import ClusterView
from podium.gpu.card_table import CardTable
from podium.gpu.choosing import check_row
from podium.gpu.fitting import fit
from podium.gpu.reasons import Reason
from podium.gpu.requests import PodRequest

_WHATEVER_IS_EVICTED: Final = frozenset(
    {
        Reason.NO_CARDS,
        Reason.NOT_REGISTERED,
        Reason.BAD_REGISTRATION,
        Reason.NO_HEARTBEAT,
        Reason.HEARTBEAT_TIMEOUT,
        Reason.BAD_HEARTBEAT,
        Reason.QUOTA_EXCEEDED,
        Reason.INVALID_REQUEST,
    }
)


class Refusal(Struct, frozen=True):
    """Why a node is not taken, with more about it where somebody knows more."""

    reason: Reason
    detail: str = ""
    words: str = ""
    """What is said instead of the reason's phrase."""

    @property
    def text(self) -> str:
        phrase = self.words or self.reason.phrase
        text = f"{phrase}: {self.detail}" if self.detail else phrase
        return Unresolvable(text) if self.reason in _WHATEVER_IS_EVICTED else text


def refuse_all(nodes: Nodes, detail: str) -> dict[str, Refusal]:
    """The pod asks for what no card can give."""
    return dict.fromkeys(nodes.names, Refusal(Reason.INVALID_REQUEST, detail))


def find_refusals(
    view: ClusterView, pod: Pod, request: PodRequest, nodes: Nodes, now: float
) -> dict[str, Refusal]:
    """The nodes that the pod does not fit. What it holds itself is free for it."""
    ledger, uid = view.ledger, pod.metadata.uid
    rows = ledger.rows_of(nodes.names)
    known = rows >= 0
    left = view.resource_quotas.left(ledger, pod.namespace, uid)
    with ledger.without(uid):
        result = fit(ledger.table, rows[known], request, left)
    refused: dict[str, Refusal] = {}
    positions = np.flatnonzero(known)
    for at in np.flatnonzero(~result.fits).tolist():
        reason = result.reason(at)
        assert reason is not None
        name = nodes.names[positions[at]]
        refused[name] = Refusal(reason, ledger.table.nodes[rows[positions[at]]].detail)
    if not known.all():
        refused |= _judge_unknown(view, request, nodes, known.tolist(), now)
    allowed = view.quotas.allowed(ledger, pod.namespace, uid, request, nodes.names)
    if allowed is not None:
        for at in np.flatnonzero(~allowed).tolist():
            refused[nodes.names[at]] = Refusal(Reason.QUOTA_EXCEEDED)
    return refused


def _judge_unknown(
    view: ClusterView, request: PodRequest, nodes: Nodes, known: list[bool], now: float
) -> dict[str, Refusal]:
    sent: Mapping[str, Node] = {} if nodes.names_only else {node.name: node for node in nodes}
    refused: dict[str, Refusal] = {}
    for name, is_known in zip(nodes.names, known, strict=True):
        if is_known:
            continue
        if name not in sent:
            text = f'error finding node name {name} from cache, err: node "{name}" not found'
            refused[name] = Refusal(Reason.NO_CARDS, words=text)
            continue
        cards = view.dialect.node_cards(sent[name], now)
        table = CardTable(view.dialect.memory_unit)
        table.put_node(0, cards)
        reason = check_row(table, 0, request)
        if reason is not None:
            refused[name] = Refusal(reason, cards.detail)
    return refused
