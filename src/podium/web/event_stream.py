"""Server-sent events: what has changed, to one browser that keeps its connection open.

A stream holds no queue. It remembers the mark up to which its browser was told, and when that one
has taken the last message it is told what has changed from there on, in one message. A browser that
reads slowly is told less often, one that falls too far behind to read its documents anew; either
way nobody waits for it. After a cut the browser says which mark it had last, and goes on from it.

Contract: messages are at least `INTERVAL_S` apart and bounded in size, there are no more than
`MAX_STREAMS` streams, and without one nothing is worked out.
"""

import asyncio
import inspect
from contextlib import suppress
from typing import Final

import msgspec
from msgspec import UNSET, UnsetType

from podium.net.serving import Receive, Send
from podium.web.page_documents import ChangeSource, TooBusy

INTERVAL_S: Final = 0.25
MAX_STREAMS: Final = 16
RETRY_MS: Final = 1000
HEARTBEAT_S: Final = 15.0
"""After so long without a change something is said nevertheless: a browser whose machine has gone
without a word is noticed when it is written to."""
_HEADERS: Final = (
    (b"content-type", b"text/event-stream; charset=utf-8"),
    (b"x-accel-buffering", b"no"),
)


class EventStreams:
    """All streams of a page."""

    def __init__(self, source: ChangeSource, interval_s: float = INTERVAL_S) -> None:
        self._source = source
        self._interval_s = interval_s
        self._open = 0
        self._closing = asyncio.Event()

    def close(self) -> None:
        """End all of them, and whichever come."""
        self._closing.set()

    async def serve(
        self,
        mark: str,
        receive: Receive,
        send: Send,
        headers: tuple[tuple[bytes, bytes], ...] = (),
    ) -> None:
        """Until the browser has gone or the streams are closed. Raises TooBusy and ClientGone."""
        if self._open >= MAX_STREAMS:
            raise TooBusy(f"{MAX_STREAMS} pages are open already")
        self._open += 1
        ended = asyncio.Event()
        watching = asyncio.ensure_future(self._watch_for_end(receive, ended))
        try:
            await send(
                {
                    "type": "http.response.start",
                    "status": 200,
                    "headers": [*_HEADERS, *headers],
                }
            )
            await _send(send, f"retry: {RETRY_MS}\n\n".encode())
            await self._follow(mark, send, ended)
            await send({"type": "http.response.body", "body": b""})
        finally:
            self._open -= 1
            watching.cancel()
            await asyncio.gather(watching, return_exceptions=True)

    async def _watch_for_end(self, receive: Receive, ended: asyncio.Event) -> None:
        """Set the event when the browser hangs up or all streams are closed."""
        closing = asyncio.ensure_future(self._closing.wait())
        leaving = asyncio.ensure_future(_wait_for_disconnect(receive))
        try:
            await asyncio.wait((closing, leaving), return_when=asyncio.FIRST_COMPLETED)
        finally:
            ended.set()
            for each in (closing, leaving):
                each.cancel()
            await asyncio.gather(closing, leaving, return_exceptions=True)

    async def _follow(self, mark: str, send: Send, ended: asyncio.Event) -> None:
        silent_s = HEARTBEAT_S
        age_s: int | UnsetType = UNSET
        while not ended.is_set():
            found = self._source.changes(mark)
            changes = await found if inspect.isawaitable(found) else found
            seen = (mark, age_s)
            mark, age_s = changes.mark, changes.age_s
            if (mark, age_s) != seen or silent_s >= HEARTBEAT_S:
                silent_s = 0.0
                body = msgspec.json.encode(changes)
                await _send(send, b"id: %b\ndata: %b\n\n" % (mark.encode(), body))
            with suppress(TimeoutError):
                async with asyncio.timeout(self._interval_s):
                    await ended.wait()
            silent_s += self._interval_s


async def _wait_for_disconnect(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def _send(send: Send, body: bytes) -> None:
    await send({"type": "http.response.body", "body": body, "more_body": True})
