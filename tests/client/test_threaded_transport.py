"""A server in another thread, reached without sockets."""

import asyncio
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from support.waiting import PATIENCE_S

from podium.client import AsgiTransport, Unreachable
from podium.client.asgi_transport import Receive, Send, ThreadedTransport
from podium.client.transport import Request

GET = Request("GET", "/a")
PIECES = 500


class Served:
    """An application that says in which thread it is, and streams what it is asked for."""

    def __init__(self) -> None:
        self.left = threading.Event()

    async def __call__(self, scope: dict[str, Any], receive: Receive, send: Send) -> None:
        await receive()
        await send({"type": "http.response.start", "status": 200, "headers": []})
        if scope["path"] == "/a":
            name = threading.current_thread().name.encode()
            await send({"type": "http.response.body", "body": name})
            return
        for number in range(PIECES):
            piece = b"%d\n" % number
            await send({"type": "http.response.body", "body": piece, "more_body": True})
        if scope["path"] == "/broken":
            raise ValueError("odd")
        if scope["path"] == "/endless":
            await receive()  # until the client has gone
            self.left.set()
        await send({"type": "http.response.body", "body": b""})


@contextmanager
def threaded(served: Served) -> Iterator[ThreadedTransport]:
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="server")
    thread.start()
    try:
        yield ThreadedTransport(AsgiTransport(served), loop)
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


async def take_all(pieces: AsyncIterator[bytes], found: list[bytes]) -> None:
    async for piece in pieces:
        found += [piece]


def test_requests_are_answered_in_the_thread_of_the_server() -> None:
    async def main(transport: ThreadedTransport) -> None:
        answers = [await transport.send(GET, timeout_s=PATIENCE_S) for _ in range(3)]
        assert {answer.body for answer in answers} == {b"server"}

    with threaded(Served()) as transport:
        asyncio.run(main(transport))


def test_a_stream_hands_out_all_pieces_in_order_and_ends() -> None:
    async def main(transport: ThreadedTransport) -> None:
        async with transport.stream(Request("GET", "/b"), timeout_s=PATIENCE_S) as stream:
            assert stream.status == 200
            found = b"".join([piece async for piece in stream.pieces])
        assert found.split() == [b"%d" % number for number in range(PIECES)]

    with threaded(Served()) as transport:
        asyncio.run(main(transport))


def test_a_stream_that_breaks_says_so_behind_what_came() -> None:
    async def main(transport: ThreadedTransport) -> None:
        found: list[bytes] = []
        async with transport.stream(Request("GET", "/broken"), timeout_s=PATIENCE_S) as stream:
            with pytest.raises(Unreachable, match="ValueError: odd"):
                await take_all(stream.pieces, found)
        assert len(found) == PIECES

    with threaded(Served()) as transport:
        asyncio.run(main(transport))


def test_who_leaves_a_stream_is_a_client_that_has_gone() -> None:
    served = Served()

    async def main(transport: ThreadedTransport) -> None:
        async with transport.stream(Request("GET", "/endless"), timeout_s=PATIENCE_S) as stream:
            seen = 0
            async for _ in stream.pieces:
                seen += 1
                if seen == PIECES:
                    break
        assert await asyncio.to_thread(served.left.wait, PATIENCE_S)

    with threaded(served) as transport:
        asyncio.run(main(transport))


def test_a_server_whose_loop_has_ended_is_unreachable() -> None:
    async def main(transport: ThreadedTransport) -> None:
        with pytest.raises(Unreachable):
            await transport.send(GET, timeout_s=PATIENCE_S)
        with pytest.raises(Unreachable):
            async with transport.stream(GET, timeout_s=PATIENCE_S):
                pass

    with threaded(Served()) as transport:
        pass
    asyncio.run(main(transport))
