"""Group commit: writes that happen while the disk is busy go to it together.

The write-ahead log has a thread of its own; the event loop goes on serving. Answers wait until what
they tell of is on disk (`wait_until_durable`), reads as well as writes, so that nobody sees
something that a crash could undo. If the log fails, nothing can be promised any more: all waiting
requests fail, and the server is asked to stop.
"""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from podium.apiserver.store.store import Store
from podium.apiserver.store.write_ahead_log import WriteAheadLog
from podium.kubernetes import status_errors


class Commits:
    """Carries the store's writes to the write-ahead log."""

    def __init__(
        self, store: Store, log: WriteAheadLog, on_failure: Callable[[Exception], None]
    ) -> None:
        self._store = store
        self._write_ahead_log = log
        self._on_failure = on_failure
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="write-ahead-log")
        self._written = asyncio.Event()
        self._waiting: list[tuple[int, asyncio.Future[None]]] = []
        self._failure: Exception | None = None
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin to commit; called in the event loop."""
        self._store.on_write = self._written.set
        self._written.set()
        self._task = asyncio.ensure_future(self._run())

    async def wait_until_durable(self) -> None:
        """Wait until everything that was written so far is on disk."""
        if self._failure is not None:
            raise status_errors.internal(f"the store cannot be written: {self._failure}")
        revision = self._store.revision
        if self._store.published_revision >= revision:
            return
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append((revision, done))
        await done

    async def stop(self) -> None:
        """Commit what is left and close the write-ahead log."""
        if self._task is not None:
            if self._failure is None:
                await self._commit()
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        self._store.on_write = None
        self._thread.shutdown()
        self._write_ahead_log.close()

    async def _run(self) -> None:
        while self._failure is None:
            await self._written.wait()
            self._written.clear()
            await self._commit()

    async def _commit(self) -> None:
        records = self._store.take_records()
        if not records:
            return
        loop = asyncio.get_running_loop()
        try:
            await loop.run_in_executor(self._thread, self._write_ahead_log.commit, records)
        except Exception as problem:
            self._fail(problem)
            return
        revision = records[-1].revision
        self._store.publish(revision)
        ready = [done for wanted, done in self._waiting if wanted <= revision]
        self._waiting = [each for each in self._waiting if each[0] > revision]
        for done in ready:
            if not done.done():
                done.set_result(None)

    def _fail(self, problem: Exception) -> None:
        self._failure = problem
        error = status_errors.internal(f"the store cannot be written: {problem}")
        for _, done in self._waiting:
            if not done.done():
                done.set_exception(error)
        self._waiting = []
        self._on_failure(problem)
