"""Which of the nodes of a call a pod fits, and why not the others.

Nodes that the scheduler sends in full and that nobody else knows (an autoscaler asks about machines
that it might start) are judged by what was sent; all others by what the ledger knows of them.

How much there is to look at is the caller's choice: containers of the pod times cards of the nodes
are counted as steps. After a number of them others have a turn, health checks among them, and a
request for very many is refused.
"""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import numpy as np
from msgspec import Struct

from podium.addons.extenders.extender import ExtenderError, Nodes, Unresolvable
from podium.addons.gpu.cards.card import NodeCards
from podium.addons.gpu.cards.card_table import CardTable
from podium.addons.gpu.cards.fitting import fit
from podium.addons.gpu.cards.reasons import Reason
from podium.addons.gpu.cards.requests import PodRequest, starting_order
from podium.addons.gpu.extender.cluster_view import ClusterView
from podium.kubernetes.kinds.node import Node
from podium.kubernetes.kinds.pod import Pod

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


_STEPS_AT_ONCE: Final = 1 << 17
"""Some ten milliseconds."""
_MAX_STEPS: Final = 1 << 26
"""Of nodes that are known: 128 containers on 4,000 nodes of 128 cards, or on 64,000 of 8."""
_MAX_STEPS_OF_STRANGERS: Final = 1 << 23
"""Of nodes that are sent, as many as the caller likes: 128 containers on 512 of 128 cards."""
_MAX_UNKNOWN: Final = 1 << 16
"""Nodes of a request that the ledger does not know; a scheduler knows hardly any others."""
_NAMES_AT_ONCE: Final = 1 << 12
_TOO_MANY_UNKNOWN: Final = (
    "{nodes} nodes of the request are not known here, and at most {most} are answered"
)
_TOO_MUCH: Final = (
    "{nodes} nodes for a pod of {containers} containers that ask for cards are more than one"
    " request may ask about"
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


def require_distinct(nodes: Nodes) -> None:
    """Raises ExtenderError if a node is named twice: there are no more nodes than are known."""
    if len(set(nodes.names)) < len(nodes):
        raise ExtenderError("the request names a node twice")


def refuse_all(nodes: Nodes, detail: str) -> dict[str, Refusal]:
    """The pod asks for what no card can give."""
    return dict.fromkeys(nodes.names, Refusal(Reason.INVALID_REQUEST, detail))


async def find_refusals(
    view: ClusterView, pod: Pod, request: PodRequest, nodes: Nodes, now: float
) -> dict[str, Refusal]:
    """The nodes that the pod does not fit. What it holds itself is free for it.

    Others have a turn in between if there is much to look at, so that each node is judged by what
    is known when it is its turn. Raises ExtenderError if there is too much.
    """
    asking = len(starting_order(request))
    refused: dict[str, Refusal] = {}
    unknown: list[str] = []
    steps_each = asking * max(1, view.ledger.table.places)
    if len(nodes) * steps_each > _MAX_STEPS:
        raise ExtenderError(_TOO_MUCH.format(nodes=len(nodes), containers=asking))
    for at, names in enumerate(_portions(nodes.names, steps_each)):
        if at:
            await asyncio.sleep(0)
        unknown += _judge_known(view, pod, request, names, refused)
    if len(unknown) > _MAX_UNKNOWN:
        raise ExtenderError(_TOO_MANY_UNKNOWN.format(nodes=len(unknown), most=_MAX_UNKNOWN))
    if unknown:
        refused |= await _judge_unknown(view, request, nodes, unknown, now)
    allowed = view.quotas.allowed(
        view.ledger, pod.namespace, pod.metadata.uid, request, nodes.names
    )
    if allowed is not None:
        for at in np.flatnonzero(~allowed).tolist():
            refused[nodes.names[at]] = Refusal(Reason.QUOTA_EXCEEDED)
    return refused


def _portions(names: Sequence[str], steps_each: int) -> Iterator[Sequence[str]]:
    size = max(1, _STEPS_AT_ONCE // max(1, steps_each))
    return (names[at : at + size] for at in range(0, len(names), size))


def _judge_known(
    view: ClusterView,
    pod: Pod,
    request: PodRequest,
    names: Sequence[str],
    refused: dict[str, Refusal],
) -> list[str]:
    """Add those of the nodes that are refused; the names of nodes that are not known."""
    ledger, uid = view.ledger, pod.metadata.uid
    rows = ledger.rows_of(names)
    known = rows >= 0
    left = view.resource_quotas.left(ledger, pod.namespace, uid)
    with ledger.without(uid):
        result = fit(ledger.table, rows[known], request, left)
    positions = np.flatnonzero(known)
    for at in np.flatnonzero(~result.fits).tolist():
        reason = result.reason(at)
        assert reason is not None
        name = names[positions[at]]
        refused[name] = Refusal(reason, ledger.table.nodes[rows[positions[at]]].detail)
    return [name for name, is_known in zip(names, known.tolist(), strict=True) if not is_known]


async def _judge_unknown(
    view: ClusterView, request: PodRequest, nodes: Nodes, names: Sequence[str], now: float
) -> dict[str, Refusal]:
    sent: Mapping[str, Node] = {} if nodes.names_only else {node.name: node for node in nodes}
    asking = len(starting_order(request))
    refused: dict[str, Refusal] = {}
    steps_left = _MAX_STEPS_OF_STRANGERS
    portion = _Strangers(view.dialect.memory_unit)
    for at, name in enumerate(names, start=1):
        if at % _NAMES_AT_ONCE == 0:
            await asyncio.sleep(0)
        if name not in sent:
            text = f'error finding node name {name} from cache, err: node "{name}" not found'
            refused[name] = Refusal(Reason.NO_CARDS, words=text)
            continue
        portion.add(name, view.dialect.node_cards(sent[name], now))
        steps = asking * portion.cells()
        if steps >= _STEPS_AT_ONCE:
            refused |= portion.refusals(request)
            portion = _Strangers(view.dialect.memory_unit)
            steps_left -= steps
            if steps_left < 0:
                raise ExtenderError(_TOO_MUCH.format(nodes=len(nodes), containers=asking))
            await asyncio.sleep(0)
    return refused | portion.refusals(request)


class _Strangers:
    """Some nodes that nobody but the caller knows, in a table of their own."""

    def __init__(self, memory_unit: int) -> None:
        self._table = CardTable(memory_unit)
        self._names: list[str] = []

    def add(self, name: str, cards: NodeCards) -> None:
        self._table.put_node(len(self._names), cards)
        self._names.append(name)

    def cells(self) -> int:
        """How many cards are looked at for each container."""
        return len(self._names) * max(1, self._table.places)

    def refusals(self, request: PodRequest) -> dict[str, Refusal]:
        result = fit(self._table, np.arange(len(self._names)), request)
        found = ((name, at, result.reason(at)) for at, name in enumerate(self._names))
        return {
            name: Refusal(reason, self._table.nodes[at].detail)
            for name, at, reason in found
            if reason is not None
        }
