"""Nodes with GPUs, and what their agents make of pods; whole clusters in virtual time."""

import asyncio
from typing import Any

import pytest
from support.live.scheduler_at_work import BEGIN_S
from support.simulated_cluster.gpu_placement import (
    SHARES,
    bind,
    decide,
    gpu_pod,
    place,
    read_node,
    read_pod,
    until_phase,
)
from support.simulated_cluster.simulated_clusters import Cluster, in_cluster, workload

from podium.client.resources import CONFIG_MAPS, NODES, PODS, REPLICA_SETS
from podium.gpu.dialects import DIALECTS, find_dialect
from podium.gpu.dialects.dialect import Phase
from podium.gpu.dialects.node_lock import write_lock
from podium.gpu.held_cards import held_cards
from podium.gpu.reasons import Reason

ALL_DIALECTS = pytest.mark.parametrize("dialect", sorted(DIALECTS))
CLOCKED = pytest.mark.parametrize("dialect", ["gpu-scheduler", "hami"])
LOCKING = pytest.mark.parametrize("dialect", ["gpu-scheduler", "hami"])


def now() -> float:
    return BEGIN_S + asyncio.get_running_loop().time()


async def annotate(cluster: Cluster, node: str, **values: str | None) -> None:
    annotations = {f"podium.dev/{key.replace('_', '-')}": text for key, text in values.items()}
    await cluster.patch(NODES, node, {"metadata": {"annotations": annotations}})


async def status_of(cluster: Cluster, name: str) -> dict[str, Any]:
    found: dict[str, Any] = (await cluster.get(PODS, name))["status"]
    return found


# --- registering --------------------------------------------------------------------------------


@ALL_DIALECTS
def test_cards_are_registered_when_a_node_is_made(dialect: str) -> None:
    async def scenario(cluster: Cluster) -> None:
        with_cards = await read_node(cluster, "node-0")
        found = find_dialect(dialect).node_cards(with_cards, now())
        assert found.refusal is None
        assert len(found.cards) == 4
        unit = find_dialect(dialect).memory_unit
        assert {card.memory for card in found.cards} == {15360 * (1 << 20) // unit}
        without = await read_node(cluster, "node-1")
        assert not find_dialect(dialect).node_cards(without, now()).cards

    in_cluster(scenario, nodes=2, gpus=["1:4xT4"], gpu_dialect=dialect)


@CLOCKED
def test_agents_go_on_saying_that_they_live(dialect: str) -> None:
    async def scenario(cluster: Cluster) -> None:
        before = await read_node(cluster, "node-0")
        await asyncio.sleep(600)
        after = await read_node(cluster, "node-0")
        speaks = find_dialect(dialect)
        first, last = (speaks.register((), at).annotations for at in (0.0, 1.0))
        (heartbeat,) = (key for key in first if first[key] != last[key])
        assert before.metadata.annotation(heartbeat) != after.metadata.annotation(heartbeat)
        assert speaks.node_cards(after, now()).refusal is None

    in_cluster(scenario, nodes=1, gpus=["1xT4"], gpu_dialect=dialect)


def test_agents_write_as_often_as_the_calendar_says_whatever_the_speed() -> None:
    async def scenario(cluster: Cluster) -> None:
        versions = set()
        for _ in range(90):
            node = await read_node(cluster, "node-0")
            versions.add(node.metadata.annotation("tydic.io/node-gpu-heartbeat"))
            await asyncio.sleep(1)
        assert len(versions) == 4

    in_cluster(scenario, nodes=1, gpus=["1xT4"], gpu_dialect="gpu-scheduler", speed=50)


@pytest.mark.parametrize("dialect", sorted({*DIALECTS} - {"gpu-manager"}))
def test_a_card_that_breaks_is_told_of_and_can_be_mended(dialect: str) -> None:
    speaks = find_dialect(dialect)

    async def health(cluster: Cluster) -> list[bool]:
        cards = speaks.node_cards(await read_node(cluster, "node-0"), now())
        place = speaks.config_map_name("node-0")
        if place is not None and await cluster.exists(CONFIG_MAPS, place[1], place[0]):
            told = await cluster.get(CONFIG_MAPS, place[1], place[0])
            cards = speaks.read_config_map(cards, told["data"])
        return [card.healthy for card in cards.cards]

    async def scenario(cluster: Cluster) -> None:
        assert await health(cluster) == [True] * 4
        whole = (await read_node(cluster, "node-0")).status.allocatable
        await annotate(cluster, "node-0", gpu_unhealthy="1,3")
        await cluster.until(lambda: _is(health(cluster), [True, False, True, False]), within_s=5)
        left = (await read_node(cluster, "node-0")).status.allocatable
        resource = speaks.resources[0]
        assert left is not None
        assert whole is not None
        shrinks = 1 if speaks.gives_broken_devices else 2
        assert int(left[resource]) * shrinks == int(whole[resource])
        await annotate(cluster, "node-0", gpu_unhealthy=None)
        await cluster.until(lambda: _is(health(cluster), [True] * 4), within_s=5)
        assert (await read_node(cluster, "node-0")).status.allocatable == whole

    in_cluster(scenario, nodes=1, gpus=["4xT4"], gpu_dialect=dialect)


async def _is(found: Any, wanted: Any) -> bool:
    result: bool = await found == wanted
    return result


@CLOCKED
def test_a_stopped_agent_is_missed_and_its_devices_are_gone(dialect: str) -> None:
    async def scenario(cluster: Cluster) -> None:
        speaks = find_dialect(dialect)
        await annotate(cluster, "node-0", gpu_agent_failure="stopped")
        await asyncio.sleep(400)
        node = await read_node(cluster, "node-0")
        assert speaks.node_cards(node, now()).refusal is Reason.HEARTBEAT_TIMEOUT
        assert node.status.allocatable is not None
        assert node.status.allocatable[speaks.resources[0]] == "0"
        await annotate(cluster, "node-0", gpu_agent_failure=None)
        await asyncio.sleep(1)
        back = await read_node(cluster, "node-0")
        assert speaks.node_cards(back, now()).refusal is None

    in_cluster(scenario, nodes=1, gpus=["2xT4"], gpu_dialect=dialect)


def test_nodes_that_come_later_and_say_what_they_have_get_an_agent() -> None:
    async def scenario(cluster: Cluster) -> None:
        await annotate(cluster, "node-0", gpus="2xA100-40GB:mig", gpu_dialect="hami")
        await asyncio.sleep(1)
        cards = find_dialect("hami").node_cards(await read_node(cluster, "node-0"), now()).cards
        assert [len(card.profiles) for card in cards] == [6, 6]
        assert [card.numa for card in cards] == [0, 1]

    in_cluster(scenario, nodes=1)


def test_what_cannot_be_read_makes_no_agent_and_is_warned_of_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def scenario(cluster: Cluster) -> None:
        await annotate(cluster, "node-0", gpus="many")
        await asyncio.sleep(60)
        await annotate(cluster, "node-0", gpus=None)

    in_cluster(scenario, nodes=1)
    told = [record.getMessage() for record in caplog.records if "GPU agent" in record.getMessage()]
    assert len(told) == 1
    assert 'node-0 has no GPU agent: "many" says no GPUs' in told[0]


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
        await asyncio.sleep(5)
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
        await asyncio.sleep(300)
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
            await asyncio.sleep(2)
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
