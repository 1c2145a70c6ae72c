"""What a connection adds to uvicorn's HTTP: a time and a size for the head of a request."""

import asyncio
from typing import Any

import uvicorn
from uvicorn.server import ServerState
from virtual_loop import run_virtually

from podium.live.serving.protocol import LARGEST_HEAD, READ_HEADER_S, ManagementProtocol


class Wire(asyncio.Transport):
    """Remembers what was written and when it was closed."""

    def __init__(self) -> None:
        super().__init__()
        self.written = b""
        self.closed_at: float | None = None

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        return default

    def write(self, data: Any) -> None:
        self.written += bytes(data)

    def pause_reading(self) -> None: ...

    def resume_reading(self) -> None: ...

    def is_closing(self) -> bool:
        return self.closed_at is not None

    def close(self) -> None:
        self.closed_at = asyncio.get_running_loop().time()


async def application(scope: Any, receive: Any, send: Any) -> None:
    await send(
        {"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]}
    )
    await send({"type": "http.response.body", "body": b"ok"})


def connected() -> tuple[ManagementProtocol, Wire]:
    config = uvicorn.Config(application, lifespan="off", log_config=None, timeout_keep_alive=90)
    protocol = ManagementProtocol(config, ServerState(), {}, asyncio.get_running_loop())
    wire = Wire()
    protocol.connection_made(wire)
    return protocol, wire


GET = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"


def test_a_client_that_says_nothing_is_sent_away() -> None:
    async def main() -> float | None:
        _, wire = connected()
        await asyncio.sleep(100)
        return wire.closed_at

    assert run_virtually(main()) == READ_HEADER_S


def test_so_is_one_that_does_not_come_to_the_end_of_its_head() -> None:
    async def main() -> float | None:
        protocol, wire = connected()
        protocol.data_received(b"GET / HTTP/1.1\r\n")
        while not wire.is_closing():
            await asyncio.sleep(5)
            protocol.data_received(b"x: y\r\n")
        return wire.closed_at

    assert run_virtually(main()) == READ_HEADER_S


def test_one_that_asks_may_stay_for_longer_than_that() -> None:
    async def main() -> float | None:
        protocol, wire = connected()
        protocol.data_received(GET)
        await asyncio.sleep(80)
        protocol.data_received(GET)
        await asyncio.sleep(200)
        assert wire.written.count(b"HTTP/1.1 200 OK") == 2
        return wire.closed_at

    assert run_virtually(main()) == 80 + 90


def test_a_head_has_a_largest_size_and_a_body_none() -> None:
    async def main() -> tuple[bytes, bytes]:
        protocol, wire = connected()
        protocol.data_received(b"GET / HTTP/1.1\r\n" + b"x" * LARGEST_HEAD)
        other, second = connected()
        other.data_received(b"PUT / HTTP/1.1\r\ncontent-length: 3000000\r\n\r\n")
        other.data_received(b"x" * 3_000_000)
        other.data_received(GET)
        await asyncio.sleep(1)
        return wire.written, second.written

    refused, served = run_virtually(main())
    assert refused.startswith(b"HTTP/1.1 431 ")
    assert served.count(b"HTTP/1.1 200 OK") == 2
