"""An API server with simulated nodes and controllers, in a thread of its own.

The scheduler of a whole cluster has the main thread, where the time of plugins is limited by
signals. A plugin that computes for seconds holds that thread up, and with it everything that shares
its event loop. The server and those who live in it have another: kubectl is answered meanwhile, and
so are browsers and whoever asks for metrics and health.

    main thread                      thread
    scheduler ─ requests ──────────▶ API server ◀─ sockets
              ◀─ answers ─────────── simulated nodes, controllers
              ◀─ LoopCalls ───────── page, metrics, health ◀─ sockets

Nothing is shared but requests and answers (`ThreadedTransport`), and what the scheduler's loop
makes for those who show it (`LoopCalls`).
"""

import asyncio
import contextlib
import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from typing import Final

from podium.apiserver.serving.server import ApiServer
from podium.client import AsgiTransport, KubeClient
from podium.client.asgi_transport import ThreadedTransport
from podium.client.transport import Transport
from podium.commands.processes.event_loop import loop_factory
from podium.live.tasks import Part, running_part, wait_while_running
from podium.simulated.clock import ClusterClock
from podium.simulated.cluster import SimulatedCluster, SimulatedClusterOptions

USER: Final = "podium"

_Begun = tuple[asyncio.AbstractEventLoop, Transport]


@dataclass(frozen=True, slots=True)
class ServedCluster:
    """A cluster without a scheduler; `part` ends when it does, with what it broke of. `loop` is
    that of its thread."""

    server: ApiServer
    loop: asyncio.AbstractEventLoop
    transport: Transport
    part: Part


@contextlib.asynccontextmanager
async def served_cluster(
    server: ApiServer,
    options: SimulatedClusterOptions,
    speed: float,
    prepare: Callable[[KubeClient], Awaitable[None]],
) -> AsyncIterator[ServedCluster]:
    """For as long as the context; `prepare` is called in the thread once the server answers, before
    there are nodes. Raises what the thread ends with."""
    thread = _Thread(server, options, speed, prepare)
    thread.start()
    try:
        loop, transport = await thread.begun()
        yield ServedCluster(server, loop, transport, thread.ended)
    finally:
        await thread.end()


class _Thread:
    def __init__(
        self,
        server: ApiServer,
        options: SimulatedClusterOptions,
        speed: float,
        prepare: Callable[[KubeClient], Awaitable[None]],
    ) -> None:
        self._server = server
        self._options = options
        self._speed = speed
        self._prepare = prepare
        self._here = asyncio.get_running_loop()
        self._begun: asyncio.Future[_Begun] = self._here.create_future()
        self.ended: asyncio.Future[None] = self._here.create_future()
        self._there: asyncio.AbstractEventLoop | None = None
        self._stopping = asyncio.Event()
        self._is_stopping = False

    # --- in the loop of whoever wants the cluster ---------------------------------------------

    def start(self) -> None:
        threading.Thread(target=self._run, name="api-server", daemon=True).start()

    async def begun(self) -> "_Begun":
        """Its loop and the way to the server, once nodes and controllers have started."""
        return await wait_while_running(asyncio.shield(self._begun), self.ended)

    async def end(self) -> None:
        """Have it end, and wait until it has. Raises what goes wrong on the way out, such as a last
        write that does not reach the disk."""
        broke_before = self.ended.done()
        self._is_stopping = True
        if self._there is not None:
            with contextlib.suppress(RuntimeError):  # its loop is closed: it has ended
                self._there.call_soon_threadsafe(self._stopping.set)
        while not self.ended.done():
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.wait((self.ended,))
        problem = self.ended.exception()
        if problem is not None and not broke_before:
            raise problem

    def _finish(self, problem: BaseException | None) -> None:
        self._begun.cancel()
        if problem is None:
            self.ended.set_result(None)
        else:
            self.ended.set_exception(problem)

    def _begin(self, begun: "_Begun") -> None:
        if not self._begun.done():
            self._begun.set_result(begun)

    # --- in the thread ------------------------------------------------------------------------

    def _run(self) -> None:
        problem: BaseException | None = None
        try:
            with asyncio.Runner(loop_factory=loop_factory()) as runner:
                runner.run(self._serve())
        except BaseException as broke_with:
            problem = broke_with
        self._here.call_soon_threadsafe(self._finish, problem)

    async def _serve(self) -> None:
        self._there = asyncio.get_running_loop()
        if self._is_stopping:
            self._server.close()
            return
        server = self._server
        async with contextlib.AsyncExitStack() as stack:
            serving = asyncio.ensure_future(server.serve())
            stack.push_async_callback(_stop_serving, server, serving)
            stopping = await stack.enter_async_context(running_part(self._until_stopped()))
            with contextlib.suppress(_Stopped):
                application = await wait_while_running(server.application(), serving, stopping)
                headers = {"Authorization": f"Bearer {server.token}", "User-Agent": USER}
                transport = AsgiTransport(application, headers)
                client = KubeClient(transport, field_manager=USER)
                await wait_while_running(self._prepare(client), serving, stopping)
                clock = ClusterClock(self._speed)
                simulated = SimulatedCluster(client, self._options, clock=clock)
                living = await stack.enter_async_context(running_part(simulated.run()))
                await wait_while_running(simulated.started.wait(), serving, living, stopping)
                threaded = ThreadedTransport(transport, self._there)
                self._here.call_soon_threadsafe(self._begin, (self._there, threaded))
                await wait_while_running(asyncio.Event().wait(), serving, living, stopping)

    async def _until_stopped(self) -> None:
        await self._stopping.wait()
        raise _Stopped


class _Stopped(Exception):
    """The cluster was told to end."""


async def _stop_serving(server: ApiServer, serving: Part) -> None:
    """Raises what goes wrong on the way out: a last write that does not reach the disk."""
    if not serving.done():
        server.stop()
        await serving
