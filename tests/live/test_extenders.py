"""Extenders of a live scheduler, asked over real sockets while the cluster lives on."""

import asyncio
import json
from typing import Any

from support.addons.extenders.extender_servers import Request, reply, serving
from support.live.live_clusters import is_bound, pod
from support.live.scheduler_at_work import scheduling
from support.live.virtual_loop import run_virtually
from support.simulated.simulated_clusters import Cluster
from support.waiting import PATIENCE_S, wait_in_loop

from podium.client.resources import PODS
from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.scheduler.config.load import load_configuration
from podium.scheduler.config.types import Configuration
from podium.simulated.cluster import SimulatedClusterOptions
from podium.simulated.nodes.templates import default_template, nodes_from
from podium.testing.embedded import embedded_cluster


def configured(url: str, **fields: Any) -> Configuration:
    extender = {"urlPrefix": url, "filterVerb": "filter", "httpTimeout": "10s", **fields}
    document = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "extenders": [extender],
    }
    return load_configuration(document, gates=FeatureGates())


async def in_small_cluster(configuration: Configuration, scenario: Any) -> None:
    made = nodes_from([default_template()], 3, ["a"])
    options = SimulatedClusterOptions(nodes=tuple(made), controllers=())
    async with (
        asyncio.timeout(PATIENCE_S),
        embedded_cluster(options) as embedded,
        scheduling(embedded.client, configuration) as assembly,
    ):
        await scenario(Cluster(embedded.client), assembly)


def test_an_extender_sees_whole_objects_and_narrows_the_choice() -> None:
    async def answer(request: Request, writer: asyncio.StreamWriter) -> None:
        nodes = request.decoded()["Nodes"]["items"]
        kept = [each for each in nodes if each["metadata"]["name"] == "node-1"]
        refused = {
            each["metadata"]["name"]: "not mine"
            for each in nodes
            if each["metadata"]["name"] != "node-1"
        }
        body = {"Nodes": {"items": kept}, "FailedNodes": refused}
        reply(writer, json.dumps(body).encode(), headers=["Content-Type: application/json"])

    async def main() -> None:
        async with serving(answer) as server:

            async def scenario(cluster: Cluster, _: Any) -> None:
                wanted = pod("a", hostname="unread-by-scheduling")
                await cluster.create(PODS, wanted)
                await cluster.until(lambda: is_bound(cluster, "a"))
                assert (await cluster.get(PODS, "a"))["spec"]["nodeName"] == "node-1"
                told = server.requests[0].decoded()
                assert told["Pod"]["spec"]["hostname"] == "unread-by-scheduling"
                assert "managedFields" not in told["Pod"]["metadata"]
                (first, *_) = told["Nodes"]["items"]
                assert first["status"]["nodeInfo"]["kubeletVersion"]

            await in_small_cluster(configured(server.url), scenario)

    run_virtually(main())


def test_an_extender_that_dawdles_does_not_stop_the_watches() -> None:
    asked = asyncio.Event()
    may_answer = asyncio.Event()

    async def answer(request: Request, writer: asyncio.StreamWriter) -> None:
        asked.set()
        await may_answer.wait()
        names = request.decoded()["NodeNames"]
        reply(writer, json.dumps({"NodeNames": names}).encode())

    async def main() -> None:
        async with serving(answer) as server:

            async def scenario(cluster: Cluster, assembly: Any) -> None:
                await cluster.create(PODS, pod("a"))
                await asked.wait()
                await cluster.create(PODS, pod("b"))
                mirrored = assembly.scheduler.store_of(PODS)
                await wait_in_loop(lambda: len(mirrored) == 2)
                assert "default/b" not in assembly.engine.state.pods
                may_answer.set()
                await cluster.until(lambda: is_bound(cluster, "a"))
                await cluster.until(lambda: is_bound(cluster, "b"))

            configuration = configured(server.url, nodeCacheCapable=True)
            await in_small_cluster(configuration, scenario)

    run_virtually(main())


def test_an_extender_binds_in_place_of_the_scheduler() -> None:
    bound: list[dict[str, Any]] = []

    async def main() -> None:
        clusters: list[Cluster] = []

        async def answer(request: Request, writer: asyncio.StreamWriter) -> None:
            if request.path.endswith("/filter"):
                names = request.decoded()["NodeNames"]
                reply(writer, json.dumps({"NodeNames": names}).encode())
                return
            told = request.decoded()
            bound.append(told)
            target = {"target": {"kind": "Node", "name": told["Node"]}}
            await clusters[0].client.create(
                PODS,
                {"metadata": {"name": told["PodName"]}, **target},
                told["PodNamespace"],
                name=told["PodName"],
                subresource="binding",
            )
            reply(writer, b"{}")

        async with serving(answer) as server:

            async def scenario(cluster: Cluster, _: Any) -> None:
                clusters.append(cluster)
                await cluster.create(PODS, pod("a"))
                await cluster.until(lambda: is_bound(cluster, "a"))

            configuration = configured(server.url, nodeCacheCapable=True, bindVerb="bind")
            await in_small_cluster(configuration, scenario)

    run_virtually(main())
    assert [(each["PodName"], each["PodNamespace"]) for each in bound] == [("a", "default")]
