"""The known faults of gpu-admission's family, each of which must not be here.

Those of reading and choosing are tested where that is done: H4 (mixed cards), H6 (containers of one
pod) and H12 (init containers) in `tests/addons/gpu/cards/test_choosing.py`; H5, H7 and H8 in
`tests/addons/gpu/dialects/test_gpu_manager.py`. Their ends are here once more, over HTTP.
"""

import asyncio
from typing import Any

import pytest
from support.addons.gpu.extender_clusters import GPUCluster, equal_cards, in_gpu_cluster
from support.live.moody_transport import Times, binds, moody, refusal
from support.live.virtual_loop import sleep_virtually

from podium.addons.gpu.cards.card import Card
from podium.client import DeleteOptions, KubeClient, Unreachable
from podium.client.resources import NODES, PODS
from podium.client.transport import Reply, Request

CORE, MEMORY = "tencent.com/vcuda-core", "tencent.com/vcuda-memory"
NODE = "tencent.com/predicate-node"


def share(cores: int = 60, memory: int = 2) -> dict[str, int]:
    return {CORE: cores, MEMORY: memory}


async def predicates(extender: Any, cluster: GPUCluster, pod: Any, *names: str) -> Any:
    items = [await cluster.node(name) for name in names]
    body = {"Pod": pod, "Nodes": {"items": items}, "NodeNames": None}
    return await extender.ask("predicates", body)


def annotations(pod: Any) -> dict[str, str]:
    found: dict[str, str] = pod["metadata"].get("annotations", {})
    return found


def test_h1_a_failed_bind_clears_the_decision_and_frees_the_cards() -> None:
    def judge(request: Request) -> Reply | Exception | float | None:
        return refusal(403, "Forbidden", "no") if binds(request, "a") else None

    async def scenario(cluster: GPUCluster) -> None:
        await cluster.add_node("n1", equal_cards(1, 4))
        extender = await cluster.start(moody(judge))
        pod = await cluster.add_pod("a", share())
        assert await extender.bind(pod, "n1") == "pod default/a: no"
        assert annotations(await cluster.pod("a")) == {}
        assert extender.ledger.charges_of(pod["metadata"]["uid"]) == {}
        other = await cluster.add_pod("b", share())
        assert await extender.bind(other, "n1") == ""

    in_gpu_cluster(scenario)


def test_h1_with_predicates_a_pod_that_was_not_bound_is_decided_again() -> None:
    async def scenario(cluster: GPUCluster) -> None:
        for name in ("n1", "n2"):
            await cluster.add_node(name, equal_cards(1, 4))
        extender = await cluster.start()
        pod = await cluster.add_pod("a", share())
        for only in ("n1", "n2"):
            answer = await predicates(extender, cluster, pod, only)
            assert [each["metadata"]["name"] for each in answer["Nodes"]["items"]] == [only]
            assert annotations(await cluster.pod("a"))[NODE] == only
        await sleep_virtually(1.0)
        assert set(extender.ledger.charges_of(pod["metadata"]["uid"])) == {"n2"}
        await sleep_virtually(40.0)
        assert annotations(await cluster.pod("a")) == {}
        assert extender.ledger.charges_of(pod["metadata"]["uid"]) == {}

    in_gpu_cluster(scenario)


@pytest.mark.parametrize("verb", ["bind", "predicates"])
def test_h2_two_pods_in_quick_succession_do_not_get_the_same_share(verb: str) -> None:
    async def scenario(cluster: GPUCluster) -> None:
        await cluster.add_node("n1", equal_cards(1, 8))
        extender = await cluster.start()
        pods = [await cluster.add_pod(name, share()) for name in "abcd"]
        if verb == "bind":
            errors = await asyncio.gather(*(extender.bind(pod, "n1") for pod in pods))
            assert sorted(errors)[0] == ""
            assert set(sorted(errors)[1:]) == {"node n1: insufficient GPU cores"}
        else:
            answers = await asyncio.gather(
                *(predicates(extender, cluster, pod, "n1") for pod in pods)
            )
            assert sorted(len(each["Nodes"]["items"]) for each in answers) == [0, 0, 0, 1]

    in_gpu_cluster(scenario)


def test_h3_a_pod_that_is_asked_about_again_at_once_is_decided_again() -> None:
    async def scenario(cluster: GPUCluster) -> None:
        await cluster.add_node("n1", equal_cards(1, 4))
        extender = await cluster.start()
        pod = await cluster.add_pod("a", share())
        await predicates(extender, cluster, pod, "n1")
        for sent in (pod, await cluster.pod("a")):
            answer = await predicates(extender, cluster, sent, "n1")
            assert (answer["Error"], len(answer["Nodes"]["items"])) == ("", 1)
        assert extender.ledger.table.used_cores[0, 0] == 60

    in_gpu_cluster(scenario)


def test_h4_h6_cards_of_one_node_differ_and_containers_of_one_pod_add_up() -> None:
    async def scenario(cluster: GPUCluster) -> None:
        cards = (Card(0, uuid="GPU-a", memory=4000), Card(1, uuid="GPU-b", memory=16000))
        await cluster.add_node("n1", cards)
        extender = await cluster.start()
        two = {"nvidia.com/vcuda-core": 60, "nvidia.com/vcuda-memory": 3000}
        pod = await cluster.add_pod("a", two, two)
        assert await extender.bind(pod, "n1") == ""
        written = annotations(await cluster.pod("a"))
        assert written["nvidia.com/predicate-gpu-idx-0"] == "0"
        assert written["nvidia.com/predicate-gpu-idx-1"] == "1"
        large = {"nvidia.com/vcuda-core": 10, "nvidia.com/vcuda-memory": 15000}
        answer = await extender.filter(await cluster.add_pod("b", large), "n1")
        assert answer["FailedNodes"] == {"n1": "insufficient GPU memory"}

    in_gpu_cluster(scenario, "gpu-scheduler")


def test_h5_h7_h8_what_makes_no_sense_is_refused_and_breaks_nothing() -> None:
    async def scenario(cluster: GPUCluster) -> None:
        await cluster.add_node("n1", equal_cards(1, 4))
        capacity = {CORE: "50", MEMORY: "4", "pods": "10"}
        status = {"capacity": capacity, "allocatable": capacity}
        half = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "half"}, "status": status}
        await cluster.client.create(NODES, half)
        odd = {NODE: "n1", "tencent.com/predicate-gpu-idx-0": "-1"}
        await cluster.add_pod("odd", share(), annotations=odd, spec={"nodeName": "n1"})
        extender = await cluster.start()
        answer = await extender.filter(await cluster.add_pod("a", share()), "n1", "half")
        assert answer["NodeNames"] == ["n1"]
        assert answer["FailedAndUnresolvableNodes"]["half"].startswith("no GPU device: capacity")
        cores_only = await cluster.add_pod("b", {CORE: 60}, {CORE: 60})
        answer = await extender.filter(cores_only, "n1")
        text = answer["FailedAndUnresolvableNodes"]["n1"]
        assert text.startswith("the pod's GPU request is not valid: container c0 asks for")
        assert "asks for tencent.com/vcuda-core without" in await extender.bind(cores_only, "n1")

    in_gpu_cluster(scenario)


def test_h9_a_lock_that_cannot_be_had_stops_the_bind_and_one_of_a_failed_bind_is_given_back() -> (
    None
):
    fails = Times(1)

    def judge(request: Request) -> Reply | Exception | float | None:
        return refusal(403, "Forbidden", "no") if binds(request, "b") and fails() else None

    async def scenario(cluster: GPUCluster) -> None:
        await cluster.add_node("n1", equal_cards(2, 4000))
        extender = await cluster.start(moody(judge))
        limits = {"nvidia.com/gpu": 1, "nvidia.com/gpumem": 100}
        first, second = [await cluster.add_pod(name, limits) for name in "ab"]
        assert await extender.bind(first, "n1") == ""
        assert ",default,a" in annotations(await cluster.node("n1"))["hami.io/mutex.lock"]
        error = await extender.bind(second, "n1")
        assert error == "pod default/b: node n1 has been locked within 5 minutes"
        assert annotations(await cluster.pod("b")) == {}
        assert extender.ledger.charges_of(second["metadata"]["uid"]) == {}
        unlocked = {"metadata": {"annotations": {"hami.io/mutex.lock": None}}}
        await cluster.client.patch(NODES, "n1", unlocked)  # as the agent does
        assert await extender.bind(second, "n1") == "pod default/b: no"
        assert "hami.io/mutex.lock" not in annotations(await cluster.node("n1"))
        assert await extender.bind(second, "n1") == ""

    in_gpu_cluster(scenario, "hami")


def test_h10_every_node_is_in_one_of_the_lists() -> None:
    async def scenario(cluster: GPUCluster) -> None:
        await cluster.add_node("good", equal_cards(1, 4000))
        await cluster.add_node("bad", equal_cards(1, 4000))
        broken = {"metadata": {"annotations": {"tydic.io/nvidia-device-register": "{"}}}
        await cluster.client.patch(NODES, "bad", broken)
        extender = await cluster.start()
        limits = {"nvidia.com/vcuda-core": 10, "nvidia.com/vcuda-memory": 100}
        answer = await extender.filter(await cluster.add_pod("a", limits), "good", "bad", "gone")
        assert answer["NodeNames"] == ["good"]
        refused = answer["FailedAndUnresolvableNodes"]
        assert set(refused) == {"bad", "gone"}
        assert "tydic.io/nvidia-device-register" in refused["bad"]
        text = 'error finding node name gone from cache, err: node "gone" not found'
        assert refused["gone"] == text

    in_gpu_cluster(scenario, "gpu-scheduler")


@pytest.mark.parametrize("verb", ["filter", "filter-dryrun"])
def test_h11_all_feasible_nodes_pass_and_nothing_is_written(verb: str) -> None:
    async def scenario(cluster: GPUCluster) -> None:
        for name in ("n1", "n2", "n3"):
            await cluster.add_node(name, equal_cards(1, 4))
        extender = await cluster.start()
        pod = await cluster.add_pod("a", share())
        names = {"Pod": pod, "Nodes": None, "NodeNames": ["n1", "n2", "n3"]}
        assert (await extender.ask(verb, names))["NodeNames"] == ["n1", "n2", "n3"]
        nodes = {"items": [await cluster.node(name) for name in ("n1", "n2", "n3")]}
        answer = await extender.ask(verb, {"Pod": pod, "Nodes": nodes, "NodeNames": None})
        assert answer["Nodes"]["items"] == nodes["items"]
        assert await cluster.pod("a") == pod
        assert not extender.ledger.table.used_cores.any()

    in_gpu_cluster(scenario)


def test_h12_pods_that_finish_free_their_cards_at_once() -> None:
    async def scenario(cluster: GPUCluster) -> None:
        await cluster.add_node("n1", equal_cards(1, 4))
        extender = await cluster.start()
        for name, phase in (("a", "Succeeded"), ("b", "Failed")):
            pod = await cluster.add_pod(name, share())
            assert await extender.bind(pod, "n1") == ""
            await cluster.set_phase(name, phase)
            await sleep_virtually(0.1)
            assert not extender.ledger.table.used_cores.any()

    in_gpu_cluster(scenario)


# --- answers that are lost ----------------------------------------------------------------------


class _LosesAnswers:
    """The server does it, and nobody hears so."""

    def __init__(self, client: KubeClient, lost: Any) -> None:
        self._transport = client.transport
        self._lost = lost
        self.stream = client.transport.stream

    async def send(self, request: Request, *, timeout_s: float) -> Reply:
        reply = await self._transport.send(request, timeout_s=timeout_s)
        if self._lost(request):
            raise Unreachable("the answer was lost")
        return reply

    async def close(self) -> None:
        await self._transport.close()


@pytest.mark.parametrize("method", ["PATCH", "POST"])
def test_a_write_whose_answer_is_lost_once_still_binds_the_pod(method: str) -> None:
    times = Times(1)

    async def scenario(cluster: GPUCluster) -> None:
        await cluster.add_node("n1", equal_cards(1, 4))
        extender = await cluster.start(
            lambda client: KubeClient(
                _LosesAnswers(client, lambda request: request.method == method and times())
            )
        )
        pod = await cluster.add_pod("a", share())
        assert await extender.bind(pod, "n1") == ""
        assert (await cluster.pod("a"))["spec"]["nodeName"] == "n1"
        assert extender.ledger.table.used_cores[0, 0] == 60
        assert await extender.bind(pod, "n1") == ""  # whose own answer was lost

    in_gpu_cluster(scenario)


def test_while_nobody_knows_whether_a_pod_is_bound_its_cards_are_held() -> None:
    is_down = False

    def judge(request: Request) -> Reply | Exception | float | None:
        nonlocal is_down
        is_down = is_down or binds(request, "a")
        return Unreachable("the server is down") if is_down else None

    async def scenario(cluster: GPUCluster) -> None:
        nonlocal is_down
        await cluster.add_node("n1", equal_cards(1, 4))
        extender = await cluster.start(moody(judge))
        pod = await cluster.add_pod("a", share())
        assert "the server is down" in await extender.bind(pod, "n1")
        await sleep_virtually(120.0)
        answer = await extender.filter(await cluster.add_pod("b", share()), "n1")
        assert answer["FailedNodes"] == {"n1": "insufficient GPU cores"}
        is_down = False
        await sleep_virtually(120.0)
        assert annotations(await cluster.pod("a")) == {}
        assert not extender.ledger.table.used_cores.any()

    in_gpu_cluster(scenario)


def test_a_pod_that_is_deleted_while_it_is_bound_leaves_nothing() -> None:
    def judge(request: Request) -> Reply | Exception | float | None:
        return 1.0 if binds(request, "a") else None

    async def scenario(cluster: GPUCluster) -> None:
        await cluster.add_node("n1", equal_cards(1, 4))
        extender = await cluster.start(moody(judge))
        pod = await cluster.add_pod("a", share())
        binding = asyncio.create_task(extender.bind(pod, "n1"))
        await sleep_virtually(0.5)
        await cluster.client.delete(PODS, "a", "default", DeleteOptions(grace_period_s=0))
        assert "not found" in await binding
        assert not extender.ledger.table.used_cores.any()
        assert extender.ledger.reservations == {}

    in_gpu_cluster(scenario)


def test_a_restarted_extender_knows_what_the_last_one_decided() -> None:
    async def scenario(cluster: GPUCluster) -> None:
        await cluster.add_node("n1", equal_cards(1, 4))
        first = await cluster.start()
        assert await first.bind(await cluster.add_pod("a", share()), "n1") == ""
        await first.stop()
        second = await cluster.start()
        answer = await second.filter(await cluster.add_pod("b", share()), "n1")
        assert answer["FailedNodes"] == {"n1": "insufficient GPU cores"}

    in_gpu_cluster(scenario)


def test_a_decision_is_never_written_on_a_pod_that_somebody_bound_meanwhile() -> None:
    async def scenario(cluster: GPUCluster) -> None:
        for name in ("n1", "n2"):
            await cluster.add_node(name, equal_cards(1, 4))
        slow = await cluster.start(moody(lambda r: 1.0 if r.method == "PATCH" else None))
        pod = await cluster.add_pod("a", share())
        binding = asyncio.create_task(slow.bind(pod, "n1"))
        await sleep_virtually(0.5)
        await cluster.bind_plainly(pod, "n2")
        assert await binding == "pod default/a: pod default/a is bound to node n2"
        assert annotations(await cluster.pod("a")) == {}
        assert slow.ledger.reservations == {}

    in_gpu_cluster(scenario)
