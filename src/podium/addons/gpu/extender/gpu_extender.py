"""The verbs of the GPU extender, in both wirings, and which of the nodes of a call a pod fits.

Filtering has no side effects; prioritize, bind and preempt follow. In the older wiring no bind verb
follows, so that filtering decides and writes. Nodes are tried from
the fullest on, by free cores, free memory and name; the first on which the decision could be
written is the only one that passes. A decision that the pod carries from an earlier attempt is
replaced: a pod whose binding failed is not stuck with it.

Which of the nodes of a call a pod fits, and why not the others. Nodes that the scheduler sends in
full and that nobody else knows (an autoscaler asks about machines that it might start) are judged
by what was sent; all others by what the ledger knows of them.

How much there is to look at is the caller's choice: containers of the pod times cards of the nodes
are counted as steps. After a number of them others have a turn, health checks among them, and a
request for very many is refused.
"""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import numpy as np
from msgspec import Struct

from podium.addons.gpu.cards.card import NodeCards, Reason
from podium.addons.gpu.cards.card_table import CardTable
from podium.addons.gpu.cards.fitting import fit, node_values, scores
from podium.addons.gpu.cards.requests import PodRequest, starting_order
from podium.addons.gpu.dialects.dialect import InvalidRequest
from podium.addons.gpu.extender.cluster_view import ClusterView, PodChanged
from podium.addons.gpu.extender.deciding import FAILURES, Decider
from podium.addons.gpu.extender.preemption import PreemptionSettings, choose_victims
from podium.client.extenders.extender import Extender, ExtenderError, Nodes, Unresolvable, Victims
from podium.kubernetes.kinds.node import Node
from podium.kubernetes.kinds.pod import Pod

_NODES_AT_ONCE: Final = 8
"""Of those whose victims are chosen: then others have a turn."""
CPU_NODE_SCORE = 1
"""Of nodes without cards for pods that ask for none; nodes with cards have 0."""


class GPUExtender(Extender):
    def __init__(self, decider: Decider, preemption: PreemptionSettings) -> None:
        self._decider = decider
        self._view = decider.view
        self._preemption = preemption

    def ready(self) -> bool:
        return self._view.is_synced

    async def filter(self, pod: Pod, nodes: Nodes) -> dict[str, str]:
        now = self._start_call(pod)
        require_distinct(nodes)
        try:
            request = self._view.request_of(pod)
            if request is None:
                return {}
            refused = await find_refusals(self._view, pod, request, nodes, now)
        except InvalidRequest as problem:
            refused = refuse_all(nodes, str(problem))
        for refusal in refused.values():
            self._view.count_rejection("filter", refusal.reason)
        return {name: refusal.text for name, refusal in refused.items()}

    async def prioritize(self, pod: Pod, nodes: Nodes) -> dict[str, int]:
        self._start_call(pod)
        require_distinct(nodes)
        ledger = self._view.ledger
        try:
            request = self._view.request_of(pod)
        except InvalidRequest as problem:
            raise ExtenderError(str(problem)) from None
        if request is None:
            return {name: 0 if ledger.cards(name).cards else CPU_NODE_SCORE for name in nodes.names}
        # Among nodes with cards alone: one without has nothing free, and so would be the fullest.
        names = [name for name in nodes.names if ledger.cards(name).cards]
        with ledger.without(pod.metadata.uid):
            values = node_values(ledger.table, ledger.rows_of(names), request)
        return dict(zip(names, scores(values).tolist(), strict=True))

    async def bind(self, pod_name: str, pod_namespace: str, pod_uid: str, node: str) -> None:
        self._view.start_call()
        try:
            pod = await self._decider.writer.identify(pod_namespace, pod_name, pod_uid)
            with self._view.writing_about(f"{pod_namespace}/{pod_name}", pod_uid):
                await self._bind(pod, node)
        except (InvalidRequest, *FAILURES) as problem:
            raise ExtenderError(f"pod {pod_namespace}/{pod_name}: {problem}") from None

    async def _bind(self, pod: Pod, node: str) -> None:
        pod = await self._decider.read_settled(pod)
        if pod.spec.node_name == node:
            return  # an earlier call did it, and its answer was lost
        if pod.spec.node_name:
            raise PodChanged(f"it is bound to node {pod.spec.node_name} already")
        request = self._view.request_of(pod)
        if request is None:
            await self._decider.writer.bind_plainly(pod, node)
            return
        refusal = self._decider.check(pod, request, node)
        lock = await self._decider.lock(pod, node) if refusal is None else None
        reservation = refusal or self._decider.reserve(pod, request, node, self._view.now())
        if isinstance(reservation, Reason):
            await self._decider.unlock(lock)
            self._view.count_rejection("bind", reservation)
            raise ExtenderError(f"node {node}: {Refusal(reservation).text}")
        await self._decider.bind(reservation, lock)

    async def preempt(self, pod: Pod, victims: Mapping[str, Victims]) -> dict[str, Victims]:
        self._start_call(pod)
        try:
            request = self._view.request_of(pod)
        except InvalidRequest:
            return {}
        if request is None:
            return dict(victims)
        holders = self._view.ledger.holders()
        kept = {}
        for at, (name, offered) in enumerate(victims.items(), start=1):
            if at % _NODES_AT_ONCE == 0:
                await asyncio.sleep(0)
            chosen = choose_victims(
                self._view.ledger,
                pod,
                request,
                name,
                offered.uids,
                holders.get(name, ()),
                self._preemption,
            )
            if chosen is not None:
                more = len(set(chosen) - set(offered.uids))
                kept[name] = Victims(chosen, offered.violations + more)
        return kept

    def _start_call(self, pod: Pod) -> float:
        """The time of a call about a pod that nobody but the caller may know: an autoscaler asks
        about pods that it made up. Raises ExtenderError for one with the UID of another."""
        now = self._view.start_call()
        try:
            self._view.require_own_uid(pod.namespace, pod.name, pod.metadata.uid)
        except PodChanged as problem:
            raise ExtenderError(f"pod {pod.namespace}/{pod.name}: {problem}") from None
        return now


_OF_THE_NODE = frozenset(
    {
        Reason.NO_CARDS,
        Reason.NOT_REGISTERED,
        Reason.BAD_REGISTRATION,
        Reason.NO_HEARTBEAT,
        Reason.HEARTBEAT_TIMEOUT,
        Reason.BAD_HEARTBEAT,
        Reason.QUOTA_EXCEEDED,
    }
)


class Predicates(Extender):
    def __init__(self, decider: Decider) -> None:
        self._decider = decider
        self._view = decider.view

    async def filter(self, pod: Pod, nodes: Nodes) -> dict[str, str]:
        """All nodes but the one that was chosen. What they are told are gpu-admission's texts."""
        now = self._view.start_call()
        require_distinct(nodes)
        try:
            if self._view.request_of(pod) is None:
                return {}
            return await self._decide(pod, nodes, now)
        except InvalidRequest as problem:
            return {name: each.text for name, each in refuse_all(nodes, str(problem)).items()}
        except FAILURES as problem:
            raise ExtenderError(f"pod {pod.namespace}/{pod.name}: {problem}") from None

    async def _decide(self, pod: Pod, nodes: Nodes, now: float) -> dict[str, str]:
        """What was sent says which pod is meant. What is decided about is the pod as the server has
        it: the other may be older than what this extender wrote itself, or be made up."""
        uid = pod.metadata.uid
        known = await self._decider.writer.identify(pod.namespace, pod.name, uid)
        with self._view.writing_about(f"{pod.namespace}/{pod.name}", uid):
            known = await self._decider.read_settled(known)
            if known.spec.node_name:
                raise PodChanged(f"it is bound to node {known.spec.node_name} already")
            request = self._view.request_of(known)
            if request is None:
                raise PodChanged("it asks for no card")
            return await self._choose(known, request, nodes, now)

    async def _choose(
        self, pod: Pod, request: PodRequest, nodes: Nodes, now: float
    ) -> dict[str, str]:
        uid = pod.metadata.uid
        refused = await find_refusals(self._view, pod, request, nodes, now)
        failed: dict[str, str] = {}
        order = []
        for name in self._order(pod, request, nodes):
            refusal = refused.get(name)
            if refusal is not None and refusal.reason in _OF_THE_NODE:
                failed[name] = str(refusal.text)
                self._view.count_rejection("predicates", refusal.reason)
            else:
                order.append(name)
        chosen = ""
        for name in order:
            if chosen:
                failed[name] = f"pod {uid} has already been matched to another node"
                continue
            refusal = refused.get(name)
            if refusal is not None:
                self._view.count_rejection("predicates", refusal.reason)
                failed[name] = f"pod {uid} does not match with this node"
                continue
            reservation = self._decider.reserve(pod, request, name, self._view.now())
            if isinstance(reservation, Reason):  # taken while another node was tried
                self._view.count_rejection("predicates", reservation)
                failed[name] = f"pod {uid} does not match with this node"
                continue
            try:
                await self._decider.write(reservation)
                chosen = name
            except PodChanged:
                raise
            except FAILURES:
                if uid in self._decider.doubts:
                    raise
                failed[name] = "update pod annotation failed"
                pod = self._view.ledger.pod(uid) or pod
        return failed

    def _order(self, pod: Pod, request: PodRequest, nodes: Nodes) -> list[str]:
        ledger = self._view.ledger
        rows = ledger.rows_of(nodes.names)
        known = rows >= 0
        with ledger.without(pod.metadata.uid):
            values = node_values(ledger.table, rows[known], request).tolist()
        names = [name for name, is_known in zip(nodes.names, known, strict=True) if is_known]
        ordered = sorted(zip(values, names, strict=True), key=lambda pair: (-pair[0], pair[1]))
        unknown = [name for name, is_known in zip(nodes.names, known, strict=True) if not is_known]
        return [name for _, name in ordered] + unknown


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
    allowed = view.quotas.find_allowed_nodes(
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
    left = view.resource_quotas.compute_quota_left(ledger, pod.namespace, uid)
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
    portion = _UnknownNodes(view.dialect.memory_unit)
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
            portion = _UnknownNodes(view.dialect.memory_unit)
            steps_left -= steps
            if steps_left < 0:
                raise ExtenderError(_TOO_MUCH.format(nodes=len(nodes), containers=asking))
            await asyncio.sleep(0)
    return refused | portion.refusals(request)


class _UnknownNodes:
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
