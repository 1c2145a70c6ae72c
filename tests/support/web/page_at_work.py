"""A page of a scheduler in memory, served on a real socket by a loop in a thread of its own.

What happens in the cluster happens in that thread, as it would in a scheduler: `do` takes it there.
"""

import asyncio
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TypeVar

from podium.kubernetes.kinds.node import Node
from podium.live.management import SchedulerParts
from podium.live.metrics import SchedulerMetrics
from podium.live.scheduler_records import DecisionRecords, SchedulerRecords
from podium.testing import FakeCluster, make_node, make_pod
from podium.web.live_page import LivePage
from podium.web.page_server import PageServer

T = TypeVar("T")

HOSTILE_NAME = "<img-src=x-onerror=alert(1)>"
"""No API server takes such a name; a page must not rely on that."""


class PageAtWork:
    def __init__(self, cluster: FakeCluster, server: PageServer, page: LivePage) -> None:
        self.cluster = cluster
        self.server = server
        self.page = page
        self.loop = asyncio.new_event_loop()
        self._serving: asyncio.Task[None] | None = None

    @property
    def link(self) -> str:
        return self.server.link

    def do(self, what: Callable[[], T]) -> T:
        """Have something happen while the scheduler's thread does nothing else."""

        async def call() -> T:
            # A fake cluster runs bindings in a loop of its own, and a thread has one.
            with ThreadPoolExecutor(1) as other:
                return other.submit(what).result(60)

        return asyncio.run_coroutine_threadsafe(call(), self.loop).result(60)

    def run(self) -> None:
        asyncio.set_event_loop(self.loop)

        async def serve() -> None:
            self._serving = asyncio.current_task()
            await self.server.serve(self.page)

        try:
            self.loop.run_until_complete(serve())
        except asyncio.CancelledError:
            pass
        finally:
            self.loop.run_until_complete(self.loop.shutdown_default_executor())
            self.loop.close()

    def stop(self) -> None:
        serving = self._serving
        assert serving is not None
        self.loop.call_soon_threadsafe(serving.cancel)


def parts_of(cluster: FakeCluster) -> SchedulerParts:
    engine = cluster.engine
    decisions = DecisionRecords(engine.clock)
    engine.observers.add(decisions)
    records = SchedulerRecords(engine, decisions)
    metrics = SchedulerMetrics(engine)
    return SchedulerParts(
        engine, metrics, None, records, lambda: True, lambda: False, lambda _: None
    )


@contextmanager
def page_at_work(cluster: FakeCluster) -> Iterator[PageAtWork]:
    parts = parts_of(cluster)
    work = PageAtWork(cluster, PageServer(), LivePage(lambda: parts, terminal="KUBECONFIG=k"))
    thread = threading.Thread(target=work.run)
    thread.start()
    try:
        yield work
    finally:
        work.stop()
        thread.join()


def nodes(count: int) -> list[Node]:
    return [
        make_node(
            f"node-{at:05d}",
            labels={
                "topology.kubernetes.io/zone": "abc"[at % 3],
                "pool": f"pool-{at % 7}",
                "kubernetes.io/hostname": f"node-{at:05d}",
            },
            taints=[("dedicated", "gpu", "NoSchedule")] if at % 50 == 49 else (),
            allocatable={"cpu": "8", "memory": "32Gi", "pods": 110, "example.com/nic": 4},
            unschedulable=at % 97 == 96,
        )
        for at in range(count)
    ]


@contextmanager
def busy_page(count: int) -> Iterator[PageAtWork]:
    """The page of a cluster of so many nodes with pods on them, some of which wait."""
    with page_at_work(FakeCluster(*nodes(count), validate=False)) as work:
        work.do(lambda: _populate(work.cluster, count))
        yield work


def _populate(cluster: FakeCluster, count: int) -> None:
    cluster.clock.now = time.time()
    for at in range(min(2 * count, 400)):
        size = {"cpu": f"{(at % 5 + 1) * 300}m", "memory": f"{(at % 3 + 1) * 512}Mi"}
        cluster.put(make_pod(f"web-{at}", requests=size, node=f"node-{at % count:05d}"))
    cluster.schedule(make_pod("placed", requests={"cpu": "1", "memory": "1Gi"}))
    cluster.put(make_pod("giant", requests={"cpu": "64"}))
    cluster.put(make_pod(HOSTILE_NAME, requests={"cpu": "65"}, labels={"x": "</script>"}))
    cluster.put(make_pod("gated", schedulingGates=[{"name": "example.com/not-yet"}]))
    cluster.run()
