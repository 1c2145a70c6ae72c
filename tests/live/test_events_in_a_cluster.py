"""Events of the recorder in the API server of an embedded cluster, as both groups show them."""

import asyncio
from collections.abc import Awaitable, Callable
from random import Random
from typing import Any

import msgspec
from support.live.event_server import BEGIN_S, failed, running, scheduled
from support.simulated.simulated_clusters import Cluster, in_cluster, pod_spec

from podium.client import KubeClient, LoopClock
from podium.client.resources import EVENTS, EVENTS_K8S_IO, PODS
from podium.client.transport import Reply, Request
from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.rules.requests import ALL_REQUESTS
from podium.live.event_recorder import EventRecorder
from podium.scheduler.cluster.pod_info import PodInfo, PodInfos
from podium.scheduler.engine.requests import Event


async def written(client: KubeClient, *told: Event) -> EventRecorder:
    """A recorder that has told events and ended well."""
    loop = asyncio.get_running_loop()
    recorder = EventRecorder(
        client,
        host="tower",
        clock=LoopClock(),
        wall=lambda: BEGIN_S + loop.time(),
        randomness=Random(1),
    )
    async with running(recorder):
        for event in told:
            recorder.record(event)
        await recorder.flush(30)
    assert recorder.counts.failed == 0
    return recorder


def with_a_pod(scenario: Callable[[Cluster, PodInfo], Awaitable[None]]) -> None:
    async def main(cluster: Cluster) -> None:
        # Nobody schedules pods of that name.
        body = {"metadata": {"name": "web-0"}, "spec": pod_spec(schedulerName="gold")}
        await cluster.create(PODS, body)
        pod = msgspec.json.decode(await cluster.client.get(PODS, "web-0", "default"), type=Pod)
        await scenario(cluster, PodInfos(ALL_REQUESTS).of(pod))

    in_cluster(main, nodes=0, controllers=())


async def about(cluster: Cluster, reason: str) -> tuple[Any, Any]:
    """The one event of a reason, as the new group and as the old one show it."""
    (new,) = [each for each in await cluster.all(EVENTS_K8S_IO) if each["reason"] == reason]
    (old,) = [each for each in await cluster.all(EVENTS) if each["reason"] == reason]
    assert new["metadata"]["name"] == old["metadata"]["name"]
    return new, old


def test_an_event_is_accepted_and_can_be_read_through_both_groups() -> None:
    async def scenario(cluster: Cluster, pod: PodInfo) -> None:
        await written(cluster.client, scheduled(pod))
        new, old = await about(cluster, "Scheduled")
        assert new["note"] == old["message"] == "Successfully assigned default/web-0 to n1"
        assert new["reportingController"] == old["reportingComponent"] == "gold"
        assert new["reportingInstance"] == old["reportingInstance"] == "gold-tower"
        assert new["regarding"] == old["involvedObject"]
        assert new["regarding"]["uid"] == pod.pod.metadata.uid
        assert new["regarding"]["resourceVersion"] == pod.pod.metadata.resource_version
        assert new["eventTime"].endswith("Z")
        assert (new["action"], new["type"]) == ("Binding", "Normal")

    with_a_pod(scenario)


def test_a_series_is_accepted_and_can_be_read_through_both_groups() -> None:
    async def scenario(cluster: Cluster, pod: PodInfo) -> None:
        recorder = await written(cluster.client, failed(pod), failed(pod), failed(pod))
        new, old = await about(cluster, "FailedScheduling")
        assert new["series"] == old["series"]
        assert new["series"]["count"] == 2
        assert (recorder.counts.written, recorder.counts.counted) == (2, 1)

    with_a_pod(scenario)


def test_a_victims_event_is_accepted() -> None:
    async def scenario(cluster: Cluster, pod: PodInfo) -> None:
        event = Event(pod, "Normal", "Preempted", "Preempting", "Preempted by pod u on node n", pod)
        await written(cluster.client, event)
        new, old = await about(cluster, "Preempted")
        assert new["related"] == old["related"] == new["regarding"]

    with_a_pod(scenario)


class _WithoutEventsGroup:
    """The way to a server that seems to know the core group alone."""

    def __init__(self, client: KubeClient) -> None:
        self._transport = client.transport
        self.stream = client.transport.stream
        self.close = client.transport.close

    async def send(self, request: Request, *, timeout_s: float) -> Reply:
        if request.path.startswith("/apis/events.k8s.io"):
            return Reply(404, {}, b"404 page not found")
        return await self._transport.send(request, timeout_s=timeout_s)


def test_core_events_are_accepted_and_counted() -> None:
    async def scenario(cluster: Cluster, pod: PodInfo) -> None:
        client = KubeClient(_WithoutEventsGroup(cluster.client))
        await written(client, failed(pod), failed(pod), failed(pod))
        new, old = await about(cluster, "FailedScheduling")
        assert old["count"] == new["deprecatedCount"] == 3
        assert old["source"] == new["deprecatedSource"] == {"component": "gold"}
        assert old["reportingComponent"] == "gold"
        assert old["firstTimestamp"] <= old["lastTimestamp"]

    with_a_pod(scenario)
