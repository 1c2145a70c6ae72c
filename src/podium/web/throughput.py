"""The last hour in numbers: what the scheduler has counted, sampled once a second.

Nothing is counted a second time: the counters are those of the metrics, and a sample notes what
they stand at. Rates are differences between two samples.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import ClassVar, Final, NamedTuple

from msgspec import field

from podium.golang.document_structs import Count, Document, DocumentPart
from podium.live.exposition import Family, HistogramSeries
from podium.live.metrics import SchedulerMetrics
from podium.scheduler.engine import Engine

EVERY_S: Final = 1.0
KEPT_S: Final = 3600
MAX_POINTS: Final = 300
_PHASES: Final = ("PreFilter", "Filter", "PostFilter", "Score", "Permit", "PreBind", "Bind")


class ThroughputSample(NamedTuple):
    """Counts since the start, and the queue at that moment; `phases` are (calls, seconds)."""

    at: float
    attempts: tuple[int, ...]
    queue: tuple[int, ...]
    victims: int
    phases: tuple[tuple[int, float], ...]


class AttemptRates(DocumentPart, frozen=True):
    """Attempts per second, by result."""

    scheduled: tuple[float, ...]
    """Pods that got a node."""
    unschedulable: tuple[float, ...]
    """Pods that no node takes."""
    error: tuple[float, ...]
    """Attempts that broke."""


class QueueOverTime(DocumentPart, frozen=True):
    """Where pods waited."""

    active: tuple[Count, ...]
    """Pods to be tried."""
    backoff: tuple[Count, ...]
    """Pods that wait for their backoff to be over."""
    unschedulable: tuple[Count, ...]
    """Pods that wait for an event."""
    gated: tuple[Count, ...]
    """Pods that are kept out of the queue."""
    waiting: tuple[Count, ...]
    """Pods that Permit plugins hold."""


class ThroughputView(Document, frozen=True):
    """The scheduler's counters over the last time, for the page."""

    KIND: ClassVar[str] = "ThroughputView"

    span_s: float = field(name="spanSeconds")
    """How far back it goes."""
    at: tuple[float, ...]
    """The moment of each point, in seconds since 1970."""
    rates: AttemptRates
    """Attempts per second, by result."""
    queue: QueueOverTime
    """Where pods wait."""
    preemptions: tuple[int, ...]
    """Pods that had to go for others."""
    phase_s: Mapping[str, tuple[float | None, ...]] = field(name="phaseSeconds")
    """The mean time of each phase; null where it did not take place."""
    totals: Mapping[str, Count]
    """Attempts since the start, by result; empty before the first sample."""


_RESULTS: Final = AttemptRates.__struct_fields__
_PARTS: Final = QueueOverTime.__struct_fields__


class Throughput:
    def __init__(
        self, parts: Callable[[], tuple[Engine, SchedulerMetrics]], every_s: float = EVERY_S
    ) -> None:
        self._parts = parts
        self._every_s = every_s
        self._samples: deque[ThroughputSample] = deque(maxlen=int(KEPT_S / every_s) + 1)

    async def follow(self) -> None:
        """Sample until cancelled."""
        while True:
            self.sample()
            await asyncio.sleep(self._every_s)

    def sample(self) -> None:
        engine, metrics = self._parts()
        attempts = dict.fromkeys(_RESULTS, 0)
        for (result, _), series in metrics.attempts.items():
            if result in attempts:
                attempts[result] += series.value
        sizes = engine.queue.sizes()
        sample = ThroughputSample(
            engine.clock(),
            tuple(attempts.values()),
            (*sizes, len(engine.state.waiting)),
            int(metrics.victims_total),
            _phases(metrics.point_duration),
        )
        if self._samples and sample.attempts < self._samples[-1].attempts:
            self._samples.clear()  # another engine, or counters that were reset
        self._samples.append(sample)

    def document(self, span_s: float) -> ThroughputView:
        """At most `MAX_POINTS` points over the last so many seconds, each the mean of its part."""
        samples = list(self._samples)
        if samples:
            since = samples[-1].at - span_s
            samples = [each for each in samples if each.at >= since]
        step = max(1, -(-len(samples) // MAX_POINTS))
        picked = samples[::-1][::step][::-1]
        pairs = list(pairwise(picked))
        rates = (
            tuple(_rate(b, a, b.attempts[i], a.attempts[i]) for b, a in pairs)
            for i in range(len(_RESULTS))
        )
        parts = (tuple(after.queue[i] for _, after in pairs) for i in range(len(_PARTS)))
        return ThroughputView(
            span_s=span_s,
            at=tuple(round(after.at, 3) for _, after in pairs),
            rates=AttemptRates(*rates),
            queue=QueueOverTime(*parts),
            preemptions=tuple(after.victims - before.victims for before, after in pairs),
            phase_s={
                phase: tuple(_mean(before.phases[i], after.phases[i]) for before, after in pairs)
                for i, phase in enumerate(_PHASES)
            },
            totals=dict(zip(_RESULTS, samples[-1].attempts, strict=True)) if samples else {},
        )


def _rate(before: ThroughputSample, after: ThroughputSample, was: int, is_: int) -> float:
    return round((is_ - was) / max(after.at - before.at, 1e-6), 3)


def _mean(before: tuple[int, float], after: tuple[int, float]) -> float | None:
    calls = after[0] - before[0]
    return round((after[1] - before[1]) / calls, 9) if calls > 0 else None


def _phases(family: Family[HistogramSeries]) -> tuple[tuple[int, float], ...]:
    found = {phase: [0, 0.0] for phase in _PHASES}
    for (point, *_), series in family.items():
        held = found.get(point)
        if held is not None:
            held[0] += sum(series.counts)
            held[1] += series.total
    return tuple((int(calls), seconds) for calls, seconds in found.values())
