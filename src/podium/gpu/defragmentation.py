"""Which pods to move so that whole cards become free, or that pods which wait fit.

For a pod that waits all sets of pods on each node are tried, small ones first, up to MAX_TOGETHER
of them. They are given other cards one after the other, the largest first; no third pod is moved
for them. Pods that are more important than the one that waits stay. Freeing whole cards is done
card by card, the one with the fewest pods first, as long as each step leaves one more idle card.

Every move is checked by allocating on the cards as they would be then: the moved pod gets cards by
its own request and policies, on a node that its selectors and tolerations allow. So a pod is not
moved whose policies would put it back, or onto another idle card. What else may keep
it from a node (CPU, volumes, other pods) is the scheduler's business, and is not looked at.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import combinations
from typing import Final

import numpy as np
from msgspec import Struct

from podium.api.node import Node
from podium.api.node_affinity import required_of
from podium.api.pod import Pod
from podium.api.tolerations import untolerated
from podium.api.workloads import PodDisruptionBudget
from podium.gpu.allocations import Allocation, CardUse, card_uses
from podium.gpu.card_table import NO_REASON, CardTable
from podium.gpu.cards import NodeCards
from podium.gpu.choosing import allocate
from podium.gpu.dialects.dialect import Dialect, InvalidRequest, Phase
from podium.gpu.fitting import fit
from podium.gpu.fragmentation import fragmentation, node_fragmentation
from podium.gpu.held_cards import held_cards
from podium.gpu.movable_pods import BudgetsLeft, priority_of, why_unmovable
from podium.gpu.node_scores import node_values
from podium.gpu.overview import ConfigMaps, read_cards, speaks
from podium.gpu.requests import PodRequest

MAX_TOGETHER: Final = 4
"""How many pods of a node are moved for one that waits."""
_MAX_CANDIDATES: Final = 16


class Placement(Struct, frozen=True):
    """Cards of a node, by their indexes."""

    node: str
    cards: tuple[int, ...]


class Move(Struct, frozen=True):
    """`target` is where the pod would go by its request; the scheduler decides when it is there."""

    pod: Pod
    source: Placement
    target: Placement


class Step(Struct, frozen=True):
    """Moves that make sense together only. `frees` is the card that becomes idle, `places` the pod
    that fits after them, with its place."""

    moves: tuple[Move, ...]
    frees: Placement | None = None
    places: tuple[Pod, Placement] | None = None


class Defragmentation(Struct, frozen=True):
    """`unplaced` are pods that wait and cannot be helped; `kept` pods that must stay, and why."""

    steps: tuple[Step, ...]
    idle_before: int
    idle_after: int
    unplaced: tuple[Pod, ...] = ()
    kept: tuple[tuple[Pod, str], ...] = ()

    @property
    def moves(self) -> list[Move]:
        return [move for step in self.steps for move in step.moves]


class _Holder(Struct, frozen=True):
    """A pod that holds cards and may be moved."""

    pod: Pod
    request: PodRequest
    row: int
    uses: dict[int, CardUse]


class Defragmenter:
    """A plan in the making; the table is as it would be after the steps so far."""

    def __init__(
        self,
        dialect: Dialect,
        nodes: Sequence[Node],
        pods: Iterable[Pod],
        budgets: Iterable[PodDisruptionBudget],
        now: float,
        config_maps: ConfigMaps | None = None,
    ) -> None:
        self._nodes: list[Node] = []
        self._table = CardTable(dialect.memory_unit)
        self._holders: dict[str, _Holder] = {}
        self._waiting: list[tuple[Pod, PodRequest]] = []
        self._kept: list[tuple[Pod, str]] = []
        self._budgets = BudgetsLeft(budgets)
        for node in nodes:
            cards = read_cards(dialect, node, now, config_maps or {})
            if speaks(cards):
                self._table.put_node(len(self._nodes), cards)
                self._nodes.append(node)
        self._rows = {node.name: row for row, node in enumerate(self._nodes)}
        for pod in pods:
            self._take_in(dialect, pod, now)

    def _take_in(self, dialect: Dialect, pod: Pod, now: float) -> None:
        try:
            request = dialect.pod_request(pod)
        except InvalidRequest:
            request = None
        row = self._rows.get(dialect.decided_node(pod) or pod.spec.node_name)
        cards = NodeCards() if row is None else self._table.nodes[row]
        held = held_cards(dialect, pod, cards, now)
        if held.allocation is None or row is None:
            if request is not None and not pod.spec.node_name and not pod.metadata.is_terminating:
                self._waiting.append((pod, request))
            return
        self._table.charge(row, held.uses)
        why = "its request cannot be read" if request is None else why_unmovable(pod)
        if held.phase is not Phase.CONFIRMED:
            why = why or "its agent has not given it its cards yet"
        if why or request is None:
            self._kept.append((pod, why))
        else:
            self._holders[_key(pod)] = _Holder(pod, request, row, dict(held.uses))

    def plan(self, free_cards: int | None, max_moves: int) -> Defragmentation:
        """Help the pods that wait, the most important first; then free so many whole cards, with
        None as many as possible if nobody waits."""
        before = self._idle_cards()
        steps: list[Step] = []
        unplaced: list[Pod] = []
        left = max_moves
        for pod, request in sorted(self._waiting, key=lambda each: -priority_of(each[0])):
            step = self._help(pod, request, left)
            if step is None:
                unplaced.append(pod)
            else:
                steps.append(step)
                left -= len(step.moves)
        as_many = 0 if self._waiting else max_moves
        wanted = as_many if free_cards is None else free_cards
        for _ in range(wanted):
            step = self._free_card(left)
            if step is None:
                break
            steps.append(step)
            left -= len(step.moves)
        done = tuple(step for step in steps if step.moves or step.places)
        return Defragmentation(done, before, self._idle_cards(), tuple(unplaced), tuple(self._kept))

    # --- a pod that waits -----------------------------------------------------------------------

    def _help(self, pod: Pod, request: PodRequest, max_moves: int) -> Step | None:
        for size in range(min(max_moves, MAX_TOGETHER) + 1):
            for row, victims in self._victim_sets(pod, size):
                step = self._try_help(pod, request, row, victims)
                if step is not None:
                    return step
        return None

    def _victim_sets(self, pod: Pod, size: int) -> Iterator[tuple[int, tuple[_Holder, ...]]]:
        """Of each node that the pod may go to, the least important first."""
        for row in range(len(self._nodes)):
            if not self._may_go(pod, row):
                continue
            here = [
                holder
                for holder in self._holders.values()
                if holder.row == row and priority_of(holder.pod) <= priority_of(pod)
            ]
            here.sort(key=lambda each: (priority_of(each.pod), _size(each), _key(each.pod)))
            for victims in combinations(here[:_MAX_CANDIDATES], size):
                yield row, victims

    def _try_help(
        self, pod: Pod, request: PodRequest, row: int, victims: Sequence[_Holder]
    ) -> Step | None:
        if not self._budgets.allow(victim.pod for victim in victims):
            return None
        undo: list[Callable[[], object]] = []
        for victim in victims:
            self._discharge(victim.row, victim.uses, undo)
        found = allocate(self._table, row, request)
        if isinstance(found, Allocation):
            self._charge(row, card_uses(found), undo)
            places = self._find_places(victims, undo)
            if places is not None:
                placement = self._placement(row, found.cards())
                return Step(self._commit(places), places=(pod, placement))
        _take_back(undo)
        return None

    # --- a whole card ---------------------------------------------------------------------------

    def _free_card(self, max_moves: int) -> Step | None:
        for row, index, victims in self._cards_to_free():
            if len(victims) <= max_moves:
                step = self._try_free(row, index, victims)
                if step is not None:
                    return step
        return None

    def _cards_to_free(self) -> list[tuple[int, int, list[_Holder]]]:
        """Cards all of whose pods may be moved, the one with the fewest and smallest first."""
        by_card: dict[tuple[int, int], list[_Holder]] = {}
        for holder in self._holders.values():
            for index in holder.uses:
                by_card.setdefault((holder.row, index), []).append(holder)
        found = []
        for (row, index), holders in by_card.items():
            charged = self._table.charged[row].get(index)
            slots = sum(holder.uses[index].slots for holder in holders)
            if charged is not None and charged.slots == slots and self._table.refusal[row] < 0:
                found.append((row, index, holders))
        return sorted(
            found,
            key=lambda each: (
                len(each[2]),
                sum(priority_of(holder.pod) for holder in each[2]),
                sum(_size(holder) for holder in each[2]),
                each[:2],
            ),
        )

    def _try_free(self, row: int, index: int, victims: Sequence[_Holder]) -> Step | None:
        if not self._budgets.allow(victim.pod for victim in victims):
            return None
        before = self._idle_cards()
        source = self._placement(row, (index,))
        undo: list[Callable[[], object]] = []
        for victim in victims:
            self._discharge(victim.row, victim.uses, undo)
        places = self._find_places(victims, undo)
        if places is None or self._idle_cards() <= before:
            _take_back(undo)
            return None
        return Step(self._commit(places), frees=source)

    # --- moving ---------------------------------------------------------------------------------

    def _find_places(
        self, victims: Sequence[_Holder], undo: list[Callable[[], object]]
    ) -> list[tuple[_Holder, int, Allocation]] | None:
        """New cards for all of them, the largest first; None if one finds none."""
        places: list[tuple[_Holder, int, Allocation]] = []
        for victim in sorted(victims, key=lambda each: -_size(each)):
            row = self._best_row(victim)
            found = None if row is None else allocate(self._table, row, victim.request)
            if row is None or not isinstance(found, Allocation):
                return None
            self._charge(row, card_uses(found), undo)
            places.append((victim, row, found))
        return places

    def _commit(self, places: Sequence[tuple[_Holder, int, Allocation]]) -> tuple[Move, ...]:
        """The pods are there from now on. None is moved twice: others will be in their place."""
        self._budgets.take(victim.pod for victim, _, _ in places)
        moves = []
        for victim, row, found in places:
            source = self._placement(victim.row, tuple(sorted(victim.uses)))
            moves.append(Move(victim.pod, source, self._placement(row, found.cards())))
            del self._holders[_key(victim.pod)]
        return tuple(moves)

    def _best_row(self, holder: _Holder) -> int | None:
        fits = fit(self._table, None, holder.request).codes == NO_REASON
        rows = [row for row in np.flatnonzero(fits).tolist() if self._may_go(holder.pod, row)]
        if not rows:
            return None
        values = node_values(self._table, np.array(rows, np.int64), holder.request)
        return int(rows[int(values.argmax())])

    def _may_go(self, pod: Pod, row: int) -> bool:
        node = self._nodes[row]
        if node.spec.unschedulable or untolerated(node.spec.taints, pod.spec.tolerations):
            return False
        return required_of(pod).matches(node.metadata.labels, node.name)

    def _charge(self, row: int, uses: dict[int, CardUse], undo: list[Callable[[], object]]) -> None:
        self._table.charge(row, uses)
        undo.append(lambda: self._table.discharge(row, uses))

    def _discharge(
        self, row: int, uses: dict[int, CardUse], undo: list[Callable[[], object]]
    ) -> None:
        self._table.discharge(row, uses)
        undo.append(lambda: self._table.charge(row, uses))

    def _placement(self, row: int, cards: tuple[int, ...]) -> Placement:
        return Placement(self._nodes[row].name, cards)

    def _idle_cards(self) -> int:
        return fragmentation(node_fragmentation(self._table)).idle_cards


def _take_back(undo: list[Callable[[], object]]) -> None:
    for step in reversed(undo):
        step()


def _key(pod: Pod) -> str:
    return f"{pod.namespace}/{pod.name}"


def _size(holder: _Holder) -> int:
    """What moving it is like: cores first, then memory."""
    return sum((use.cores << 40) + use.memory for use in holder.uses.values())
