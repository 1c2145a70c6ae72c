"""An application on a socket: serve until told to stop, then end well.

uvicorn without what a program around it wants to decide itself: signals, logs, how connections are
taken. Nothing of it is written to a terminal.

Contract: once `should_exit` is set no connections are taken, requests under way have their time of
grace and are cut off after it, and clients that have none hold nobody up.
"""

import asyncio
import contextlib
import signal
import socket
from collections.abc import Awaitable, Callable, Generator
from typing import Any, Final

import uvicorn

from podium.net.serving.connection_acceptor import ConnectionAcceptor, Context
from podium.net.serving.head_buffer import Unfinished
from podium.net.serving.limits import Limits
from podium.net.serving.protocol import BoundedProtocol

_GOODBYE_S: Final = 0.3
_SIGNALS: Final = (signal.SIGTERM, signal.SIGINT)


class WebServer(uvicorn.Server):
    def __init__(
        self,
        application: Any,
        *,
        limits: Limits,
        grace_s: int,
        context: Context | None = None,
        on_stopping: Callable[[], None] = lambda: None,
    ) -> None:
        """`context` is TLS, asked for each connection anew; `on_stopping` hears that no further
        connections are taken."""
        super().__init__(
            uvicorn.Config(
                application,
                http=BoundedProtocol,
                ws="none",
                lifespan="off",
                log_config=None,
                access_log=False,
                server_header=False,
                proxy_headers=False,
                timeout_graceful_shutdown=grace_s,
            )
        )
        self._limits = limits
        self._context = context
        self._on_stopping = on_stopping
        self._unfinished = Unfinished(limits.max_unfinished_bytes)
        self.accepting = asyncio.Event()

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        """Whoever runs the event loop decides what signals mean."""
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        self.servers = []
        self._acceptor = ConnectionAcceptor(self._protocol, self._limits, self._context)
        self._listening = [
            asyncio.create_task(self._acceptor.accept_at(listener)) for listener in sockets or ()
        ]
        self.started = True
        self.accepting.set()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        for task in self._listening:
            task.cancel()
        await asyncio.gather(*self._listening, return_exceptions=True)
        for listener in sockets or ():
            listener.close()
        await self._acceptor.stop()
        self._on_stopping()
        leaving = asyncio.ensure_future(self._leave())
        try:
            await super().shutdown(sockets)
        finally:
            leaving.cancel()
            self._hang_up()

    async def _leave(self) -> None:
        """A client that has no request and does not answer to a goodbye is not waited for."""
        while True:
            await asyncio.sleep(_GOODBYE_S)
            if not self.server_state.tasks:
                self._hang_up(lambda transport: transport.get_write_buffer_size() == 0)

    def _hang_up(self, on_whom: Callable[[asyncio.WriteTransport], bool] = lambda _: True) -> None:
        for connection in list(self.server_state.connections):
            if on_whom(connection.transport):
                connection.transport.abort()

    def _protocol(self, on_lost: Callable[[], None]) -> BoundedProtocol:
        return BoundedProtocol(
            self.config, self.server_state, self._limits, self._unfinished, on_lost
        )


def run_until_signal(
    serve: Callable[[], Awaitable[None]], stop: Callable[[], None], hurry: Callable[[], None]
) -> None:
    """Serve in an event loop of its own. SIGTERM and SIGINT call `stop`, a second SIGINT
    `hurry`."""
    with asyncio.Runner(loop_factory=_loop_factory()) as runner:
        runner.run(_serve_until_signal(serve, stop, hurry))


async def _serve_until_signal(
    serve: Callable[[], Awaitable[None]], stop: Callable[[], None], hurry: Callable[[], None]
) -> None:
    loop = asyncio.get_running_loop()
    is_stopping = False

    def told(number: int) -> None:
        nonlocal is_stopping
        if is_stopping and number == signal.SIGINT:
            hurry()
        is_stopping = True
        stop()

    for number in _SIGNALS:
        loop.add_signal_handler(number, told, number)
    await serve()


def _loop_factory() -> Callable[[], asyncio.AbstractEventLoop]:
    """The fast event loop where there is one."""
    try:
        import uvloop
    except ImportError:
        return asyncio.new_event_loop
    return uvloop.new_event_loop
