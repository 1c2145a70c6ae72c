"""What an extender's service counts, in Prometheus' text form."""

from prometheus_client import CollectorRegistry, Counter, Histogram
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest

_SECONDS = (0.0005, 0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)

CONTENT_TYPE = CONTENT_TYPE_LATEST


class ServiceMetrics:
    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self._requests = Counter(
            "podium_extender_requests",
            "Requests by verb and by HTTP status code; failed calls that are answered with an"
            " Error have status 200.",
            ("verb", "code"),
            registry=self.registry,
        )
        self._errors = Counter(
            "podium_extender_errors",
            "Calls that the extender's code refused or that raised in it, by verb.",
            ("verb",),
            registry=self.registry,
        )
        self._durations = Histogram(
            "podium_extender_request_duration_seconds",
            "Time from the first byte of a request to the last of its answer, by verb.",
            ("verb",),
            buckets=_SECONDS,
            registry=self.registry,
        )

    def answered(self, verb: str, code: int, seconds: float) -> None:
        self._requests.labels(verb, str(code)).inc()
        self._durations.labels(verb).observe(seconds)

    def failed(self, verb: str) -> None:
        self._errors.labels(verb).inc()

    def text(self) -> bytes:
        return generate_latest(self.registry)
