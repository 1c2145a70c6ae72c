"""The metrics of GPUShare: those of cards, and how many nodes were refused for which reason."""

from collections.abc import Callable, Sized
from functools import partial
from typing import Final

from podium.addons.gpu.cards.card_readings import (
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
from podium.addons.gpu.cards.reasons import Reason
from podium.addons.gpu.packing.idle_fragments import NodeFragments, total_fragments
from podium.addons.gpu.packing.node_columns import WHOLE
from podium.addons.gpu.plugin.followed_cards import FollowedCards
from podium.addons.gpu.plugin.idle_cards import IdleCards
from podium.plugin import CounterMetric, GaugeMetric, PluginMetric, Status

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
