"""Schedulers that metrics observe, read as a scraper reads them."""

from typing import Any

from prometheus_client.parser import text_string_to_metric_families

from podium.live.exposition import MetricRules
from podium.live.metered_transport import WriteMetrics
from podium.live.metrics import SchedulerMetrics
from podium.scheduler.engine import Engine
from podium.testing import FakeCluster


class Watched(FakeCluster):
    """A driver whose engine is observed by metrics, as in the live one."""

    def __init__(self, *objects: Any, rules: MetricRules | None = None, **configured: Any) -> None:
        super().__init__(**configured)
        self.metrics = SchedulerMetrics(self.engine, rules or MetricRules())
        self.put(*objects)

    def text(self) -> str:
        return self.metrics.text().decode()

    def samples(self, name: str) -> dict[tuple[str, ...], float]:
        return samples_of(self.text(), name)


class LiveMetrics:
    """What a live scheduler counts; it outlives the scheduler."""

    def attach(self, engine: Engine) -> WriteMetrics:
        self._metrics = SchedulerMetrics(engine)
        return WriteMetrics(self._metrics.exposition)

    def samples(self, name: str) -> dict[tuple[str, ...], float]:
        return samples_of(self._metrics.text().decode(), name)


def samples_of(text: str, name: str) -> dict[tuple[str, ...], float]:
    """Label values, in the order of the labels' names, to numbers."""
    return {
        tuple(value for label, value in sorted(sample.labels.items()) if label != "le"): (
            sample.value
        )
        for family in text_string_to_metric_families(text)
        for sample in family.samples
        if sample.name == name
    }
