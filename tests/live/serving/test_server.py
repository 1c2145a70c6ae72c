"""The endpoints on a real socket: plain speakers, noise, the beginning and the end."""

import asyncio
import contextlib
import socket
from urllib.parse import urlsplit

import pytest
from support.live.management_pages import (
    OPEN,
    settings,
    surface,
)
from support.live.management_server import Heard, Run, answer_of, ask, blind, server
from support.live.virtual_loop import run_virtually

from podium.live.serving import ManagementServer
from podium.scheduler.config.flags.client_settings import StartRefused

# --- those who do not speak TLS ---------------------------------------------------------------


def test_a_plain_request_is_told_so(run: Run) -> None:
    heard = run(answer_of(server(), "/healthz"))
    assert heard.head == "HTTP/1.0 400 Bad Request"
    assert heard.body == "Client sent an HTTP request to an HTTPS server.\n"


def test_noise_and_silence_harm_nobody(run: Run) -> None:
    async def look() -> int:
        async with server() as endpoints:
            port = urlsplit(endpoints.url).port
            for noise in (b"\x16\x03nonsense" * 10, b"\x00\x01", b""):
                _, writer = await asyncio.open_connection("127.0.0.1", port)
                writer.write(noise)
                writer.close()
                await writer.wait_closed()
            _, silent = await asyncio.open_connection("127.0.0.1", port)
            heard = await ask(endpoints, "/healthz", blind())
            silent.close()
            await silent.wait_closed()
            return heard.status

    assert run(look()) == 200


def test_a_head_that_is_too_large_is_refused(run: Run) -> None:
    async def look() -> bytes:
        async with server() as endpoints:
            port = urlsplit(endpoints.url).port
            reader, writer = await asyncio.open_connection("127.0.0.1", port, ssl=blind())
            writer.write(b"GET /healthz HTTP/1.1\r\n")
            for _ in range(20):
                writer.write(b"x-" + b"a" * 65000 + b": 1\r\n")
            heard = await reader.readline()
            writer.close()
            with contextlib.suppress(OSError):
                await writer.wait_closed()
            return heard

    assert run(look()).startswith(b"HTTP/1.1 431 ")


# --- start and stop ---------------------------------------------------------------------------


def test_it_listens_before_it_serves_and_not_after(run: Run) -> None:
    async def look() -> None:
        endpoints = server()
        port = urlsplit(endpoints.url).port
        socket.create_connection(("127.0.0.1", port)).close()
        await endpoints.start()
        await endpoints.stop()
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.1", port))

    run(look())


def test_one_that_never_started_can_be_stopped() -> None:
    asyncio.run(server().stop())


def test_a_port_that_is_taken_is_refused_in_words() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(StartRefused) as refused:
            ManagementServer(
                surface(), settings("--bind-address=127.0.0.1", f"--secure-port={port}")
            )
    where = f"127.0.0.1:{port}"
    assert str(refused.value) == (
        f"failed to create listener: failed to listen on {where}: listen tcp {where}: bind: "
        "address already in use"
    )


def test_all_addresses_are_those_of_both_kinds() -> None:
    if not socket.has_dualstack_ipv6():
        pytest.skip("this machine has one kind only")
    endpoints = ManagementServer(surface(), settings("--secure-port=0"))
    assert asyncio.run(answer_of(endpoints, "/healthz", blind())).status == 200


def test_a_request_under_way_is_answered_before_the_end(run: Run) -> None:
    async def look() -> Heard:
        asked = asyncio.Event()

        def configuration() -> dict[str, object]:
            asked.set()
            return {"large": "x" * 1_000_000}

        endpoints = server(OPEN, configuration=configuration)
        await endpoints.start()
        request = asyncio.create_task(ask(endpoints, "/configz", blind()))
        await asked.wait()
        await endpoints.stop()
        return await request

    heard = run(look())
    assert heard.status == 200
    assert len(heard.body) > 1_000_000


def test_idle_connections_do_not_hold_up_the_end() -> None:
    async def look() -> tuple[bytes, float]:
        endpoints = server()
        await endpoints.start()
        port = urlsplit(endpoints.url).port
        reader, writer = await asyncio.open_connection("127.0.0.1", port, ssl=blind())
        writer.write(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
        await reader.readuntil(b"ok")
        began = asyncio.get_running_loop().time()
        await endpoints.stop()
        passed_s = asyncio.get_running_loop().time() - began
        rest = await reader.read()
        writer.close()
        await writer.wait_closed()
        return rest, passed_s

    rest, passed_s = run_virtually(look())
    assert rest == b""
    assert passed_s < 4
