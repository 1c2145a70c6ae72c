"""Cards, fragmentation and refusals as metrics, read from the ledger when somebody asks."""

from collections.abc import Iterator

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from podium.addons.gpu.cards.card_readings import (
    CARD_READINGS,
    REJECTED_NODES,
    REJECTED_NODES_LABELS,
    REJECTED_NODES_WORDS,
    RESERVATIONS,
    RESERVATIONS_WORDS,
    UNREADABLE,
    UNREADABLE_WORDS,
)
from podium.addons.gpu.extender.cluster_view import ClusterView


class CardMetrics(Collector):
    def __init__(self, view: ClusterView) -> None:
        self._view = view

    def collect(self) -> Iterator[Metric]:
        ledger = self._view.ledger
        for reading in CARD_READINGS:
            gauge = GaugeMetricFamily(reading.name, reading.words, labels=reading.labels)
            for labels, number in reading.read(ledger.table, ledger.rows()):
                gauge.add_metric(labels, number)
            yield gauge
        rejected = CounterMetricFamily(
            REJECTED_NODES.removesuffix("_total"),
            REJECTED_NODES_WORDS,
            labels=REJECTED_NODES_LABELS,
        )
        for (verb, reason), count in self._view.rejections.items():
            rejected.add_metric((verb, reason.code), count)
        yield rejected
        yield GaugeMetricFamily(RESERVATIONS, RESERVATIONS_WORDS, value=len(ledger.reservations))
        unread = sum(1 for _, held in ledger.pods() if held.unread)
        yield GaugeMetricFamily(UNREADABLE, UNREADABLE_WORDS, value=unread)
