"""Writes to the API server that no scheduling cycle waits for, counted by kind and outcome.

kube-scheduler counts them with its gate SchedulerAsyncAPICalls, as its dispatcher carries them out;
here every write is a task of its own, so they are always counted. A write that waits for its turn
behind another one about the same pod is not under way yet.
"""

from typing import Final

from podium.live import metric_definitions as known
from podium.live.exposition import Exposition
from podium.live.metric_series import CounterSeries, HistogramSeries

POD_BINDING: Final = "pod_binding"
POD_STATUS_PATCH: Final = "pod_status_patch"


class WriteMetrics:
    def __init__(self, shown: Exposition) -> None:
        self._calls = shown.counter(known.API_CALLS)
        self._durations = shown.histogram(known.API_CALL_DURATION)
        self._claims = shown.counter(known.CLAIM_CREATES)
        self._series: dict[tuple[str, bool], tuple[CounterSeries, HistogramSeries]] = {}

    def call_ended(self, call_type: str, *, ok: bool, seconds: float) -> None:
        """A write has ended: `pod_binding`, `pod_status_patch`."""
        found = self._series.get((call_type, ok))
        if found is None:
            labels = (call_type, "success" if ok else "error")
            found = self._calls.of(*labels), self._durations.of(*labels)
            self._series[call_type, ok] = found
        calls, durations = found
        calls.value += 1
        durations.observe(seconds)

    def claim_created(self, *, ok: bool) -> None:
        """A resource claim was created for a pod's extended resources, or could not be."""
        self._claims.of("success" if ok else "failure").add()


def uncounted() -> WriteMetrics:
    """Metrics that nobody looks at."""
    return WriteMetrics(Exposition(process=False))
