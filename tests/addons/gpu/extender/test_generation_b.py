"""Generation B's wiring: bodies as kube-scheduler sends them, answers as gpu-admission's."""

import json
from typing import Any

from support.addons.gpu.extender_clusters import GPUCluster, equal_cards, in_gpu_cluster

NODES = ("testnode0", "testnode1", "testnode2")
CORE, MEMORY = "tencent.com/vcuda-core", "tencent.com/vcuda-memory"
INDEX = "tencent.com/predicate-gpu-idx-"

VECTORS: tuple[tuple[str, tuple[tuple[int, int], ...], str, dict[str, str], tuple[str, ...]], ...]
VECTORS = (
    ("pod-0", ((10, 1), (10, 1)), "testnode0", {"0": "0", "1": "0"}, ()),
    ("pod-1", ((100, 3), (80, 3)), "testnode1", {"0": "0", "1": "1"}, ("testnode0",)),
    ("pod-2", ((200, 10), (0, 0)), "testnode2", {"0": "0,1"}, ("testnode1", "testnode0")),
    ("pod-3", ((10, 2), (0, 0)), "testnode0", {"0": "0"}, ("testnode2", "testnode1")),
    ("pod-4", ((50, 2),), "testnode0", {"0": "1"}, ("testnode2", "testnode1")),
    ("pod-5", ((100, 1),), "", {}, NODES),
    ("pod-6", ((40, 1), (40, 1)), "", {}, NODES),
)


def limits(cores: int, memory: int) -> dict[str, int]:
    return {CORE: cores, MEMORY: memory} if cores or memory else {}


async def node_list(cluster: GPUCluster) -> bytes:
    """Nodes as Go writes them into ExtenderArgs: one after the other, without their kinds."""
    items = []
    for name in NODES:
        node = await cluster.node(name)
        items.append({key: node[key] for key in ("metadata", "spec", "status")})
    return json.dumps(items, separators=(",", ":")).encode()


async def args_of(cluster: GPUCluster, pod: Any) -> bytes:
    sent = json.dumps({key: pod[key] for key in ("metadata", "spec", "status")}).encode()
    items = await node_list(cluster)
    return (
        b'{"Pod":' + sent + b',"Nodes":{"metadata":{},"items":' + items + b'},"NodeNames":null}\n'
    )


def test_the_vectors_pass_over_http_byte_by_byte() -> None:
    async def scenario(cluster: GPUCluster) -> None:
        for name in NODES:
            await cluster.add_node(name, equal_cards(2, 4))
        extender = await cluster.start()
        for name, containers, chosen, indexes, refused in VECTORS:
            pod = await cluster.add_pod(name, *(limits(*each) for each in containers))
            body = await args_of(cluster, pod)
            answer = await extender.send("POST", "/scheduler/predicates", body)
            assert (answer.code, answer.headers["content-type"]) == (200, "application/json")
            uid = pod["metadata"]["uid"]
            later = [each for each in NODES if each not in (chosen, *refused)]
            order = [*refused, *sorted(later)]
            failed = {
                each: f"pod {uid} does not match with this node"
                if each in refused
                else f"pod {uid} has already been matched to another node"
                for each in order
            }
            sent = json.loads(await node_list(cluster))
            kept = [each for each in sent if each["metadata"]["name"] == chosen]
            answered = answer.decoded()
            assert answered["FailedNodes"] == failed, name
            assert answered["Nodes"] == {"metadata": {}, "items": kept}
            assert list(answered) == [
                *("Nodes", "NodeNames", "FailedNodes", "FailedAndUnresolvableNodes", "Error")
            ]
            assert (answered["NodeNames"], answered["Error"]) == (None, "")
            written = (await cluster.pod(name))["metadata"].get("annotations", {})
            if not chosen:
                assert written == {}
                continue
            time = written.pop("tencent.com/predicate-time")
            assert len(time) == 19
            assert written == {
                "tencent.com/predicate-node": chosen,
                "tencent.com/gpu-assigned": "false",
                **{f"{INDEX}{at}": cards for at, cards in indexes.items()},
            }
            await cluster.bind_plainly(pod, chosen)

    in_gpu_cluster(scenario)


def test_an_answer_has_the_bytes_that_gpu_admission_would_send() -> None:
    async def scenario(cluster: GPUCluster) -> None:
        await cluster.add_node("testnode0", equal_cards(2, 4))
        extender = await cluster.start()
        pod = await cluster.add_pod("pod-0", limits(10, 1))
        node = b'{"metadata":{"name":"testnode0","creationTimestamp":null},"spec":{}}'
        other = b'{"metadata":{"name":"cpu-node"},"spec":{"podCIDR":"10.0.0.0/24"}}'
        sent = json.dumps(pod).encode()
        body = b'{"Pod":' + sent + b',"Nodes":{"metadata":{},"items":['
        body += node + b"," + other + b']},"NodeNames":null}'
        answer = await extender.send("POST", "/scheduler/predicates", body)
        failed = b'{"cpu-node":"no GPU device"}'
        assert answer.body == (
            b'{"Nodes":{"metadata":{},"items":['
            + node
            + b']},"NodeNames":null,"FailedNodes":'
            + failed
            + b',"FailedAndUnresolvableNodes":{},"Error":""}'
        )

    in_gpu_cluster(scenario)
