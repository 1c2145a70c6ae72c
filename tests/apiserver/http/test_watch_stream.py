"""Watches on the wire: events, bookmarks, and how they end."""

import asyncio

import pytest
from support.apiserver.api_calls import PODS, Api
from support.apiserver.asgi_client import Exchange, in_virtual_time
from support.waiting import PATIENCE_S

from podium.apiserver.http import app as app_module
from podium.apiserver.http.app import Application
from podium.apiserver.store.collection import History


def watch(app: Application, query: str = "") -> Exchange:
    return Exchange(app, "GET", f"{PODS}?watch=true{query}")


def running(api: Api) -> Application:
    return Application(api.service, api.registry.randomness)


def kinds(stream: Exchange) -> list[str]:
    return [line["type"] for line in stream.lines]


def test_events_arrive_as_they_happen() -> None:
    api = Api()

    async def run() -> None:
        stream = watch(running(api))
        task = asyncio.ensure_future(stream.run())
        await asyncio.sleep(0)
        api.create_pod("a")
        await stream.until_lines(1)
        api.delete(f"{PODS}/a")
        await stream.until_lines(3)
        assert kinds(stream) == ["ADDED", "MODIFIED", "DELETED"]
        stream.hangs_up.set()
        await asyncio.wait_for(task, PATIENCE_S)

    in_virtual_time(run())


def test_a_client_that_hangs_up_is_forgotten() -> None:
    api = Api()
    listeners = api.store.collection("pods").listeners

    async def run() -> None:
        stream = watch(running(api))
        task = asyncio.ensure_future(stream.run())
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert len(listeners) == 1
        stream.hangs_up.set()
        await asyncio.wait_for(task, PATIENCE_S)
        assert not listeners

    in_virtual_time(run())


def test_initial_events_end_with_an_annotated_bookmark() -> None:
    api = Api()
    for number in range(600):
        api.create_pod(f"p{number}")

    async def run() -> None:
        stream = watch(running(api), "&resourceVersion=0&allowWatchBookmarks=true")
        task = asyncio.ensure_future(stream.run())
        lines = await stream.until_lines(601)
        assert kinds(stream)[:600] == ["ADDED"] * 600
        last = lines[-1]["object"]
        assert last["metadata"]["annotations"] == {"k8s.io/initial-events-end": "true"}
        assert last["metadata"]["resourceVersion"] == str(api.store.revision)
        assert last["spec"] == {"containers": None}
        stream.hangs_up.set()
        await task

    in_virtual_time(run())


def test_a_watch_ends_when_its_time_is_up() -> None:
    async def run() -> None:
        loop = asyncio.get_running_loop()
        begun = loop.time()
        stream = watch(running(Api()), "&timeoutSeconds=700")
        await stream.run()
        assert loop.time() - begun == pytest.approx(700)
        assert stream.status == 200
        assert stream.body == b""

    in_virtual_time(run())


def test_bookmarks_come_every_minute_and_before_the_end() -> None:
    api = Api()

    async def run() -> None:
        revision = api.store.revision
        query = f"&resourceVersion={revision}&allowWatchBookmarks=true&timeoutSeconds=150"
        stream = watch(running(api), query)
        await stream.run()
        assert kinds(stream) == ["BOOKMARK"] * 3
        assert stream.lines[0]["object"]["metadata"] == {"resourceVersion": str(revision)}

    in_virtual_time(run())


def test_a_watch_without_a_time_ends_within_an_hour() -> None:
    async def run() -> None:
        loop = asyncio.get_running_loop()
        begun = loop.time()
        await watch(running(Api())).run()
        assert 1800 <= loop.time() - begun <= 3600

    in_virtual_time(run())


def test_a_watch_from_too_far_back_says_so_in_an_event() -> None:
    api = Api()
    api.store.collection("pods").history = History(api.store.revision + 10)

    async def run() -> None:
        stream = watch(running(api), "&resourceVersion=2")
        await asyncio.wait_for(stream.run(), PATIENCE_S)
        (error,) = stream.lines
        assert error["type"] == "ERROR"
        assert error["object"]["code"] == 410

    in_virtual_time(run())


def test_a_watcher_that_cannot_keep_up_is_cut_off() -> None:
    api = Api()
    api.store.collection("pods").history = History(api.store.revision, max_changes=3)

    async def run() -> None:
        stream = watch(running(api))
        task = asyncio.ensure_future(stream.run())
        await asyncio.sleep(0)
        for number in range(20):
            api.create_pod(f"p{number}")
        await asyncio.wait_for(task, PATIENCE_S)
        assert stream.ended

    in_virtual_time(run())


def test_a_client_that_reads_nothing_does_not_hold_its_watch_for_ever() -> None:
    api = Api()

    async def run() -> None:
        loop = asyncio.get_running_loop()
        begun = loop.time()
        stream = watch(running(api), "&timeoutSeconds=100")
        stream.reads = False
        task = asyncio.ensure_future(stream.run())
        await asyncio.sleep(0)
        api.create_pod("a")
        await task
        assert 100 <= loop.time() - begun <= 200

    in_virtual_time(run())


def test_watches_end_when_the_server_stops() -> None:
    async def run() -> None:
        app = running(Api())
        stream = watch(app)
        task = asyncio.ensure_future(stream.run())
        await asyncio.sleep(0)
        app.stop()
        await asyncio.wait_for(task, PATIENCE_S)
        assert stream.ended

    in_virtual_time(run())


def test_the_number_of_watches_is_bounded() -> None:
    api = Api()

    async def run() -> None:
        app = running(api)
        app.most_watches = 1
        first = watch(app)
        task = asyncio.ensure_future(first.run())
        await asyncio.sleep(0)
        second = await watch(app).run()
        assert second.status == 429
        first.hangs_up.set()
        await task

    in_virtual_time(run())
    assert app_module.MAX_WATCHES > 1000


def test_all_watchers_of_many_get_all_events() -> None:
    api = Api()

    async def run() -> None:
        app = running(api)
        streams = [watch(app) for _ in range(50)]
        tasks = [asyncio.ensure_future(stream.run()) for stream in streams]
        await asyncio.sleep(0)
        for number in range(100):
            api.create_pod(f"p{number}")
            if number % 7 == 0:
                await asyncio.sleep(0)
        expected = [f"p{number}" for number in range(100)]
        for stream in streams:
            lines = await stream.until_lines(100)
            assert [line["object"]["metadata"]["name"] for line in lines] == expected
            stream.hangs_up.set()
        await asyncio.gather(*tasks)

    in_virtual_time(run())
