"""Cards, fragmentation and refusals as metrics, read from the ledger when somebody asks."""

from collections.abc import Iterator

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from podium.extenders.gpu.cluster_view import ClusterView
from podium.gpu.allocations import NOTHING_CHARGED
from podium.gpu.fragmentation import fragmentation, node_fragmentation

_CARD = ("node", "card", "uuid")


class CardMetrics(Collector):
    def __init__(self, view: ClusterView) -> None:
        self._view = view

    def collect(self) -> Iterator[Metric]:
        yield from self._of_cards()
        yield from self._of_fragmentation()
        rejected = CounterMetricFamily(
            "podium_gpu_rejected_nodes",
            "Nodes that were refused, by verb and by the code of the reason.",
            labels=("verb", "reason"),
        )
        for (verb, reason), count in self._view.rejections.items():
            rejected.add_metric((verb, reason.code), count)
        yield rejected
        ledger = self._view.ledger
        yield GaugeMetricFamily(
            "podium_gpu_reservations",
            "Decisions that no pod's object confirms yet.",
            value=len(ledger.reservations),
        )
        yield GaugeMetricFamily(
            "podium_gpu_unreadable_decisions",
            "Pods with a decision of which something cannot be read.",
            value=sum(1 for _, held in ledger.pods() if held.unread),
        )

    def _of_cards(self) -> Iterator[Metric]:
        cores = _gauge("cores", "Hundredths of a card that there are.")
        used_cores = _gauge("used_cores", "Hundredths of a card that pods have.")
        free_cores = _gauge("free_cores", "Hundredths of a card that nobody has.")
        memory = _gauge("memory_bytes", "Memory that there is.")
        used_memory = _gauge("used_memory_bytes", "Memory that pods have.")
        free_memory = _gauge("free_memory_bytes", "Memory that nobody has.")
        shares = _gauge("shares", "Containers that have a share of the card.")
        healthy = _gauge("healthy", "1 if the card can be given away.")
        ledger = self._view.ledger
        for name, row in ledger.rows().items():
            node = ledger.cards(name)
            unit = ledger.table.memory_unit * node.memory_factor
            for card in node.cards:
                charged = ledger.table.charged[row].get(card.index, NOTHING_CHARGED)
                labels = (name, str(card.index), card.uuid)
                cores.add_metric(labels, card.cores)
                used_cores.add_metric(labels, charged.cores)
                free_cores.add_metric(labels, max(card.cores - charged.cores, 0))
                memory.add_metric(labels, card.memory * unit)
                used_memory.add_metric(labels, charged.memory * unit)
                free_memory.add_metric(labels, max(card.memory - charged.memory, 0) * unit)
                shares.add_metric(labels, charged.slots)
                healthy.add_metric(labels, card.healthy and not card.cordoned)
        yield from (cores, used_cores, free_cores, memory, used_memory, free_memory)
        yield from (shares, healthy)

    def _of_fragmentation(self) -> Iterator[Metric]:
        ledger = self._view.ledger
        found = node_fragmentation(ledger.table)
        whole = GaugeMetricFamily(
            "podium_gpu_fragmentation_ratio",
            "The part of what is free that lies on cards in use, in the whole cluster.",
            labels=("resource",),
        )
        nodes = GaugeMetricFamily(
            "podium_gpu_node_fragmentation_ratio",
            "The part of what is free that lies on cards in use, by node.",
            labels=("node", "resource"),
        )
        together = fragmentation(found)
        whole.add_metric(("cores",), together.of_cores)
        whole.add_metric(("memory",), together.of_memory)
        for name, row in ledger.rows().items():
            if ledger.cards(name).cards:
                one = fragmentation(found, row)
                nodes.add_metric((name, "cores"), one.of_cores)
                nodes.add_metric((name, "memory"), one.of_memory)
        yield whole
        yield nodes


def _gauge(name: str, text: str) -> GaugeMetricFamily:
    return GaugeMetricFamily(f"podium_gpu_card_{name}", text, labels=_CARD)
