"""Connections and answers: how many, how slow, and what is left of them at the end."""

import asyncio
import contextlib
import logging
import socket
import ssl
from collections.abc import Callable
from typing import Any

import pytest
import trustme
import uvloop
from support.live.virtual_loop import run_virtually, sleep_virtually
from support.net.serving.raw_http import GET, Deaf, Echo, served
from support.waiting import PATIENCE_S

from podium.golang.errors import InputError
from podium.net.serving import Limits, listen

LOOPS: list[Callable[[], asyncio.AbstractEventLoop]] = [
    asyncio.new_event_loop,
    uvloop.new_event_loop,
]
PART = b"x" * 65536


class Endless:
    """Sends for as long as it may, and remembers how much that was."""

    def __init__(self, parts: int = 1 << 20) -> None:
        self.parts = parts
        self.sent = 0
        self.ended = asyncio.Event()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        gone = asyncio.ensure_future(self._gone(receive))
        try:
            await send({"type": "http.response.start", "status": 200, "headers": []})
            while self.sent < self.parts and not gone.done():
                await send({"type": "http.response.body", "body": PART, "more_body": True})
                self.sent += 1
            await send({"type": "http.response.body", "body": b""})
        finally:
            gone.cancel()
            self.ended.set()

    async def _gone(self, receive: Any) -> None:
        while (await receive())["type"] != "http.disconnect":
            pass


@pytest.mark.parametrize("loop_factory", LOOPS, ids=["asyncio", "uvloop"])
def test_a_client_that_does_not_read_is_not_written_to(
    loop_factory: Callable[[], asyncio.AbstractEventLoop],
) -> None:
    async def main() -> tuple[int, int]:
        application = Endless()
        limits = Limits(write_timeout_s=0.5)
        async with served(application, limits) as server:
            deaf = server.socket()
            deaf.sendall(GET)
            await asyncio.wait_for(application.ended.wait(), PATIENCE_S)
            assert server.server is not None
            left = len(server.server.server_state.connections)
            deaf.close()
            return application.sent, left

    with asyncio.Runner(loop_factory=loop_factory) as runner:
        sent, left = runner.run(main())
    assert sent * len(PART) < 16 << 20  # what the kernel holds
    assert left == 0


def test_it_has_a_minute_to_go_on_reading() -> None:
    async def main() -> int:
        application = Endless()
        async with served(application) as server:
            deaf = server.socket()
            deaf.sendall(GET)
            await application.ended.wait()
            deaf.close()
            return round(asyncio.get_running_loop().time())

    assert run_virtually(main()) == 60


def test_a_last_answer_that_is_not_read_is_not_kept_for_ever() -> None:
    """The answer is complete for the application, the connection is to be closed."""

    async def whole(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"x" * (32 << 20)})

    async def main() -> tuple[int, int]:
        async with served(whole) as server:
            deaf = server.socket()
            deaf.sendall(b"GET / HTTP/1.0\r\n\r\n")
            state = server.server.server_state if server.server is not None else None
            assert state is not None
            await sleep_virtually(1)
            before = len(state.connections)
            await sleep_virtually(70)
            deaf.close()
            return before, len(state.connections)

    assert run_virtually(main()) == (1, 0)


def test_connections_beyond_the_limit_wait_until_one_ends(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def main() -> int:
        async with (
            served(Echo(), Limits(max_connections=2)) as server,
            server.client() as first,
            server.client() as second,
        ):
            await first.ask(GET)
            await second.ask(GET)
            async with server.client() as third:
                asking = asyncio.ensure_future(third.ask(GET))
                await sleep_virtually(0.3)
                assert not asking.done()
                first.writer.close()
                return (await asking).status

    with caplog.at_level(logging.WARNING):
        assert run_virtually(main()) == 200
    assert "there are 2 connections" in caplog.text


@pytest.fixture(scope="module")
def tls() -> tuple[ssl.SSLContext, ssl.SSLContext]:
    authority = trustme.CA()
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("localhost").configure_cert(server)
    client = ssl.create_default_context()
    authority.configure_trust(client)
    return server, client


def test_failed_handshakes_make_room_again(tls: tuple[ssl.SSLContext, ssl.SSLContext]) -> None:
    server_side, client_side = tls
    limits = Limits(max_connections=1, handshake_timeout_s=0.2)

    async def main() -> int:
        async with served(Echo(), limits, server_side) as server:
            for opening in (b"\x16\x03\x01", b"\x16nonsense" * 10, b"GET / HTTP/1.1\r\n\r\n", b""):
                with server.socket() as raw:
                    raw.sendall(opening)
                    if not opening:
                        raw.shutdown(socket.SHUT_WR)
                    with contextlib.suppress(ConnectionError):
                        while await asyncio.get_running_loop().sock_recv(raw, 100):
                            pass
            async with server.client(client_side) as client:
                return (await client.ask(GET)).status

    assert run_virtually(main()) == 200


def test_a_handshake_has_ten_seconds(tls: tuple[ssl.SSLContext, ssl.SSLContext]) -> None:
    async def main() -> int:
        async with served(Echo(), context=tls[0]) as server, server.client() as client:
            client.send(b"\x16\x03\x01")
            await client.until_closed()
            return round(asyncio.get_running_loop().time())

    assert run_virtually(main()) == 10


def test_a_body_that_nobody_reads_does_not_lose_the_answer_with_tls(
    tls: tuple[ssl.SSLContext, ssl.SSLContext],
) -> None:
    head = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 8000000\r\n\r\n"

    async def main() -> int:
        async with served(Deaf(), context=tls[0]) as server, server.client(tls[1]) as client:
            client.send(head + b"x" * 8_000_000)
            return (await client.hear()).status

    assert asyncio.run(main()) == 403


# --- failures -------------------------------------------------------------------------------------


def test_an_application_that_fails_is_an_answer_without_its_words(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def broken(scope: Any, receive: Any, send: Any) -> None:
        raise RuntimeError("a secret")

    async def main() -> tuple[int, bytes]:
        async with served(broken) as server:
            said = await server.ask(GET)
            return said.status, said.body

    assert asyncio.run(main()) == (500, b"Internal Server Error")
    assert "a secret" in caplog.text


@pytest.mark.parametrize("fails", [True, False])
def test_an_answer_that_has_no_end_does_not_look_complete(*, fails: bool) -> None:
    async def unfinished(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"half", "more_body": True})
        await sleep_virtually(0.1)
        if fails:
            raise RuntimeError

    async def main() -> bytes:
        async with served(unfinished) as server, server.client() as client:
            client.send(GET)
            return await client.until_closed()

    assert not run_virtually(main()).endswith(b"0\r\n\r\n")


def test_the_web_server_says_nothing_by_itself(caplog: pytest.LogCaptureFixture) -> None:
    async def main() -> None:
        async with served(Echo()) as server:
            await server.ask(GET)
            await server.ask(b"nonsense\r\n\r\n")
            upgrade = (
                b"GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"
            )
            await server.ask(upgrade)

    with caplog.at_level(logging.WARNING):
        asyncio.run(main())
    assert caplog.text == ""


def test_requests_under_way_are_cut_off_when_their_time_of_grace_is_over() -> None:
    async def main() -> float:
        loop = asyncio.get_running_loop()
        application = Endless()
        async with served(application) as server:
            deaf = server.socket()
            deaf.sendall(GET)
            idle = server.socket()
            await sleep_virtually(0.3)
            began = loop.time()
        deaf.close()
        idle.close()
        assert application.ended.is_set()
        return loop.time() - began

    assert run_virtually(main()) < 10


# --- sockets --------------------------------------------------------------------------------------


def test_a_port_that_is_taken_is_told_with_a_remedy() -> None:
    with listen("127.0.0.1", 0) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(InputError, match="address already in use; --port 0 takes any free one"):
            listen("127.0.0.1", port)
