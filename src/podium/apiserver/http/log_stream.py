"""A log that is followed: lines as they come, until the container's run ends or the client goes.

Nothing is queued: whenever pods change the log is made anew from the pod, and what is longer than
what was sent goes out.
"""

import asyncio
from dataclasses import dataclass, replace
from typing import Final

from podium.apiserver.requests.pod_logs import (
    ContainerLog,
    LogOptions,
    find_log,
    write_line,
    write_lines,
)
from podium.apiserver.requests.registry import Registry
from podium.golang.json_values import JsonObject
from podium.kubernetes.resources.resource import ApiResource
from podium.kubernetes.status_errors import StatusError
from podium.net.serving import Receive, Send

CONTENT_TYPE: Final = b"text/plain"


@dataclass(slots=True)
class LogAnswer:
    """A log that is to be streamed."""

    registry: Registry
    resource: ApiResource
    pod: JsonObject
    container: str
    options: LogOptions


class LogStream:
    """Streams one log to one client."""

    def __init__(self, answer: LogAnswer, stopping: asyncio.Event) -> None:
        self._answer = answer
        self._stopping = stopping
        self._woken = asyncio.Event()
        self.wake = self._woken.set
        self._log = find_log(answer.pod, answer.container, previous=False)
        self._left = answer.options.limit_bytes
        """How many bytes may still be sent; None for all."""

    async def run(self, receive: Receive, send: Send) -> None:
        """Send the body of the answer, but for its end."""
        answer = self._answer
        listeners = answer.registry.collection(answer.resource).listeners
        gone = asyncio.ensure_future(_wait_for_disconnect(receive))
        gone.add_done_callback(lambda _: self.wake())
        listeners[self] = self.wake
        try:
            await self._send(send, b"".join(write_lines(self._log.lines, answer.options)))
            while not (self._log.is_over or self._left == 0):
                await self._woken.wait()
                self._woken.clear()
                if gone.done() or self._stopping.is_set():
                    return
                before, self._log = self._log, self._next()
                more = self._log.lines[len(before.lines) :]
                await self._send(send, b"".join(write_line(each, answer.options) for each in more))
        finally:
            listeners.pop(self, None)
            gone.cancel()

    def _next(self) -> ContainerLog:
        """The log of the same run as it is by now; it is over when there is another run."""
        answer, metadata = self._answer, self._answer.pod["metadata"]
        ended = replace(self._log, is_over=True)
        collection = answer.registry.collection(answer.resource)
        stored = collection.get(metadata["namespace"], metadata["name"])
        if stored is None:
            return ended
        pod = answer.registry.read(answer.resource, stored)
        if pod["metadata"]["uid"] != metadata["uid"]:
            return ended
        try:
            found = find_log(pod, answer.container, previous=False)
            if found.restarts == self._log.restarts + 1:
                return find_log(pod, answer.container, previous=True)
        except StatusError:
            return ended
        return found if found.restarts == self._log.restarts else ended

    async def _send(self, send: Send, chunk: bytes) -> None:
        if self._left is not None:
            chunk = chunk[: self._left]
            self._left -= len(chunk)
        if chunk:
            await send({"type": "http.response.body", "body": chunk, "more_body": True})


async def _wait_for_disconnect(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
