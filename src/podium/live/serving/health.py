"""Health pages: named checks, all together or one by one.

Whoever may see the summary is not told why a check fails; that takes the page of the check itself,
which is a path of its own and has to be allowed. Every result of a summary is counted
(`/metrics/slis`).

Source: `staging/src/k8s.io/apiserver/pkg/server/healthz`.
"""

import logging
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from podium.golang.quoting import quoted
from podium.live import metric_definitions as known
from podium.live.exposition import Exposition
from podium.live.serving.exchange import TEXT, PageRequest, PageResponse, plain_error, text

_LOG: Final = logging.getLogger("podium.live")
_START_TIME: Final = known.Definition(
    "process_start_time_seconds",
    known.MetricKind.GAUGE,
    known.Stability.ALPHA,
    "Start time of the process since unix epoch in seconds.",
)

NOT_SYNCHRONIZED: Final = "handlers are not fully synchronized"
SHUTTING_DOWN: Final = "process is shutting down"


class Check(NamedTuple):
    """`problem` says what is wrong, None if nothing is."""

    name: str
    problem: Callable[[], str | None]

    def look(self) -> str | None:
        """What is wrong; a check that breaks is a check that fails."""
        try:
            return self.problem()
        except Exception as problem:
            _LOG.exception("the health check %s broke", self.name)
            return str(problem)


PING: Final = Check("ping", lambda: None)


class HealthMetrics(Exposition):
    """Results of checks, apart from all other metrics."""

    def __init__(self, started_at: float) -> None:
        """`started_at` is when the process began, in seconds since 1970."""
        super().__init__(process=False)
        self._last = self.gauge(known.HEALTH_CHECK)
        self._all = self.counter(known.HEALTH_CHECKS)
        self.read(_START_TIME, lambda: [((), started_at)])

    def note(self, check: str, page: str, *, ok: bool) -> None:
        self._last.of(check, page).set(1 if ok else 0)
        self._all.of(check, page, "success" if ok else "error").add()


class HealthPage:
    """The checks under one path, such as `/readyz`."""

    def __init__(self, path: str, checks: Sequence[Check], metrics: HealthMetrics) -> None:
        self._name = path.removeprefix("/")
        self._checks = tuple(checks) or (PING,)
        self._metrics = metrics

    def summary(self, request: PageRequest) -> PageResponse:
        parameters = request.parameters
        excluded = set(parameters.get("exclude", ()))
        lines: list[str] = []
        failed: list[str] = []
        for check in self._checks:
            if check.name in excluded:
                lines.append(f"[+]{check.name} excluded: ok\n")
                continue
            problem = check.look()
            self._metrics.note(check.name, self._name, ok=problem is None)
            if problem is None:
                lines.append(f"[+]{check.name} ok\n")
            else:
                failed.append(f"{check.name}: {problem}")
                lines.append(f"[-]{check.name} failed: reason withheld\n")
        unknown = sorted(excluded - {check.name for check in self._checks})
        if unknown:
            names = ",".join(map(quoted, unknown))
            lines.append(f"warn: some health checks cannot be excluded: no matches for {names}\n")
        if failed:
            _LOG.info("%s check failed: %s", self._name, "; ".join(failed))
            return plain_error(500, f"{''.join(lines)}{self._name} check failed")
        words = f"{''.join(lines)}{self._name} check passed\n"
        body = words if "verbose" in parameters else "ok"
        return PageResponse(200, body.encode(), TEXT, (("X-Content-Type-Options", "nosniff"),))

    def single(self, name: str) -> PageResponse | None:
        """One check with its reason; None if there is no such check."""
        check = next((check for check in self._checks if check.name == name), None)
        if check is None:
            return None
        problem = check.look()
        return (
            text("ok") if problem is None else plain_error(500, f"internal server error: {problem}")
        )
