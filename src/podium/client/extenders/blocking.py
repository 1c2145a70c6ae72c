"""Extenders for drivers that do not run an event loop, such as the simulator.

A thread of its own keeps the loop, and with it the connections: between calls it notices what the
other side closes, and callers may themselves be anywhere, in a loop included.
"""

import asyncio
import threading
from collections.abc import Sequence
from types import TracebackType

from podium.client.extenders.client import ExtenderClient
from podium.client.extenders.objects import ObjectSource
from podium.scheduler.config.types import Extender
from podium.scheduler.framework.asking import ExtenderAnswer, ExtenderCall


class BlockingExtenderClient:
    """`ExtenderClient` without async; use it as a context, or close it."""

    def __init__(self, extenders: Sequence[Extender], objects: ObjectSource) -> None:
        """Raises ConfigurationError if certificates cannot be used."""
        self._client = ExtenderClient(extenders, objects)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(
            target=self._loop.run_forever, name="podium-extenders", daemon=True
        )
        self._thread.start()

    def ask(self, calls: tuple[ExtenderCall, ...]) -> tuple[ExtenderAnswer, ...]:
        """The answers, in the order of the calls."""
        return asyncio.run_coroutine_threadsafe(self._client.ask(calls), self._loop).result()

    def close(self) -> None:
        if self._loop.is_closed():
            return
        asyncio.run_coroutine_threadsafe(self._client.close(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def __enter__(self) -> "BlockingExtenderClient":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
