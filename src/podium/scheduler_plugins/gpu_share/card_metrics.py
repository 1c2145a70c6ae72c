"""The metrics of GPUShare: those of cards, and how many nodes were refused for which reason."""

from collections.abc import Callable, Sized
from typing import Final

from podium.gpu.card_readings import (
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
from podium.gpu.reasons import Reason
from podium.plugin import CounterMetric, GaugeMetric, PluginMetric, Status
from podium.scheduler_plugins.gpu_share.followed_cards import FollowedCards

_REASONS: Final = {reason.phrase: reason for reason in Reason}
_VERBS: Final = {"preFilter": "filter"}


class CardMetrics:
    """`followed` gives the cards as they are now."""

    def __init__(self, followed: Callable[[], FollowedCards], reservations: Sized) -> None:
        self._followed = followed
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
        ]

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
