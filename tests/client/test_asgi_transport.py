"""Requests to an application in the same process."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from support.live.virtual_loop import run_virtually, sleep_virtually

from podium.client import AsgiTransport, Unreachable
from podium.client.transport import Request

Message = dict[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]


async def respond(send: Send, body: bytes, status: int = 200) -> None:
    headers = [(b"Content-Type", b"text/plain")]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body[:3], "more_body": True})
    await send({"type": "http.response.body", "body": body[3:], "more_body": False})


def test_an_application_sees_a_request_and_its_answer_comes_back() -> None:
    seen: Message = {}

    async def application(scope: Message, receive: Receive, send: Send) -> None:
        seen.update(scope, body=(await receive())["body"])
        await respond(send, b"hello", 201)

    async def main() -> None:
        transport = AsgiTransport(application, {"Authorization": "Bearer t"})
        request = Request("POST", "/a%2Fb/c", (("x", "1 2"), ("y", "=")), b"{}", "text/json")
        reply = await transport.send(request, timeout_s=1)
        assert (reply.status, reply.body) == (201, b"hello")
        assert reply.headers == {"content-type": "text/plain"}
        await transport.close()

    run_virtually(main())
    assert (seen["method"], seen["path"], seen["raw_path"]) == ("POST", "/a/b/c", b"/a%2Fb/c")
    assert seen["query_string"] == b"x=1%202&y=%3D"
    assert dict(seen["headers"]) == {
        b"authorization": b"Bearer t",
        b"content-type": b"text/json",
        b"content-length": b"2",
    }
    assert seen["body"] == b"{}"


def test_a_stream_is_read_as_it_comes_and_its_writer_waits_for_the_reader() -> None:
    sent: list[int] = []
    left = asyncio.Event()

    async def application(_: Message, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        for number in range(100):
            await send({"type": "http.response.body", "body": b"%d;" % number, "more_body": True})
            sent.append(number)
        assert (await receive())["type"] == "http.request"
        assert (await receive())["type"] == "http.disconnect"
        left.set()

    async def main() -> None:
        transport = AsgiTransport(application)
        async with transport.stream(Request("GET", "/"), timeout_s=1) as stream:
            await sleep_virtually(1)
            assert len(sent) == 16
            read = b""
            async for piece in stream.pieces:
                read += piece
                if piece == b"99;":
                    break
            assert read.split(b";")[:3] == [b"0", b"1", b"2"]
        assert left.is_set()

    run_virtually(main())


def test_an_application_that_fails_is_one_that_cannot_be_reached() -> None:
    async def fails(_: Message, __: Receive, ___: Send) -> None:
        raise RuntimeError("broken")

    async def breaks_off(_: Message, __: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"x", "more_body": True})
        raise RuntimeError("broken")

    async def says_nothing(_: Message, __: Receive, ___: Send) -> None:
        return

    async def main() -> None:
        request = Request("GET", "/x")
        for application in (fails, says_nothing):
            with pytest.raises(Unreachable, match="GET /x"):
                await AsgiTransport(application).send(request, timeout_s=1)
            with pytest.raises(Unreachable, match="GET /x"):
                async with AsgiTransport(application).stream(request, timeout_s=1):
                    pass
        async with AsgiTransport(breaks_off).stream(request, timeout_s=1) as stream:
            with pytest.raises(Unreachable, match="broken"):
                assert [piece async for piece in stream.pieces] == [b"x"]

    run_virtually(main())


def test_an_application_that_does_not_answer_is_given_up() -> None:
    async def hangs(_: Message, __: Receive, ___: Send) -> None:
        await sleep_virtually(10_000)

    async def main() -> None:
        request = Request("GET", "/x")
        with pytest.raises(Unreachable, match="within 2 s") as caught:
            await AsgiTransport(hangs).send(request, timeout_s=2)
        assert not caught.value.in_time
        with pytest.raises(Unreachable, match="within 3 s"):
            async with AsgiTransport(hangs).stream(request, timeout_s=3):
                pass

    run_virtually(main())
