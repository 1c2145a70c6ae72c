"""The application on the wire: bounded bodies, long answers, failures."""

import asyncio
import gzip
import json
import logging
import re

import pytest
from support.apiserver.api_calls import CONFIG_MAPS, PODS, Api, config_map, pod
from support.apiserver.asgi_client import exchange

from podium.apiserver import protobuf
from podium.apiserver.http.app import Application
from podium.apiserver.http.messages import MAX_BODY_BYTES, HttpRequest


def application(api: Api) -> Application:
    return Application(api.service, api.registry.randomness)


def asked(api: Api, method: str, path: str, *chunks: bytes, **headers: str) -> tuple[int, bytes]:
    async def run() -> tuple[int, bytes]:
        done = await exchange(application(api), method, path, chunks or (b"",), **headers)
        return done.status, done.body

    return asyncio.run(run())


def test_a_body_may_come_in_pieces() -> None:
    text = json.dumps(pod("p")).encode()

    status, _ = asked(Api(), "POST", PODS, text[:10], text[10:20], text[20:])

    assert status == 201


def test_a_body_that_is_announced_as_too_long_is_not_read() -> None:
    status, body = asked(Api(), "POST", PODS, content_length=str(MAX_BODY_BYTES + 1))

    assert status == 413
    assert json.loads(body)["message"] == "Request entity too large: limit is 3145728"


def test_a_body_that_turns_out_to_be_too_long_is_given_up() -> None:
    status, _ = asked(Api(), "POST", PODS, *[b"x" * (1 << 20)] * 4)

    assert status == 413


def test_long_answers_are_compressed_for_those_who_can_read_them() -> None:
    api = Api()
    api.create(CONFIG_MAPS, config_map("c", k="lorem ipsum " * 20_000))

    async def run() -> None:
        app = application(api)
        path = f"{CONFIG_MAPS}/c"
        packed = await exchange(app, "GET", path, accept_encoding="gzip")
        plain = await exchange(app, "GET", path)
        short = await exchange(app, "GET", "/version", accept_encoding="gzip")
        assert packed.answered[b"content-encoding"] == b"gzip"
        assert packed.answered[b"vary"] == b"Accept-Encoding"
        assert gzip.decompress(packed.body) == plain.body
        assert len(packed.body) < len(plain.body) / 10
        assert plain.answered[b"content-length"] == str(len(plain.body)).encode()
        assert b"content-encoding" not in short.answered

    asyncio.run(run())


@pytest.mark.parametrize("encoding", ["", "gzip"])
def test_a_long_list_arrives_whole(encoding: str) -> None:
    api = Api()
    for number in range(1203):
        api.create(CONFIG_MAPS, config_map(f"c{number:04d}", k="v" * 100))

    status, body = asked(api, "GET", CONFIG_MAPS, accept_encoding=encoding)
    listed = json.loads(gzip.decompress(body) if encoding else body)

    assert status == 200
    assert len(listed["items"]) == 1203


@pytest.mark.parametrize("accept", ["application/yaml", "application/json", protobuf.MEDIA_TYPE])
def test_others_have_their_turn_while_a_long_list_is_sent(accept: str) -> None:
    """To a client that takes everything at once, so that sending never waits."""
    api = Api()
    for number in range(2000):
        api.create(CONFIG_MAPS, config_map(f"c{number:04d}", k="v" * 200))

    async def run() -> tuple[int, bytes]:
        app = application(api)
        listing = asyncio.ensure_future(exchange(app, "GET", CONFIG_MAPS, accept=accept))
        answered = 0
        while not listing.done():
            done = await exchange(app, "GET", "/version")
            answered += done.status == 200
            await asyncio.sleep(0)
        return answered, (await listing).body

    answered, body = asyncio.run(run())
    assert body.count(b"c1999") == 1
    assert answered > {"yaml": 50, "json": 1, "protobuf": 20}[re.split(r"[/.]", accept)[-1]]


def test_a_head_request_has_no_body() -> None:
    assert asked(Api(), "HEAD", PODS) == (405, b"")


def test_answers_are_not_cached() -> None:
    async def run() -> None:
        done = await exchange(application(Api()), "GET", "/version")
        assert done.answered[b"cache-control"] == b"no-cache, private"

    asyncio.run(run())


def test_a_bug_is_an_answer_and_a_line_in_the_log(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    api = Api()

    def broken(request: HttpRequest) -> None:
        raise RuntimeError("oh no")

    monkeypatch.setattr(api.service, "respond", broken)
    with caplog.at_level(logging.ERROR):
        status, body = asked(api, "GET", PODS)

    assert status == 500
    assert json.loads(body)["reason"] == "InternalError"
    assert b"oh no" not in body
    assert "oh no" in caplog.text


def test_websockets_are_declined() -> None:
    sent: list[dict[str, object]] = []

    async def send(message: dict[str, object]) -> None:
        sent.append(message)

    async def receive() -> dict[str, object]:
        return {}

    asyncio.run(application(Api())({"type": "websocket"}, receive, send))

    assert sent == [{"type": "websocket.close"}]
