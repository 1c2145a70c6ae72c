"""Requests that are not about the pod that they name change nothing, whoever sends them."""

import json
from typing import Any

import pytest
from support.addons.gpu.extender_clusters import (
    GPUCluster,
    RunningExtender,
    equal_cards,
    in_gpu_cluster,
)
from support.live.virtual_loop import sleep_virtually

from podium.client import DeleteOptions
from podium.client.resources import NAMESPACES, PODS, PRIORITY_CLASSES

CORE, MEMORY = "tencent.com/vcuda-core", "tencent.com/vcuda-memory"
WHOLE = {CORE: 100, MEMORY: 4}
Names = dict[str, str]


def names_of(pod: Any, **others: str) -> Names:
    metadata = pod["metadata"]
    return {
        "PodName": others.get("name", metadata["name"]),
        "PodNamespace": others.get("namespace", metadata["namespace"]),
        "PodUID": others.get("uid", metadata["uid"]),
        "Node": others.get("node", "n1"),
    }


def renamed(pod: Any, **metadata: str) -> Any:
    return {**pod, "metadata": {**pod["metadata"], **metadata}}


async def full_node(cluster: GPUCluster) -> tuple[RunningExtender, Any, Any, Any]:
    """n1 has two cards, which p1 and p2 hold; p3 waits for one."""
    await cluster.add_node("n1", equal_cards(2, 4))
    extender = await cluster.start()
    pods = [await cluster.add_pod(name, WHOLE) for name in ("p1", "p2", "p3")]
    for pod in pods[:2]:
        assert await extender.bind(pod, "n1") == ""
    return extender, pods[0], pods[1], pods[2]


def card_of(pod: Any) -> str:
    return str(pod["metadata"]["annotations"]["tencent.com/predicate-gpu-idx-0"])


async def assert_full(cluster: GPUCluster, extender: RunningExtender, waiting: Any) -> None:
    """Both cards are held by the two that were bound, and by nobody else."""
    assert extender.ledger.table.used_cores[0].tolist() == [100, 100]
    assert await extender.bind(waiting, "n1") == "node n1: insufficient GPU memory"
    held = [await cluster.pod(name) for name in ("p1", "p2")]
    assert sorted(card_of(pod) for pod in held) == ["0", "1"]
    assert not (await cluster.pod("p3"))["spec"].get("nodeName")


@pytest.mark.parametrize(
    ("others", "said"),
    [
        ({"name": "nobody"}, "pod default/nobody: UID {uid} is that of pod default/p1"),
        ({"name": "p3"}, "pod default/p3: UID {uid} is that of pod default/p1"),
        ({"namespace": "team"}, "pod team/p1: UID {uid} is that of pod default/p1"),
        ({"uid": "made-up"}, "pod default/p1: pod default/p1 is another one now"),
        ({"uid": "made-up", "name": "nobody"}, "pod default/nobody: pod default/nobody is gone"),
        ({"uid": ""}, "pod default/p1: the request names no UID of pod default/p1"),
        ({"node": "n2"}, "pod default/p1: it is bound to node n1 already"),
    ],
)
def test_a_binding_that_misnames_a_pod_frees_no_card(others: Names, said: str) -> None:
    async def scenario(cluster: GPUCluster) -> None:
        extender, first, _, waiting = await full_node(cluster)
        await cluster.add_node("n2", equal_cards(1, 4))
        answer = await extender.ask("bind", names_of(first, **others))
        assert answer["Error"] == said.format(uid=first["metadata"]["uid"])
        await assert_full(cluster, extender, waiting)
        await sleep_virtually(60.0)
        await assert_full(cluster, extender, waiting)

    in_gpu_cluster(scenario)


def test_a_uid_that_nobody_knows_yet_is_not_taken_for_gone() -> None:
    """A pod whose UID was sent with a wrong name before it was seen counts as any other."""

    async def scenario(cluster: GPUCluster) -> None:
        await cluster.add_node("n1", equal_cards(1, 4))
        extender = await cluster.start()
        pod = await cluster.add_pod("a", WHOLE)
        extender.ledger.delete_pod("unrelated", cluster.now())
        assert "is gone" in (await extender.ask("bind", names_of(pod, name="b")))["Error"]
        assert await extender.bind(pod, "n1") == ""
        await sleep_virtually(1.0)
        other = await cluster.add_pod("c", WHOLE)
        assert await extender.bind(other, "n1") == "node n1: insufficient GPU memory"

    in_gpu_cluster(scenario)


def test_a_pod_of_the_same_name_in_another_namespace_is_another_one() -> None:
    async def scenario(cluster: GPUCluster) -> None:
        extender, first, _, waiting = await full_node(cluster)
        head = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "team"}}
        await cluster.client.create(NAMESPACES, head)
        spec = {"containers": first["spec"]["containers"]}
        body = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p1"}, "spec": spec}
        twin = json.loads(await cluster.client.create(PODS, body, "team"))
        answer = await extender.ask("bind", names_of(first, namespace="team"))
        assert "is that of pod default/p1" in answer["Error"]
        assert await extender.bind(twin, "n1") == "node n1: insufficient GPU memory"
        await assert_full(cluster, extender, waiting)

    in_gpu_cluster(scenario)


@pytest.mark.parametrize("verb", ["filter", "filter-dryrun", "predicates"])
def test_a_filter_with_the_uid_of_another_pod_is_an_error(verb: str) -> None:
    """The cards of the other would be free for it."""

    async def scenario(cluster: GPUCluster) -> None:
        extender, first, _, waiting = await full_node(cluster)
        sent = renamed(waiting, uid=first["metadata"]["uid"])
        body = {"Pod": sent, "Nodes": None, "NodeNames": ["n1"]}
        answer = await extender.ask(verb, body)
        assert "is that of pod default/p1" in answer["Error"]
        assert not answer["NodeNames"]
        await assert_full(cluster, extender, waiting)

    in_gpu_cluster(scenario)


@pytest.mark.parametrize("verb", ["prioritize", "preempt"])
def test_other_verbs_refuse_the_uid_of_another_pod(verb: str) -> None:
    async def scenario(cluster: GPUCluster) -> None:
        extender, first, _, waiting = await full_node(cluster)
        sent = renamed(waiting, uid=first["metadata"]["uid"])
        body = {"Pod": sent, "NodeNames": ["n1"]}
        if verb == "preempt":
            body = {"Pod": sent, "NodeNameToMetaVictims": {"n1": {"Pods": []}}}
        answer = await extender.send("POST", f"/scheduler/{verb}", json.dumps(body).encode())
        assert answer.code == 500
        assert b"is that of pod default/p1" in answer.body
        await assert_full(cluster, extender, waiting)

    in_gpu_cluster(scenario)


def test_predicates_decide_about_the_pod_of_the_server_and_not_about_what_is_sent() -> None:
    """A body that asks for less, or carries a decision that nobody made, is no way to more."""

    async def scenario(cluster: GPUCluster) -> None:
        await cluster.add_node("n1", equal_cards(1, 4))
        extender = await cluster.start()
        pod = await cluster.add_pod("a", WHOLE)
        less = json.loads(json.dumps(pod).replace('"100"', '"10"'))
        less["metadata"]["annotations"] = {"tencent.com/predicate-node": "n2"}
        body = {"Pod": less, "Nodes": None, "NodeNames": ["n1"]}
        assert (await extender.ask("predicates", body))["NodeNames"] == ["n1"]
        assert extender.ledger.table.used_cores[0, 0] == 100
        stored = await cluster.pod("a")
        assert stored["metadata"]["annotations"]["tencent.com/predicate-node"] == "n1"

    in_gpu_cluster(scenario)


@pytest.mark.parametrize(
    "others", [{"name": "nobody"}, {"namespace": "kube-system"}, {"uid": "made-up"}]
)
def test_predicates_write_on_no_pod_that_is_not_there(others: Names) -> None:
    async def scenario(cluster: GPUCluster) -> None:
        await cluster.add_node("n1", equal_cards(1, 4))
        extender = await cluster.start()
        pod = await cluster.add_pod("a", WHOLE)
        body = {"Pod": renamed(pod, **others), "Nodes": None, "NodeNames": ["n1"]}
        answer = await extender.ask("predicates", body)
        assert answer["Error"]
        assert extender.ledger.reservations == {}
        assert not extender.ledger.table.used_cores.any()
        assert await cluster.pod("a") == pod

    in_gpu_cluster(scenario)


def test_a_pod_without_cards_is_bound_to_no_node_that_is_not_there() -> None:
    async def scenario(cluster: GPUCluster) -> None:
        await cluster.add_node("n1", equal_cards(1, 4))
        extender = await cluster.start()
        pod = await cluster.add_pod("plain", {"cpu": 1})
        assert "not found" in await extender.bind(pod, "n9")
        assert not (await cluster.pod("plain"))["spec"].get("nodeName")
        assert await extender.bind(pod, "n1") == ""

    in_gpu_cluster(scenario)


def test_a_victim_of_another_node_is_struck_out() -> None:
    async def scenario(cluster: GPUCluster) -> None:
        for name in ("n1", "n2"):
            await cluster.add_node(name, equal_cards(1, 4))
        head = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "value": 10}
        await cluster.client.create(PRIORITY_CLASSES, {**head, "metadata": {"name": "important"}})
        extender = await cluster.start()
        here, there = [await cluster.add_pod(name, WHOLE) for name in ("here", "there")]
        assert await extender.bind(here, "n1") == ""
        assert await extender.bind(there, "n2") == ""
        pod = await cluster.add_pod("a", WHOLE, spec={"priorityClassName": "important"})
        uids = [{"UID": each["metadata"]["uid"]} for each in (there, here)]
        body = {"Pod": pod, "NodeNameToMetaVictims": {"n1": {"Pods": uids}}}
        answer = await extender.ask("preempt", body)
        assert answer["NodeNameToMetaVictims"]["n1"]["Pods"] == uids[1:]

    in_gpu_cluster(scenario)


# --- decisions that the extender did not make -----------------------------------------------------


def squatting(node: str, at: float) -> Names:
    """What the extender writes on a pod, by somebody who may write on his own pod."""
    return {
        "tencent.com/predicate-node": node,
        "tencent.com/predicate-gpu-idx-0": "0",
        "tencent.com/predicate-time": str(round(at * 1e9)),
        "tencent.com/gpu-assigned": "false",
        "nvidia.com/stuck-grace-period": "100000h",
    }


@pytest.mark.parametrize("ahead_s", [0.0, 20.0, 1e6])
def test_a_pod_that_nobody_decided_about_holds_no_card(ahead_s: float) -> None:
    async def scenario(cluster: GPUCluster) -> None:
        await cluster.add_node("n1", equal_cards(1, 4))
        extender = await cluster.start()
        await sleep_virtually(31.0)
        written = squatting("n1", cluster.now() + ahead_s)
        await cluster.add_pod("squatter", WHOLE, annotations=written)
        await sleep_virtually(1.0)
        pod = await cluster.add_pod("a", WHOLE)
        assert (await extender.filter(pod, "n1"))["NodeNames"] == ["n1"]
        assert await extender.bind(pod, "n1") == ""

    in_gpu_cluster(scenario)


def test_what_a_pod_says_of_itself_holds_cards_for_the_grace_period_of_a_restart_at_most() -> None:
    """Nobody can tell it from a decision of the extender before; writing it again is no use."""

    async def scenario(cluster: GPUCluster) -> None:
        await cluster.add_node("n1", equal_cards(1, 4))
        await cluster.add_pod("squatter", WHOLE, annotations=squatting("n1", cluster.now()))
        extender = await cluster.start()
        pod = await cluster.add_pod("a", WHOLE)
        answer = await extender.filter(pod, "n1")
        assert answer["FailedNodes"] == {"n1": "insufficient GPU memory"}
        for _ in range(4):
            await sleep_virtually(10.0)
            again = {"metadata": {"annotations": squatting("n1", cluster.now())}}
            await cluster.client.patch(PODS, "squatter", again, "default")
        await sleep_virtually(1.0)
        assert await extender.bind(pod, "n1") == ""

    in_gpu_cluster(scenario)


def test_a_pod_that_was_decided_about_and_never_bound_holds_its_cards_no_longer_than_others() -> (
    None
):
    async def scenario(cluster: GPUCluster) -> None:
        await cluster.add_node("n1", equal_cards(1, 4))
        extender = await cluster.start()
        patient = {"nvidia.com/stuck-grace-period": "100000h"}
        pod = await cluster.add_pod("a", WHOLE, annotations=patient)
        body = {"Pod": pod, "Nodes": None, "NodeNames": ["n1"]}
        assert (await extender.ask("predicates", body))["NodeNames"] == ["n1"]
        other = await cluster.add_pod("b", WHOLE)
        assert await extender.bind(other, "n1") == "node n1: insufficient GPU memory"
        await sleep_virtually(25.0)
        assert await extender.bind(other, "n1") == "node n1: insufficient GPU memory"
        await sleep_virtually(10.0)
        assert await extender.bind(other, "n1") == ""

    in_gpu_cluster(scenario)


@pytest.mark.parametrize("form", ["NodeNameToMetaVictims", "NodeNameToVictims"])
def test_a_victim_that_is_named_twice_frees_its_cards_once_and_holds_them_once(form: str) -> None:
    """Else one request would take the cards of its node away for good."""

    async def scenario(cluster: GPUCluster) -> None:
        extender, first, second, waiting = await full_node(cluster)
        uids = [first["metadata"]["uid"]] * 3 + [second["metadata"]["uid"]]
        pods = [first] * 3 + [second] if "Meta" not in form else [{"UID": uid} for uid in uids]
        body = {"Pod": waiting, form: {"n1": {"Pods": pods, "NumPDBViolations": 0}}}
        answer = (await extender.ask("preempt", body))["NodeNameToMetaVictims"]
        assert [pod["UID"] for pod in answer["n1"]["Pods"]] == [uids[0], uids[-1]]
        await assert_full(cluster, extender, waiting)
        body = {"Pod": first, form: {"n1": {"Pods": pods[:1], "NumPDBViolations": 0}}}
        await extender.ask("preempt", body)
        await assert_full(cluster, extender, waiting)
        await cluster.client.delete(PODS, "p1", "default", DeleteOptions(grace_period_s=0))
        await sleep_virtually(1.0)
        assert await extender.bind(waiting, "n1") == ""

    in_gpu_cluster(scenario)
