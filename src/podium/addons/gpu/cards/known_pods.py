"""Pods that ask for cards or carry a decision, in the newest version that anybody told of.

A watch lags behind answers to requests, and may tell of a pod's deletion before an older answer is
read: versions that are older than the known one are no news, and pods that are gone stay gone.

What a pod holds of the cards of a node: what is written on it, as long as that counts. A pod that
asks for cards and has no decision that can be read holds none that anybody could name: `unread`
says so, for those who tell people.
"""

from collections.abc import Iterable, Mapping
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from podium.addons.gpu.cards.allocations import Allocation, CardUse, card_uses
from podium.addons.gpu.cards.card import NodeCards
from podium.addons.gpu.cards.quota import pod_cores
from podium.addons.gpu.dialects.dialect import (
    GRACE_PERIOD_S,
    Dialect,
    Phase,
    Staleness,
    find_staleness,
)
from podium.kubernetes.kinds.pod import Pod


class HeldCards(Struct, frozen=True):
    """`uses` by index of the card. With a `staleness` nothing is held, for that reason."""

    uses: Mapping[int, CardUse] = {}
    allocation: Allocation | None = None
    phase: Phase | None = None
    staleness: Staleness | None = None
    unread: str = ""


NOTHING_HELD: Final = HeldCards()


def held_cards(
    dialect: Dialect,
    pod: Pod,
    node: NodeCards,
    now: float,
    grace_period_s: float = GRACE_PERIOD_S,
) -> HeldCards:
    """`node` has the cards of the node that the pod is on, or that its decision names."""
    decision = dialect.decision(pod, node)
    if decision is None:
        return NOTHING_HELD
    staleness = find_staleness(pod, decision, now, grace_period_s)
    if staleness is not None:
        return HeldCards(staleness=staleness)
    uses = card_uses(decision.allocation)
    return HeldCards(uses, decision.allocation, decision.phase, unread=decision.problem)


_MAX_TOMBSTONES: Final = 100_000


class KnownPod(Struct):
    pod: Pod
    held: HeldCards = NOTHING_HELD
    unseen_since: float | None = None
    """Since when it is known from an answer only, not from the watch."""
    requested_cores: int = 0
    """What it counts in quotas by model."""


class KnownPods:
    """By uid. `unbound` are those that carry a decision, or a part of one, and have no node: time
    alone can end what they hold."""

    def __init__(self, dialect: Dialect) -> None:
        self.unbound: dict[str, None] = {}
        self._dialect = dialect
        self._known: dict[str, KnownPod] = {}
        self._uids: dict[tuple[str, str], str] = {}
        self._deciding: dict[str, dict[str, None]] = {}
        """Uids of the pods whose decisions name a node."""
        self._gone: dict[str, None] = {}

    def get(self, uid: str) -> KnownPod | None:
        return self._known.get(uid)

    def all(self) -> Iterable[KnownPod]:
        return self._known.values()

    def find_uid(self, namespace: str, name: str) -> str:
        """Empty if no pod has the name."""
        return self._uids.get((namespace, name), "")

    def uids_with_decision(self, node_name: str) -> Iterable[str]:
        return self._deciding.get(node_name, ())

    def is_gone(self, uid: str) -> bool:
        return uid in self._gone

    def put(self, pod: Pod, now: float, *, seen: bool, wanted: bool) -> bool:
        """Whether it is news. A pod that has nothing to do with cards is `wanted` or not."""
        uid = pod.metadata.uid
        known = self._known.get(uid)
        if uid in self._gone:
            return False
        if known is not None and not _is_newer(pod, known.pod):
            if seen:
                known.unseen_since = None
            return False
        if known is None and not wanted and not self._concerns(pod):
            return False
        if known is not None:
            self._forget(known.pod)
        unseen_since = None if seen else now if known is None else known.unseen_since
        requested = pod_cores(self._dialect, pod)
        self._known[uid] = KnownPod(pod, unseen_since=unseen_since, requested_cores=requested)
        self._remember(pod)
        return True

    def bind(self, uid: str, node_name: str) -> bool:
        """Let the known version have a node; whether it had none."""
        known = self._known.get(uid)
        if known is None or known.pod.spec.node_name:
            return False
        self._forget(known.pod)
        known.pod = replace(known.pod, spec=replace(known.pod.spec, node_name=node_name))
        self._remember(known.pod)
        return True

    def delete(self, uid: str) -> None:
        self._gone[uid] = None
        if len(self._gone) > _MAX_TOMBSTONES:
            del self._gone[next(iter(self._gone))]
        known = self._known.pop(uid, None)
        if known is not None:
            self._forget(known.pod)

    def _concerns(self, pod: Pod) -> bool:
        if self._carries_something(pod):
            return True
        return any(_names_resource(pod, resource) for resource in self._dialect.resources)

    def _carries_something(self, pod: Pod) -> bool:
        """A part of a decision at least; some dialects name no node before the pod has one."""
        cleared = self._dialect.clear_decision(pod)
        return bool(cleared.annotations or cleared.labels)

    def _remember(self, pod: Pod) -> None:
        uid = pod.metadata.uid
        self._uids[pod.metadata.key] = uid
        node_name = self._dialect.decided_node(pod)
        if node_name:
            self._deciding.setdefault(node_name, {})[uid] = None
        if not pod.spec.node_name and self._carries_something(pod):
            self.unbound[uid] = None

    def _forget(self, pod: Pod) -> None:
        uid = pod.metadata.uid
        if self._uids.get(pod.metadata.key) == uid:
            del self._uids[pod.metadata.key]
        node_name = self._dialect.decided_node(pod)
        deciding = self._deciding.get(node_name)
        if deciding is not None:
            deciding.pop(uid, None)
            if not deciding:
                del self._deciding[node_name]
        self.unbound.pop(uid, None)


def _is_newer(pod: Pod, known: Pod) -> bool:
    new, old = pod.metadata.resource_version, known.metadata.resource_version
    if new.isdecimal() and old.isdecimal():
        return int(new) > int(old)
    return True


def _names_resource(pod: Pod, resource: str) -> bool:
    for container in (*(pod.spec.init_containers or ()), *(pod.spec.containers or ())):
        resources = container.resources
        if resources is not None and (
            resource in (resources.limits or {}) or resource in (resources.requests or {})
        ):
            return True
    return False
