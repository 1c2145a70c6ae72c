"""The account of a cluster's cards: which nodes have them, which pods hold what, what quotas count.

The scheduler's plugin and the extender keep one each, and learn of nodes and pods in ways of their
own; the rules of the account are here. A pod holds something of a node once, however often that is
said: what is said last counts. Nobody holds cards of a node that is not there, and what is dropped
with a node does not come back with its name. Sums by namespace are always those of the holdings.

`Adoption` is the rule about decisions that stand on pods without a node. Whoever may write a pod
can write one, so it is believed for a grace period from when it was made here, or found by somebody
who had just begun: then it is the word of the scheduler before. Until it is said that the beginning
is over, every decision is believed.

Pure: nodes, pods and the time go in.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from math import inf
from typing import Final, NamedTuple

from podium.addons.gpu.cards.allocations import CardUse
from podium.addons.gpu.cards.card import NodeCards
from podium.addons.gpu.cards.card_table import CardTable
from podium.addons.gpu.cards.quota import NO_USES, NamespaceUse

Uses = Mapping[int, CardUse]


class Holding(NamedTuple):
    """What a pod takes on one node, by index of the card; `requested_cores` are what quotas by
    model count."""

    namespace: str
    uses: Uses = NO_USES
    requested_cores: int = 0


_NONE: Final = Holding("")


class CardAccount:
    """Rows of `table` are whoever's who keeps the account."""

    def __init__(self, memory_unit: int) -> None:
        self.table = CardTable(memory_unit)
        self.use = NamespaceUse()
        self.rows: dict[str, int] = {}
        """Of the nodes that are there, by name."""
        self._held: dict[str, dict[str, Holding]] = {}
        """By node and uid."""
        self._nodes_of: dict[str, dict[str, None]] = {}
        """The nodes on which a pod holds something, by uid."""

    # --- nodes --------------------------------------------------------------------------------

    def place_node(self, name: str, row: int) -> None:
        """The node is there, on this row. One that was on another row has come anew."""
        if self.rows.get(name, row) != row:
            self.drop_node(name)
        self.rows[name] = row

    def put_node(self, name: str, row: int, cards: NodeCards) -> None:
        """The node has these cards now; what is held of them stays."""
        self.place_node(name, row)
        self.table.put_node(row, cards)

    def drop_node(self, name: str) -> list[str]:
        """The node is gone, with all that was held there; the uids of those who did."""
        row = self.rows.pop(name, None)
        if row is not None:
            self.table.drop_node(row)
        dropped = self._held.pop(name, {})
        for uid, holding in dropped.items():
            self.use.put(uid, name, holding.namespace, NO_USES)
            self._forget(uid, name)
        return list(dropped)

    # --- pods ---------------------------------------------------------------------------------

    def hold(self, uid: str, name: str, holding: Holding) -> None:
        """From now on the pod takes this on the node, instead of what it took there before."""
        row = self.rows.get(name)
        if row is None and holding.uses:
            holding = holding._replace(uses=NO_USES)
        held = self._held.get(name)
        before = _NONE if held is None else held.get(uid, _NONE)
        if before.uses != holding.uses and row is not None:
            if before.uses:
                self.table.discharge(row, before.uses)
            if holding.uses:
                self.table.charge(row, holding.uses)
        elif before.requested_cores == holding.requested_cores:
            return
        self.use.put(uid, name, holding.namespace, holding.uses, holding.requested_cores)
        if holding.uses or holding.requested_cores:
            self._held.setdefault(name, {})[uid] = holding
            self._nodes_of.setdefault(uid, {})[name] = None
        elif held is not None and held.pop(uid, None) is not None:
            if not held:
                del self._held[name]
            self._forget(uid, name)

    def release(self, uid: str, name: str) -> None:
        self.hold(uid, name, _NONE)

    def hold_only(self, uid: str, wanted: Mapping[str, Holding]) -> None:
        """The pod takes this, by node, and nothing elsewhere."""
        for name in [name for name in self._nodes_of.get(uid, ()) if name not in wanted]:
            self.release(uid, name)
        for name, holding in wanted.items():
            self.hold(uid, name, holding)

    def uses_of(self, uid: str) -> dict[str, Uses]:
        """What a pod takes of cards, by node."""
        nodes = self._nodes_of.get(uid, ())
        return {name: uses for name in nodes if (uses := self._held[name][uid].uses)}

    def holders(self) -> Iterator[tuple[str, str, Uses]]:
        """Who takes something of cards: node, uid, and what."""
        for name, held in self._held.items():
            for uid, holding in held.items():
                if holding.uses:
                    yield name, uid, holding.uses

    @contextmanager
    def without(self, *uids: str) -> Iterator[None]:
        """The table as if these pods held nothing, for as long as the context. One that is named
        twice gives back once."""
        taken = [
            (self.rows[name], uses)
            for uid in dict.fromkeys(uids)
            for name, uses in self.uses_of(uid).items()
        ]
        for row, uses in taken:
            self.table.discharge(row, uses)
        try:
            yield
        finally:
            for row, uses in taken:
                self.table.charge(row, uses)

    def _forget(self, uid: str, name: str) -> None:
        nodes = self._nodes_of[uid]
        del nodes[name]
        if not nodes:
            del self._nodes_of[uid]


class Adoption:
    def __init__(self, grace_period_s: float) -> None:
        self._grace_period_s = grace_period_s
        self._ends_at = inf
        self._since: dict[str, float] = {}
        """When a decision was made or found, by the uid of the pod."""

    @property
    def has_ended(self) -> bool:
        """Whether it was said when the beginning is over."""
        return self._ends_at < inf

    def end(self, now: float) -> None:
        """The beginning is over: what others write for a grace period is still taken for true."""
        self._ends_at = now + self._grace_period_s

    def find(self, uid: str, now: float) -> None:
        """A pod was met that may carry a decision; the first time counts."""
        if now <= self._ends_at:
            self._since.setdefault(uid, now)

    def decide(self, uid: str, now: float) -> None:
        """A decision was made here."""
        self._since[uid] = now

    def forget(self, uid: str) -> None:
        self._since.pop(uid, None)

    def believes(self, uid: str, now: float) -> bool:
        return not self.has_ended or now <= self.until(uid, -inf)

    def until(self, uid: str, unknown: float = inf) -> float:
        """When what stands on the pod stops counting."""
        since = self._since.get(uid)
        return unknown if since is None else since + self._grace_period_s

    def expire(self, now: float) -> None:
        """Forget what cannot count any more, once nothing more can be found."""
        if self._since and now > self._ends_at + self._grace_period_s:
            self._since = {uid: at for uid, at in self._since.items() if now <= self.until(uid)}
