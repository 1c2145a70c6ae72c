"""Which path leads to which page.

A path is taken literally: nothing is found one slash further. What is listed on the status page is
what operators are meant to find; debug pages are not.

Source: `cmd/kube-scheduler/app/server.go` (`newEndpointsHandler`).
"""

import gzip
from collections.abc import Callable
from dataclasses import replace
from typing import Final

from podium.golang.quoting import go_quote
from podium.live.exposition import CONTENT_TYPE
from podium.live.resource_metrics import resource_pieces
from podium.live.serving.exchange import (
    JSON,
    PageRequest,
    PageResponse,
    as_json,
    plain_error,
    text,
)
from podium.live.serving.surface import PING, HealthMetrics, HealthPage, RecordPages, Shown, Surface
from podium.live.serving.zpages import SUPPORTED, SUPPORTED_WITH_CBOR, FlagPage, StatusPage

METRICS: Final = "/metrics"
VERBOSITY: Final = "/debug/flags/v"
_DEBUG_FLAGS: Final = "/debug/flags"
_NO_SNIFFING: Final = (("X-Content-Type-Options", "nosniff"),)
_MAX_VERBOSITY: Final = 2**31 - 1
_FLAG_INDEX: Final = (
    "<html>\n<head>\n<title>/debug/flags/</title>\n</head>\n<body>\n/debug/flags/<br>\n<br>\n"
    "flags:<br>\n<table>\n<tr>v<br>\n</table>\n<br>\nfull flags configurable<br>\n"
    "</body>\n</html>\n"
)

Page = Callable[[PageRequest], PageResponse]


class Pages:
    def __init__(self, surface: Surface) -> None:
        self._surface = surface
        started = surface.standing.started_at
        self._start_header = (("Process-Start-Time-Unix", str(int(started))),)
        health = HealthMetrics(started)
        self._health = {
            "/healthz": HealthPage("/healthz", surface.healthz, health),
            "/livez": HealthPage("/livez", (PING,), health),
            "/readyz": HealthPage("/readyz", surface.readyz, health),
        }
        self._records = RecordPages(surface.records) if surface.records is not None else None
        self._pages: dict[str, Page] = {
            **{path: page.summary for path, page in self._health.items()},
            "/configz": self._configuration,
            METRICS: lambda request: self._metrics(request, surface.metrics),
            "/metrics/resources": self._resources,
            "/metrics/slis": lambda request: self._metrics(request, health),
        }
        self._own = {*self._health, "/metrics/slis", "/flagz", "/statusz"}
        has_cbor = surface.gates.get("CBORServingAndStorage", False)
        forms = SUPPORTED_WITH_CBOR if has_cbor else SUPPORTED
        if surface.gates.get("ComponentFlagz", True):
            flags = FlagPage(surface.flags, surface.randomness, forms)
            self._pages["/flagz"] = flags.answer
        if surface.gates.get("ComponentStatusz", True):
            listed = tuple(self._pages)
            status = StatusPage(surface.standing, listed, surface.wall, surface.randomness, forms)
            self._pages["/statusz"] = status.answer

    def answer(self, request: PageRequest) -> PageResponse:
        page = self._pages.get(request.path)
        if page is not None:
            return page(request)
        found = self._record(request) or self._debug(request) or self._single_check(request.path)
        return found or plain_error(404, "404 page not found")

    def reads_scheduler(self, path: str) -> bool:
        """Whether an answer needs more of the scheduler than flags that it sets."""
        is_check = any(path.startswith(f"{start}/") for start in self._health)
        return path not in self._own and not is_check

    def _single_check(self, path: str) -> PageResponse | None:
        for start, page in self._health.items():
            if path.startswith(f"{start}/"):
                return page.single(path.removeprefix(f"{start}/"))
        return None

    def _configuration(self, _: PageRequest) -> PageResponse:
        body = as_json({"componentconfig": self._surface.configuration()})
        return PageResponse(200, body.rstrip(), JSON, _NO_SNIFFING)

    # --- metrics ------------------------------------------------------------------------------

    def _metrics(self, request: PageRequest, shown: Shown) -> PageResponse:
        if request.method == "DELETE":
            shown.reset()
            return text("metrics reset\n")
        found = PageResponse(200, shown.text(), CONTENT_TYPE, self._start_header)
        return self.compress(request, found)

    def compress(self, request: PageRequest, found: PageResponse) -> PageResponse:
        """The answer as whoever asked takes it."""
        if "gzip" not in request.header("accept-encoding") or not isinstance(found.body, bytes):
            return found
        body = gzip.compress(found.body, compresslevel=1)
        return replace(found, body=body, headers=(*found.headers, ("Content-Encoding", "gzip")))

    def _resources(self, request: PageRequest) -> PageResponse:
        if not self._surface.leading():
            return text("")
        if request.method == "DELETE":
            return text("metrics reset\n")
        pieces = resource_pieces(self._surface.pods())
        return PageResponse(200, pieces, CONTENT_TYPE, self._start_header)

    # --- debugging ----------------------------------------------------------------------------

    def _record(self, request: PageRequest) -> PageResponse | None:
        return self._records.answer(request) if self._records is not None else None

    def _debug(self, request: PageRequest) -> PageResponse | None:
        setter = self._surface.set_verbosity
        if setter is None:
            return None
        if request.path == VERBOSITY:
            return _set_verbosity(request, setter)
        if request.path == _DEBUG_FLAGS or request.path.startswith(f"{_DEBUG_FLAGS}/"):
            return PageResponse(200, _FLAG_INDEX.encode(), "text/html; charset=utf-8")
        return None


def _set_verbosity(request: PageRequest, setter: Callable[[int], None]) -> PageResponse:
    if request.method != "PUT":
        return _line(406, "unsupported http method")
    written = request.body.decode(errors="replace")
    problem = ""
    try:
        level = int(written)
    except ValueError:
        problem = "invalid syntax"
    else:
        if not -_MAX_VERBOSITY <= level <= _MAX_VERBOSITY:
            problem = "value out of range"
        elif written.strip() != written or "_" in written:
            problem = "invalid syntax"  # Python reads more than Go does
    if problem:
        cause = f"strconv.ParseInt: parsing {go_quote(written)}: {problem}"
        return _line(400, f"failed set klog.logging.verbosity {written}: {cause}")
    setter(level)
    return _line(200, f"successfully set klog.logging.verbosity to {written}")


def _line(status: int, words: str) -> PageResponse:
    return PageResponse(status, f"{words}\n".encode(), "text/plain", _NO_SNIFFING)
