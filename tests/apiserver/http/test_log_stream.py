"""`kubectl logs -f`: lines as they come, and an end when the run ends."""

import asyncio
from collections.abc import Awaitable, Callable
from random import Random
from typing import Any

import pytest
from support.apiserver.api_calls import PODS, Api
from support.apiserver.asgi_client import Exchange, in_virtual_time

from podium.apiserver.http.app import Application

STARTED = "2026-01-01T00:00:00Z"
RUNNING = {"running": {"startedAt": STARTED}}
ENDED = {
    "terminated": {
        "exitCode": 0,
        "reason": "Completed",
        "startedAt": STARTED,
        "finishedAt": STARTED,
    }
}
END = b"Container main ended: Completed, exit code 0\n"
Following = Callable[[Api, Exchange], Awaitable[None]]


def set_state(api: Api, state: Any, restarts: int = 0, **more: Any) -> None:
    fields = {"name": "main", "image": "i", "imageID": "", "ready": False}
    written = {**fields, "restartCount": restarts, "state": state, **more}
    api.patch(f"{PODS}/p/status", {"status": {"containerStatuses": [written]}})


def follow(then: Following, query: str = "") -> Exchange:
    """Follow the log of a container that runs; how the request went when `then` is done."""
    exchanges: list[Exchange] = []

    async def main() -> None:
        api = Api()
        api.create_pod("p", nodeName="n")
        set_state(api, RUNNING)
        application = Application(api.service, Random(1))
        request = Exchange(application, "GET", f"{PODS}/p/log?follow=true&{query}")
        exchanges.append(request)
        running = asyncio.ensure_future(request.run())
        await settle()
        assert not request.ended
        await then(api, request)
        await settle()
        if not request.ended:
            application.stop()
        await running

    in_virtual_time(main())
    return exchanges[0]


async def settle() -> None:
    for _ in range(20):
        await asyncio.sleep(0)


def test_it_ends_with_the_run() -> None:
    async def then(api: Api, request: Exchange) -> None:
        assert request.body.count(b"\n") == 2
        api.create_pod("other")
        await settle()
        assert request.body.count(b"\n") == 2
        set_state(api, ENDED)
        await settle()
        assert request.ended

    done = follow(then)
    assert (done.status, done.answered[b"content-type"]) == (200, b"text/plain")
    assert done.body.endswith(END)
    assert done.body.count(b"\n") == 3


@pytest.mark.parametrize("state", [RUNNING, {"waiting": {"reason": "CrashLoopBackOff"}}])
def test_it_ends_with_its_own_run_though_another_follows_at_once(state: Any) -> None:
    async def then(api: Api, request: Exchange) -> None:
        set_state(api, state, int("running" in state), lastState=ENDED)
        await settle()
        assert request.ended

    assert follow(then).body.endswith(END)


def test_it_ends_when_the_pod_is_gone_or_replaced() -> None:
    async def then(api: Api, request: Exchange) -> None:
        api.delete(f"{PODS}/p", {"gracePeriodSeconds": 0})
        await settle()
        assert request.ended

    assert END not in follow(then).body

    async def replaced(api: Api, _: Exchange) -> None:
        api.delete(f"{PODS}/p", {"gracePeriodSeconds": 0})
        api.create_pod("p", nodeName="n")
        set_state(api, ENDED)

    done = follow(replaced)
    assert done.ended
    assert END not in done.body


def test_a_client_that_leaves_and_a_server_that_stops_end_it() -> None:
    async def then(_: Api, request: Exchange) -> None:
        request.hangs_up.set()
        await settle()
        assert request.ended

    follow(then)

    async def nothing(_: Api, request: Exchange) -> None:
        assert not request.ended

    assert follow(nothing).ended


def test_what_is_followed_is_chosen_dated_and_cut() -> None:
    async def then(api: Api, _: Exchange) -> None:
        set_state(api, ENDED)

    dated = b"2026-01-01T00:00:00.000000000Z " + END
    assert follow(then, "tailLines=0&timestamps=1").body == dated

    assert follow(then, "tailLines=0&limitBytes=9").body == END[:9]
