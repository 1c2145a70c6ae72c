"""Bodies on the wire: those that nobody reads, that never come, or that come all at once."""

import asyncio
import contextlib
from typing import Any

import pytest
from support.live.virtual_loop import run_virtually, sleep_virtually, timeout_virtually
from support.net.serving.raw_http import GET, Deaf, Echo, RawClient, Served, answer, served
from support.waiting import PATIENCE_S

from podium.net.serving import BodyTooLarge, ClientGone, Limits, read_body


def post(length: int, *more: str) -> bytes:
    lines = ["POST / HTTP/1.1", "Host: x", f"Content-Length: {length}", *more]
    return "\r\n".join([*lines, "", ""]).encode()


def test_an_answer_does_not_wait_for_a_body_that_nobody_reads() -> None:
    async def main() -> tuple[int, str]:
        async with served(Deaf()) as server:
            said = await server.ask(post(3_000_000))
            return said.status, said.headers.get("connection", "")

    assert asyncio.run(main()) == (403, "close")


def test_a_client_that_is_still_sending_can_read_why_it_was_refused() -> None:
    async def main() -> int:
        async with served(Deaf()) as server, server.client() as client:
            client.send(post(8 << 20))
            client.send(b"x" * (8 << 20))
            return (await client.hear()).status

    assert asyncio.run(main()) == 403


def test_a_short_body_that_nobody_reads_is_passed_over() -> None:
    async def main() -> list[int]:
        async with served(Deaf()) as server, server.client() as client:
            first = await client.ask(post(1000))
            client.send(b"GET / HTTP/1.1\r\n" + b"x" * 984)
            return [first.status, (await client.ask(GET)).status]

    assert asyncio.run(main()) == [403, 403]


def test_a_chunked_body_that_nobody_reads_ends_the_connection() -> None:
    async def main() -> bytes:
        async with served(Deaf()) as server, server.client() as client:
            head = b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
            assert (await client.ask(head)).status == 403
            with contextlib.suppress(ConnectionError):
                for _ in range(1000):
                    client.send(b"1000\r\n" + b"x" * 4096 + b"\r\n")
                    await client.writer.drain()
            return await client.until_closed()

    assert asyncio.run(asyncio.wait_for(main(), PATIENCE_S)) == b""


@pytest.mark.parametrize("wanted", [True, False])
def test_a_client_is_told_to_go_on_only_if_its_body_is_wanted(*, wanted: bool) -> None:
    async def main() -> bytes:
        async with served(Echo() if wanted else Deaf()) as server, server.client() as client:
            client.send(post(2, "Expect: 100-continue"))
            said = await client.reader.readuntil(b"\r\n\r\n")
            if wanted:
                assert (await client.ask(b"hi")).body == b"hi"
            return said.splitlines()[0]

    line = asyncio.run(main())
    assert line == (b"HTTP/1.1 100 Continue" if wanted else b"HTTP/1.1 403 Forbidden")


def test_a_chunked_body_is_not_mostly_something_else() -> None:
    head = b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"

    async def main() -> tuple[int, int, int]:
        async with served(Echo()) as server:
            extension = await server.ask(head + b"1;" + b"a" * 100_000)
            trailers = await server.ask(head + b"0\r\n" + b"a: b\r\n" * 20_000)
            small = await server.ask(head + b"1\r\nx\r\n" * 50_000 + b"0\r\n\r\n")
            return extension.status, trailers.status, len(small.body)

    assert asyncio.run(main()) == (400, 400, 50_000)


def test_a_body_that_does_not_arrive_in_time_is_given_up() -> None:
    async def main() -> tuple[int, int]:
        loop = asyncio.get_running_loop()
        async with served(Echo()) as server, server.client() as client:
            client.send(post(100))
            hearing = asyncio.ensure_future(client.hear())
            while not hearing.done():
                client.send(b"x")
                await sleep_virtually(5)
            return (await hearing).status, round(loop.time())

    status, passed_s = run_virtually(main())
    assert status == 408
    assert passed_s in range(60, 66)


# --- requests behind one another ------------------------------------------------------------------


class Slow:
    """Answers when it is told to; counts what it was asked."""

    def __init__(self) -> None:
        self.asked = 0
        self.go = asyncio.Event()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        self.asked += 1
        await self.go.wait()
        await answer(send)


async def flooded(server: Served, data: bytes) -> tuple[RawClient, int]:
    """Send for as long as somebody takes it; gives how much that was."""
    loop = asyncio.get_running_loop()
    connection = server.socket()
    sent = 0
    with contextlib.suppress(TimeoutError):
        while True:
            async with timeout_virtually(1):  # nobody reads any more
                await loop.sock_sendall(connection, data)
            sent += len(data)
    reader, writer = await asyncio.open_connection(sock=connection)
    return RawClient(reader, writer), sent


def test_requests_behind_an_unanswered_one_are_neither_parsed_nor_read() -> None:
    async def main() -> tuple[int, int]:
        application = Slow()
        async with served(application) as server:
            client, sent = await flooded(server, GET * 5000)
            waiting = application.asked
            application.go.set()
            client.writer.transport.abort()
            return waiting, sent

    waiting, sent = run_virtually(main())
    assert waiting == 1
    assert sent < 16 << 20  # what the kernel holds; the server itself takes one read


def test_all_of_them_are_answered_in_their_turn() -> None:
    async def main() -> int:
        async with served(Echo()) as server, server.client() as client:
            client.send(GET * 3000 + b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            return (await client.until_closed()).count(b"HTTP/1.1 200 OK")

    assert asyncio.run(main()) == 3001


# --- what an application reads --------------------------------------------------------------------


def read(parts: list[bytes], *, ends: bool = True, announced: str = "", limit: int = 10) -> bytes:
    async def receive() -> dict[str, Any]:
        if not parts:
            return {"type": "http.disconnect"}
        body = parts.pop(0)
        return {"type": "http.request", "body": body, "more_body": bool(parts) or not ends}

    headers = [(b"content-length", announced.encode())] if announced else []
    return bytes(asyncio.run(read_body(headers, receive, limit)))


def test_a_body_is_read_from_all_its_parts() -> None:
    assert read([b"ab", b"", b"cd"]) == b"abcd"
    assert read([b""]) == b""


def test_a_part_of_a_body_is_never_taken_for_the_whole() -> None:
    with pytest.raises(ClientGone):
        read([b"ab"], ends=False)
    with pytest.raises(ClientGone):
        read([])


def test_a_body_is_bounded_as_announced_and_as_sent() -> None:
    for parts, announced in (([b""], "11"), ([b"x" * 11], ""), ([b"x" * 6, b"x" * 6], "")):
        with pytest.raises(BodyTooLarge):
            read(parts, announced=announced)


def test_limits_follow_the_open_files_that_there_may_be() -> None:
    assert Limits(max_connections=3).connections() == 3
    assert Limits(max_connections=1 << 40).connections() < 1 << 40


def test_what_waits_behind_answers_is_bounded_for_all_connections_together() -> None:
    async def main() -> tuple[bytes, int]:
        application = Slow()
        async with (
            served(application, Limits(max_unfinished_bytes=40_000)) as server,
            server.client() as first,
            server.client() as second,
        ):
            for client in (first, second):
                client.send(GET)
                while application.asked < 1 + (client is second):
                    await sleep_virtually(0.01)
                client.send(GET * 1000)
                await sleep_virtually(0.2)
            dropped = await second.until_closed()
            application.go.set()
            return dropped, (await first.hear()).status

    assert run_virtually(main()) == (b"", 200)
