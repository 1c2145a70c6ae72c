"""Writes over connections of their own: which are kept, what is sent twice, what is an answer."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from support.addons.extenders.extender_servers import (
    Answer,
    Server,
    answering,
    never,
    reply,
    serving,
)
from support.addons.extenders.extender_servers import Request as Seen
from support.waiting import PATIENCE_S

from podium.client import HttpTransport, Unreachable
from podium.client.credentials import Credential, FixedCredentials
from podium.client.transport import Request
from podium.scheduler.config.kubeconfig import ClusterEntry

POST = Request("POST", "/api/v1/bindings", (("fieldManager", "podium"),), b"{}")
OK = b"HTTP/1.1 200 OK\r\n"


def run(main: Callable[[], Any]) -> None:
    asyncio.run(main())


@asynccontextmanager
async def reaching(
    answer: Answer, credential: Credential | None = None
) -> AsyncIterator[tuple[HttpTransport, Server]]:
    async with serving(answer) as server:
        credentials = FixedCredentials(credential or Credential())
        transport = HttpTransport(ClusterEntry(server=server.url), credentials)
        try:
            yield transport, server
        finally:
            await transport.close()


def saying(*pieces: bytes, closes: bool = False) -> Answer:
    """An answer as it is on the wire."""

    async def answer(_: Seen, writer: asyncio.StreamWriter) -> None:
        for piece in pieces:
            writer.write(piece)
            await writer.drain()
        if closes:
            writer.close()

    return answer


@pytest.mark.parametrize(
    ("answer", "connections"),
    [
        (saying(OK, b"Content-Length: 3\r\n\r\na", b"bc"), 1),
        (saying(OK + b"Transfer-Encoding: chunked\r\n\r\n1\r\na\r\n2\r\nbc\r\n0\r\n\r\n"), 1),
        (saying(b"HTTP/1.1 103 Early Hints\r\n\r\n" + OK + b"Content-Length: 3\r\n\r\nabc"), 1),
        (saying(OK + b"Connection: close\r\nContent-Length: 3\r\n\r\nabc"), 2),
        (saying(OK + b"\r\nab", b"c", closes=True), 2),
    ],
    ids=["of a length", "in chunks", "after hints", "the last one", "up to the end"],
)
def test_an_answer_is_read_however_it_is_framed(answer: Answer, connections: int) -> None:
    async def main() -> None:
        async with reaching(answer) as (transport, server):
            for _ in range(2):
                found = await transport.send(POST, timeout_s=PATIENCE_S)
                assert (found.status, found.body) == (200, b"abc")
            assert server.connections == connections
            assert server.requests[0].path == "/api/v1/bindings?fieldManager=podium"

    run(main)


@pytest.mark.parametrize(
    "answer",
    [
        saying(b"SSH-2.0-OpenSSH_9.6\r\n"),
        saying(OK + b"Content-Length: x\r\n\r\n"),
        saying(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\nConnection: upgrade\r\n\r\n"),
        saying(b"", closes=True),
    ],
    ids=["another protocol", "no length", "an upgrade", "nothing"],
)
def test_what_is_no_answer_is_told_as_such(answer: Answer) -> None:
    async def main() -> None:
        async with reaching(answer) as (transport, _):
            with pytest.raises(Unreachable, match="broke off"):
                await transport.send(POST, timeout_s=PATIENCE_S)

    run(main)


def closing_at(number: int) -> Answer:
    """Answers, but for the request of a number, for which it hangs up without a word."""
    asked = 0

    async def answer(_: Seen, writer: asyncio.StreamWriter) -> None:
        nonlocal asked
        asked += 1
        if asked == number:
            writer.close()
        else:
            reply(writer, b"{}")

    return answer


@pytest.mark.parametrize("method", ["PUT", "DELETE"])
def test_what_may_be_repeated_is_when_a_kept_connection_is_gone(method: str) -> None:
    async def main() -> None:
        async with reaching(closing_at(2)) as (transport, server):
            for _ in range(2):
                assert (
                    await transport.send(POST._replace(method=method), timeout_s=PATIENCE_S)
                ).status
            assert (len(server.requests), server.connections) == (3, 2)

    run(main)


@pytest.mark.parametrize("method", ["POST", "PATCH"])
def test_what_may_have_been_done_is_not_done_again(method: str) -> None:
    async def main() -> None:
        async with reaching(closing_at(2)) as (transport, server):
            request = POST._replace(method=method)
            await transport.send(request, timeout_s=PATIENCE_S)
            with pytest.raises(Unreachable, match="hung up"):
                await transport.send(request, timeout_s=PATIENCE_S)
            assert len(server.requests) == 2
            assert (await transport.send(request, timeout_s=PATIENCE_S)).status == 200

    run(main)


def test_a_new_connection_that_fails_is_not_tried_again() -> None:
    async def main() -> None:
        async with reaching(closing_at(1)) as (transport, server):
            with pytest.raises(Unreachable):
                await transport.send(POST._replace(method="PUT"), timeout_s=PATIENCE_S)
            assert len(server.requests) == 1

    run(main)


def test_a_connection_that_was_closed_meanwhile_is_not_used() -> None:
    async def main() -> None:
        closed = asyncio.Event()

        async def once(_: Seen, writer: asyncio.StreamWriter) -> None:
            reply(writer, b"{}")
            await writer.drain()
            writer.close()
            closed.set()

        async with reaching(once) as (transport, server):
            for number in (1, 2):
                await transport.send(POST, timeout_s=PATIENCE_S)
                await closed.wait()
                # The end of the connection has to get here before it can be known.
                for _ in range(50):
                    await asyncio.sleep(0)
                assert server.connections == number

    run(main)


def test_a_burst_shares_a_limited_number_of_connections() -> None:
    async def main() -> None:
        async with reaching(answering(b"{}")) as (transport, server):
            answers = await asyncio.gather(
                *(transport.send(POST, timeout_s=PATIENCE_S) for _ in range(200))
            )
            assert {answer.status for answer in answers} == {200}
            assert server.connections <= 64

    run(main)


def test_one_that_is_given_up_takes_its_connection_with_it() -> None:
    async def main() -> None:
        is_slow = True

        async def slow_at_first(seen: Seen, writer: asyncio.StreamWriter) -> None:
            if is_slow:
                await never(seen, writer)
            reply(writer, seen.body)

        async with reaching(slow_at_first) as (transport, server):
            while not server.requests:
                with pytest.raises(Unreachable, match="within"):
                    await transport.send(POST, timeout_s=0.05)
            used = server.connections
            is_slow = False
            answer = await transport.send(POST._replace(body=b"second"), timeout_s=PATIENCE_S)
            assert answer.body == b"second"
            assert server.connections == used + 1

    run(main)


def test_nothing_can_be_smuggled_into_the_head() -> None:
    async def main() -> None:
        split = Credential({"Authorization": "Bearer a\r\nImpersonate-User: root"})
        async with reaching(answering(b"{}"), split) as (transport, server):
            with pytest.raises(Unreachable, match="line break"):
                await transport.send(POST, timeout_s=PATIENCE_S)
            assert server.requests == []

    run(main)


def test_a_proxy_is_asked_for_writes_too() -> None:
    async def main() -> None:
        async with serving(answering(b"{}")) as proxy:
            cluster = ClusterEntry(server="http://api.test", proxy_url=proxy.url)
            transport = HttpTransport(cluster, FixedCredentials(Credential()))
            assert (await transport.send(POST, timeout_s=PATIENCE_S)).status == 200
            await transport.close()
            assert proxy.requests[0].path.startswith("http://api.test/api/v1/bindings")

    run(main)
