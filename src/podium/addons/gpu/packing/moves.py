"""Moves of pods: a plan and whom it is checked with, and the cards as they would be after some.

A plan is made on the cards alone. Whether the scheduler would do just that, with all its other
reasons, is asked of a `MoveScheduler`: each step is carried out there, and given up if it comes to
nothing.

Which pods may be moved to other cards, and what their moving costs of disruption budgets. A pod is
moved by evicting it: its controller makes another one, for which the scheduler chooses anew. So a
pod without a controller cannot be moved, nor one that belongs to its node.

The cards as they would be after some moves: who holds what, who may go where, and the way back.
Changes are made together and taken back together: each of them leaves on `undo` how.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Final, Protocol

import numpy as np
from msgspec import Struct

from podium.addons.gpu.cards.allocations import Allocation, CardUse, card_uses
from podium.addons.gpu.cards.card import Card, NodeCards
from podium.addons.gpu.cards.card_rules import Facts, set_needs
from podium.addons.gpu.cards.card_table import NO_REASON, CardTable
from podium.addons.gpu.cards.choosing import allocate
from podium.addons.gpu.cards.fitting import fit, node_values
from podium.addons.gpu.cards.fragmentation import fragmentation, node_fragmentation
from podium.addons.gpu.cards.known_pods import held_cards
from podium.addons.gpu.cards.overview import ConfigMaps, read_cards, speaks
from podium.addons.gpu.cards.requests import ContainerRequest, PodRequest, starting_order
from podium.addons.gpu.dialects.dialect import Dialect, InvalidRequest, Phase
from podium.kubernetes.kinds.node import Node
from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.kinds.workloads import PodDisruptionBudget
from podium.kubernetes.rules.disruptions import guards
from podium.kubernetes.rules.node_affinity import required_of
from podium.kubernetes.rules.priorities import MIN_CRITICAL_PRIORITY
from podium.kubernetes.rules.tolerations import COMPARISON_ALLOWED, find_untolerated_taint


class CardPlacement(Struct, frozen=True):
    """Cards of a node, by their indexes."""

    node: str
    cards: tuple[int, ...]


class Move(Struct, frozen=True):
    """`target` is where the scheduler puts the pod, or if nobody asked it where the pod fits best
    by its request; `proposed` is the latter, if the scheduler has another place. `equal_nodes` is
    how many nodes are as good as the target for it, the target among them."""

    pod: Pod
    source: CardPlacement
    target: CardPlacement
    proposed: CardPlacement | None = None
    equal_nodes: int = 1


class MoveGroup(Struct, frozen=True):
    """Moves that make sense together only. `frees` is the card that becomes idle, `places` the pod
    that fits after them, with its place."""

    moves: tuple[Move, ...]
    frees: CardPlacement | None = None
    places: tuple[Pod, CardPlacement] | None = None


class RefusedStep(Struct, frozen=True):
    """A step that would come to nothing, for what the scheduler would do."""

    step: MoveGroup
    why: str


class Defragmentation(Struct, frozen=True):
    """`unplaced` are pods that wait and cannot be helped; `kept` pods that must stay, and why.
    `checked` if the scheduler was asked about each step; `refused` are those that it defeats."""

    steps: tuple[MoveGroup, ...]
    idle_before: int
    idle_after: int
    unplaced: tuple[Pod, ...] = ()
    kept: tuple[tuple[Pod, str], ...] = ()
    checked: bool = False
    refused: tuple[RefusedStep, ...] = ()

    @property
    def moves(self) -> list[Move]:
        return [move for step in self.steps for move in step.moves]


class PlacedPod(Struct, frozen=True):
    """Where the scheduler puts a pod, one of `equal_nodes` that are equally good."""

    node: str
    allocation: Allocation
    equal_nodes: int = 1


class MoveAnswer(Struct, frozen=True):
    """What came of evictions: how many were made, where pods went by their keys, successors and
    pods that waited alike, and what keeps the others from all nodes."""

    evicted: int
    placed: Mapping[str, PlacedPod]
    messages: Mapping[str, str]


class MoveScheduler(Protocol):
    """A scheduler on an imagined cluster, which keeps what it did until that is taken back."""

    def place_waiting(self, pods: Sequence[Pod]) -> Mapping[str, PlacedPod]:
        """Have the pods that wait tried, before anything is moved; those that found a place."""
        ...

    def evict(self, pods: Sequence[Pod], until: str = "") -> MoveAnswer:
        """Evict pods one after the other and place their successors, until one of them finds no
        place, or until the pod of this key has one."""
        ...

    def take_back(self) -> None:
        """Undo the last call of `evict`."""
        ...


def key_of(pod: Pod) -> str:
    return f"{pod.namespace}/{pod.name}"


MOVING_ANNOTATION: Final = "podium.dev/gpu-moving"
"""`forbidden` on a pod keeps it where it is."""
FORBIDDEN: Final = "forbidden"
_SAFE_TO_EVICT: Final = "cluster-autoscaler.kubernetes.io/safe-to-evict"
_OF_NODES: Final = ("DaemonSet", "Node")


def why_unmovable(pod: Pod) -> str:
    """Why a pod that holds cards must stay; empty if it may be moved."""
    owner = pod.metadata.controller
    if pod.metadata.is_terminating:
        return "it is on its way out"
    if owner is None:
        return "nothing would make it anew"
    if owner.kind in _OF_NODES:
        return f"its {owner.kind} keeps it on the node"
    if pod.metadata.annotation(MOVING_ANNOTATION) == FORBIDDEN:
        return f"annotation {MOVING_ANNOTATION}"
    if pod.metadata.annotation(_SAFE_TO_EVICT) == "false":
        return f"annotation {_SAFE_TO_EVICT}"
    if priority_of(pod) >= MIN_CRITICAL_PRIORITY:
        return "it is critical"
    return ""


def priority_of(pod: Pod) -> int:
    return pod.spec.priority or 0


class BudgetsLeft:
    """What disruption budgets still allow."""

    def __init__(self, budgets: Iterable[PodDisruptionBudget]) -> None:
        self._budgets = tuple(budgets)
        self._left = [budget.status.disruptions_allowed for budget in self._budgets]

    def take(self, pods: Iterable[Pod]) -> bool:
        """Count the eviction of all of these pods, if that is allowed."""
        left = list(self._left)
        for pod in pods:
            for at, budget in enumerate(self._budgets):
                if guards(budget, pod.metadata):
                    left[at] -= 1
                    if left[at] < 0:
                        return False
        self._left = left
        return True

    def allow(self, pods: Iterable[Pod]) -> bool:
        """Whether they could be evicted."""
        before = self._left
        allowed = self.take(pods)
        self._left = before
        return allowed


Undo = list[Callable[[], object]]
ReadRequest = Callable[[Pod], PodRequest | None]

NEVER: Final = 1 << 16
"""More pods than there can be."""


class MovablePod(Struct, frozen=True):
    """A pod that holds cards and may be moved."""

    pod: Pod
    request: PodRequest
    row: int
    uses: Mapping[int, CardUse]

    @property
    def size(self) -> int:
        """What moving it is like: cores first, then memory."""
        return sum((use.cores << 40) + use.memory for use in self.uses.values())

    @property
    def source(self) -> tuple[int, ...]:
        return tuple(sorted(self.uses))


Places = list[tuple[MovablePod, int, Allocation]]
"""Where pods go: the row of a node, and its cards."""


class MoveTable:
    """`waiting` are pods without a node; `kept` those that must stay, and why."""

    def __init__(
        self,
        dialect: Dialect,
        nodes: Sequence[Node],
        pods: Iterable[Pod],
        now: float,
        config_maps: ConfigMaps | None = None,
        read_request: ReadRequest | None = None,
    ) -> None:
        """`read_request` stands in for the dialect's own, where policies are configured."""
        self.nodes: list[Node] = []
        self.cards = CardTable(dialect.memory_unit)
        self.holders: dict[str, MovablePod] = {}
        self.waiting: list[tuple[Pod, PodRequest]] = []
        self.kept: list[tuple[Pod, str]] = []
        for node in nodes:
            cards = read_cards(dialect, node, now, config_maps or {})
            if speaks(cards):
                self.cards.put_node(len(self.nodes), cards)
                self.nodes.append(node)
        self._rows = {node.name: row for row, node in enumerate(self.nodes)}
        for pod in pods:
            self._take_in(dialect, pod, now, read_request or dialect.pod_request)

    def _take_in(self, dialect: Dialect, pod: Pod, now: float, read: ReadRequest) -> None:
        try:
            request = read(pod)
        except InvalidRequest:
            request = None
        row = self._rows.get(dialect.decided_node(pod) or pod.spec.node_name)
        cards = NodeCards() if row is None else self.cards.nodes[row]
        held = held_cards(dialect, pod, cards, now)
        if held.allocation is None or row is None:
            if request is not None and not pod.spec.node_name and not pod.metadata.is_terminating:
                self.waiting.append((pod, request))
            return
        self.cards.charge(row, held.uses)
        why = "its request cannot be read" if request is None else why_unmovable(pod)
        if held.phase is not Phase.CONFIRMED:
            why = why or "its agent has not given it its cards yet"
        if why or request is None:
            self.kept.append((pod, why))
        else:
            self.holders[key_of(pod)] = MovablePod(pod, request, row, dict(held.uses))

    # --- looking --------------------------------------------------------------------------------

    def row_of(self, node_name: str) -> int:
        return self._rows[node_name]

    def placement(self, row: int, cards: Sequence[int]) -> CardPlacement:
        return CardPlacement(self.nodes[row].name, tuple(cards))

    def idle_cards(self) -> int:
        return fragmentation(node_fragmentation(self.cards)).idle_cards

    def may_go(self, pod: Pod, row: int) -> bool:
        """Whether the node's taints and the pod's selectors let it."""
        node = self.nodes[row]
        if node.spec.unschedulable or find_untolerated_taint(
            node.spec.taints, pod.spec.tolerations, comparison=COMPARISON_ALLOWED
        ):
            return False
        return required_of(pod).matches(node.metadata.labels, node.name)

    def holders_of(self, row: int) -> list[MovablePod]:
        """The least important and smallest first."""
        here = [holder for holder in self.holders.values() if holder.row == row]
        here.sort(key=lambda each: (priority_of(each.pod), each.size, key_of(each.pod)))
        return here

    def cards_to_free(self) -> list[tuple[int, int, list[MovablePod]]]:
        """Cards all of whose pods may be moved, the one with the fewest and smallest first."""
        by_card: dict[tuple[int, int], list[MovablePod]] = {}
        for holder in self.holders.values():
            for index in holder.uses:
                by_card.setdefault((holder.row, index), []).append(holder)
        found = []
        for (row, index), holders in by_card.items():
            charged = self.cards.charged[row].get(index)
            slots = sum(holder.uses[index].slots for holder in holders)
            if charged is not None and charged.slots == slots and self.cards.refusal[row] < 0:
                found.append((row, index, holders))
        return sorted(
            found,
            key=lambda each: (
                len(each[2]),
                sum(priority_of(holder.pod) for holder in each[2]),
                sum(holder.size for holder in each[2]),
                each[:2],
            ),
        )

    def min_victims(self, row: int, request: PodRequest, here: Sequence[MovablePod]) -> int:
        """So many of these pods of the row have to leave at least before the request fits there:
        a bound for one of its containers, as if that could have any of the cards."""
        wanted = max(
            (start.container for start in starting_order(request)), key=lambda each: each.cards
        )
        cards = self.cards.nodes[row].cards
        if wanted.wants_mig():
            return 0
        leaving = sorted(self._count_leaving(row, card, wanted, here) for card in cards)
        span = max((len(each.uses) for each in here), default=1)
        enough = len(cards) >= wanted.cards
        return -(-sum(leaving[: wanted.cards]) // span) if enough else NEVER

    def _count_leaving(
        self, row: int, card: Card, wanted: ContainerRequest, here: Sequence[MovablePod]
    ) -> int:
        """How many have to leave the card."""
        charged = self.cards.charged[row].get(card.index)
        if charged is None:
            return 0
        uses = [each.uses[card.index] for each in here if card.index in each.uses]
        if wanted.exclusive:
            return len(uses) if sum(use.slots for use in uses) == charged.slots else NEVER
        facts = Facts()
        facts.cores, facts.memory = card.cores, card.memory
        set_needs(wanted, facts)
        return max(
            _count_leaving(charged.cores + facts.need_cores - card.cores, [u.cores for u in uses]),
            _count_leaving(
                charged.memory + facts.need_memory - card.memory, [u.memory for u in uses]
            ),
        )

    # --- moving ---------------------------------------------------------------------------------

    def find_places(self, victims: Sequence[MovablePod], undo: Undo) -> Places | None:
        """New cards for all of them, the largest first; None if one finds none."""
        places: Places = []
        for victim in sorted(victims, key=lambda each: -each.size):
            row = self._best_row(victim)
            found = None if row is None else allocate(self.cards, row, victim.request)
            if row is None or not isinstance(found, Allocation):
                return None
            self.charge(row, card_uses(found), undo)
            places.append((victim, row, found))
        return places

    def _best_row(self, holder: MovablePod) -> int | None:
        fits = fit(self.cards, None, holder.request).codes == NO_REASON
        rows = [row for row in np.flatnonzero(fits).tolist() if self.may_go(holder.pod, row)]
        if not rows:
            return None
        values = node_values(self.cards, np.array(rows, np.int64), holder.request)
        return int(rows[int(values.argmax())])

    def charge(self, row: int, uses: Mapping[int, CardUse], undo: Undo) -> None:
        self.cards.charge(row, uses)
        undo.append(partial(self.cards.discharge, row, uses))

    def discharge(self, victims: Iterable[MovablePod], undo: Undo) -> None:
        for victim in victims:
            self.cards.discharge(victim.row, victim.uses)
            undo.append(partial(self.cards.charge, victim.row, victim.uses))


def take_back(undo: Undo) -> None:
    while undo:
        undo.pop()()


def _count_leaving(amount: int, parts: Iterable[int]) -> int:
    """How many parts make up an amount, the largest first; more than there are if none do."""
    count = 0
    for count, part in enumerate(sorted(parts, reverse=True), 1):
        if amount <= 0:
            return count - 1
        amount -= part
    return count if amount <= 0 else NEVER
