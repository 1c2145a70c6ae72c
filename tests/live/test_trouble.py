"""A scheduler whose API server has a bad day: pods wait, none is lost, others are not harmed."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from support.live.live_clusters import (
    condition_of,
    in_live_cluster,
    is_bound,
    is_running,
    pod,
)
from support.live.moody_transport import Moody, Times, binds, moody, refusal
from support.live.virtual_loop import sleep_virtually
from support.simulated.simulated_clusters import Cluster

from podium.client import DeleteOptions, KubeClient, Transport, Unreachable
from podium.client.resources import PODS
from podium.client.transport import Reply, Request, Stream
from podium.live.assembly import Assembly


def test_a_binding_that_the_server_refuses_is_tried_again_later() -> None:
    broken = Times(2)

    def judge(request: Request) -> Reply | None:
        if binds(request, "a") and broken():
            return refusal(500, "InternalError", "the store is away")
        return None

    async def scenario(cluster: Cluster, assembly: Assembly) -> None:
        await cluster.create(PODS, pod("a"))
        await cluster.create(PODS, pod("b"))
        await cluster.until(lambda: is_bound(cluster, "b"))
        took_s = await cluster.until(lambda: is_bound(cluster, "a"))
        assert took_s >= 1
        await cluster.until(lambda: is_running(cluster, "a"))
        story = [line.what for line in assembly.engine.state.pod_log.lines("default/a")]
        assert story.count("binding failed") == 2
        assert story.count("bound") == 1

    in_live_cluster(scenario, between=moody(judge))


def test_a_binding_whose_answer_is_lost_is_found_out_by_the_watch() -> None:
    lost = Times(1)

    async def scenario(cluster: Cluster, assembly: Assembly) -> None:
        await cluster.create(PODS, pod("a", "3"))
        await cluster.until(lambda: is_running(cluster, "a"))
        await cluster.until(lambda: _idle(assembly))
        (placed,) = assembly.engine.cluster.placements.values()
        assert placed.info.key == "default/a"
        assert not placed.assumed
        assert not list(assembly.engine.queue)

    def between(client: KubeClient) -> KubeClient:
        return KubeClient(_LosingAnswers(client.transport, lambda r: binds(r, "a") and lost()))

    in_live_cluster(scenario, between=between)


class _LosingAnswers(Moody):
    """Requests arrive and are done, but their answers never come."""

    def __init__(self, transport: Transport, loses: Callable[[Request], bool]) -> None:
        super().__init__(transport, lambda _: None)
        self._loses = loses

    async def send(self, request: Request, *, timeout_s: float) -> Reply:
        reply = await super().send(request, timeout_s=timeout_s)
        if self._loses(request):
            raise Unreachable("the connection was reset", in_time=False)
        return reply


async def _idle(assembly: Assembly) -> bool:
    return not len(assembly.scheduler.dispatcher) and not assembly.engine.state.flights


def test_a_pod_that_is_deleted_while_it_is_bound_leaves_nothing_behind() -> None:
    def judge(request: Request) -> float | None:
        return 3.0 if binds(request, "a") else None

    async def scenario(cluster: Cluster, assembly: Assembly) -> None:
        await cluster.create(PODS, pod("a", "3"))
        await cluster.until(lambda: _holds(assembly, "default/a"))
        await cluster.client.delete(PODS, "a", "default", DeleteOptions(grace_period_s=0))
        await cluster.create(PODS, pod("b", "3"))
        await cluster.until(lambda: is_running(cluster, "b"))
        await cluster.until(lambda: _idle(assembly))
        assert set(assembly.engine.state.pods) == {"default/b"}
        assert len(assembly.engine.cluster.placements) == 1

    in_live_cluster(scenario, nodes=1, between=moody(judge))


async def _holds(assembly: Assembly, key: str) -> bool:
    return any(held.info.key == key for held in assembly.engine.cluster.placements.values())


def test_a_status_that_cannot_be_written_stops_nobody() -> None:
    def judge(request: Request) -> Exception | None:
        if request.path.endswith("/status") and request.method == "PATCH":
            return Unreachable("connection refused", refused=True)
        return None

    async def scenario(cluster: Cluster, assembly: Assembly) -> None:
        await cluster.create(PODS, pod("large", "64"))
        await cluster.create(PODS, pod("small"))
        await cluster.until(lambda: is_running(cluster, "small"))
        await cluster.until(lambda: _idle(assembly))
        assert await condition_of(cluster, "large", "PodScheduled") is None

    in_live_cluster(scenario, between=moody(judge))


def test_only_the_latest_failure_is_written_when_the_server_is_slow() -> None:
    patches: list[bytes] = []

    def judge(request: Request) -> float | None:
        if request.path.endswith("/pods/large/status"):
            patches.append(request.body)
            return 30.0
        return None

    async def scenario(cluster: Cluster, assembly: Assembly) -> None:
        await cluster.create(PODS, pod("large", "64"))
        for step in range(20):
            body = {"metadata": {"labels": {"step": str(step)}}}
            await cluster.patch(PODS, "large", body)
            await sleep_virtually(1)
        await cluster.until(lambda: _idle(assembly))
        assert len(patches) <= 2

    in_live_cluster(scenario, between=moody(judge))


def test_a_victim_that_cannot_be_evicted_is_tried_again() -> None:
    broken = Times(1)

    def judge(request: Request) -> Reply | None:
        if request.method == "DELETE" and "/pods/" in request.path and broken():
            return refusal(500, "InternalError", "not now")
        return None

    async def scenario(cluster: Cluster, _: Assembly) -> None:
        await cluster.create(PODS, pod("low", "3"))
        await cluster.until(lambda: is_running(cluster, "low"))
        critical = pod("high", "3", priorityClassName="system-cluster-critical")
        await cluster.create(PODS, critical, "kube-system")

        async def bound() -> bool:
            found = await cluster.get(PODS, "high", "kube-system")
            return bool(found["spec"].get("nodeName"))

        await cluster.until(bound, within_s=600)
        assert broken.left < 0

    in_live_cluster(scenario, nodes=1, between=moody(judge))


def test_kinds_that_the_server_does_not_know_are_left_out() -> None:
    def judge(request: Request) -> Reply | None:
        if request.path.startswith("/apis/resource.k8s.io/"):
            return refusal(404, "NotFound", "the server could not find the requested resource")
        return None

    async def scenario(cluster: Cluster, assembly: Assembly) -> None:
        await cluster.create(PODS, pod("a"))
        await cluster.until(lambda: is_bound(cluster, "a"))
        assert set(assembly.scheduler.trouble) == {
            "deviceclasses",
            "resourceclaims",
            "resourceslices",
        }

    class Old(Moody):
        @asynccontextmanager
        async def stream(self, request: Request, *, timeout_s: float) -> AsyncIterator[Stream]:
            refused = judge(request)
            if refused is not None:
                yield Stream(refused.status, {}, _pieces(refused.body))
                return
            async with super().stream(request, timeout_s=timeout_s) as stream:
                yield stream

    in_live_cluster(scenario, between=lambda client: KubeClient(Old(client.transport, judge)))


async def _pieces(body: bytes) -> AsyncIterator[bytes]:
    yield body
