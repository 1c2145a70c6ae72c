"""Group commit: nobody is told of what is not on disk."""

import asyncio
import threading
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from support.apiserver.api_calls import PODS, Api, pod
from support.apiserver.asgi_client import Exchange, exchange
from support.waiting import PATIENCE_S

from podium.apiserver.http.app import Application
from podium.apiserver.http.commits import Commits
from podium.apiserver.store.store import Store
from podium.apiserver.store.stored import Record
from podium.apiserver.store.write_ahead_log import WriteAheadLog
from podium.golang.json_values import encode


class SlowLog(WriteAheadLog):
    """Commits when the test lets it."""

    def __init__(self, directory: Path) -> None:
        super().__init__(directory)
        self.may_go = threading.Event()
        self.batches: list[int] = []

    def commit(self, records: Sequence[Record]) -> None:
        self.may_go.wait(PATIENCE_S)
        self.batches.append(len(records))
        super().commit(records)


class BrokenLog(WriteAheadLog):
    def commit(self, records: Sequence[Record]) -> None:
        raise OSError("disk full")


def _unexpected(problem: Exception) -> None:
    raise AssertionError("the write-ahead log failed") from problem


def durable(log: WriteAheadLog) -> Api:
    api = Api(Store(log.load()))
    records = api.store.take_records()
    WriteAheadLog.commit(log, records)
    api.store.publish(records[-1].revision)
    return api


def test_answers_and_watchers_wait_for_the_disk(tmp_path: Path) -> None:
    log = SlowLog(tmp_path)
    api = durable(log)

    async def run() -> None:
        commits = Commits(api.store, log, _unexpected)
        commits.start()
        app = Application(api.service, api.registry.randomness, commits)
        stream = Exchange(app, "GET", f"{PODS}?watch=true")
        watching = asyncio.ensure_future(stream.run())
        await asyncio.sleep(0)
        writes = [
            asyncio.ensure_future(exchange(app, "POST", PODS, [encode(pod(f"p{number}"))]))
            for number in range(10)
        ]
        reading = asyncio.ensure_future(exchange(app, "GET", PODS))
        for _ in range(20):
            await asyncio.sleep(0)
        assert not any(write.done() for write in writes)
        assert not reading.done()
        assert stream.body == b""
        log.may_go.set()
        done = await asyncio.gather(*writes)
        assert [each.status for each in done] == [201] * 10
        assert len(await stream.until_lines(10)) == 10
        assert (await reading).status == 200
        stream.hangs_up.set()
        await watching
        await commits.stop()

    asyncio.run(run())
    assert sum(log.batches) == 10
    assert len(log.batches) < 5, "writes that wait go together"


def test_what_was_acknowledged_is_there_after_a_restart(tmp_path: Path) -> None:
    log = WriteAheadLog(tmp_path)
    api = durable(log)

    async def run() -> None:
        commits = Commits(api.store, log, _unexpected)
        commits.start()
        app = Application(api.service, api.registry.randomness, commits)
        for number in range(5):
            await exchange(app, "POST", PODS, [encode(pod(f"p{number}"))])
        await exchange(app, "DELETE", f"{PODS}/p3")
        await commits.stop()

    asyncio.run(run())
    with closing(WriteAheadLog(tmp_path)) as reopened:
        again = Api(Store(reopened.load()))

    names = [each["metadata"]["name"] for each in again.get(PODS)["items"]]
    assert names == ["p0", "p1", "p2", "p4"]
    assert again.store.revision >= api.store.revision


def test_a_log_that_fails_fails_the_requests_and_is_reported(tmp_path: Path) -> None:
    log = BrokenLog(tmp_path)
    api = durable(log)
    failures: list[Exception] = []

    async def run() -> None:
        commits = Commits(api.store, log, failures.append)
        commits.start()
        app = Application(api.service, api.registry.randomness, commits)
        first = await exchange(app, "POST", PODS, [encode(pod("p"))])
        second = await exchange(app, "GET", PODS)
        assert (first.status, second.status) == (500, 500)
        assert b"the store cannot be written: disk full" in first.body
        await commits.stop()

    asyncio.run(run())
    assert [str(each) for each in failures] == ["disk full"]
