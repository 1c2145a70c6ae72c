"""Following a collection through everything that a server may do."""

import asyncio
import contextlib
import itertools
from collections.abc import AsyncIterator, Awaitable, Callable
from random import Random
from typing import Any

import msgspec
import pytest
from support.live.followed_informer import Heard, settle
from support.live.scripted_server import (
    ScriptedServer,
    bookmark,
    line,
    make_list,
    make_object,
    refusal,
    status_object,
)
from support.live.virtual_loop import run_virtually, sleep_virtually

from podium.client import KubeClient, LoopClock, ObjectStore, Reflector, Unreachable
from podium.client.resources import PODS


def _decode(raw: msgspec.Raw) -> Any:
    decoded = msgspec.json.decode(raw)
    if decoded.get("bad"):
        raise ValueError("is bad")
    return decoded


@contextlib.asynccontextmanager
async def following(
    server: ScriptedServer, *, streams: bool = False
) -> AsyncIterator[tuple[Reflector[ObjectStore[Any]], Heard]]:
    heard = Heard()
    reflector = Reflector(
        KubeClient(server, clock=LoopClock()),
        PODS,
        ObjectStore(PODS.plural, _decode, heard),
        clock=LoopClock(),
        randomness=Random(1),
        streams_lists=streams,
    )
    running = asyncio.ensure_future(reflector.run())
    try:
        yield reflector, heard
    finally:
        running.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await running


Scenario = Callable[[], Awaitable[None]]


def virtually(scenario: Scenario) -> None:
    async def main() -> None:
        await scenario()

    run_virtually(main())


def test_a_list_is_told_and_then_followed_from_its_version() -> None:
    async def scenario() -> None:
        server = ScriptedServer(make_list(7, make_object("a", 3), make_object("b", 5)))
        async with following(server) as (reflector, heard):
            await reflector.synced.wait()
            await settle()
            assert heard.take() == ["*a@3", "*b@5"]
            assert server.parameters(0) == {"resourceVersion": "0", "limit": "500"}
            assert server.watches[0].parameters["resourceVersion"] == "7"
            assert 300 <= int(server.watches[0].parameters["timeoutSeconds"]) <= 600
            server.watches[0].send(
                line("MODIFIED", make_object("a", 8)) + line("DELETED", make_object("b", 9)),
                line("ADDED", make_object("c", 10)),
            )
            await settle()
            assert heard.take() == ["a@3>a@8", "-b@9", "+c@10"]
            assert reflector.version == "10"

    virtually(scenario)


def test_events_that_come_in_pieces_are_put_together() -> None:
    async def scenario() -> None:
        server = ScriptedServer(make_list(1))
        async with following(server) as (reflector, heard):
            await reflector.synced.wait()
            await settle()
            whole = line("ADDED", make_object("a", 2)) + line("ADDED", make_object("b", 3))
            server.watches[0].send(whole[:10], whole[10:70], whole[70:])
            await settle()
            assert heard.take() == ["+a@2", "+b@3"]

    virtually(scenario)


def test_a_watch_that_ends_goes_on_from_the_last_bookmark_without_a_list() -> None:
    async def scenario() -> None:
        server = ScriptedServer(make_list(1))
        async with following(server) as (reflector, _):
            await reflector.synced.wait()
            await settle()
            server.watches[0].send(bookmark(40))
            server.watches[0].end()
            await settle()
            assert server.watches[1].parameters["resourceVersion"] == "40"
            server.watches[1].send(bookmark(50), b'{"type":"ADDED","obj')
            server.watches[1].break_off()
            await settle()
            assert server.watches[2].parameters["resourceVersion"] == "50"

    virtually(scenario)


def test_a_watch_that_is_too_old_makes_a_list_of_which_differences_are_told() -> None:
    async def scenario() -> None:
        server = ScriptedServer(
            make_list(7, make_object("a", 3), make_object("b", 5), make_object("c", 6)),
            refusal(410, "Expired"),
            make_list(90, make_object("b", 5), make_object("c", 80), make_object("d", 85)),
        )
        async with following(server) as (reflector, heard):
            await reflector.synced.wait()
            await settle()
            heard.take()
            server.watches[0].send(line("ERROR", status_object(410, "Expired")))
            await sleep_virtually(5)
            assert heard.take() == ["?a@3", "c@6>c@80", "+d@85"]
            assert server.parameters(2) == {"resourceVersion": "7"}
            assert server.parameters(3) == {"limit": "500"}
            assert server.watches[1].parameters["resourceVersion"] == "90"

    virtually(scenario)


def test_pages_are_followed_and_a_page_that_is_gone_makes_one_whole_list() -> None:
    async def scenario() -> None:
        server = ScriptedServer(
            make_list(7, make_object("a", 1), following="more"),
            make_list(7, make_object("b", 2), following="even more"),
            refusal(410, "Expired"),
            make_list(9, make_object("a", 1), make_object("c", 8)),
        )
        async with following(server) as (reflector, heard):
            await reflector.synced.wait()
            assert heard.take() == ["*a@1", "*c@8"]
            assert server.parameters(1) == {"limit": "500", "continue": "more"}
            assert server.parameters(3) == {}
            assert reflector.version == "9"

    virtually(scenario)


def test_a_streaming_list_goes_on_as_a_watch_on_the_same_connection() -> None:
    async def scenario() -> None:
        server = ScriptedServer()
        async with following(server, streams=True) as (reflector, heard):
            await settle()
            (watch,) = server.watches
            assert watch.parameters["sendInitialEvents"] == "true"
            assert watch.parameters["resourceVersionMatch"] == "NotOlderThan"
            assert "resourceVersion" not in watch.parameters
            watch.send(line("ADDED", make_object("a", 3)), line("ADDED", make_object("b", 4)))
            await settle()
            assert not reflector.synced.is_set()
            assert heard.take() == []
            watch.send(bookmark(10, ends_list=True) + line("MODIFIED", make_object("a", 11)))
            await settle()
            assert reflector.synced.is_set()
            assert heard.take() == ["*a@3", "*b@4", "a@3>a@11"]
            assert len(server.watches) == 1

    virtually(scenario)


@pytest.mark.parametrize(
    "answer", [refusal(422, "Invalid"), refusal(400, "BadRequest"), Unreachable("reset")]
)
def test_a_server_that_streams_no_lists_is_asked_for_pages(answer: Any) -> None:
    async def scenario() -> None:
        server = ScriptedServer(make_list(7, make_object("a", 3)))
        server.watch_refusals = [answer]
        async with following(server, streams=True) as (reflector, heard):
            await reflector.synced.wait()
            await settle()
            assert heard.take() == ["*a@3"]
            assert server.watches[0].parameters["resourceVersion"] == "7"

    virtually(scenario)


def test_a_streaming_list_that_ends_early_is_not_taken_for_whole() -> None:
    async def scenario() -> None:
        server = ScriptedServer(make_list(7, make_object("b", 3)))
        async with following(server, streams=True) as (reflector, heard):
            await settle()
            server.watches[0].send(line("ADDED", make_object("a", 3)))
            server.watches[0].break_off()
            await reflector.synced.wait()
            assert heard.take() == ["*b@3"]

    virtually(scenario)


def test_a_refused_connection_waits_and_opens_the_watch_again_without_a_list() -> None:
    async def scenario() -> None:
        server = ScriptedServer(make_list(7, make_object("a", 3)))
        server.watch_refusals = [
            Unreachable("refused", refused=True),
            refusal(429, "TooManyRequests"),
        ]
        async with following(server) as (reflector, _):
            await reflector.synced.wait()
            begun = asyncio.get_running_loop().time()
            while not server.watches:
                await sleep_virtually(0.1)
            waited = asyncio.get_running_loop().time() - begun
            assert 0.8 + 1.6 <= waited <= 2 * (0.8 + 1.6) + 0.2
            assert server.watches[0].parameters["resourceVersion"] == "7"
            assert reflector.trouble == ""

    virtually(scenario)


def test_a_very_short_watch_makes_a_new_list_after_a_pause() -> None:
    async def scenario() -> None:
        server = ScriptedServer(make_list(7), make_list(8))
        async with following(server) as (reflector, _):
            await reflector.synced.wait()
            await settle()
            server.watches[0].end()
            await settle()
            assert "ended at once" in reflector.trouble
            await sleep_virtually(2)
            assert server.watches[1].parameters["resourceVersion"] == "8"

    virtually(scenario)


def test_pauses_grow_to_half_a_minute_and_more() -> None:
    async def scenario() -> None:
        down = [Unreachable("refused", refused=True)] * 12
        server = ScriptedServer(*down, make_list(1))
        async with following(server) as (reflector, _):
            loop = asyncio.get_running_loop()
            seen: list[float] = []
            while not reflector.synced.is_set():
                if len(server.requests) > len(seen):
                    seen.append(loop.time())
                await sleep_virtually(0.01)
            gaps = [after - before for before, after in itertools.pairwise(seen)]
            assert 0.8 <= gaps[0] <= 1.7
            assert all(30 <= gap <= 60.1 for gap in gaps[6:])

    virtually(scenario)


def test_an_object_that_cannot_be_read_is_passed_over_and_the_others_are_not() -> None:
    async def scenario() -> None:
        server = ScriptedServer(make_list(7, make_object("a", 3, bad=True), make_object("b", 4)))
        async with following(server) as (reflector, heard):
            await reflector.synced.wait()
            assert heard.take() == ["*b@4"]
            assert reflector.store.undecodable == 1

    virtually(scenario)


def test_a_server_that_forgets_to_end_a_watch_is_left() -> None:
    async def scenario() -> None:
        server = ScriptedServer(make_list(7))
        async with following(server) as (reflector, _):
            await reflector.synced.wait()
            await sleep_virtually(700)
            assert len(server.watches) == 2

    virtually(scenario)


def test_a_streaming_list_from_a_version_that_is_gone_starts_anew() -> None:
    async def scenario() -> None:
        server = ScriptedServer()
        async with following(server, streams=True) as (reflector, heard):
            await settle()
            server.watches[0].send(line("ADDED", make_object("a", 3)), bookmark(9, ends_list=True))
            await settle()
            server.watches[0].send(line("ERROR", status_object(410, "Expired")))
            server.watch_refusals = [
                refusal(429, "TooManyRequests"),
                refusal(410, "Expired"),
            ]
            await sleep_virtually(10)
            assert [dict(r.query).get("resourceVersion") for r in server.requests] == [
                None,
                "9",
                "9",
                None,
            ]
            server.watches[1].send(
                line("ADDED", make_object("b", 20)), bookmark(30, ends_list=True)
            )
            await settle()
            assert heard.take() == ["*a@3", "?a@3", "+b@20"]
            assert reflector.version == "30"

    virtually(scenario)


def test_objects_that_go_before_a_streaming_list_is_whole_are_not_told() -> None:
    async def scenario() -> None:
        server = ScriptedServer()
        async with following(server, streams=True) as (_, heard):
            await settle()
            gone = line("ADDED", make_object("a", 3)) + line("DELETED", make_object("a", 4))
            server.watches[0].send(gone, bookmark(5), bookmark(6, ends_list=True))
            await settle()
            assert heard.take() == []

    virtually(scenario)


@pytest.mark.parametrize(
    "broken", [b"nonsense\n", line("ERROR", {"kind": "Pod"}), b'{"type":"ADDED","object":7}\n']
)
def test_a_stream_that_makes_no_sense_makes_a_new_list(broken: bytes) -> None:
    async def scenario() -> None:
        server = ScriptedServer(make_list(7), make_list(8))
        async with following(server) as (reflector, _):
            await reflector.synced.wait()
            await settle()
            server.watches[0].send(broken)
            await settle()
            assert reflector.trouble
            await sleep_virtually(2)
            assert server.watches[1].parameters["resourceVersion"] == "8"
            server.watches[1].send(line("STRANGE", make_object("a", 9)))
            await settle()
            assert reflector.version == "9"

    virtually(scenario)
