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
from podium.scheduler_plugins.gpu_share.card_choice import CardChooser, NodeFragments
from podium.scheduler_plugins.gpu_share.followed_cards import FollowedCards

PACKING_FRAGMENTATION: Final = "podium_gpu_packing_fragmentation_ratio"
PACKING_FRAGMENTATION_WORDS: Final = "The part of idle GPU that typical pods cannot use."
NODE_PACKING_FRAGMENTATION: Final = "podium_gpu_node_packing_fragmentation_ratio"
NODE_PACKING_FRAGMENTATION_WORDS: Final = "The part of its idle GPU that typical pods cannot use."
_REASONS: Final = {reason.phrase: reason for reason in Reason}
_VERBS: Final = {"preFilter": "filter"}


class CardMetrics:
    """`followed` gives the cards as they are now, `chooser` the packing plugin of the profile."""

    def __init__(
        self,
        followed: Callable[[], FollowedCards],
        reservations: Sized,
        chooser: Callable[[], CardChooser | None],
    ) -> None:
        self._followed = followed
        self._chooser = chooser
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
            GaugeMetric(
                PACKING_FRAGMENTATION, PACKING_FRAGMENTATION_WORDS, read=self._read_fragmentation
            ),
            GaugeMetric(
                NODE_PACKING_FRAGMENTATION,
                NODE_PACKING_FRAGMENTATION_WORDS,
                ("node",),
                read=lambda: [
                    ((each.node,), each.fragments / each.idle if each.idle else 0.0)
                    for each in self._fragments()
                ],
            ),
        ]

    def _fragments(self) -> list[NodeFragments]:
        """None without a packing plugin: only it knows which pods are typical."""
        chooser = self._chooser()
        return [] if chooser is None else list(chooser.fragments())

    def _read_fragmentation(self) -> list[tuple[tuple[str, ...], float]]:
        found = self._fragments()
        idle = sum(each.idle for each in found)
        return [((), sum(each.fragments for each in found) / idle if idle else 0.0)] * bool(found)

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
