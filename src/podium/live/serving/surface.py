"""What is served, and how: health checks, the scheduler's records, settings.

Values that change are callables and are requested when somebody looks, so that a page never shows
more than is true at that moment.

How the endpoints are served: flags, and the API servers that are asked about users.

Health pages: named checks, all together or one by one. Whoever may see the summary is not told why
a check fails; that takes the page of the check itself, which is a path of its own and has to be
allowed. Every result of a summary is counted (`/metrics/slis`).

Source: `staging/src/k8s.io/apiserver/pkg/server/healthz`.

The scheduler's own records over HTTP. `/debug/podium/pods/NAMESPACE/NAME` tells of one pod,
`/debug/podium/queue` of all that wait, `/debug/podium/sources` of the data that plugins decide by.
These pages are Podium's, kube-scheduler does not have them. They are read-only and reached like the
metrics: whoever may `get` the path may see it.
"""

import logging
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any, Final, NamedTuple, Protocol

from podium.client import KubeClient
from podium.golang.quoting import go_quote
from podium.kubernetes.kinds.pod import Pod
from podium.live import metric_definitions as known
from podium.live.exposition import Exposition
from podium.live.record_documents import PodRecord, QueueRecord, SourceRecordList
from podium.live.serving.exchange import (
    TEXT,
    PageRequest,
    PageResponse,
    document,
    plain_error,
    refusal,
    text,
)
from podium.live.serving.zpages import Standing
from podium.net.files.versioned_documents import add_version_to
from podium.net.serving import Receive, Scope, Send
from podium.scheduler.config.flags.options import (
    AuthenticationFlags,
    AuthorizationFlags,
    Options,
    SecureServingFlags,
)


@dataclass(frozen=True, slots=True)
class ServingSettings:
    """The flags that matter here; `options` has checked them."""

    serving: SecureServingFlags
    authentication: AuthenticationFlags
    authorization: AuthorizationFlags

    @classmethod
    def of(cls, options: Options) -> "ServingSettings":
        return cls(options.secure_serving, options.authentication, options.authorization)


@dataclass(frozen=True, slots=True)
class Reviewers:
    """Clients of `--authentication-kubeconfig` and `--authorization-kubeconfig`, None without.

    Without the first nobody's token is looked at, without the second nobody is allowed more than
    the paths that are open to all.
    """

    authentication: KubeClient | None = None
    authorization: KubeClient | None = None


NOBODY: Final = Reviewers()


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
            names = ",".join(map(go_quote, unknown))
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


ROOT: Final = "/debug/podium"
MAX_LIMIT: Final = 10_000
_PODS: Final = f"{ROOT}/pods/"
_QUEUE: Final = f"{ROOT}/queue"
_SOURCES: Final = f"{ROOT}/sources"


class Records(Protocol):
    def pod(self, namespace: str, name: str) -> PodRecord | None:
        """What is known of a pod; None if nothing is."""

    def queue(self, limit: int) -> QueueRecord:
        """The queue, with no more than so many pods of each part."""

    def sources(self) -> SourceRecordList:
        """The sources of plugins."""


class RecordPages:
    def __init__(self, records: Records) -> None:
        self._records = records

    def answer(self, request: PageRequest) -> PageResponse | None:
        """None if the path is not one of them."""
        path = request.path
        if path not in (_QUEUE, _SOURCES) and not path.startswith(_PODS):
            return None
        if request.method not in ("GET", "HEAD"):
            return refusal(request, 405, "MethodNotAllowed", "records can only be read")
        if path == _SOURCES:
            return document(request, add_version_to(self._records.sources()))
        return self._queue(request) if path == _QUEUE else self._pod(request)

    def _pod(self, request: PageRequest) -> PageResponse:
        namespace, slash, name = request.path.removeprefix(_PODS).partition("/")
        found = self._records.pod(namespace, name) if slash else None
        if found is None:
            return refusal(request, 404, "NotFound", "the scheduler knows no such pod")
        return document(request, add_version_to(found))

    def _queue(self, request: PageRequest) -> PageResponse:
        written = request.parameters.get("limit", ["500"])[0]
        if not written.isascii() or not written.isdigit() or int(written) > MAX_LIMIT:
            words = f"limit: expected a number of 0 to {MAX_LIMIT}"
            return refusal(request, 400, "BadRequest", words)
        return document(request, add_version_to(self._records.queue(int(written))))


Application = Callable[[Scope, Receive, Send], Awaitable[None]]
UI: Final = "/ui"
"""Where the page for browsers is."""


class Shown(Protocol):
    """Metrics in their text form."""

    def text(self) -> bytes: ...

    def reset(self) -> None: ...


@dataclass(frozen=True, slots=True)
class Surface:
    """`healthz` and `readyz` are checks in the order in which they are listed. `configuration` is
    the document of `/configz`, `flags` all flags as they would be written. `pods` and `leading` are
    for `/metrics/resources`, which only a leader fills. Without `set_verbosity` (profiling is
    disabled) there are no debug pages, without `records` none about pods and the queue. `ui`
    answers by itself what is requested below `/ui`, once it is known that somebody may."""

    metrics: Shown
    configuration: Callable[[], Mapping[str, Any]]
    flags: Mapping[str, str]
    standing: Standing
    pods: Callable[[], Iterable[Pod]]
    leading: Callable[[], bool]
    healthz: Sequence[Check] = (PING,)
    readyz: Sequence[Check] = (PING,)
    set_verbosity: Callable[[int], None] | None = None
    records: Records | None = None
    ui: Application | None = None
    gates: Mapping[str, bool] = field(default_factory=dict)
    wall: Callable[[], float] = time.time
    randomness: Random = field(default_factory=Random)
