"""The cards of the cluster's nodes and what pods hold of them, in step with the cluster's table.

Three classes share the work. `CardReservations` are the decisions of this scheduler that the
objects of pods do not tell of yet: made at Reserve, written at PreBind, and all that is known until
a watch brings the pod. Profiles of one scheduler share the cards of one cluster, so they share
these too.
One that was written and then taken back stands on the pod until the API server has heard of it;
such pods are *withdrawn*, and what stands on them counts nothing.

`FollowedCards` reads a row of the node table again when the logs of nodes or of pods say that it
changed, when a pod that is not bound comes to carry a decision for its node, and when the time of
such a decision is over. What stands on a pod that is bound counts, since its agent goes by it; on
one that is not a reservation counts, or what `Adoption` believes. Who holds what is kept in a
`CardAccount`, as in the extender, worked out once for each object of a pod. `empty` has the same
cards and nobody on them: whoever does not fit there cannot be helped by evictions. `epoch` moves
when a row changed without the cluster's logs telling of it.

`ValueColumns` keep how much each node is worth by each policy, and work out the rows that changed.
"""

from collections.abc import Container, Iterable, Mapping
from math import inf
from typing import Final, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from msgspec.structs import replace

from podium.addons.gpu.cards.allocations import Allocation, CardUse, card_uses
from podium.addons.gpu.cards.card import NO_CARDS, Card, NodeCards
from podium.addons.gpu.cards.card_account import Adoption, CardAccount, Holding
from podium.addons.gpu.cards.card_table import CardTable
from podium.addons.gpu.cards.fitting import node_values
from podium.addons.gpu.cards.known_pods import held_cards
from podium.addons.gpu.cards.quota import NO_USES, pod_cores
from podium.addons.gpu.cards.requests import NodePolicy, PodRequest
from podium.addons.gpu.dialects.dialect import Dialect, PodWrite, grace_period
from podium.addons.gpu.plugin.arguments import NodeConfigMaps
from podium.plugin import ChangeLog, Cluster, Handle, Ints, Node, Pod, PodInfo, uid_of


class CardReservation:
    """`written` is what was sent to the API server, whether it arrived or not; `lock` is the
    value of the node's lock that was taken for the pod, if one was."""

    __slots__ = ("allocation", "lock", "node", "request", "uses", "written")

    def __init__(self, node: str, request: PodRequest, allocation: Allocation) -> None:
        self.node = node
        self.request = request
        self.choose(allocation)
        self.written: PodWrite | None = None
        self.lock = ""

    def choose(self, allocation: Allocation) -> None:
        self.allocation = allocation
        self.uses: Mapping[int, CardUse] = card_uses(allocation)


class CardReservations(dict[str, CardReservation]):
    """By the uid of the pod, in the order of the decisions."""

    def __init__(self) -> None:
        super().__init__()
        self.withdrawn: dict[str, dict[str, float]] = {}
        """By the node that the decision names: uids, and until when it could count at all."""
        self.log = ChangeLog()
        self._next_lapse = inf

    def find_unwritten(self, first: str) -> list[tuple[str, CardReservation]]:
        """Of which nothing was written yet on the node of one of them, that one first."""
        node = self[first].node
        found = [
            (uid, each) for uid, each in self.items() if each.node == node and each.written is None
        ]
        return sorted(found, key=lambda pair: pair[0] != first)

    def withdraw(self, uid: str, node: str, row: int, until: float) -> None:
        """What stands on the pod for this node, on this row if it has one, counts no longer."""
        self.withdrawn.setdefault(node, {})[uid] = until
        self._next_lapse = min(self._next_lapse, until)
        self.log.note(row)

    def keep_withdrawn(self, node: str, uids: Container[str]) -> None:
        """Of the pods that were withdrawn from a node only these have something written still."""
        left = {uid: at for uid, at in self.withdrawn.pop(node, {}).items() if uid in uids}
        if left:
            self.withdrawn[node] = left

    def forget_withdrawn(self, now: float) -> None:
        """Those whose decisions could not count any more in any case."""
        if now <= self._next_lapse:
            return
        for node, uids in list(self.withdrawn.items()):
            self.keep_withdrawn(node, {uid for uid, until in uids.items() if until >= now})
        untils = (until for uids in self.withdrawn.values() for until in uids.values())
        self._next_lapse = min(untils, default=inf)


_OF_CLUSTERS: Final[WeakKeyDictionary[Cluster, dict[str, CardReservations]]] = WeakKeyDictionary()


def reservations_of(cluster: Cluster, dialect: str) -> CardReservations:
    """Those of one scheduler in one dialect."""
    return _OF_CLUSTERS.setdefault(cluster, {}).setdefault(dialect, CardReservations())


class Held(NamedTuple):
    """What was read from one object of a pod, with these cards. `bound` ones are among the pods of
    the row, others only carry a decision for its node. `requested_cores` are what quotas by model
    count."""

    pod: Pod
    cards: tuple[Card, ...]
    uses: Mapping[int, CardUse]
    bound: bool = True
    requested_cores: int = 0


class _Row:
    __slots__ = ("cards", "held", "name", "node")

    def __init__(self, name: str) -> None:
        self.name = name
        self.node: Node | None = None
        self.cards = NO_CARDS
        self.held: dict[str, Held] = {}


class FollowedCards:
    def __init__(
        self,
        handle: Handle,
        dialect: Dialect,
        reservations: CardReservations,
        config_maps: NodeConfigMaps,
        grace_period_s: float,
        *,
        counts_requests: bool,
    ) -> None:
        """`counts_requests`: there may be quotas by model."""
        self._account = CardAccount(dialect.memory_unit)
        self.table, self.use = self._account.table, self._account.use
        self.empty = CardTable(dialect.memory_unit)
        self.values = ValueColumns(self.table)
        self.epoch = 0
        self.unread: set[str] = set()
        """Uids of pods with a decision of which something cannot be read."""
        self._dialect = dialect
        self._reservations = reservations
        self._config_maps = config_maps
        self._grace_period_s = grace_period_s
        self._counts_requests = counts_requests
        self._cluster = handle.cluster
        self._nodes = handle.cluster.nodes
        self._usage = handle.cluster.usage
        self._clock = handle.clock
        self._decided = handle.index_pods(self._node_of_unbound)
        self._seen_nodes = self._seen_usage = self._seen_withdrawn = -1
        self._now = 0.0
        self._adoption = Adoption(grace_period_s)
        self._rows: list[_Row] = []
        self._lapses: dict[int, float] = {}

    @property
    def next_lapse(self) -> float | None:
        """When the decision of a pod that is not bound stops counting; None if none does."""
        return min(self._lapses.values(), default=None)

    def cards_of(self, node_name: str) -> NodeCards:
        row = self._nodes.row(node_name)
        return self._rows[row].cards if 0 <= row < len(self._rows) else NO_CARDS

    def unbound_row(self, uid: str, pod: Pod) -> int:
        """The row on which a pod that is not bound is counted, or -1."""
        name = self._dialect.decided_node(pod)
        row = self._nodes.row(name) if name else -1
        return row if 0 <= row < len(self._rows) and uid in self._rows[row].held else -1

    def rows_by_name(self) -> Mapping[str, int]:
        """The rows of nodes that are there."""
        return {state.name: row for row, state in enumerate(self._rows) if state.name}

    def held(self, row: int) -> Mapping[str, Held]:
        """By uid, of all pods on the row and of those that are counted there."""
        return self._rows[row].held

    # --- staying right --------------------------------------------------------------------------

    def follow(self) -> None:
        """Bring everything up to date."""
        self._now = self._clock()
        if not self._adoption.has_ended:
            self._adoption.end(self._now)
        self._adoption.expire(self._now)
        changed = self._changed_rows()
        if changed:
            self.table.reserve(self._nodes.size)
            self.empty.reserve(self._nodes.size)
        for row in changed:
            self._read(row)
        self._read_untold(changed)
        version = self.table.version
        self.table.expire(self._now)
        self.empty.expire(self._now)
        self.epoch += version != self.table.version

    def charge(self, row: int, info: PodInfo, uses: Mapping[int, CardUse]) -> None:
        """A pod of the row holds this from now on."""
        state = self._rows[row]
        requested = self._requested_cores(info.pod)
        held = Held(info.pod, state.cards.cards, uses, requested_cores=requested)
        self._put_held(state, info.uid, held)

    def recharge(self, row: int, uid: str, uses: Mapping[int, CardUse]) -> None:
        """A pod of the row holds other cards of it from now on."""
        state = self._rows[row]
        held = state.held.get(uid)
        if held is not None:
            self._put_held(state, uid, held._replace(uses=uses))
            self.epoch += 1

    def _changed_rows(self) -> set[int]:
        nodes, taken = self._nodes.log, self._usage.log
        if self._seen_usage == taken.generation and self._seen_nodes == nodes.generation:
            return set()
        of_nodes, of_pods = nodes.since(self._seen_nodes), taken.since(self._seen_usage)
        self._seen_nodes, self._seen_usage = nodes.generation, taken.generation
        if of_nodes is None or of_pods is None:
            return set(range(max(self._nodes.size, len(self._rows))))
        return {*of_nodes, *of_pods}

    def _read_untold(self, told: set[int]) -> None:
        """Rows that changed and of which the cluster's logs say nothing."""
        names = self._decided.take_changed()
        for name in names & self._reservations.withdrawn.keys():
            uids = {uid_of(pod) for pod in self._decided.of(name)}
            self._reservations.keep_withdrawn(name, uids)
        self._reservations.forget_withdrawn(self._now)
        rows = {self._nodes.row(name) for name in names}
        log = self._reservations.log
        if log.generation != self._seen_withdrawn:
            withdrawn, self._seen_withdrawn = log.since(self._seen_withdrawn), log.generation
            rows.update(range(len(self._rows)) if withdrawn is None else withdrawn)
        if self._lapses:
            rows.update(row for row, at in self._lapses.items() if at < self._now)
        for name in self._config_maps.take_changed():
            row = self._nodes.row(name)
            if 0 <= row < len(self._rows):
                self._rows[row].node = None
                rows.add(row)
        for row in rows - told - {-1}:
            before = self.table.generations[row] if row < self.table.rows else 0
            self._read(row)
            self.epoch += bool(before != self.table.generations[row])

    def _node_of_unbound(self, pod: Pod) -> str | None:
        return None if pod.spec.node_name else self._dialect.decided_node(pod) or None

    # --- one row --------------------------------------------------------------------------------

    def _read(self, row: int) -> None:
        there = row < self._nodes.size
        name = self._nodes.names[row] if there else ""
        while len(self._rows) <= row:
            self._rows.append(_Row(""))
        state = self._rows[row]
        if state.name != name:
            self._clear(row, state)
            state = self._rows[row] = _Row(name)
            if name:
                self._account.place_node(name, row)
        node = self._nodes.objects[row] if there else None
        if node is not state.node or (node is None and state.cards is not NO_CARDS):
            state.node = node
            self._put_node(row, state, node)
        self._read_pods(row, state, self._usage.pods(row) if there else ())

    def _clear(self, row: int, state: _Row) -> None:
        for uid in state.held:
            self.unread.discard(uid)
            reservation = self._reservations.get(uid)
            if reservation is not None and uid not in self._cluster.placements:
                del self._reservations[uid]
        if self._account.rows.get(state.name) == row:
            self._account.drop_node(state.name)
        self.empty.drop_node(row)
        self._lapses.pop(row, None)

    def _put_node(self, row: int, state: _Row, node: Node | None) -> None:
        found = NO_CARDS
        if node is not None:
            found = self._dialect.node_cards(node, self._now)
            found = self._config_maps.read(node.name, found)
        if found.cards == state.cards.cards:
            found = replace(found, cards=state.cards.cards)
        state.cards = found
        self._account.put_node(state.name, row, found)
        self.empty.put_node(row, found)

    def _read_pods(self, row: int, state: _Row, pods: Iterable[PodInfo]) -> None:
        cards, known = state.cards.cards, state.held
        left = dict(known)
        for info in pods:
            held = known.get(info.uid)
            if not (held and held.bound and held.pod is info.pod and held.cards is cards):
                uses, requested = self._uses(info, state), self._requested_cores(info.pod)
                held = Held(info.pod, cards, uses, requested_cores=requested)
                self._put_held(state, info.uid, held)
            left.pop(info.uid, None)
        lapse = inf
        for pod in self._decided.of(state.name):
            uid, uses = uid_of(pod), self._uses_of_unbound(pod, state)
            if uses:
                requested = self._requested_cores(pod)
                held = Held(pod, cards, uses, bound=False, requested_cores=requested)
                self._put_held(state, uid, held)
                left.pop(uid, None)
                lapse = min(lapse, self._lapses_at(pod, state))
        for uid in left:
            self._put_held(state, uid, None)
        if lapse < inf:
            self._lapses[row] = lapse
        else:
            self._lapses.pop(row, None)

    def _put_held(self, state: _Row, uid: str, held: Held | None) -> None:
        if held is None:
            self._account.release(uid, state.name)
            self.unread.discard(uid)
            del state.held[uid]
            if uid in self._reservations and uid not in self._cluster.placements:
                del self._reservations[uid]
        else:
            holding = Holding(held.pod.namespace, held.uses, held.requested_cores)
            self._account.hold(uid, state.name, holding)
            state.held[uid] = held

    def _uses(self, info: PodInfo, state: _Row) -> Mapping[int, CardUse]:
        """What a pod of the row holds: what is reserved until its object tells of it."""
        reservation = self._reservations.get(info.uid)
        placement = self._cluster.placements.get(info.uid)
        if placement is not None and placement.assumed:
            # What stands on it is of an earlier attempt.
            return NO_USES if reservation is None else reservation.uses
        if reservation is not None:
            if self._dialect.decided_node(info.pod) != reservation.node:
                return reservation.uses
            del self._reservations[info.uid]
        return self._written_uses(info.pod, state)

    def _uses_of_unbound(self, pod: Pod, state: _Row) -> Mapping[int, CardUse]:
        uid = uid_of(pod)
        if uid in self._cluster.placements:
            return NO_USES
        if uid in self._reservations.withdrawn.get(state.name, ()):
            return NO_USES
        self._adoption.find(uid, self._now)
        if not self._adoption.believes(uid, self._now):
            return NO_USES
        return self._written_uses(pod, state)

    def _requested_cores(self, pod: Pod) -> int:
        return pod_cores(self._dialect, pod) if self._counts_requests else 0

    def _written_uses(self, pod: Pod, state: _Row) -> Mapping[int, CardUse]:
        held = held_cards(self._dialect, pod, state.cards, self._now, self._grace_period_s)
        if held.unread:
            self.unread.add(uid_of(pod))
        elif self.unread:
            self.unread.discard(uid_of(pod))
        return held.uses

    def _lapses_at(self, pod: Pod, state: _Row) -> float:
        decision = self._dialect.decision(pod, state.cards)
        decided_at = 0.0 if decision is None else decision.decided_at
        written = decided_at + grace_period(pod, self._grace_period_s)
        return min(written, self._adoption.until(uid_of(pod)))


class ValueColumns:
    def __init__(self, table: CardTable) -> None:
        self._table = table
        self._known: dict[NodePolicy, tuple[int, Ints]] = {}

    def read(self, request: PodRequest) -> Ints:
        """The values of all rows of the table; not to be changed."""
        table, policy = self._table, request.node_policy
        version, values = self._known.get(policy, (-1, None))
        if values is None or len(values) != table.rows:
            values = node_values(table, None, request)
        elif version != table.version:
            rows = np.flatnonzero(table.generations[: table.rows] > version)
            values[rows] = node_values(table, rows, request)
        else:
            return values
        self._known[policy] = table.version, values
        return values
