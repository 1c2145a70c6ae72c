"""Requests to an API server, counted: by answer, by how long they took, by what they write.

Laid around a transport, so that every way to the server is counted and none of the callers knows.
A request that got no answer counts as `<error>`, as it does in client-go.

Writes to the API server that no scheduling cycle waits for, counted by kind and outcome.
kube-scheduler counts them with its gate SchedulerAsyncAPICalls, as its dispatcher carries them out;
here every write is a task of its own, so they are always counted. A write that waits for its turn
behind another one about the same pod is not under way yet.
"""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from time import perf_counter
from typing import Final
from urllib.parse import urlsplit

from podium.client.transport import Reply, Request, Stream, Transport
from podium.live import metric_definitions as known
from podium.live.exposition import CounterSeries, Exposition, HistogramSeries

_NO_ANSWER: Final = "<error>"


class RequestMetrics:
    """What is counted of the requests to one server or several."""

    def __init__(self, shown: Exposition) -> None:
        self._requests = shown.counter(known.REST_REQUESTS)
        self._durations = shown.histogram(known.REST_DURATION)
        self._waits = shown.histogram(known.RATE_LIMITER_DURATION)

    def observe_answer(self, host: str, method: str, code: str, seconds: float) -> None:
        self._requests.of(code, method, host).add()
        self._durations.of(method, host).observe(seconds)

    def observe_limiter_wait(self, host: str, method: str, seconds: float) -> None:
        """A request has waited for the client's own rate limiter."""
        self._waits.of(method, host).observe(seconds)


class MeteredTransport:
    def __init__(
        self,
        transport: Transport,
        metrics: RequestMetrics,
        server: str,
        clock: Callable[[], float] = perf_counter,
    ) -> None:
        """`server` is the URL that requests go to; its host is what metrics name."""
        self._transport = transport
        self._metrics = metrics
        self._host = urlsplit(server).netloc or server
        self._clock = clock

    async def send(self, request: Request, *, timeout_s: float) -> Reply:
        started, code = self._clock(), _NO_ANSWER
        try:
            reply = await self._transport.send(request, timeout_s=timeout_s)
            code = str(reply.status)
            return reply
        finally:
            self._note(request, code, started)

    def stream(self, request: Request, *, timeout_s: float) -> AbstractAsyncContextManager[Stream]:
        """Only the way to the head of the answer is counted: a watch lasts as long as it may."""
        return self._open_stream(request, timeout_s)

    @asynccontextmanager
    async def _open_stream(self, request: Request, timeout_s: float) -> AsyncIterator[Stream]:
        started, begun = self._clock(), False
        try:
            async with self._transport.stream(request, timeout_s=timeout_s) as stream:
                begun = True
                self._note(request, str(stream.status), started)
                yield stream
        finally:
            if not begun:
                self._note(request, _NO_ANSWER, started)

    def note_wait(self, request: Request, seconds: float) -> None:
        """A request has waited for the client's own rate limiter, which lies around this."""
        self._metrics.observe_limiter_wait(self._host, request.method, seconds)

    async def close(self) -> None:
        await self._transport.close()

    def _note(self, request: Request, code: str, started: float) -> None:
        self._metrics.observe_answer(self._host, request.method, code, self._clock() - started)


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


def make_uncounted() -> WriteMetrics:
    """Metrics that nobody looks at."""
    return WriteMetrics(Exposition(process=False))
