"""What the agents of GPUs make of pods; whole clusters in virtual time."""

from typing import Any

import pytest
from support.addons.gpu.gpu_placement import (
    SHARES,
    annotate,
    bind,
    decide,
    gpu_pod,
    now,
    place,
    read_node,
    read_pod,
    until_phase,
)
from support.live.scheduler_at_work import BEGIN_S
from support.live.virtual_loop import sleep_virtually
from support.simulated.simulated_clusters import Cluster, in_cluster, workload

from podium.addons.gpu.cards.known_pods import held_cards
from podium.addons.gpu.dialects import DIALECTS, find_dialect
from podium.addons.gpu.dialects.dialect import Phase
from podium.addons.gpu.dialects.node_lock import write_lock
from podium.client.resources import NODES, PODS, REPLICA_SETS

ALL_DIALECTS = pytest.mark.parametrize("dialect", sorted(DIALECTS))
LOCKING = pytest.mark.parametrize("dialect", ["gpu-scheduler", "hami"])


async def status_of(cluster: Cluster, name: str) -> dict[str, Any]:
    found: dict[str, Any] = (await cluster.get(PODS, name))["status"]
    return found


# --- serving ------------------------------------------------------------------------------------


@ALL_DIALECTS
def test_a_pod_with_a_decision_gets_its_cards_and_runs(dialect: str) -> None:
    async def scenario(cluster: Cluster) -> None:
        speaks = find_dialect(dialect)
        await place(cluster, dialect, gpu_pod("work", SHARES[dialect]), "node-0")
        await until_phase(cluster, "work", "Running")
        node, pod = await read_node(cluster, "node-0"), await read_pod(cluster, "work")
        decision = speaks.decision(pod, speaks.node_cards(node, now()))
        assert decision is not None
        assert decision.phase is Phase.CONFIRMED
        assert decision.problem == ""
        assert decision.allocation.cards() == (0,)
        if speaks.lock is not None:
            assert not node.metadata.annotation(speaks.lock.key)

    in_cluster(scenario, nodes=1, gpus=["4xT4"], gpu_dialect=dialect)


@pytest.mark.parametrize("dialect", ["gpu-manager", "gpu-scheduler", "hami", "vgpu-manager"])
def test_all_containers_of_a_pod_are_served_one_after_the_other(dialect: str) -> None:
    async def scenario(cluster: Cluster) -> None:
        speaks = find_dialect(dialect)
        body = gpu_pod("work", SHARES[dialect], {"cpu": "1"}, SHARES[dialect])
        await place(cluster, dialect, body, "node-0")
        await until_phase(cluster, "work", "Running")
        node, pod = await read_node(cluster, "node-0"), await read_pod(cluster, "work")
        decision = speaks.decision(pod, speaks.node_cards(node, now()))
        assert decision is not None
        assert decision.phase is Phase.CONFIRMED
        assert [len(shares) for shares in decision.allocation.containers] == [1, 0, 1]

    in_cluster(scenario, nodes=1, gpus=["4xT4"], gpu_dialect=dialect)


@pytest.mark.parametrize("dialect", ["gpu-scheduler", "hami", "vgpu-manager"])
def test_a_pod_without_a_decision_is_refused(dialect: str) -> None:
    async def scenario(cluster: Cluster) -> None:
        body = gpu_pod("work", SHARES[dialect])
        body["spec"]["nodeName"] = "node-0"
        await cluster.create(PODS, body)
        await until_phase(cluster, "work", "Failed")
        status = await status_of(cluster, "work")
        assert status["reason"] == "UnexpectedAdmissionError"
        assert status["message"].startswith("Pod was rejected: Allocate failed due to rpc error")
        assert "candidate pod not found for a request of" in status["message"]

    in_cluster(scenario, nodes=1, gpus=["4xT4"], gpu_dialect=dialect)


def test_the_agent_of_gpu_manager_chooses_for_a_pod_without_a_decision() -> None:
    whole = {"tencent.com/vcuda-core": "200", "tencent.com/vcuda-memory": "1"}

    async def scenario(cluster: Cluster) -> None:
        for name, limits in (("share", SHARES["gpu-manager"]), ("whole", whole)):
            body = gpu_pod(name, limits)
            body["spec"]["nodeName"] = "node-0"
            await cluster.create(PODS, body)
            await until_phase(cluster, name, "Running")
        said = [(await read_pod(cluster, name)).metadata.annotations for name in ("share", "whole")]
        chosen = [(each or {})["tencent.com/predicate-gpu-idx-0"] for each in said]
        assert chosen[0] == "0"
        assert chosen[1] in ("1,2", "1,3", "2,3")
        speaks = find_dialect("gpu-manager")
        cards = speaks.node_cards(await read_node(cluster, "node-0"), now())
        held = held_cards(speaks, await read_pod(cluster, "whole"), cards, now())
        assert (len(held.uses), held.unread, held.phase) == (2, "", Phase.CONFIRMED)

    in_cluster(scenario, nodes=1, gpus=["4xT4"], gpu_dialect="gpu-manager")


def test_containers_start_without_a_card_where_gpushare_has_no_decision() -> None:
    async def scenario(cluster: Cluster) -> None:
        body = gpu_pod("work", SHARES["gpushare"])
        body["spec"]["nodeName"] = "node-0"
        await cluster.create(PODS, body)
        await until_phase(cluster, "work", "Running")
        assert (await read_pod(cluster, "work")).metadata.annotations is None

    in_cluster(scenario, nodes=1, gpus=["4xT4"], gpu_dialect="gpushare")


@pytest.mark.parametrize("dialect", ["gpu-manager", "gpu-scheduler"])
def test_a_shared_card_that_the_agent_would_not_choose_fails_the_pod(dialect: str) -> None:
    async def scenario(cluster: Cluster) -> None:
        await cluster.create(PODS, gpu_pod("work", SHARES[dialect]))
        await decide(cluster, dialect, "work", "node-0")
        domain = find_dialect(dialect).resources[0].partition("/")[0]
        other = {f"{domain}/predicate-gpu-idx-0": "2"}
        await cluster.patch(PODS, "work", {"metadata": {"annotations": other}})
        await bind(cluster, dialect, "work", "node-0")
        await until_phase(cluster, "work", "Failed")
        status = await status_of(cluster, "work")
        assert status["reason"] == "UnexpectedAdmissionError"
        assert "chosen card [0] is not the predicate card [2]" in status["message"]
        node = await read_node(cluster, "node-0")
        assert not node.metadata.annotation("tydic.io/node-lock")

    in_cluster(scenario, nodes=1, gpus=["4xT4"], gpu_dialect=dialect)


@LOCKING
def test_a_refused_pod_is_marked_and_its_lock_released(dialect: str) -> None:
    async def scenario(cluster: Cluster) -> None:
        speaks = find_dialect(dialect)
        await cluster.create(PODS, gpu_pod("work", SHARES[dialect]))
        await decide(cluster, dialect, "work", "node-0")
        if dialect == "hami":
            uuid = speaks.node_cards(await read_node(cluster, "node-0"), now()).cards[0].uuid
            twice = f"{uuid},NVIDIA,1,1:{uuid},NVIDIA,1,1:;"
            keys = ("hami.io/vgpu-devices-to-allocate", "hami.io/vgpu-devices-allocated")
            wrong = dict.fromkeys(keys, twice)
        else:
            wrong = {"nvidia.com/predicate-gpu-idx-0": "3"}
        await cluster.patch(PODS, "work", {"metadata": {"annotations": wrong}})
        await bind(cluster, dialect, "work", "node-0")
        await until_phase(cluster, "work", "Failed")
        node, pod = await read_node(cluster, "node-0"), await read_pod(cluster, "work")
        decision = speaks.decision(pod, speaks.node_cards(node, now()))
        assert decision is not None
        assert decision.phase is Phase.FAILED
        assert speaks.lock is not None
        assert not node.metadata.annotation(speaks.lock.key)

    in_cluster(scenario, nodes=1, gpus=["4xT4"], gpu_dialect=dialect)


@LOCKING
def test_a_lock_that_is_seen_after_its_pod_was_served_goes(dialect: str) -> None:
    """The agent hears of pods and of nodes by two ways, of which either may be quicker."""

    async def scenario(cluster: Cluster) -> None:
        speaks = find_dialect(dialect)
        assert speaks.lock is not None
        started = now()
        pod = gpu_pod("work", SHARES[dialect])
        await place(cluster, dialect, pod, "node-0")
        await until_phase(cluster, "work", "Running")
        lock = {speaks.lock.key: write_lock(speaks.lock, await read_pod(cluster, "work"), started)}
        await cluster.patch(NODES, "node-0", {"metadata": {"annotations": lock}})
        await sleep_virtually(5)
        node = await read_node(cluster, "node-0")
        assert not node.metadata.annotation(speaks.lock.key)

    in_cluster(scenario, nodes=1, gpus=["4xT4"], gpu_dialect=dialect)


def test_a_lock_of_another_pod_stays() -> None:
    async def scenario(cluster: Cluster) -> None:
        await place(cluster, "hami", gpu_pod("first", SHARES["hami"]), "node-0")
        lock = {"hami.io/mutex.lock": "2027-01-15T08:00:00Z,default,second"}
        await cluster.patch(NODES, "node-0", {"metadata": {"annotations": lock}})
        await until_phase(cluster, "first", "Running")
        node = await read_node(cluster, "node-0")
        assert node.metadata.annotation("hami.io/mutex.lock") == lock["hami.io/mutex.lock"]

    in_cluster(scenario, nodes=1, gpus=["4xT4"])


def test_pods_that_were_refused_are_made_anew_by_their_controller() -> None:
    """The controller's pods name another card than the agent would choose, until they do not."""

    async def scenario(cluster: Cluster) -> None:
        limits = SHARES["gpu-manager"]
        written = workload("work", 1)
        written["spec"]["template"]["spec"] = {
            "nodeName": "node-0",
            "containers": [{"name": "c", "image": "nginx", "resources": {"limits": limits}}],
        }
        written["spec"]["template"]["metadata"]["annotations"] = {
            "tencent.com/predicate-gpu-idx-0": "2",
            "tencent.com/predicate-node": "node-0",
            "tencent.com/predicate-time": "1",
            "tencent.com/gpu-assigned": "false",
        }
        await cluster.create(REPLICA_SETS, written)
        names: set[str] = set()

        async def was_made_anew() -> bool:
            names.update(pod["metadata"]["name"] for pod in await cluster.all(PODS))
            return len(names) >= 3

        await cluster.until(was_made_anew)
        right = {"annotations": {"tencent.com/predicate-gpu-idx-0": "0"}}
        body = {"spec": {"template": {"metadata": right}}}
        await cluster.patch(REPLICA_SETS, "work", body)

        async def runs() -> bool:
            return any(pod["status"]["phase"] == "Running" for pod in await cluster.all(PODS))

        await cluster.until(runs)

    in_cluster(scenario, nodes=1, gpus=["4xT4"], gpu_dialect="gpu-manager")


def test_pods_wait_for_an_agent_that_is_silent() -> None:
    async def scenario(cluster: Cluster) -> None:
        await annotate(cluster, "node-0", gpu_agent_failure="silent")
        await place(cluster, "hami", gpu_pod("work", SHARES["hami"]), "node-0")
        await cluster.create(PODS, gpu_pod("plain", {"cpu": "1"}) | {})
        await bind(cluster, "gpu-manager", "plain", "node-0")
        await until_phase(cluster, "plain", "Running")
        await sleep_virtually(300)
        assert (await status_of(cluster, "work"))["phase"] == "Pending"
        await annotate(cluster, "node-0", gpu_agent_failure=None)
        await until_phase(cluster, "work", "Running")

    in_cluster(scenario, nodes=1, gpus=["4xT4"])


def test_pods_are_refused_where_the_agent_has_stopped() -> None:
    async def scenario(cluster: Cluster) -> None:
        await cluster.create(PODS, gpu_pod("work", SHARES["hami"]))
        await decide(cluster, "hami", "work", "node-0")
        await annotate(cluster, "node-0", gpu_agent_failure="stopped")
        await bind(cluster, "hami", "work", "node-0")
        await until_phase(cluster, "work", "Failed")
        status = await status_of(cluster, "work")
        assert status["reason"] == "UnexpectedAdmissionError"
        assert status["message"] == (
            "Pod was rejected: Allocate failed due to requested number of devices unavailable for "
            "nvidia.com/gpu. Requested: 1, Available: 0, which is unexpected"
        )

    in_cluster(scenario, nodes=1, gpus=["4xT4"])


def test_the_agent_takes_one_pod_for_another_of_the_same_size_as_the_real_one_does() -> None:
    """The kubelet asks for `late` first, since it was made first; the agent serves who was decided
    first. Both run in the end, and both are confirmed."""

    async def scenario(cluster: Cluster) -> None:
        for name in ("late", "early"):
            await cluster.create(PODS, gpu_pod(name, SHARES["gpu-manager"]))
            await sleep_virtually(2)
        await decide(cluster, "gpu-manager", "early", "node-0")
        await decide(cluster, "gpu-manager", "late", "node-0")
        later = {"tencent.com/predicate-time": str(int((BEGIN_S + 60) * 1e9))}
        await cluster.patch(PODS, "late", {"metadata": {"annotations": later}})
        await bind(cluster, "gpu-manager", "late", "node-0")
        await bind(cluster, "gpu-manager", "early", "node-0")
        for name in ("late", "early"):
            await until_phase(cluster, name, "Running")
            said = (await read_pod(cluster, name)).metadata
            assert said.annotation("tencent.com/gpu-assigned") == "true"

    in_cluster(scenario, nodes=1, gpus=["4xT4"], gpu_dialect="gpu-manager")


def test_many_pods_share_cards_until_they_are_full() -> None:
    async def scenario(cluster: Cluster) -> None:
        for at in range(6):
            await place(cluster, "hami", gpu_pod(f"work-{at}", SHARES["hami"]), "node-0")
            await until_phase(cluster, f"work-{at}", "Running")
        speaks = find_dialect("hami")
        cards = speaks.node_cards(await read_node(cluster, "node-0"), now())
        used = [0] * 2
        for raw in await cluster.all(PODS):
            decision = speaks.decision(await read_pod(cluster, raw["metadata"]["name"]), cards)
            assert decision is not None
            for index in decision.allocation.cards():
                used[index] += 1
        assert used == [3, 3]

    in_cluster(scenario, nodes=1, gpus=["2xT4"])
