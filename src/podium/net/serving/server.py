"""An application on a socket: listen, take connections, serve until told to stop, then end well.

uvicorn without what a program around it wants to decide itself: signals, logs, how connections are
taken. Nothing of it is written to a terminal.

Contract: once `should_exit` is set no connections are taken, requests under way have their time of
grace and are cut off after it, and clients that have none hold nobody up.

Taking connections: as many as there may be, TLS for those who speak it, a word for the others.
Where TLS is spoken the first byte is looked at without being taken. TLS begins with a certain one;
a letter is the beginning of a plain request, which gets an answer in plain text and no more.
"""

import asyncio
import contextlib
import errno
import logging
import signal
import socket
import ssl
from collections.abc import Awaitable, Callable, Generator
from typing import Any, Final

import uvicorn

from podium.golang.errors import InputError
from podium.net.serving.head_buffer import Unfinished
from podium.net.serving.limits import Limits
from podium.net.serving.protocol import BoundedProtocol

_LOG: Final = logging.getLogger("podium.net.serving")
_CLOSE_S: Final = 1.0
_PAUSE_S: Final = 0.1
_KEEP_ALIVE_S: Final = 15
_KEEP_ALIVE_PROBES: Final = 9
"""upstream: Go probes a silent connection as often; a peer that is gone is known after 150 s."""
_PLAIN: Final = b"HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n"

Context = Callable[[], ssl.SSLContext]
Protocol = Callable[[Callable[[], None]], asyncio.Protocol]
"""Makes the protocol of a connection; it is told what to call when the connection is over."""


class ConnectionAcceptor:
    def __init__(self, protocol: Protocol, limits: Limits, context: Context | None) -> None:
        """`context` is asked for each connection anew; without it nobody speaks TLS."""
        self._protocol = protocol
        self._limits = limits
        self._context = context
        self._room = asyncio.Semaphore(limits.connections())
        self._under_way: set[asyncio.Task[None]] = set()
        self._has_told_full = False

    async def accept_at(self, listener: socket.socket) -> None:
        """Take connections until cancelled."""
        loop = asyncio.get_running_loop()
        while True:
            if self._room.locked():
                self._tell_full()
            await self._room.acquire()
            try:
                accepted, _ = await loop.sock_accept(listener)
            except OSError as problem:  # too many open files, say: that may pass
                self._room.release()
                _LOG.error("a connection could not be taken: %s", problem)
                await asyncio.sleep(_PAUSE_S)
                continue
            task = loop.create_task(self._greet(accepted))
            self._under_way.add(task)
            task.add_done_callback(self._under_way.discard)

    async def stop(self) -> None:
        """Drop whoever has not come to a request yet."""
        tasks = list(self._under_way)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _tell_full(self) -> None:
        if not self._has_told_full:
            self._has_told_full = True
            most = self._limits.connections()
            _LOG.warning("there are %s connections: others wait until one ends", most)

    async def _greet(self, accepted: socket.socket) -> None:
        place = _Slot(self._room)
        is_handed_over = False
        try:
            _keep_alive(accepted)
            if self._context is not None and not await self._speaks_tls(accepted):
                return
            is_handed_over = True
            await self._connect(accepted, place)
        except (OSError, TimeoutError) as problem:  # a failed handshake is an OSError, too
            place.leave()
            _LOG.debug("a connection ended before its first request: %s", problem)
        finally:
            if not is_handed_over:
                accepted.close()
                place.leave()

    async def _speaks_tls(self, accepted: socket.socket) -> bool:
        async with asyncio.timeout(self._limits.head_timeout_s):
            first = await _peek(accepted)
        if first.isalpha():
            async with asyncio.timeout(_CLOSE_S):
                await _answer_plainly(accepted)
        return bool(first) and not first.isalpha()

    async def _connect(self, accepted: socket.socket, place: "_Slot") -> None:
        loop = asyncio.get_running_loop()
        protocol = self._protocol(place.leave)
        if self._context is None:
            await loop.connect_accepted_socket(lambda: protocol, accepted)
            return
        await loop.connect_accepted_socket(
            lambda: protocol,
            accepted,
            ssl=self._context(),
            ssl_handshake_timeout=self._limits.handshake_timeout_s,
            ssl_shutdown_timeout=_CLOSE_S,
        )


class _Slot:
    """One connection of those that there may be; left once, however often it is said."""

    def __init__(self, room: asyncio.Semaphore) -> None:
        self._room: asyncio.Semaphore | None = room

    def leave(self) -> None:
        if self._room is not None:
            self._room.release()
            self._room = None


def _keep_alive(accepted: socket.socket) -> None:
    accepted.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    accepted.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in (
        ("TCP_KEEPIDLE", _KEEP_ALIVE_S),
        ("TCP_KEEPINTVL", _KEEP_ALIVE_S),
        ("TCP_KEEPCNT", _KEEP_ALIVE_PROBES),
    ):
        option = getattr(socket, name, None)  # not every system has them all
        if option is not None:
            accepted.setsockopt(socket.IPPROTO_TCP, option, value)


async def _peek(accepted: socket.socket) -> bytes:
    """The first byte, which stays where it is; nothing if the other side has gone."""
    loop = asyncio.get_running_loop()
    while True:
        try:
            return accepted.recv(1, socket.MSG_PEEK)
        except BlockingIOError:
            readable = loop.create_future()
            loop.add_reader(accepted, readable.set_result, None)
            try:
                await readable
            finally:
                loop.remove_reader(accepted)


async def _answer_plainly(accepted: socket.socket) -> None:
    """Answer, and listen until the other side is done: closing early would lose the answer."""
    loop = asyncio.get_running_loop()
    await loop.sock_sendall(accepted, _PLAIN)
    accepted.shutdown(socket.SHUT_WR)
    while await loop.sock_recv(accepted, 65536):
        pass


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

    def handle_signal(number: int) -> None:
        nonlocal is_stopping
        if is_stopping and number == signal.SIGINT:
            hurry()
        is_stopping = True
        stop()

    for number in _SIGNALS:
        loop.add_signal_handler(number, handle_signal, number)
    await serve()


def _loop_factory() -> Callable[[], asyncio.AbstractEventLoop]:
    """The fast event loop where there is one."""
    try:
        import uvloop
    except ImportError:
        return asyncio.new_event_loop
    return uvloop.new_event_loop


_UNSPECIFIED: Final = ("0.0.0.0", "::")
_BACKLOG: Final = 1024


def listen(host: str, port: int, option: str = "--port") -> socket.socket:
    """Port 0 is any free one; `option` is where users say which. Raises InputError."""
    try:
        return bind_listener(host, port)
    except (OSError, OverflowError) as problem:
        # Some errors of the socket library explain themselves at length in brackets.
        reason = (getattr(problem, "strerror", None) or str(problem)).partition(" (")[0].lower()
        is_taken = isinstance(problem, OSError) and problem.errno == errno.EADDRINUSE
        remedy = f"{option} 0 takes any free one" if is_taken else ""
        raise InputError(f"cannot listen on {host}:{port}: {reason}", remedy=remedy) from None


def bind_listener(
    host: str, port: int, *, dual_stack: bool = False, shares_port: bool = False
) -> socket.socket:
    """With `dual_stack` all addresses means those of both kinds of IP, where the machine has both.

    Raises OSError and OverflowError.
    """
    dual = dual_stack and host in _UNSPECIFIED and socket.has_dualstack_ipv6()
    if dual:
        host, family = "::", socket.AF_INET6
    else:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        family = socket.AddressFamily(found[0][0])
    listener = socket.create_server(
        (host, port),
        family=family,
        backlog=_BACKLOG,
        reuse_port=shares_port,
        dualstack_ipv6=dual,
    )
    listener.setblocking(False)
    return listener
