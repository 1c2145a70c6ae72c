"""Health, metrics and the like, served by another thread than the scheduler's.

Health is answered where it is asked, so that a plugin that computes does not make a scheduler look
dead. What reads the scheduler is read in its loop; where that does not answer, metrics are those of
before, with the header `Age` (RFC 9111, 5.1), and all else is refused with 503.
"""

import time
from dataclasses import replace

from podium.live.serving.exchange import PageRequest, PageResponse, refusal
from podium.live.serving.pages import METRICS, Pages
from podium.net.serving.loop_calls import LoopBusy, LoopCalls


class RelayedPages:
    def __init__(self, pages: Pages, calls: LoopCalls) -> None:
        self._pages = pages
        self._calls = calls
        self._metrics: tuple[float, PageResponse] | None = None

    async def prepare(self) -> None:
        """Read metrics once, so that there are some whenever somebody asks."""
        await self.answer(PageRequest("GET", METRICS))

    async def answer(self, request: PageRequest) -> PageResponse:
        if not self._pages.reads_scheduler(request.path):
            return self._pages.answer(request)
        try:
            if request.path == METRICS and request.method == "GET":
                return await self._answer_metrics(request)
            return await self._calls.call(lambda: self._pages.answer(request))
        except LoopBusy as busy:
            return refusal(request, 503, "ServiceUnavailable", f"{busy}; try again in a moment")

    async def _answer_metrics(self, request: PageRequest) -> PageResponse:
        # Compressed or not is up to each client, so the text is what is kept.
        plain = replace(request, headers={})
        try:
            found = await self._calls.call(lambda: self._pages.answer(plain))
            self._metrics = (time.monotonic(), found)
        except LoopBusy:
            if self._metrics is None:
                raise
            at, found = self._metrics
            age = ("Age", str(round(time.monotonic() - at)))
            found = replace(found, headers=(*found.headers, age))
        return self._pages.compress(request, found)
