"""The scheduler's own records over HTTP.

`/debug/podium/pods/NAMESPACE/NAME` tells of one pod, `/debug/podium/queue` of all that wait,
`/debug/podium/sources` of the data that plugins decide by. These pages are Podium's, kube-scheduler
does not have them. They are read-only and reached like the metrics: whoever may `get` the path may
see it.
"""

from collections.abc import Mapping
from typing import Any, Final, Protocol

from podium.live.serving.exchange import PageRequest, PageResponse, document, refusal
from podium.net.files.versioned_documents import add_version

ROOT: Final = "/debug/podium"
MAX_LIMIT: Final = 10_000
_PODS: Final = f"{ROOT}/pods/"
_QUEUE: Final = f"{ROOT}/queue"
_SOURCES: Final = f"{ROOT}/sources"


class Records(Protocol):
    def pod(self, namespace: str, name: str) -> Mapping[str, Any] | None:
        """What is known of a pod; None if nothing is."""

    def queue(self, limit: int) -> Mapping[str, Any]:
        """The queue, with no more than so many pods of each part."""

    def sources(self) -> Mapping[str, Any]:
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
            return document(request, add_version("SourceRecordList", self._records.sources()))
        return self._queue(request) if path == _QUEUE else self._pod(request)

    def _pod(self, request: PageRequest) -> PageResponse:
        namespace, slash, name = request.path.removeprefix(_PODS).partition("/")
        found = self._records.pod(namespace, name) if slash else None
        if found is None:
            return refusal(request, 404, "NotFound", "the scheduler knows no such pod")
        return document(request, add_version("PodRecord", found))

    def _queue(self, request: PageRequest) -> PageResponse:
        written = request.parameters.get("limit", ["500"])[0]
        if not written.isascii() or not written.isdigit() or int(written) > MAX_LIMIT:
            words = f"limit: expected a number of 0 to {MAX_LIMIT}"
            return refusal(request, 400, "BadRequest", words)
        return document(request, add_version("QueueRecord", self._records.queue(int(written))))
