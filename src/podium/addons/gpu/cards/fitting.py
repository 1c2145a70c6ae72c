"""Which of many nodes a pod fits, why not the others, and which is the best.

These are the rules of `choosing` for all nodes at once. A container's cards are chosen here only if
a later container sees what it takes; otherwise it is enough that there are some. A few rows are
quicker one by one.

Which of the nodes that a pod fits is the best, by the policy that the pod asks for. Values are
integers, so that equal nodes are equal on every machine. The share that is used of a node counts in
millionths: with 1 of 20 slots, 30 of 200 cores and 8 of 32 GiB used, the value is 50000 + 150000 +
250000. Policies by cores put free cores first and free memory second, as in (free cores, free
memory) of generation B, whose names break ties; that is left to the caller.
"""

from typing import Any, Final

import numpy as np
from msgspec import Struct

from podium.addons.gpu.cards.card import Reason
from podium.addons.gpu.cards.card_rules import (
    PARTS,
    Facts,
    find_instance,
    order_keys,
    refusals,
    set_needs,
)
from podium.addons.gpu.cards.card_table import NO_REASON, REASON_CODES, REASONS, CardTable
from podium.addons.gpu.cards.choosing import check_row
from podium.addons.gpu.cards.columns import Bools, Ints
from podium.addons.gpu.cards.quota import QuotaLeft
from podium.addons.gpu.cards.requests import (
    CardKey,
    CardTopology,
    ContainerRequest,
    NodePolicy,
    PodRequest,
    starting_order,
)
from podium.addons.gpu.cards.topology import (
    MAX_COMBINED,
    any_group_has,
    present_groups,
    take_best_linked,
    take_first_groups,
)

MAX_ROWS_ONE_BY_ONE: Final = 4
_NUMA: Final = (CardTopology.NUMA, CardTopology.NUMA_STRICT)
_LINK: Final = (CardTopology.LINK, CardTopology.LINK_STRICT)


class Fit(Struct, frozen=True):
    """For each row asked for whether the pod fits, and the number in REASONS of why not, or -1."""

    fits: Bools
    codes: Ints

    def reason(self, position: int) -> Reason | None:
        code = int(self.codes[position])
        return None if code < 0 else REASONS[code]


def fit(
    table: CardTable, rows: Ints | None, request: PodRequest, quota: QuotaLeft | None = None
) -> Fit:
    """Ask all rows of the table with None, or some of them in any order."""
    count = table.rows if rows is None else len(rows)
    if rows is not None and count:
        table.reserve(int(rows.max()) + 1)
    many_cards = table.places > MAX_COMBINED and request.topology in _LINK
    if count <= MAX_ROWS_ONE_BY_ONE or many_cards:
        asked = range(count) if rows is None else rows.tolist()
        codes = np.fromiter(
            (_code(check_row(table, row, request, quota)) for row in asked), np.int64, count
        )
    else:
        codes = _ManyRows(table, rows, request, quota).codes()
    return Fit(codes == NO_REASON, codes)


def _code(reason: Reason | None) -> int:
    return NO_REASON if reason is None else REASON_CODES[reason]


class _ManyRows:
    def __init__(
        self, table: CardTable, rows: Ints | None, request: PodRequest, quota: QuotaLeft | None
    ) -> None:
        self._table = table
        self._rows: Any = slice(0, table.rows) if rows is None else rows
        self._request = request
        self._exists = table.exists[self._rows]
        self._facts = self._columns()
        self._profiles = table.profiles[self._rows]
        self._slices = table.used_slices[self._rows]
        self._instance_cores: Ints | None = None
        self._instance_memory: Ints | None = None
        self._instance_slices: Ints | None = None
        # What quotas leave becomes a column when containers take different amounts on each node.
        self._cores_left: Any = None if quota is None else quota.cores
        self._memory_left: Any = None if quota is None else quota.memory

    def codes(self) -> Ints:
        codes: Ints = self._table.refusal[self._rows].copy()
        starts = starting_order(self._request)
        for start in starts:
            if not (codes == NO_REASON).any():
                break  # nothing fits any more; there may not even be a card
            container = start.container
            self._set_needs(container)
            eligible, reasons = self._look(container)
            enough = eligible.sum(axis=1) >= container.cards
            together = self._lie_together(container, eligible)
            refused = (codes == NO_REASON) & ~(enough & together)
            if refused.any():
                found = np.flatnonzero(refused)
                codes[found] = self._why(container, found, enough[found], reasons)
            if not start.ends and start is not starts[-1]:
                self._charge(self._choose(container, eligible))
        return codes

    # --- what there is ------------------------------------------------------------------------

    def _columns(self) -> Facts:
        table, rows, facts = self._table, self._rows, Facts()
        selector = self._request.selector
        for name in ("healthy", "cordoned", "cores", "memory", "slots", "numa", "component"):
            setattr(facts, name, getattr(table, name)[rows])
        for name in ("used_cores", "used_memory", "used_slots"):
            setattr(facts, name, getattr(table, name)[rows])
        facts.in_mig_mode = table.profiles[rows] >= 0
        kinds = table.matching_kinds(selector)
        facts.model_matches = None if kinds is None else kinds[table.kind[rows]]
        if selector.uuids or selector.not_uuids:
            matches = ~table.with_uuids(selector.not_uuids)
            if selector.uuids:
                matches &= table.with_uuids(selector.uuids)
            facts.uuid_matches = matches[rows]
        return facts

    def _set_needs(self, container: ContainerRequest) -> None:
        set_needs(container, self._facts)
        self._instance_slices = None
        if container.wants_mig():
            self._find_instances(container)

    def _find_instances(self, container: ContainerRequest) -> None:
        """The instance that each MIG card would give, looked up once for each kind of card."""
        facts, shape = self._facts, self._exists.shape
        cells = np.flatnonzero(self._profiles.ravel() >= 0)
        wanted = [
            np.broadcast_to(column, shape).reshape(-1)[cells]
            for column in (self._profiles, self._slices, facts.need_cores, facts.need_memory)
        ]
        kinds, kind_of = _kinds(wanted)
        found = [
            find_instance(
                self._table.profile_sets[profiles], slices, container.mig_profile, cores, memory
            )
            for profiles, slices, cores, memory in zip(
                *(column[kinds].tolist() for column in wanted), strict=True
            )
        ]
        amounts = [
            (each.slices, each.profile.cores, each.profile.memory) if each else (0, 0, 0)
            for each in found
        ]
        table = np.array(amounts, np.int64).reshape(-1, 3)
        grid = np.zeros((3, *shape), np.int64)
        grid.reshape(3, -1)[:, cells] = table[kind_of].T
        self._instance_slices, self._instance_cores, self._instance_memory = grid
        facts.has_instance = grid[0] != 0

    def _look(self, container: ContainerRequest) -> tuple[Bools, list[tuple[Reason, Any]]]:
        reasons = list(
            refusals(self._request, container, self._facts, self._cores_left, self._memory_left)
        )
        refused = ~self._exists
        for _, mask in reasons:
            refused |= mask
        return ~refused, reasons

    def _lie_together(self, container: ContainerRequest, eligible: Bools) -> Bools | bool:
        if self._request.topology is CardTopology.NUMA_STRICT:
            return any_group_has(self._facts.numa, eligible, container.cards)
        if self._request.topology is CardTopology.LINK_STRICT:
            return any_group_has(self._facts.component, eligible, container.cards)
        return True

    def _why(
        self, container: ContainerRequest, rows: Ints, enough: Bools, reasons: list[Any]
    ) -> Ints:
        """The reason that keeps most cards of each of these rows away."""
        exists = self._exists[rows]
        grid = np.full(exists.shape, len(REASONS), np.int64)
        for reason, mask in reversed(reasons):
            mask = np.broadcast_to(mask, self._exists.shape)
            np.copyto(grid, REASON_CODES[reason], where=mask[rows])
        grid[~exists] = len(REASONS)
        width = len(REASONS) + 1
        flat = (grid + np.arange(len(rows))[:, None] * width).ravel()
        counts = np.bincount(flat, minlength=len(rows) * width).reshape(-1, width)[:, :-1]
        few = (exists.sum(axis=1) < container.cards) | (counts.max(axis=1) == 0)
        codes = np.where(few, REASON_CODES[Reason.INSUFFICIENT_CARDS], counts.argmax(axis=1))
        apart = Reason.LINKS_UNSATISFIED
        if self._request.topology is CardTopology.NUMA_STRICT:
            apart = Reason.NUMA_UNSATISFIED
        result: Ints = np.where(enough, REASON_CODES[apart], codes)
        return result

    # --- what is taken ------------------------------------------------------------------------

    def _choose(self, container: ContainerRequest, eligible: Bools) -> Bools:
        """The cards that each row gives, as a mask; whatever where there are too few."""
        request, facts, wanted = self._request, self._facts, container.cards
        topology = request.topology
        links = None if self._table.links is None else self._table.links[self._rows]
        if CardKey.NUMA in request.card_order:
            facts.numa_peers = _numa_peers(facts.numa, eligible)
        keys = [np.broadcast_to(key, eligible.shape) for key in order_keys(request, facts)]
        if wanted == 1 and topology in _LINK and links is not None:
            keys.insert(0, (links * eligible[:, None, :]).sum(axis=2))
        if wanted == 1 and topology is not CardTopology.NUMA_STRICT:
            return _take_first(keys, eligible)
        order: Ints = np.lexsort((*reversed(keys), ~eligible), axis=-1)
        if wanted > 1 and topology in _LINK and links is not None:
            components = facts.component if topology is CardTopology.LINK_STRICT else None
            return take_best_linked(order, links, components, eligible, wanted)
        taken = np.zeros(eligible.shape, np.bool_)
        np.put_along_axis(taken, order[:, :wanted], True, axis=1)
        if topology in _NUMA:
            grouped = take_first_groups(order, facts.numa, eligible, wanted)
            taken &= ~grouped.any(axis=1, keepdims=True)
            taken |= grouped
        return taken

    def _charge(self, taken: Bools) -> None:
        facts = self._facts
        if self._cores_left is not None:
            amounts = (taken * facts.need_cores).sum(axis=1, keepdims=True)
            self._cores_left = self._cores_left - amounts
        if self._memory_left is not None:
            amounts = (taken * facts.need_memory).sum(axis=1, keepdims=True)
            self._memory_left = self._memory_left - amounts
        cores, memory = facts.need_cores, facts.need_memory
        if self._instance_slices is not None:
            cores, memory = self._instance_cores, self._instance_memory
            self._slices = self._slices | taken * self._instance_slices
        facts.used_cores = facts.used_cores + taken * cores
        facts.used_memory = facts.used_memory + taken * memory
        facts.used_slots = facts.used_slots + taken


def _take_first(keys: list[Ints], eligible: Bools) -> Bools:
    """The first card in order of each row, as a mask."""
    left = eligible
    for key in keys:
        values = np.where(left, key, np.iinfo(np.int64).max)
        left = left & (values == values.min(axis=1, keepdims=True))
    taken = np.zeros(eligible.shape, np.bool_)
    taken[np.arange(len(left)), left.argmax(axis=1)] = True
    return taken


def _numa_peers(numa: Ints, eligible: Bools) -> Ints:
    peers = np.zeros(numa.shape, np.int64)
    for group in present_groups(numa):
        members = numa == group
        peers += members * (members & eligible).sum(axis=1, keepdims=True)
    return peers


def _kinds(columns: list[Ints]) -> tuple[Ints, Ints]:
    """The first of each kind of entry that occurs in the columns together, and the kind of each."""
    key = np.zeros(len(columns[0]), np.int64)
    for column in columns:
        if (column == column[:1]).all():
            continue
        values, codes = np.unique(column, return_inverse=True)
        key = key * max(1, len(values)) + codes
    _, first, kind_of = np.unique(key, return_index=True, return_inverse=True)
    return first, kind_of


MAX_SCORE: Final = 10
"""Of an extender; a plugin's scores are ten times as much."""

_CORES_FIRST: Final = 1 << 40


def node_values(table: CardTable, rows: Ints | None, request: PodRequest) -> Ints:
    """How much each row is worth as it is now, higher for better; all rows of the table with None.

    A fullest node comes first if policies pack, an emptiest if they spread.
    """
    at: Any = slice(0, table.rows) if rows is None else rows
    policy = request.node_policy
    if policy is NodePolicy.NONE:
        return np.zeros(len(table.refusal[at]), np.int64)
    cores, used_cores = _sum(table.cores, at), _sum(table.used_cores, at)
    memory, used_memory = _sum(table.memory, at), _sum(table.used_memory, at)
    if policy in (NodePolicy.FULLEST_BY_CORES, NodePolicy.EMPTIEST_BY_CORES):
        free = (cores - used_cores) * _CORES_FIRST + (memory - used_memory)
        return free if policy is NodePolicy.EMPTIEST_BY_CORES else -free
    used = (
        _share(_sum(table.used_slots, at), _sum(table.slots, at))
        + _share(used_cores, cores)
        + _share(used_memory, memory)
    )
    return -used if policy is NodePolicy.SPREAD else used


def scores(values: Ints) -> Ints:
    """0 to 10 by where a value lies between the smallest and the largest, rounded down; all have
    10 if they are equal. Only the best have 10 otherwise, so that the first place is exact."""
    if not len(values):
        return values
    low = values.min()
    span = int(values.max()) - int(low)
    if span == 0:
        return np.full(len(values), MAX_SCORE, np.int64)
    result: Ints = MAX_SCORE * (values - low) // span
    return result


def _sum(column: Ints, at: Any) -> Ints:
    total: Ints = column[at].sum(axis=1)
    return total


def _share(used: Ints, of: Ints) -> Ints:
    return used * PARTS // np.maximum(of, 1)
