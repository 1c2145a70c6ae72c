"""Sources of plugins under a live scheduler: fetched in the background, within bounds, in time."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from itertools import pairwise
from random import Random
from typing import ClassVar

import pytest
from support.live.scheduler_at_work import scheduling
from support.live.virtual_loop import run_virtually, sleep_virtually

from podium.client import LoopClock
from podium.client.resources import NODES, PODS
from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.live.api_dispatcher import ObjectAccess
from podium.live.scheduler import SourceRefreshing
from podium.plugin import (
    ApiHandle,
    Cycle,
    NodeFilterPlugin,
    NodeScorePlugin,
    NodeView,
    Pod,
    PostBindPlugin,
    Source,
)
from podium.scheduler.config.load import load_configuration
from podium.scheduler.engine import Engine
from podium.scheduler.plugins import in_tree_registry
from podium.testing import SimulatedClusterOptions, embedded_cluster

CONFIGURATION = {
    "apiVersion": "kubescheduler.config.k8s.io/v1",
    "kind": "KubeSchedulerConfiguration",
    "profiles": [
        {
            "schedulerName": "default-scheduler",
            "plugins": {"multiPoint": {"enabled": [{"name": "Reads"}]}},
        }
    ],
}

Fetch = Callable[[], Awaitable[Mapping[str, float]]]
POD = {"metadata": {"name": "web"}, "spec": {"containers": [{"name": "c", "image": "i"}]}}


class Scripted(Source):
    refresh_every_s, max_age_s, timeout_s = 10.0, 30.0, 2.0

    def __init__(self, name: str, fetch: Fetch) -> None:
        self.name = name
        self._fetch = fetch

    async def fetch(self) -> Mapping[str, float]:
        return await self._fetch()


class Scene:
    """An engine with sources, whose clock is the loop's."""

    def __init__(self, *sources: Source) -> None:
        class Reads(NodeScorePlugin):
            name = "Reads"

            def sources(self) -> Sequence[Source]:
                return sources

            def score_node(self, pod: Pod, node: NodeView) -> int:
                return 0

        loop = asyncio.get_running_loop()
        self.engine = Engine(
            load_configuration(CONFIGURATION, gates=FeatureGates()),
            in_tree_registry().with_plugins(Reads),
            clock=loop.time,
            gates=FeatureGates(),
        )
        self.stirs = 0
        self.refreshing = SourceRefreshing(
            self.engine, clock=LoopClock(), randomness=Random(1), stir=self._stir
        )

    def _stir(self) -> None:
        self.stirs += 1


def test_a_source_is_fetched_again_and_again_until_the_end() -> None:
    times: list[float] = []

    async def main() -> None:
        loop = asyncio.get_running_loop()

        async def fetch() -> Mapping[str, float]:
            times.append(loop.time())
            return {"a": float(len(times))}

        scene = Scene(Scripted("s", fetch))
        scene.refreshing.begin()
        await scene.refreshing.asked_once()
        column = scene.engine.sources.column("s")
        assert column.value == {"a": 1.0}
        await sleep_virtually(35)
        assert column.value == {"a": 4.0}
        await scene.refreshing.end()
        await sleep_virtually(100)
        assert column.is_stale
        assert scene.stirs == 4

    run_virtually(main())
    gaps = [later - earlier for earlier, later in pairwise(times)]
    assert len(times) == 4
    assert all(9 <= gap <= 10 for gap in gaps)


def test_a_slow_source_is_given_up_in_time_and_holds_up_no_other() -> None:
    async def main() -> None:
        async def never() -> Mapping[str, float]:
            await asyncio.Event().wait()
            return {}

        async def quick() -> Mapping[str, float]:
            return {"a": 1}

        scene = Scene(Scripted("slow", never), Scripted("quick", quick))
        scene.refreshing.begin()
        await sleep_virtually(1)
        assert scene.engine.sources.column("quick").value == {"a": 1.0}
        await scene.refreshing.asked_once()
        assert asyncio.get_running_loop().time() == pytest.approx(2)
        assert scene.engine.sources.column("slow").problem == "no answer within 2 s"
        await scene.refreshing.end()

    run_virtually(main())


def test_failures_are_logged_when_they_change_and_tried_less_and_less_often(
    caplog: pytest.LogCaptureFixture,
) -> None:
    tried: list[float] = []

    async def main() -> None:
        loop = asyncio.get_running_loop()

        async def fetch() -> Mapping[str, float]:
            tried.append(loop.time())
            if loop.time() < 300:
                raise ConnectionError("refused")
            if loop.time() < 600:
                raise ConnectionError("reset")
            return {}

        scene = Scene(Scripted("s", fetch))
        scene.refreshing.begin()
        await sleep_virtually(1000)
        await scene.refreshing.end()

    with caplog.at_level(logging.INFO, logger="podium.live"):
        run_virtually(main())
    assert [record.getMessage() for record in caplog.records] == [
        "source s cannot be fetched: refused",
        "source s still cannot be fetched: reset",
        "source s is fetched again",
    ]
    assert len([at for at in tried if at < 600]) < 20
    assert min(b - a for a, b in pairwise(tried)) >= 1


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        ({"a": "warm"}, "fetch must answer with a number for a, not 'warm'"),
        (None, "fetch must answer with numbers by node name, not NoneType"),
    ],
)
def test_an_answer_that_means_nothing_is_a_failure(
    answer: Mapping[str, float], problem: str
) -> None:
    async def main() -> None:
        async def fetch() -> Mapping[str, float]:
            return answer

        scene = Scene(Scripted("s", fetch))
        scene.refreshing.begin()
        await scene.refreshing.asked_once()
        assert scene.engine.sources.column("s").problem == problem
        await scene.refreshing.end()

    run_virtually(main())


def test_a_fetch_that_cancels_itself_is_tried_again() -> None:
    async def main() -> None:
        outcomes = [asyncio.CancelledError(), None]

        async def fetch() -> Mapping[str, float]:
            problem = outcomes.pop(0) if outcomes else None
            if problem is not None:
                raise problem
            return {"a": 1}

        scene = Scene(Scripted("s", fetch))
        scene.refreshing.begin()
        await sleep_virtually(5)
        assert scene.engine.sources.column("s").value == {"a": 1.0}
        await scene.refreshing.end()

    run_virtually(main())


def test_a_fetch_that_does_not_stop_is_left_behind() -> None:
    async def main() -> None:
        stopping = asyncio.Event()

        async def stubborn() -> Mapping[str, float]:
            while not stopping.is_set():
                try:
                    await stopping.wait()
                except asyncio.CancelledError:
                    continue
            return {}

        scene = Scene(Scripted("s", stubborn))
        scene.refreshing.begin()
        await asyncio.sleep(0)
        await scene.refreshing.end()
        assert asyncio.get_running_loop().time() == pytest.approx(2)
        stopping.set()
        await asyncio.sleep(0)

    run_virtually(main())


# a scheduler at work


class Hot(NodeFilterPlugin, PostBindPlugin):
    """Keeps pods off nodes that are too hot, and marks those that it lets through."""

    name = "Reads"
    answers: ClassVar[list[float]] = []

    def sources(self) -> Sequence[Source]:
        return [Scripted("heat", self._measured)]

    async def _measured(self) -> Mapping[str, float]:
        await sleep_virtually(1)
        return {"n": self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]}

    def filter_node(self, pod: Pod, node: NodeView) -> str | None:
        (heat,) = self.handle.sources.column("heat").values(slice(0, 1))
        return None if heat <= 30 else "node(s) were too hot"

    async def post_bind(self, cycle: Cycle, node_name: str, api: ApiHandle) -> None:
        patch = {"metadata": {"annotations": {"marked": node_name}}}
        await api.patch(Pod, cycle.pod.pod.metadata.name, patch, "default")


def test_pods_wait_for_what_a_source_says_and_plugins_write_to_the_server() -> None:
    """The first decision has the first answer already; another one wakes the pod."""
    Hot.answers = [90.0, 90.0, 20.0]

    async def main() -> tuple[float, Pod]:
        loop = asyncio.get_running_loop()
        options = SimulatedClusterOptions()
        async with embedded_cluster(options, wall=loop.time, seed=1) as cluster:
            client = cluster.client
            node = {"metadata": {"name": "n"}, "status": {"allocatable": {"cpu": 4, "pods": 9}}}
            await client.create(NODES, node)
            await client.create(PODS, POD, "default")
            configuration = load_configuration(CONFIGURATION, gates=FeatureGates())
            async with scheduling(client, configuration, plugins=[Hot]) as assembly:
                column = assembly.engine.sources.column("heat")
                assert loop.time() >= 1
                assert column.value == {"n": 90.0}
                access = ObjectAccess(client, clock=LoopClock(), randomness=Random(1))
                while True:
                    pod = await access.get(Pod, "web", "default")
                    if pod.metadata.annotations:
                        return loop.time(), pod
                    await sleep_virtually(0.5)

    at, pod = run_virtually(main())
    assert (pod.spec.node_name, pod.metadata.annotations) == ("n", {"marked": "n"})
    assert 18 < at < 40
