"""Heads of requests on the wire: where they end, which are refused, how much of them is taken."""

import asyncio
from typing import Any

import pytest
from support.live.virtual_loop import run_virtually, sleep_virtually
from support.net.serving.raw_http import GET, Echo, Heard, served
from support.waiting import PATIENCE_S

from podium.net.serving import Limits

CHUNKED = b"POST /p HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n"


def heard(data: bytes, limits: Limits | None = None) -> tuple[Heard, Echo]:
    application = Echo()

    async def main() -> Heard:
        async with served(application, limits) as server:
            return await asyncio.wait_for(server.ask(data), PATIENCE_S)

    return asyncio.run(main()), application


def headers(application: Echo) -> list[tuple[bytes, bytes]]:
    found: list[tuple[bytes, bytes]] = application.scopes[0]["headers"]
    return found


def test_what_comes_behind_a_chunked_body_is_no_header() -> None:
    said, application = heard(
        CHUNKED
        + b"X-Remote-Group: dev\r\n\r\n2\r\nhi\r\n0\r\nX-Remote-Group: system:masters\r\n\r\n"
    )

    assert (said.status, said.body) == (200, b"hi")
    assert [value for name, value in headers(application) if name == b"x-remote-group"] == [b"dev"]


@pytest.mark.parametrize("size", [1, 2, 3, 7])
def test_requests_arrive_whole_in_pieces_of_any_size(size: int) -> None:
    application = Echo()
    data = CHUNKED + b"\r\n2\r\nhi\r\n3\r\n\r\n\r\r\n0\r\nT: v\r\n\r\n" + GET
    data += b"PUT /q HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc" + GET

    async def main() -> list[bytes]:
        async with served(application) as server, server.client() as client:
            for at in range(0, len(data), size):
                client.send(data[at : at + size])
                await asyncio.sleep(0)
            return [(await client.hear()).body for _ in range(4)]

    assert asyncio.run(main()) == [b"hi\r\n\r", b"ok", b"abc", b"ok"]
    assert [scope["path"] for scope in application.scopes] == ["/p", "/", "/q", "/"]


@pytest.mark.parametrize(
    ("head", "status", "text"),
    [
        ("GET / HTTP/1.1\r\n", 400, "missing required Host header"),
        ("GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n", 400, "too many Host headers"),
        ("GET / HTTP/1.1\r\nHost: a/b\r\n", 400, "malformed Host header"),
        ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n", 400, ""),
        ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: +1\r\n", 400, ""),
        (
            "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n",
            400,
            "",
        ),
        (
            "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n"
            "Transfer-Encoding: chunked\r\n",
            400,
            "",
        ),
        ("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n", 501, "unsupported"),
        ("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: identity\r\n", 501, "unsupported"),
        ("POST / HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n", 400, ""),
        ("GET / HTTP/1.1\r\nHost: a\r\nX : b\r\n", 400, ""),
        ("GET / HTTP/1.1\r\nHost: a\r\nX: b\x00\r\n", 400, ""),
        ("GET / HTTP/1.1\r\nHost: a\r\nX: b\r\n c\r\n", 400, ""),
        ("GET / HTTP/1.1\nHost: a\n", 400, ""),
        ("GET / HTTP/2.0\r\nHost: a\r\n", 505, "unsupported protocol version"),
        ("GET /\r\nHost: a\r\n", 505, "unsupported protocol version"),
        ("GET /%zz HTTP/1.1\r\nHost: a\r\n", 400, "invalid URL escape"),
        ("GET a HTTP/1.1\r\nHost: a\r\n", 400, ""),
        ("CONNECT a:443 HTTP/1.1\r\nHost: a\r\n", 400, "no other protocol"),
        (
            "POST / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n"
            "Content-Length: 3\r\n",
            400,
            "no other protocol",
        ),
        ("GET / HTTP/1.1\r\nHost: a\r\nExpect: the unexpected\r\n", 417, ""),
        ("nonsense\r\n", 400, ""),
    ],
)
def test_a_head_that_can_be_read_in_two_ways_is_refused(head: str, status: int, text: str) -> None:
    end = "\n" if "\r" not in head else "\r\n"

    said, application = heard(f"{head}{end}".encode("latin-1"))

    assert said.status == status
    assert text in said.body.decode()
    assert said.headers["connection"] == "close"
    assert application.scopes == []


@pytest.mark.parametrize(
    ("target", "path", "query"),
    [
        ("/a?b=c#d&dryRun=All", "/a", b"b=c#d&dryRun=All"),
        ("/a%2Fb?x", "/a/b", b"x"),
        ("http://other:80/a?b", "/a", b"b"),
        ("http://other", "/", b""),
        ("*", "*", b""),
    ],
)
def test_nothing_of_a_target_is_lost(target: str, path: str, query: bytes) -> None:
    said, application = heard(f"OPTIONS {target} HTTP/1.1\r\nHost: x\r\n\r\n".encode())

    assert said.status == 200
    scope = application.scopes[0]
    assert (scope["path"], scope["query_string"]) == (path, query)


def test_the_host_of_an_absolute_target_counts_more_than_the_header() -> None:
    _, application = heard(b"GET http://other:80/ HTTP/1.1\r\nHost: localhost\r\n\r\n")

    assert headers(application) == [(b"host", b"other:80")]


def test_an_upgrade_to_something_unknown_is_passed_over() -> None:
    data = b"GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"

    async def main() -> list[int]:
        async with served(Echo()) as server, server.client() as client:
            client.send(data + GET)
            return [(await client.hear()).status for _ in range(2)]

    assert asyncio.run(main()) == [200, 200]


# --- how much -------------------------------------------------------------------------------------


def test_a_head_of_one_mebibyte_is_taken() -> None:
    said, _ = heard(b"GET / HTTP/1.1\r\nHost: x\r\nX: " + b"a" * (1 << 20) + b"\r\n\r\n")

    assert said.status == 200


@pytest.mark.parametrize("ends", [True, False])
def test_a_head_that_is_larger_is_refused_while_it_is_still_being_sent(*, ends: bool) -> None:
    data = b"GET / HTTP/1.1\r\nHost: x\r\nX: " + b"a" * (8 << 20) + (b"\r\n\r\n" if ends else b"")

    said, application = heard(data)

    assert said.status == 431
    assert application.scopes == []


def test_so_is_one_of_many_headers() -> None:
    line = b"a: b\r\n"

    few, _ = heard(b"GET / HTTP/1.1\r\nHost: x\r\n" + line * 999 + b"\r\n")
    many, _ = heard(b"GET / HTTP/1.1\r\nHost: x\r\n" + line * 1001 + b"\r\n")

    assert (few.status, many.status) == (200, 431)


def test_blank_lines_ahead_of_a_request_are_passed_over_for_a_while() -> None:
    assert heard(b"\r\n\r\n" + GET)[0].status == 200
    assert heard(b"\r\n" * 1000 + GET)[0].status == 400


def test_incomplete_heads_of_all_connections_are_bounded_together() -> None:
    limits = Limits(max_unfinished_bytes=100_000)

    async def main() -> list[Any]:
        async with served(Echo(), limits) as server:
            async with server.client() as first, server.client() as second:
                first.send(b"GET / HTTP/1.1\r\nX: " + b"a" * 60_000)
                await first.writer.drain()
                await sleep_virtually(0.05)
                refused = await second.ask(b"GET / HTTP/1.1\r\nX: " + b"a" * 60_000)
                finished = await first.ask(b"\r\nHost: x\r\n\r\n")
            later = await server.ask(
                b"GET / HTTP/1.1\r\nHost: x\r\nX: " + b"a" * 60_000 + b"\r\n\r\n"
            )
            return [refused.status, finished.status, later.status]

    assert run_virtually(main()) == [503, 200, 200]


# --- how long -------------------------------------------------------------------------------------


async def seconds_until_closed(*pieces: bytes, every_s: float = 0.0) -> float:
    loop = asyncio.get_running_loop()
    async with served(Echo()) as server, server.client() as client:
        began = loop.time()
        closed = asyncio.ensure_future(client.until_closed())
        for piece in pieces:
            client.send(piece)
            await asyncio.wait([closed], timeout=every_s)
            if closed.done():
                break
        await closed
        return round(loop.time() - began)


def test_a_client_that_says_nothing_is_sent_away() -> None:
    assert run_virtually(seconds_until_closed()) == 32


def test_so_is_one_that_does_not_come_to_the_end_of_its_head() -> None:
    assert run_virtually(seconds_until_closed(b"GET / HTTP/1.1\r\n")) == 32


def test_sending_a_little_now_and_then_does_not_gain_time() -> None:
    pieces = [b"GET / HTTP/1.1\r\n", *[b"x: y\r\n"] * 100]

    assert run_virtually(seconds_until_closed(*pieces, every_s=5)) in range(32, 38)


def test_a_connection_between_requests_may_stay_for_longer() -> None:
    assert run_virtually(seconds_until_closed(GET)) == 90
    assert run_virtually(seconds_until_closed(GET, GET, every_s=80)) == 170


def test_the_next_head_on_a_connection_has_its_time_too() -> None:
    assert run_virtually(seconds_until_closed(GET, b"GET / HT", every_s=80)) == 112
