"""`podium bench apiserver`, on loads too small to say anything about speed."""

import asyncio
import json
from typing import Any

import pytest

from podium.bench.apiserver_run import list_hostile_requests
from podium.bench.http_load import Connection, LoadError, WatchLoad
from podium.commands import main

TINY = (
    *("--pods", "20", "--connections", "2", "--watchers", "3", "--events-per-s", "50"),
    *("--seconds", "1", "--objects", "30", "--repeat", "1"),
)


@pytest.mark.slow
def test_every_measurement_has_figures(capsys: pytest.CaptureFixture[str]) -> None:
    measures = ("create", "create-durable", "watch", "objects")
    chosen = [word for name in measures for word in ("--measure", name)]
    assert main(["bench", "apiserver", *TINY, *chosen, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["items"]
    assert [(each["measure"], each["requests"]) for each in found] == [
        ("creations, in memory", 20),
        ("creations, durable", 20),
        ("watched events", 50),
        ("30 pods kept", 30),
    ]
    for each in found:
        assert each["per_s"] > 0
        assert each["rss_mb"] > 1
        assert 0 < each["p50_ms"] <= each["p99_ms"]
        assert each.get("lost", 0) == 0


@pytest.mark.slow
def test_every_hostile_request_has_figures_of_its_own(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "apiserver", *TINY, "--measure", "hostile", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["items"]
    assert [each["measure"] for each in found] == [each.what for each in list_hostile_requests()]
    assert {each["requests"] for each in found} == {1}
    assert sum(each["cpu_ms"] for each in found) > 0


def test_a_table_says_how_noisy_it_was(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "apiserver", *TINY, "--measure", "watch", "--tls"]) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert "podium apiserver over TLS, 2 connections, best of 1" in text
    assert "one-minute load from" in text
    assert "3 watchers, 50 events: no event lost" in text


def test_counts_are_positive(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "apiserver", "--pods", "0"]) == 2
    assert "all numbers must be at least 1" in capsys.readouterr().err


class Wire:
    """What a protocol writes to."""

    def __init__(self) -> None:
        self.written: list[bytes] = []

    def write(self, data: bytes) -> None:
        self.written.append(data)


def wired(protocol: Any) -> Any:
    protocol.connection_made(Wire())
    return protocol


def test_answers_are_told_apart_however_they_arrive() -> None:
    async def run() -> list[int]:
        connection = wired(Connection())
        answers = [connection.ask(b"one"), connection.ask(b"two")]
        text = b"HTTP/1.1 201 Created\r\nContent-Length: 3\r\n\r\nabc"
        text += b"HTTP/1.1 409 Conflict\r\ncontent-length: 0\r\n\r\n"
        for place in range(len(text)):
            connection.data_received(text[place : place + 1])
        return [await answer for answer in answers]

    assert asyncio.run(run()) == [201, 409]


def test_a_connection_that_is_lost_fails_what_waits() -> None:
    async def run() -> None:
        connection = wired(Connection())
        answer = connection.ask(b"one")
        connection.connection_lost(None)
        await answer

    with pytest.raises(LoadError, match="hung up"):
        asyncio.run(run())


@pytest.mark.parametrize("size", [1, 7, 1000])
def test_events_of_a_watch_are_counted_across_chunks(size: int) -> None:
    async def run() -> tuple[WatchLoad, list[bytes]]:
        seen: list[bytes] = []
        watch = wired(WatchLoad(b"GET", lambda line, _: seen.append(line)))
        text = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
        text += b'5\r\n{"a":\r\n3\r\n1}\n\r\n8\r\n{}\n{}\n{}\r\n1\r\n\n\r\n'
        for place in range(0, len(text), size):
            watch.data_received(text[place : place + size])
        return watch, seen

    watch, seen = asyncio.run(run())

    assert seen == [b'{"a":1}', b"{}", b"{}", b"{}"]
    assert watch.events == 4


def test_streams_that_differ_are_noticed() -> None:
    async def digest(*lines: bytes) -> int:
        watch: WatchLoad = wired(WatchLoad(b""))
        watch.data_received(b"HTTP/1.1 200 OK\r\n\r\n")
        for line in lines:
            watch.data_received(b"%x\r\n%s\n\r\n" % (len(line) + 1, line))
        return watch.digest

    assert asyncio.run(digest(b"a", b"b")) == asyncio.run(digest(b"a", b"b"))
    assert asyncio.run(digest(b"a", b"b")) != asyncio.run(digest(b"b", b"a"))


def test_a_watch_that_is_refused_says_so() -> None:
    async def run() -> None:
        watch: WatchLoad = wired(WatchLoad(b""))
        watch.data_received(b"HTTP/1.1 403 Forbidden\r\n\r\n")

    with pytest.raises(LoadError, match="403 Forbidden"):
        asyncio.run(run())
