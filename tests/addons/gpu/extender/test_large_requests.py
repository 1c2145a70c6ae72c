"""How much is looked at for one request is bounded, and others have their turn meanwhile."""

import asyncio
import json
from typing import Any

import pytest
from support.addons.gpu.extender_clusters import (
    GPUCluster,
    RunningExtender,
    equal_cards,
    in_gpu_cluster,
    pod_manifest,
)
from support.yardstick import interrupt_beyond

CORE, MEMORY = "tencent.com/vcuda-core", "tencent.com/vcuda-memory"
MOST_CARDS = 128


def share(cores: int = 1) -> dict[str, int]:
    return {CORE: cores, MEMORY: 1}


def machines(count: int, cards: int = MOST_CARDS) -> dict[str, Any]:
    """Nodes that nobody but the caller knows."""
    capacity = {CORE: str(100 * cards), MEMORY: str(100 * cards)}
    items = [
        {"metadata": {"name": f"might-be-{at}"}, "status": {"capacity": capacity}}
        for at in range(count)
    ]
    return {"items": items}


async def count_turns(extender: RunningExtender, body: Any) -> tuple[Any, int]:
    """The answer of a filter, and how often health was asked and told meanwhile."""
    asking = asyncio.ensure_future(extender.ask("filter", body))
    turns = 0
    while not asking.done():
        assert (await extender.get("/healthz")).code == 200
        turns += 1
        await asyncio.sleep(0)
    return asking.result(), turns


def test_a_pod_of_a_thousand_containers_is_refused_at_once() -> None:
    async def scenario(cluster: GPUCluster) -> None:
        extender = await cluster.start()
        pod = pod_manifest("huge", *([share()] * 1000))
        with interrupt_beyond(200):
            answer = await extender.ask("filter", {"Pod": pod, "Nodes": machines(200)})
        (text,) = set(answer["FailedAndUnresolvableNodes"].values())
        assert "1000 containers ask for cards, and 128 of a pod are served at most" in text

    in_gpu_cluster(scenario)


def test_health_is_told_while_many_unknown_nodes_are_judged() -> None:
    async def scenario(cluster: GPUCluster) -> None:
        extender = await cluster.start()
        pod = pod_manifest("large", *([share()] * 128))
        body = {"Pod": pod, "Nodes": machines(200)}
        with interrupt_beyond(2000):
            answer, turns = await count_turns(extender, body)
        assert len(answer["Nodes"]["items"]) == 200
        assert turns >= 20

    in_gpu_cluster(scenario)


def test_health_is_told_while_many_known_nodes_are_judged() -> None:
    async def scenario(cluster: GPUCluster) -> None:
        names = [f"n{at}" for at in range(40)]
        for name in names:
            await cluster.add_node(name, equal_cards(MOST_CARDS, 100))
        extender = await cluster.start()
        pod = pod_manifest("large", *([share()] * 128))
        answer, turns = await count_turns(extender, {"Pod": pod, "NodeNames": names})
        assert answer["NodeNames"] == names
        assert turns >= 4

    in_gpu_cluster(scenario)


def test_more_than_one_request_may_ask_about_is_an_error() -> None:
    async def scenario(cluster: GPUCluster) -> None:
        extender = await cluster.start()
        pod = pod_manifest("large", *([share()] * 128))
        with interrupt_beyond(5000):
            answer = await extender.ask("filter", {"Pod": pod, "Nodes": machines(600)})
        assert answer["Error"] == (
            "600 nodes for a pod of 128 containers that ask for cards are more than one request"
            " may ask about"
        )

    in_gpu_cluster(scenario)


def test_a_node_that_is_named_twice_is_an_error() -> None:
    async def scenario(cluster: GPUCluster) -> None:
        await cluster.add_node("n1", equal_cards(1, 4))
        extender = await cluster.start()
        pod = await cluster.add_pod("a", share())
        body = {"Pod": pod, "NodeNames": ["n1", "n1"]}
        for verb in ("filter", "predicates"):
            assert (await extender.ask(verb, body))["Error"] == "the request names a node twice"
        answer = await extender.send("POST", "/scheduler/prioritize", json.dumps(body).encode())
        assert answer.code == 500

    in_gpu_cluster(scenario)


@pytest.mark.parametrize(
    ("cores", "passing"), [(1, ["might-be-0", "might-be-1"]), (100, ["might-be-0"]), (200, [])]
)
def test_unknown_nodes_are_judged_each_by_its_own_cards(cores: int, passing: list[str]) -> None:
    async def scenario(cluster: GPUCluster) -> None:
        extender = await cluster.start()
        nodes = machines(3, 1)
        for node, cards in zip(nodes["items"], ("2", "1", "0"), strict=True):
            node["status"]["capacity"] = {CORE: f"{cards}00", MEMORY: f"{cards}00"}
        pod = pod_manifest("a", share(cores), share(100))
        answer = await extender.ask("filter", {"Pod": pod, "Nodes": nodes})
        kept = [node["metadata"]["name"] for node in answer["Nodes"]["items"]]
        assert kept == (passing if cores > 1 else ["might-be-0"])

    in_gpu_cluster(scenario)


@pytest.mark.parametrize("verb", ["filter", "predicates"])
def test_half_a_million_names_that_nobody_knows_are_refused(verb: str) -> None:
    async def scenario(cluster: GPUCluster) -> None:
        await cluster.add_node("n1", equal_cards(1, 4))
        extender = await cluster.start()
        pod = await cluster.add_pod("a", share())
        names = [f"u{at}" for at in range(500_000)]
        with interrupt_beyond(200):
            answer = await extender.ask(verb, {"Pod": pod, "NodeNames": ["n1", *names]})
        assert answer["Error"] == (
            "500000 nodes of the request are not known here, and at most 65536 are answered"
        )
        few = {"Pod": pod, "NodeNames": ["n1", *names[:20_000]]}
        answer, turns = await count_turns(extender, few)
        assert answer["NodeNames"] == ["n1"]
        assert len(answer["FailedAndUnresolvableNodes"]) == 20_000
        assert turns > 3

    in_gpu_cluster(scenario)
