"""A watch on the wire: events as they happen, bookmarks, and an end in time.

The stream is woken when its collection changes and sends what has come since, all in one chunk. A
client that does not read holds up only its own stream: nothing is queued for it, and when the
history has moved past its place the stream ends, as upstream ends watches that cannot keep up.
"""

import asyncio
from collections.abc import Iterator
from random import Random
from typing import Final

from podium.apiserver.http.resource_handlers import WatchAnswer
from podium.apiserver.requests.watching import EventType, Overtaken, Watch, WatchedChange
from podium.apiserver.store.stored import Stored
from podium.golang.json_values import JsonObject
from podium.kubernetes.resources.resource import ApiResource
from podium.kubernetes.schema import Schema, zero_struct
from podium.kubernetes.status_errors import StatusError
from podium.net.serving import Receive, Send

_LONGEST_S: Final = 1800.0
_BOOKMARK_EVERY_S: Final = 60.0
_BOOKMARK_BEFORE_END_S: Final = 2.0
_PATIENCE_S: Final = 30.0
"""How long after its end a watch waits for a client that does not read."""
_ITEMS_PER_CHUNK: Final = 500
_INITIAL_END: Final = {"k8s.io/initial-events-end": "true"}


class WatchStream:
    """Streams one watch to one client."""

    def __init__(
        self,
        answer: WatchAnswer,
        schema: Schema,
        stopping: asyncio.Event,
        randomness: Random,
    ) -> None:
        self._answer = answer
        self._schema = schema
        self._stopping = stopping
        self._woken = asyncio.Event()
        self.wake = self._woken.set
        wanted = answer.options.timeout_s
        if not wanted:
            self._timeout_s = _LONGEST_S * (1 + randomness.random())
        else:
            # upstream: a time that lies in the past ends the watch as soon as it has begun.
            self._timeout_s = max(float(wanted), 0.0)

    async def run(self, receive: Receive, send: Send) -> bool:
        """Send the body of the answer until the client, the time or the server ends it.

        False: the client reads nothing, so that not even the end can be sent.
        """
        watch = self._answer.watch
        if isinstance(watch, StatusError):
            await _send(send, self._answer.presenter.error(watch.as_object()))
            return True
        loop = asyncio.get_running_loop()
        end = loop.time() + self._timeout_s
        timers = [loop.call_at(end, self.wake)]
        gone = asyncio.ensure_future(_wait_for_disconnect(receive))
        gone.add_done_callback(lambda _: self.wake())
        watch.listen(self.wake)
        try:
            async with asyncio.timeout_at(end + _PATIENCE_S):
                await self._stream(watch, gone, end, timers, send)
        except Overtaken:
            return True
        except TimeoutError:
            return False
        else:
            return True
        finally:
            watch.close()
            gone.cancel()
            for timer in timers:
                timer.cancel()

    async def _stream(
        self,
        watch: Watch,
        gone: "asyncio.Future[None]",
        end: float,
        timers: list[asyncio.TimerHandle],
        send: Send,
    ) -> None:
        loop = asyncio.get_running_loop()
        for chunk in self._initial(watch):
            await _send(send, chunk)
        next_bookmark = self._bookmark_time(loop.time(), end)
        if next_bookmark is not None:
            timers.append(loop.call_at(next_bookmark, self.wake))
        presenter = self._answer.presenter
        while not gone.done() and not self._stopping.is_set():
            events = watch.poll_events()
            if events:
                await _send(send, b"".join([presenter.event(event) for event in events]))
            if watch.is_behind:
                continue
            now = loop.time()
            if next_bookmark is not None and now >= next_bookmark:
                await _send(send, self._bookmark(watch.revision, {}))
                next_bookmark = self._bookmark_time(now, end)
                if next_bookmark is not None:
                    timers[1] = loop.call_at(next_bookmark, self.wake)
            if now >= end:
                return
            self._woken.clear()
            if not watch.is_behind:
                await self._woken.wait()

    def _initial(self, watch: Watch) -> Iterator[bytes]:
        versions, watch.initial = watch.initial, []
        revision = watch.revision
        for first in range(0, len(versions), _ITEMS_PER_CHUNK):
            yield b"".join(map(self._encode_added, versions[first : first + _ITEMS_PER_CHUNK]))
        if watch.tells_end_of_initial:
            yield self._bookmark(revision, _INITIAL_END)

    def _encode_added(self, version: Stored) -> bytes:
        return self._answer.presenter.event(WatchedChange(EventType.ADDED, version, version.body))

    def _bookmark(self, revision: int, annotations: JsonObject) -> bytes:
        return self._answer.presenter.bookmark(
            bookmark_object(self._answer.resource, self._schema, revision, annotations)
        )

    def _bookmark_time(self, now: float, end: float) -> float | None:
        """When the next bookmark is due: now and then, and shortly before the end."""
        if not self._answer.options.allow_bookmarks:
            return None
        last = end - _BOOKMARK_BEFORE_END_S
        if now >= last:
            return None
        return min(now + _BOOKMARK_EVERY_S, last)


def bookmark_object(
    resource: ApiResource, schema: Schema, revision: int, annotations: JsonObject
) -> JsonObject:
    """An object of the kind that has nothing but a revision."""
    metadata: JsonObject = {"resourceVersion": str(revision)}
    if annotations:
        metadata["annotations"] = annotations
    empty = {} if resource.is_custom else zero_struct(schema.root)
    return {
        **empty,
        "kind": resource.kind,
        "apiVersion": resource.api_version,
        "metadata": metadata,
    }


async def _wait_for_disconnect(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def _send(send: Send, chunk: bytes) -> None:
    await send({"type": "http.response.body", "body": chunk, "more_body": True})
