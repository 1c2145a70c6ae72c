"""Whom to evict from a node so that a pod gets its cards.

The scheduler offers victims that it found without knowing cards. Those that must not go are struck
out; if the rest does not make room, pods of lower priority are added until it does, the least
important first; a node on which that is not enough is left out. How often that is tried depends on
how much there is to look at each time, containers of the pod times cards of the node: a node with
very many small pods is left out for a very large one.
"""

from collections.abc import Iterable, Sequence
from enum import Enum
from typing import Final

from msgspec import Struct

from podium.addons.gpu.cards.choosing import check_row
from podium.addons.gpu.cards.ledger import Holder, Ledger
from podium.addons.gpu.cards.requests import PodRequest, starting_order
from podium.addons.gpu.extender import PREEMPTION_THRESHOLD_PERCENT
from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.kinds.scheduler_plugins import pod_group_name
from podium.kubernetes.rules.nodes import is_daemon
from podium.kubernetes.rules.priorities import SYSTEM_PRIORITIES

_MAX_STEPS: Final = 1 << 15
"""With 8 cards 4,096 tries for a pod of one container, and 32 for one of 128."""
_CRITICAL: Final = min(SYSTEM_PRIORITIES.values())
_FINISHED: Final = frozenset({"Succeeded", "Failed"})


class PreemptionStrategy(Enum):
    """Who goes first of pods of one priority."""

    FIFO = "fifo"  # first come, first served: the newest goes
    LIFO = "lifo"  # the oldest goes


class PreemptionSettings(Struct, frozen=True):
    """Nodes are cleared if at least `threshold` percent of their cards' cores or memory is in
    use."""

    threshold: int = PREEMPTION_THRESHOLD_PERCENT
    strategy: PreemptionStrategy = PreemptionStrategy.FIFO


def choose_victims(
    ledger: Ledger,
    pod: Pod,
    request: PodRequest,
    node_name: str,
    offered: Sequence[str],
    holders: Iterable[Holder],
    settings: PreemptionSettings,
) -> tuple[str, ...] | None:
    """The uids of those who have to go, None if the node is to be left alone."""
    row = ledger.row(node_name)
    if row is None or not _is_used_enough(ledger, row, settings.threshold):
        return None
    by_uid = {holder.pod.metadata.uid: holder for holder in holders}
    leaving = [uid for uid, holder in by_uid.items() if holder.pod.metadata.is_terminating]
    chosen = [
        uid
        for uid in dict.fromkeys(offered)
        if not _is_protected(_find(ledger, by_uid, uid), pod, node_name)
    ]
    if _fits(ledger, row, pod, request, (*leaving, *chosen)):
        # upstream: a node without victims is an error of the whole preemption.
        return tuple(chosen) or None
    steps = len(starting_order(request)) * len(ledger.cards(node_name).cards)
    tries_left = _MAX_STEPS // max(1, steps)
    for holder in _addable(by_uid.values(), pod, node_name, settings.strategy):
        uid = holder.pod.metadata.uid
        if uid in chosen:
            continue
        if not tries_left:
            return None
        tries_left -= 1
        chosen.append(uid)
        if _fits(ledger, row, pod, request, (*leaving, *chosen)):
            return tuple(chosen)
    return None


def _find(ledger: Ledger, holders: dict[str, Holder], uid: str) -> Pod | None:
    return holders[uid].pod if uid in holders else ledger.pod(uid)


def _fits(ledger: Ledger, row: int, pod: Pod, request: PodRequest, without: Sequence[str]) -> bool:
    with ledger.without(pod.metadata.uid, *without):
        return check_row(ledger.table, row, request) is None


def _addable(
    holders: Iterable[Holder], pod: Pod, node_name: str, strategy: PreemptionStrategy
) -> list[Holder]:
    """Those of lower priority, in the order in which they would go. Only pods that are bound: the
    scheduler knows of no others on the node."""
    found = [
        holder
        for holder in holders
        if holder.pod.spec.node_name == node_name
        and not holder.is_reserved
        and _priority(holder.pod) < _priority(pod)
        and not _is_protected(holder.pod, pod, node_name)
    ]
    newest_first = strategy is PreemptionStrategy.FIFO
    found.sort(
        key=lambda holder: holder.pod.metadata.creation_timestamp or "", reverse=newest_first
    )
    return sorted(found, key=lambda holder: _priority(holder.pod))


def _is_protected(victim: Pod | None, pod: Pod, node_name: str) -> bool:
    """Whether a pod must not be evicted from the node for this one; one that nobody here knows
    holds no card."""
    if victim is None:
        return False
    if victim.metadata.is_terminating or victim.status.phase in _FINISHED:
        return True
    if victim.spec.node_name != node_name or _priority(victim) >= _CRITICAL:
        return True
    if is_daemon(victim):
        return True
    group = pod_group_name(pod.metadata.labels)
    return (
        bool(group)
        and pod.namespace == victim.namespace
        and pod_group_name(victim.metadata.labels) == group
    )


def _is_used_enough(ledger: Ledger, row: int, threshold: int) -> bool:
    table = ledger.table
    shares = (
        (int(table.used_cores[row].sum()), int(table.cores[row].sum())),
        (int(table.used_memory[row].sum()), int(table.memory[row].sum())),
    )
    return any(total and used * 100 >= threshold * total for used, total in shares)


def _priority(pod: Pod) -> int:
    return pod.spec.priority or 0
