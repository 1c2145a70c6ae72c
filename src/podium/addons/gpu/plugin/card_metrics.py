"""The metrics of GPUShare: cards, refusals, and idle GPU that typical pods cannot use.

Idle GPU is worked out for those who look, metrics and the page. Typical pods are estimated here
apart from packing plugins, so that looking changes no decision; and only from the first look on, so
that nobody else pays for it.

Typical pods of a cluster: estimated from the pods that the scheduler knows, running and waiting.
The estimate is made anew when as many pods, or cards, as are 5 % of all came or went since it was
made, so that scores can be remembered in between.
"""

from collections.abc import Callable, Sized
from functools import partial
from typing import Final

import numpy as np

from podium.addons.gpu.cards.card import Reason
from podium.addons.gpu.cards.card_table import CardTable
from podium.addons.gpu.cards.fragmentation import (
    CARD_READINGS,
    REJECTED_NODES,
    REJECTED_NODES_LABELS,
    REJECTED_NODES_WORDS,
    RESERVATIONS,
    RESERVATIONS_WORDS,
    UNREADABLE,
    UNREADABLE_WORDS,
    CardReading,
)
from podium.addons.gpu.cards.requests import PodRequest
from podium.addons.gpu.dialects.dialect import InvalidRequest
from podium.addons.gpu.packing.card_columns import CardSize, card_need, devices_by_model
from podium.addons.gpu.packing.fragmentation import NodeFragments, table_fragments, total_fragments
from podium.addons.gpu.packing.node_columns import WHOLE
from podium.addons.gpu.packing.typical_pods import (
    PodKind,
    TypicalPods,
    cpu_request,
    estimate_typical,
)
from podium.addons.gpu.plugin.followed_cards import FollowedCards
from podium.plugin import (
    CPU,
    Cluster,
    CounterMetric,
    GaugeMetric,
    Handle,
    Ints,
    PluginMetric,
    Pod,
    Status,
)

MAX_DRIFT_PERCENT: Final = 5

RequestOf = Callable[[Pod], PodRequest | None]


class TypicalEstimate:
    """`request_of` says what a pod asks of cards, or raises InvalidRequest: such pods count for
    nothing. `version` moves with each new estimate."""

    def __init__(self, handle: Handle, request_of: RequestOf) -> None:
        self.version = 0
        self._request_of = request_of
        self._pods = handle.index_pods(self._kind_of)
        self._now: dict[PodKind, int] = {}
        self._estimated: dict[PodKind, int] = {}
        self._capacity: dict[int, int] = {}
        self._drift = 0
        self._typical: dict[tuple[CardSize, int], TypicalPods] = {}

    def follow(self, table: CardTable) -> None:
        """Count pods and cards that came and went, and estimate anew if they are many."""
        for kind in self._pods.take_changed():
            count, before = self._pods.count(kind), self._now.pop(kind, 0)
            if count:
                self._now[kind] = count
            estimated = self._estimated.get(kind, 0)
            self._drift += abs(count - estimated) - abs(before - estimated)
        limit = MAX_DRIFT_PERCENT * sum(self._estimated.values())
        capacity = devices_by_model(table)
        if not self.version or 100 * self._drift > limit or self._differs(capacity):
            self._estimated = dict(self._now)
            self._capacity = capacity
            self._drift = 0
            self._typical.clear()
            self.version += 1

    def _differs(self, capacity: dict[int, int]) -> bool:
        bits = {*capacity, *self._capacity}
        drift = sum(abs(capacity.get(bit, 0) - self._capacity.get(bit, 0)) for bit in bits)
        return 100 * drift > MAX_DRIFT_PERCENT * sum(self._capacity.values())

    def of(self, table: CardTable, size: CardSize) -> TypicalPods:
        """With shares as parts of cards of this size."""
        key = (size, len(table.kinds))
        known = self._typical.get(key)
        if known is None:
            known = estimate_typical(self._estimated, table, size, self._capacity)
            self._typical[key] = known
        return known

    def _kind_of(self, pod: Pod) -> PodKind | None:
        try:
            return PodKind(cpu_request(pod), card_need(self._request_of(pod)))
        except InvalidRequest:
            return None


class IdleCards:
    """`followed` gives the cards as they are now."""

    def __init__(
        self, handle: Handle, followed: Callable[[], FollowedCards], request_of: RequestOf
    ) -> None:
        self._handle = handle
        self._followed = followed
        self._request_of = request_of
        self._typical: TypicalEstimate | None = None

    def fragments(self) -> list[NodeFragments]:
        """Of each node with cards that can be had."""
        if self._typical is None:
            self._typical = TypicalEstimate(self._handle, self._request_of)
        estimate, cards = self._typical, self._followed()
        estimate.follow(cards.table)
        rows = cards.rows_by_name()
        left = cpu_left(self._handle.cluster, np.array(list(rows.values()), np.int64))
        return table_fragments(cards.table, rows, left, lambda size: estimate.of(cards.table, size))


def cpu_left(cluster: Cluster, rows: Ints) -> Ints:
    """Of these rows, in thousandths of a core."""
    left: Ints = cluster.nodes.allocatable[CPU, rows] - cluster.usage.requested_of(CPU)[rows]
    return left


_REASONS: Final = {reason.phrase: reason for reason in Reason}
_VERBS: Final = {"preFilter": "filter"}
_Value = Callable[[NodeFragments], float]
_IDLE_READINGS: Final[tuple[tuple[str, str, _Value], ...]] = (
    (
        "fragmentation_ratio",
        "The part of idle GPU that typical pods cannot use.",
        lambda found: found.ratio,
    ),
    (
        "fragmented_cards",
        "Idle GPU that typical pods cannot use, in cards.",
        lambda found: found.fragments / WHOLE,
    ),
    ("idle_cards", "GPU that nobody has, in cards.", lambda found: found.idle / WHOLE),
)


class CardMetrics:
    """`followed` gives the cards as they are now."""

    def __init__(
        self,
        followed: Callable[[], FollowedCards],
        reservations: Sized,
        idle: IdleCards,
    ) -> None:
        self._followed = followed
        self._idle = idle
        self._reservations = reservations
        self._rejected = CounterMetric(REJECTED_NODES, REJECTED_NODES_WORDS, REJECTED_NODES_LABELS)

    def all(self) -> list[PluginMetric]:
        return [
            self._rejected,
            *map(self._gauge, CARD_READINGS),
            GaugeMetric(
                RESERVATIONS, RESERVATIONS_WORDS, read=lambda: [((), len(self._reservations))]
            ),
            GaugeMetric(
                UNREADABLE, UNREADABLE_WORDS, read=lambda: [((), len(self._followed().unread))]
            ),
            *self._of_idle_gpu(),
        ]

    def _of_idle_gpu(self) -> list[PluginMetric]:
        """One reading for the cluster and one by node of each."""
        made: list[PluginMetric] = []
        for name, words, value in _IDLE_READINGS:
            made += [
                GaugeMetric(
                    f"podium_gpu_packing_{name}", words, read=partial(self._read_total, value)
                ),
                GaugeMetric(
                    f"podium_gpu_node_packing_{name}",
                    f"{words[:-1]}, by node.",
                    ("node",),
                    read=partial(self._read_nodes, value),
                ),
            ]
        return made

    def _read_total(self, value: _Value) -> list[tuple[tuple[str, ...], float]]:
        """Nothing where no node has cards."""
        found = self._idle.fragments()
        return [((), value(total_fragments(found)))] if found else []

    def _read_nodes(self, value: _Value) -> list[tuple[tuple[str, ...], float]]:
        return [((each.node,), value(each)) for each in self._idle.fragments()]

    def count_status(self, point: str, status: Status, nodes: int) -> None:
        """Requests that are not valid have texts of their own."""
        reason = _REASONS.get(status.message, Reason.INVALID_REQUEST)
        self.count(_VERBS.get(point, point), reason, nodes)

    def count(self, verb: str, reason: Reason, nodes: int = 1) -> None:
        self._rejected.add(verb, reason.code, amount=nodes)

    def _gauge(self, reading: CardReading) -> GaugeMetric:
        def read() -> list[tuple[tuple[str, ...], float]]:
            cards = self._followed()
            return list(reading.read(cards.table, cards.rows_by_name()))

        return GaugeMetric(reading.name, reading.words, reading.labels, read=read)
