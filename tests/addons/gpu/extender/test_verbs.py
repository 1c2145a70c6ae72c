"""Prioritize, preempt, bodies that make no sense, pages, quotas: as a scheduler or a user asks."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from support.addons.gpu.extender_clusters import (
    GPUCluster,
    RunningExtender,
    equal_cards,
    in_gpu_cluster,
)
from support.live.virtual_loop import sleep_virtually

from podium import __version__
from podium.addons.gpu.extender.preemption import PreemptionSettings, PreemptionStrategy
from podium.client.resources import CONFIG_MAPS, NODES, PRIORITY_CLASSES, RESOURCE_QUOTAS

CORE, MEMORY = "tencent.com/vcuda-core", "tencent.com/vcuda-memory"
MODEL, POOL = "gaia.tencent.com/gpu-model", "gaia.tencent.com/gpu-pool"


def share(cores: int = 60, memory: int = 2) -> dict[str, int]:
    return {CORE: cores, MEMORY: memory}


async def place(
    cluster: GPUCluster, extender: RunningExtender, name: str, node: str, **more: Any
) -> Any:
    limits = more.pop("limits", share())
    pod = await cluster.add_pod(name, limits, **more)
    assert await extender.bind(pod, node) == ""
    return await cluster.pod(name)


# --- prioritize -------------------------------------------------------------------------------


@pytest.mark.parametrize("verb", ["prioritize", "priorities"])
def test_the_fullest_node_that_fits_is_the_best_and_cpu_pods_go_elsewhere(verb: str) -> None:
    async def scenario(cluster: GPUCluster) -> None:
        for name in ("full", "empty"):
            await cluster.add_node(name, equal_cards(2, 4))
        plain = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "plain"}}
        await cluster.client.create(NODES, plain)
        extender = await cluster.start()
        await place(cluster, extender, "a", "full")
        names = ["empty", "full", "plain"]
        body = {"Pod": await cluster.add_pod("b", share(10, 1)), "NodeNames": names}
        assert await extender.ask(verb, body) == [
            {"Host": "empty", "Score": 0},
            {"Host": "full", "Score": 10},
            {"Host": "plain", "Score": 0},
        ]
        body = {"Pod": await cluster.add_pod("c", {"cpu": 1}), "NodeNames": names}
        scores = {each["Host"]: each["Score"] for each in await extender.ask(verb, body)}
        assert scores == {"empty": 0, "full": 0, "plain": 1}

    in_gpu_cluster(scenario)


# --- bodies -----------------------------------------------------------------------------------


def test_a_body_that_makes_no_sense_is_answered_as_gpu_admission_does() -> None:
    async def scenario(cluster: GPUCluster) -> None:
        extender = await cluster.start()
        for verb in ("filter", "predicates", "bind"):
            answer = await extender.send("POST", f"/scheduler/{verb}")
            assert (answer.code, answer.decoded()["Error"]) == (200, "EOF")
            assert answer.headers["content-type"] == "application/json"
        answer = await extender.send("POST", "/scheduler/filter", b"[1]")
        text = "json: cannot unmarshal array into Go value of type v1.ExtenderArgs"
        assert (answer.code, answer.decoded()["Error"]) == (200, text)
        assert (await extender.send("POST", "/scheduler/priorities", b"{")).code == 400
        assert (await extender.send("GET", "/scheduler/filter")).code == 405

    in_gpu_cluster(scenario)


def test_member_names_are_taken_in_any_case() -> None:
    async def scenario(cluster: GPUCluster) -> None:
        await cluster.add_node("n1", equal_cards(1, 4))
        extender = await cluster.start()
        pod = await cluster.add_pod("a", share())
        answer = await extender.ask("filter", {"pod": pod, "nodenames": ["n1"]})
        assert answer["NodeNames"] == ["n1"]

    in_gpu_cluster(scenario)


def test_before_the_first_sync_nothing_is_promised() -> None:
    async def scenario(cluster: GPUCluster) -> None:
        extender = await cluster.start(synced=False)
        assert (await extender.get("/readyz")).code == 503
        assert (await extender.get("/healthz")).code == 200
        answer = await extender.ask("filter", {"Pod": {}, "NodeNames": ["n1"]})
        assert answer["Error"].endswith("have not been synced, please retry later")
        await extender.application.watch.synced.wait()
        assert (await extender.get("/readyz")).code == 200

    in_gpu_cluster(scenario)


def test_dialects_with_locks_do_not_decide_while_filtering() -> None:
    async def scenario(cluster: GPUCluster) -> None:
        extender = await cluster.start()
        answer = await extender.send("POST", "/scheduler/predicates", b"{}")
        assert answer.code == 404
        assert b"POST /filter" in answer.body

    in_gpu_cluster(scenario, "hami")


def test_nodes_that_only_the_caller_knows_are_judged_by_what_he_sends() -> None:
    async def scenario(cluster: GPUCluster) -> None:
        extender = await cluster.start()
        capacity = {CORE: "100", MEMORY: "4"}
        made = [
            {"metadata": {"name": "might-be"}, "status": {"capacity": capacity}},
            {"metadata": {"name": "plain"}},
        ]
        pod = await cluster.add_pod("a", share())
        answer = await extender.ask("filter-dryrun", {"Pod": pod, "Nodes": {"items": made}})
        assert [each["metadata"]["name"] for each in answer["Nodes"]["items"]] == ["might-be"]
        assert answer["FailedAndUnresolvableNodes"] == {"plain": "no GPU device"}

    in_gpu_cluster(scenario)


# --- pages ------------------------------------------------------------------------------------


def test_inspect_shows_nodes_cards_and_pods() -> None:
    async def scenario(cluster: GPUCluster) -> None:
        await cluster.add_node("n1", equal_cards(2, 8))
        extender = await cluster.start()
        await place(cluster, extender, "a", "n1", limits={"aliyun.com/gpu-mem": 3})
        for path in ("/gpushare-scheduler/inspect", "/scheduler/inspect/n1", "/inspect/n1"):
            answer = await extender.get(path)
            assert answer.headers["content-type"] == "application/json"
            (node,) = answer.decoded()["nodes"]
            assert (node["name"], node["totalGPU"], node["usedGPU"]) == ("n1", 16, 3)
            first = node["devs"][0]
            assert (first["id"], first["totalGPU"], first["usedGPU"]) == (0, 8, 3)
            assert {"name": "a", "namespace": "default", "usedGPU": 3}.items() <= first["pods"][
                0
            ].items()
            assert node["devs"][1]["pods"] == []
        answer = await extender.get("/gpushare-scheduler/inspect/n9")
        assert (answer.code, answer.decoded()["error"]) == (404, "node n9 not found")

    in_gpu_cluster(scenario, "gpushare")


def test_version_is_a_line_of_text() -> None:
    async def scenario(cluster: GPUCluster) -> None:
        extender = await cluster.start()
        for path in ("/version", "/scheduler/version"):
            assert (await extender.get(path)).body == f"podium-{__version__}".encode()
        assert (await extender.get("/version/more")).code == 404

    in_gpu_cluster(scenario)


def test_metrics_tell_of_cards_fragmentation_verbs_and_refusals() -> None:
    async def scenario(cluster: GPUCluster) -> None:
        await cluster.add_node("n1", equal_cards(2, 4))
        extender = await cluster.start()
        await place(cluster, extender, "a", "n1")
        await extender.filter(await cluster.add_pod("b", share(99, 1), share(99, 1)), "n1")
        text = (await extender.get("/metrics")).body.decode()
        for line in (
            'podium_gpu_card_used_cores{card="0",node="n1",uuid=""} 60.0',
            'podium_gpu_card_free_cores{card="1",node="n1",uuid=""} 100.0',
            'podium_gpu_card_used_memory_bytes{card="0",node="n1",uuid=""} 5.36870912e+08',
            'podium_gpu_card_shares{card="0",node="n1",uuid=""} 1.0',
            f'podium_gpu_fragmentation_ratio{{resource="cores"}} {40 / 140}',
            f'podium_gpu_node_fragmentation_ratio{{node="n1",resource="cores"}} {40 / 140}',
            'podium_gpu_rejected_nodes_total{reason="InsufficientVGPUCore",verb="filter"} 1.0',
            'podium_extender_requests_total{code="200",verb="bind"} 1.0',
            "podium_gpu_reservations 0.0",
        ):
            assert line in text.splitlines(), text

    in_gpu_cluster(scenario)


# --- quotas -----------------------------------------------------------------------------------

QUOTA = {"default": {"quota": {"T4": 1}, "pool": ["shared"]}}


async def quota_nodes(cluster: GPUCluster) -> tuple[str, ...]:
    await cluster.add_node("t4", equal_cards(4, 4), **{MODEL: "T4", POOL: "shared"})
    await cluster.add_node("t4-own", equal_cards(4, 4), **{MODEL: "T4", POOL: "own"})
    await cluster.add_node("a100", equal_cards(4, 4), **{MODEL: "A100", POOL: "shared"})
    return ("t4", "t4-own", "a100")


async def assert_quota_holds(cluster: GPUCluster, extender: RunningExtender, names: Any) -> None:
    first, second = [await cluster.add_pod(name, share()) for name in "ab"]
    answer = await extender.filter(first, *names)
    assert answer["NodeNames"] == ["t4"]
    refused = answer["FailedAndUnresolvableNodes"]  # whoever exceeds a quota evicts nobody
    assert refused == dict.fromkeys(("t4-own", "a100"), "ExceedsGPUQuota")
    errors = await asyncio.gather(*(extender.bind(pod, "t4") for pod in (first, second)))
    assert sorted(errors) == ["", "node t4: ExceedsGPUQuota"]
    answer = await extender.filter(await cluster.add_pod("c", share()), *names)
    assert answer["NodeNames"] == []


def test_a_namespace_uses_what_the_config_map_allows() -> None:
    async def scenario(cluster: GPUCluster) -> None:
        names = await quota_nodes(cluster)
        head = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "gpuquota"}}
        document = {**head, "data": {"gpu_quota": json.dumps(QUOTA)}}
        await cluster.client.create(CONFIG_MAPS, document, "kube-system")
        extender = await cluster.start()
        await assert_quota_holds(cluster, extender, names)
        broken = {"data": {"gpu_quota": "{"}}
        await cluster.client.patch(CONFIG_MAPS, "gpuquota", broken, "kube-system")
        await sleep_virtually(1.0)
        pod = await cluster.pod("c")
        assert (await extender.filter(pod, *names))["NodeNames"] == []
        await cluster.client.delete(CONFIG_MAPS, "gpuquota", "kube-system")
        await sleep_virtually(1.0)
        assert (await extender.filter(pod, *names))["NodeNames"] == list(names)

    in_gpu_cluster(scenario)


def test_a_namespace_uses_what_the_quota_file_allows(tmp_path: Path) -> None:
    file = tmp_path / "gpu_quota.json"
    file.write_text(json.dumps(QUOTA))

    async def scenario(cluster: GPUCluster) -> None:
        names = await quota_nodes(cluster)
        extender = await cluster.start(quota_file=file)
        await assert_quota_holds(cluster, extender, names)
        file.write_text(json.dumps({"default": {"quota": {"T4": 100}}}))
        await sleep_virtually(2.0)
        assert (await extender.filter(await cluster.pod("c"), *names))["NodeNames"] == [*names[:2]]
        file.unlink()
        await sleep_virtually(2.0)
        assert (await extender.filter(await cluster.pod("c"), *names))["NodeNames"] == [*names]

    in_gpu_cluster(scenario)


def test_resource_quotas_count_every_card_of_a_pod() -> None:
    async def scenario(cluster: GPUCluster) -> None:
        await cluster.add_node("n1", equal_cards(4, 16000))
        head = {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "q"}}
        quota = {**head, "spec": {"hard": {"limits.nvidia.com/gpumem": "5000"}}}
        await cluster.client.create(RESOURCE_QUOTAS, quota, "default")
        extender = await cluster.start()

        def asking(cards: int, memory: int) -> dict[str, int]:
            return {"nvidia.com/gpu": cards, "nvidia.com/gpumem": memory}

        first, second = [await cluster.add_pod(name, asking(2, 2000)) for name in "ab"]
        assert await extender.bind(first, "n1") == ""
        answer = await extender.filter(second, "n1")
        assert answer["FailedAndUnresolvableNodes"] == {"n1": "ExceedsGPUQuota"}
        assert await extender.bind(second, "n1") == "node n1: ExceedsGPUQuota"
        small = await cluster.add_pod("c", asking(1, 1000))
        assert (await extender.filter(small, "n1"))["NodeNames"] == ["n1"]
        await cluster.client.delete(RESOURCE_QUOTAS, "q", "default")
        await sleep_virtually(1.0)
        assert (await extender.filter(second, "n1"))["NodeNames"] == ["n1"]

    in_gpu_cluster(scenario, "hami")


# --- preempt ----------------------------------------------------------------------------------


async def preempt(extender: RunningExtender, pod: Any, **offered: list[Any]) -> dict[str, Any]:
    victims = {
        name: {"Pods": [{"UID": each["metadata"]["uid"]} for each in pods], "NumPDBViolations": 1}
        for name, pods in offered.items()
    }
    body = {"Pod": pod, "NodeNameToVictims": None, "NodeNameToMetaVictims": victims}
    answer: dict[str, Any] = (await extender.ask("preempt", body))["NodeNameToMetaVictims"]
    return answer


def uids(*pods: Any) -> list[dict[str, str]]:
    return [{"UID": pod["metadata"]["uid"]} for pod in pods]


IMPORTANT: dict[str, Any] = {"spec": {"priorityClassName": "important"}}


async def make_important_class(cluster: GPUCluster) -> None:
    body = {"kind": "PriorityClass", "metadata": {"name": "important"}, "value": 10}
    body["apiVersion"] = "scheduling.k8s.io/v1"
    await cluster.client.create(PRIORITY_CLASSES, body)


@pytest.mark.parametrize("strategy", ["fifo", "lifo"])
def test_pods_of_lower_priority_are_added_until_the_pod_fits(strategy: str) -> None:
    async def scenario(cluster: GPUCluster) -> None:
        await cluster.add_node("n1", equal_cards(2, 4))
        await make_important_class(cluster)
        settings = PreemptionSettings(50, PreemptionStrategy(strategy))
        extender = await cluster.start(preemption=settings)
        old = await place(cluster, extender, "old", "n1", limits=share(100, 0))
        await sleep_virtually(5.0)
        new = await place(cluster, extender, "new", "n1", limits=share(100, 0))
        one = await cluster.add_pod("one", share(100, 0), **IMPORTANT)
        two = await cluster.add_pod("two", share(200, 0), **IMPORTANT)
        assert (await preempt(extender, one, n1=[old]))["n1"] == {
            "Pods": uids(old),
            "NumPDBViolations": 1,
        }
        added = new if strategy == "fifo" else old
        assert (await preempt(extender, one, n1=[]))["n1"]["Pods"] == uids(added)
        both = (await preempt(extender, two, n1=[old]))["n1"]
        assert both == {"Pods": uids(old, new), "NumPDBViolations": 2}

    in_gpu_cluster(scenario)


def test_nodes_that_cannot_be_cleared_are_left_out() -> None:
    async def scenario(cluster: GPUCluster) -> None:
        await make_important_class(cluster)
        for name in ("n1", "n2", "n3"):
            await cluster.add_node(name, equal_cards(2, 4))
        extender = await cluster.start()
        equal = await place(cluster, extender, "equal", "n1", limits=share(200, 0), **IMPORTANT)
        owner = {"apiVersion": "apps/v1", "kind": "DaemonSet", "name": "d", "uid": "u"}
        daemon = await place(
            *(cluster, extender, "daemon", "n2"),
            limits=share(200, 0),
            ownerReferences=[{**owner, "controller": True}],
        )
        slightly = await place(cluster, extender, "slightly", "n3", limits=share(30, 1))
        pod = await cluster.add_pod("a", share(200, 0), **IMPORTANT)
        assert await preempt(extender, pod, n2=[daemon], n3=[slightly], n9=[]) == {}
        assert await preempt(extender, pod, n1=[]) == {}
        # The scheduler's own choice of a victim of equal priority is not this verb's to judge.
        assert (await preempt(extender, pod, n1=[equal]))["n1"]["Pods"] == uids(equal)

    in_gpu_cluster(scenario)


def test_the_threshold_of_use_can_be_lowered() -> None:
    async def scenario(cluster: GPUCluster) -> None:
        await cluster.add_node("n1", equal_cards(2, 4))
        await make_important_class(cluster)
        extender = await cluster.start(preemption=PreemptionSettings(0))
        slightly = await place(cluster, extender, "slightly", "n1", limits=share(30, 1))
        pod = await cluster.add_pod("a", share(200, 0), **IMPORTANT)
        assert (await preempt(extender, pod, n1=[slightly]))["n1"]["Pods"] == uids(slightly)

    in_gpu_cluster(scenario)
