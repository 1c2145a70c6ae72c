"""Who holds what of all cards: what stands on pods, and what was decided here a moment ago.

Objects come and go as a watch tells them. A decision made here is a *reservation* from the moment
it is made, so that nothing is given away twice while nobody has told of it yet. A pod counts with
the larger of what its object says and what is reserved for it, card by card: whichever of the two
is true in the end, there is room for it.

A reservation is `writing` until whoever made it says that its write has ended, however that may
be; until then only he can end it. From then on it ends when the pod's object shows that it is bound
or done, that it was refused later, or when its grace period is over. All of it can be rebuilt from
objects alone. Pure: objects and the time go in.

A decision on a pod that has a node is what its agent goes by, and it counts. On a pod without one
`Adoption` says whether it does; `stop_adopting` ends the beginning. Who holds what stands in a
`CardAccount`, as in the plugin.
"""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from podium.addons.gpu.cards.allocations import Allocation, card_uses, raise_uses
from podium.addons.gpu.cards.card import NO_CARDS, NodeCards, Reason
from podium.addons.gpu.cards.card_account import Adoption, CardAccount, Holding, Uses
from podium.addons.gpu.cards.choosing import allocate
from podium.addons.gpu.cards.columns import Ints
from podium.addons.gpu.cards.known_pods import (
    NOTHING_HELD,
    HeldCards,
    KnownPod,
    KnownPods,
    held_cards,
)
from podium.addons.gpu.cards.quota import NO_USES, QuotaLeft, pod_cores
from podium.addons.gpu.cards.requests import PodRequest
from podium.addons.gpu.dialects.dialect import (
    GRACE_PERIOD_S,
    Dialect,
    Phase,
    WrittenDecision,
    find_staleness,
    grace_period,
)
from podium.kubernetes.kinds.node import Node
from podium.kubernetes.kinds.pod import Pod


class LedgerReservation(Struct, frozen=True):
    """`node` has the cards as they were when they were chosen: what is written names these."""

    pod: Pod
    node_name: str
    node: NodeCards
    allocation: Allocation
    reserved_at: float
    writing: bool = True

    @property
    def uid(self) -> str:
        return self.pod.metadata.uid


class Holder(Struct, frozen=True):
    """A pod that takes something of a node's cards."""

    pod: Pod
    uses: Uses
    is_reserved: bool


class Ledger:
    def __init__(self, dialect: Dialect, grace_period_s: float = GRACE_PERIOD_S) -> None:
        self.dialect = dialect
        self.account = CardAccount(dialect.memory_unit)
        self.table, self.use = self.account.table, self.account.use
        self.nodes: dict[str, Node] = {}
        self.reservations: dict[str, LedgerReservation] = {}
        self._grace_period_s = grace_period_s
        self._adoption = Adoption(grace_period_s)
        self._free_rows: list[int] = []
        self._config_maps: dict[tuple[str, str], Mapping[str, str]] = {}
        self._pods = KnownPods(dialect)

    # --- nodes --------------------------------------------------------------------------------

    def row(self, node_name: str) -> int | None:
        return self.account.rows.get(node_name)

    def rows(self) -> Mapping[str, int]:
        """The rows of all nodes by name."""
        return self.account.rows

    def put_node(self, node: Node, now: float) -> None:
        row = self.row(node.name)
        if row is None:
            row = self._free_rows.pop() if self._free_rows else len(self.account.rows)
        self.nodes[node.name] = node
        before = self.table.nodes[row] if row < self.table.rows else None
        self.account.put_node(node.name, row, self._read_cards(node, now))
        if self.table.nodes[row] is not before:
            self._count_again(node.name, now)

    def delete_node(self, node_name: str) -> None:
        row = self.row(node_name)
        if row is None:
            return
        del self.nodes[node_name]
        self._free_rows.append(row)
        for uid in self.account.drop_node(node_name):
            known = self._pods.get(uid)
            if known is not None and known.pod.spec.node_name == node_name:
                holding = Holding(known.pod.namespace, requested_cores=known.requested_cores)
                self.account.hold(uid, node_name, holding)

    def put_config_map(
        self, namespace: str, name: str, data: Mapping[str, str], now: float
    ) -> None:
        """What a ConfigMap says of a node's cards; with no data, nothing any more."""
        self._config_maps[namespace, name] = data
        for node in self.nodes.values():
            if self.dialect.config_map_name(node.name) == (namespace, name):
                self.put_node(node, now)
                return

    def _read_cards(self, node: Node, now: float) -> NodeCards:
        cards = self.dialect.node_cards(node, now)
        name = self.dialect.config_map_name(node.name)
        data = None if name is None else self._config_maps.get(name)
        return self.dialect.read_config_map(cards, data) if data else cards

    def cards(self, node_name: str) -> NodeCards:
        row = self.row(node_name)
        return NO_CARDS if row is None else self.table.nodes[row]

    # --- pods ---------------------------------------------------------------------------------

    def pod(self, uid: str) -> Pod | None:
        known = self._pods.get(uid)
        return None if known is None else known.pod

    def find_pod(self, namespace: str, name: str) -> Pod | None:
        """The pod of a name that was put last, if it is not gone."""
        return self.pod(self._pods.find_uid(namespace, name))

    def pods(self) -> Iterator[tuple[Pod, HeldCards]]:
        """All that ask for cards or carry a decision, with what they hold by their objects."""
        return ((known.pod, known.held) for known in self._pods.all())

    def put_pod(self, pod: Pod, now: float, *, seen: bool = True) -> None:
        """The newest version counts, in whatever order they come. `seen` is what a watch told; what
        came as an answer to a request is not."""
        uid = pod.metadata.uid
        is_reserved, is_new = uid in self.reservations, self._pods.get(uid) is None
        if not self._pods.put(pod, now, seen=seen, wanted=is_reserved):
            return
        if is_new and is_reserved:
            self._adoption.decide(uid, now)
        elif is_new:
            self._adoption.find(uid, now)
        self._count(uid, now)

    def bind_pod(self, uid: str, node_name: str, now: float) -> None:
        """The server took a binding, and will tell so: until it does, the version that is known
        counts as one that is bound."""
        if self._pods.bind(uid, node_name):
            self._count(uid, now)

    def delete_pod(self, uid: str, now: float) -> None:
        """A reservation that is being written stays: the write may not have come to its end."""
        self._pods.delete(uid)
        self._adoption.forget(uid)
        self._count(uid, now)

    def stop_adopting(self, now: float) -> None:
        """All pods are known that another one decided about before this one began. What it wrote
        in its last moment is still taken for true for a grace period; after that no decision on a
        pod without a node counts that was not made here."""
        self._adoption.end(now)

    # --- reservations -------------------------------------------------------------------------

    def reserve(
        self,
        pod: Pod,
        request: PodRequest,
        node_name: str,
        now: float,
        quota: QuotaLeft | None = None,
    ) -> LedgerReservation | Reason:
        """Choose cards of the node and hold them, or say why it cannot be. What the pod held before
        is free for itself, and stays charged for all others until its object says otherwise."""
        uid = pod.metadata.uid
        row = self.row(node_name)
        if row is None:
            return Reason.NO_CARDS
        with self.without(uid):
            allocation = allocate(self.table, row, request, quota)
        if isinstance(allocation, Reason):
            return allocation
        reservation = LedgerReservation(pod, node_name, self.table.nodes[row], allocation, now)
        self.reservations[uid] = reservation
        self._decide(uid, now)
        return reservation

    def settle(self, uid: str, now: float) -> None:
        """The write of a reservation has ended: from now on objects and time decide about it."""
        reservation = self.reservations.get(uid)
        if reservation is not None:
            self.reservations[uid] = replace(reservation, writing=False)
            self._decide(uid, now)

    def release(self, uid: str, now: float) -> None:
        """The pod does not get what was reserved for it."""
        if self.reservations.pop(uid, None) is not None:
            self._count(uid, now)

    def expire(self, now: float) -> None:
        """Let time pass: silent agents, reservations and decisions that nobody followed up."""
        self.table.expire(now)
        for uid in [*self._pods.unbound, *self.reservations]:
            self._count(uid, now)

    def find_unseen_pods(self, now: float) -> list[Pod]:
        """Pods that only answers told of, for so long that the watch should have: whoever can asks
        whether they are still there."""
        return [
            known.pod
            for known in self._pods.all()
            if known.unseen_since is not None
            and now - known.unseen_since > grace_period(known.pod, self._grace_period_s)
        ]

    def look_again_later(self, uid: str, now: float) -> None:
        """A pod that nobody told of is there all the same."""
        known = self._pods.get(uid)
        if known is not None and known.unseen_since is not None:
            known.unseen_since = now

    def stale(self, now: float) -> list[Pod]:
        """Pods without a node whose decisions have not counted for so long that nobody can be
        about to act on them: they should be cleared."""
        found = []
        for uid in self._pods.unbound:
            known = self._pods.get(uid)
            assert known is not None
            if known.held.allocation is not None or uid in self.reservations:
                continue
            decision = self.dialect.decision(
                known.pod, self.cards(self.dialect.decided_node(known.pod))
            )
            decided_at = self.dialect.waiting_since(known.pod) if decision is None else None
            if decision is not None:
                decided_at = decision.decided_at
            if abs(now - (decided_at or 0.0)) > grace_period(known.pod, self._grace_period_s):
                found.append(known.pod)
        return found

    # --- questions ----------------------------------------------------------------------------

    def without(self, *uids: str) -> AbstractContextManager[None]:
        """The table as if these pods held nothing, for as long as the context."""
        return self.account.without(*uids)

    def rows_of(self, node_names: Iterable[str]) -> Ints:
        """Their rows, -1 for nodes that are not known."""
        find = self.account.rows.get
        return np.array([find(name, -1) for name in node_names], np.int64)

    def charges_of(self, uid: str) -> Mapping[str, Uses]:
        """What a pod takes of cards, by node."""
        return self.account.uses_of(uid)

    def holders(self) -> dict[str, list[Holder]]:
        """Who takes something of which node's cards, by namespace and name."""
        found: dict[str, list[Holder]] = {}
        for node_name, uid, uses in self.account.holders():
            reservation = self.reservations.get(uid)
            pod = self.pod(uid) or (reservation.pod if reservation else None)
            if pod is not None:
                holder = Holder(pod, uses, reservation is not None)
                found.setdefault(node_name, []).append(holder)
        for holders in found.values():
            holders.sort(key=lambda holder: holder.pod.metadata.key)
        return found

    # --- counting -----------------------------------------------------------------------------

    def _count_again(self, node_name: str, now: float) -> None:
        """Decisions are read with the cards of their node, which are others now."""
        reserved = (uid for uid, each in self.reservations.items() if each.node_name == node_name)
        for uid in dict.fromkeys((*self._pods.uids_with_decision(node_name), *reserved)):
            self._count(uid, now)

    def _count(self, uid: str, now: float) -> None:
        """Let the pod hold what it takes now instead of what it held."""
        known = self._pods.get(uid)
        wanted: dict[str, Uses] = {}
        if known is not None:
            node_name = self.dialect.decided_node(known.pod)
            known.held = NOTHING_HELD
            if node_name and (known.pod.spec.node_name or self._adoption.believes(uid, now)):
                cards = self.cards(node_name)
                known.held = held_cards(self.dialect, known.pod, cards, now, self._grace_period_s)
            if known.held.uses:
                wanted[node_name] = known.held.uses
        self._end_if_over(uid, known, now)
        reservation = self.reservations.get(uid)
        if reservation is not None:
            together = dict(wanted.get(reservation.node_name, {}))
            raise_uses(together, card_uses(reservation.allocation))
            wanted[reservation.node_name] = together
        self.account.hold_only(uid, self._holdings(known, reservation, wanted))

    def _decide(self, uid: str, now: float) -> None:
        """Count a pod that was decided about here just now."""
        if self._pods.get(uid) is not None:
            self._adoption.decide(uid, now)
        self._count(uid, now)

    def _holdings(
        self,
        known: KnownPod | None,
        reservation: LedgerReservation | None,
        wanted: Mapping[str, Uses],
    ) -> dict[str, Holding]:
        """Quotas count a pod on the node that it has, or else where it holds cards."""
        if known is not None:
            pod, requested = known.pod, known.requested_cores
        elif reservation is not None:
            pod = reservation.pod
            requested = pod_cores(self.dialect, pod)
        else:
            return {}
        own, there = pod.spec.node_name, {name for name in wanted if name in self.account.rows}
        return {
            name: Holding(
                pod.namespace,
                wanted.get(name, NO_USES),
                requested if not own or name == own else 0,
            )
            for name in {*there, own} - {""}
        }

    def _end_if_over(self, uid: str, known: KnownPod | None, now: float) -> None:
        reservation = self.reservations.get(uid)
        if reservation is None or reservation.writing:
            return
        pod = known.pod if known is not None else reservation.pod
        # Conditions know seconds only: one of the same second may be from before.
        decision = WrittenDecision(
            reservation.node_name,
            reservation.allocation,
            reservation.reserved_at + 1.0,
            Phase.RESERVED,
        )
        is_over = find_staleness(pod, decision, now, self._grace_period_s) is not None
        if pod.spec.node_name == reservation.node_name:
            is_over = self.dialect.decided_node(pod) == reservation.node_name
        if is_over or self._pods.is_gone(uid):
            del self.reservations[uid]
