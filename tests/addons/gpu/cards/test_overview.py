"""What one sees of a cluster's cards."""

from typing import Any

import msgspec
import pytest

from podium.addons.gpu.cards.allocations import Allocation, CardShare
from podium.addons.gpu.cards.card import Card, Reason
from podium.addons.gpu.cards.overview import (
    DialectView,
    latest_moment,
    view_devices,
    view_dialect,
    view_model_quotas,
    view_quotas,
)
from podium.addons.gpu.cards.quota import InvalidQuota
from podium.addons.gpu.dialects import DIALECTS, find_dialect
from podium.addons.gpu.dialects.dialect import NodeWrite, Phase, PodWrite
from podium.addons.gpu.dialects.dialect_detection import count_unshared, find_spoken_dialects
from podium.kubernetes.kinds.devices import ResourceClaim, ResourceSlice
from podium.kubernetes.kinds.node import Node
from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.kinds.workloads import ResourceQuota

NOW = 1_800_000_000.0
HAMI = find_dialect("hami")
MANAGER = find_dialect("gpu-manager")
CARDS = tuple(
    Card(index=at, uuid=f"GPU-{at}", model="NVIDIA T4", memory=16384, slots=10) for at in range(2)
)


def node(name: str, write: NodeWrite | None = None, labels: dict[str, str] | None = None) -> Node:
    write = write or HAMI.register(CARDS, NOW)
    return msgspec.convert(
        {
            "metadata": {
                "name": name,
                "labels": labels or {},
                "annotations": {key: text for key, text in write.annotations.items() if text},
            },
            "status": {"capacity": write.capacity, "allocatable": write.capacity},
        },
        Node,
    )


def pod(name: str, on: str = "", limits: dict[str, str] | None = None, **metadata: Any) -> Pod:
    limits = limits or {"nvidia.com/gpu": "1", "nvidia.com/gpumem": "4096"}
    return msgspec.convert(
        {
            "metadata": {"name": name, "namespace": "default", **metadata},
            "spec": {
                "nodeName": on,
                "containers": [{"name": "c", "resources": {"limits": limits}}],
            },
            "status": {"phase": "Running" if on else "Pending"},
        },
        Pod,
    )


def with_share(of: Pod, decided_on: str, card: int = 0, cores: int = 30, at: float = NOW) -> Pod:
    cards = HAMI.node_cards(node(decided_on), NOW)
    given = Allocation(containers=((CardShare(card, cores, 4096),),))
    return written(of, HAMI.write_decision(of, decided_on, cards, given, at))


def written(of: Pod, write: PodWrite) -> Pod:
    metadata = of.metadata
    kept = {key: text for key, text in write.annotations.items() if text is not None}
    annotations = {**(metadata.annotations or {}), **kept}
    return msgspec.structs.replace(
        of, metadata=msgspec.structs.replace(metadata, annotations=annotations)
    )


def view(nodes: list[Node], *pods: Pod) -> DialectView:
    return view_dialect(HAMI, nodes, pods, NOW)


def test_cards_are_shown_with_the_pods_that_share_them() -> None:
    first = with_share(pod("first", "n1"), "n1")
    second = written(
        with_share(pod("second", "n1"), "n1"), PodWrite({"hami.io/bind-phase": "success"})
    )
    seen = view([node("n1"), node("n2")], first, second)
    busy, idle = seen.nodes[0].cards
    assert [(owner.name, owner.phase) for owner in busy.owners] == [
        ("first", Phase.RESERVED),
        ("second", Phase.CONFIRMED),
    ]
    assert (busy.used.cores, busy.used.memory, busy.used.slots) == (60, 8192, 2)
    assert idle.owners == ()
    assert (seen.fragmentation.cards, seen.fragmentation.idle_cards) == (4, 3)
    assert seen.fragmentation.free_cores_in_pieces == 40
    assert seen.uncounted == ()


def test_a_decision_of_a_pod_that_is_not_bound_yet_holds_cards() -> None:
    seen = view([node("n1")], with_share(pod("soon"), "n1"))
    assert [owner.name for owner in seen.nodes[0].cards[0].owners] == ["soon"]
    assert seen.waiting == ()


@pytest.mark.parametrize(
    ("held", "why"),
    [
        (with_share(pod("p", "n2"), "n1"), "the pod is bound to another node"),
        (with_share(pod("p"), "n1", at=NOW - 60), "the pod was not bound in time"),
        (pod("p", "n1"), "it is bound, and no decision says which cards it has"),
        (with_share(pod("p", "gone"), "gone"), "there is no node gone"),
        (
            written(with_share(pod("p", "n1"), "n1"), PodWrite({"hami.io/bind-phase": "failed"})),
            "the agent could not give the pod its cards",
        ),
        (
            written(
                with_share(pod("p", "n1"), "n1"),
                PodWrite({"hami.io/vgpu-devices-allocated": "GPU-9,NVIDIA,1,1:;"}),
            ),
            "the node has no card 'GPU-9'",
        ),
        (
            pod("p", limits={"nvidia.com/gpumem": "1"}),
            "container c asks for a share without nvidia.com/gpu",
        ),
    ],
)
def test_a_pod_that_does_not_count_is_told_with_its_reason(held: Pod, why: str) -> None:
    seen = view([node("n1"), node("n2")], held)
    ((pod_seen),) = seen.uncounted
    assert why in pod_seen.why
    assert seen.fragmentation.idle_cards == 4


def test_pods_that_wait_are_told_with_what_they_ask_for() -> None:
    seen = view([node("n1")], pod("waits"), pod("plain", limits={"cpu": "1"}))
    (waiting,) = seen.waiting
    (request,) = waiting.request.containers
    assert (waiting.name, request and request.memory) == ("waits", 4096)


def test_nodes_without_an_agent_are_left_out_and_bad_ones_are_told() -> None:
    bad = node("bad", NodeWrite(annotations={"hami.io/node-nvidia-register": "junk"}))
    seen = view([node("plain", NodeWrite()), bad, node("n1")])
    assert [(each.name, each.refusal) for each in seen.nodes] == [
        ("bad", Reason.BAD_REGISTRATION),
        ("n1", None),
    ]
    assert "neither JSON nor cards" in seen.nodes[0].detail


def test_cards_that_a_config_map_calls_broken_are_shown_as_such() -> None:
    speaks = find_dialect("gpushare")
    shared = node(
        "n1", NodeWrite(capacity={"aliyun.com/gpu-mem": "32", "aliyun.com/gpu-count": "2"})
    )
    told = {("kube-system", "unhealthy-gpu-n1"): {"gpus": "1"}}
    seen = view_dialect(speaks, [shared], (), NOW, told)
    assert [card.card.healthy for card in seen.nodes[0].cards] == [True, False]
    assert seen.fragmentation.cards == 1


# --- which dialect, and when --------------------------------------------------------------------


@pytest.mark.parametrize("name", sorted(DIALECTS))
def test_a_dialect_is_told_by_what_its_agents_write(name: str) -> None:
    speaks = find_dialect(name)
    unit = speaks.memory_unit
    cards = [msgspec.structs.replace(card, memory=(15 << 30) // unit) for card in CARDS]
    nodes = [node("n1", speaks.register(cards, NOW)), node("plain", NodeWrite())]
    assert find_spoken_dialects(nodes) == {name: 1}


def test_several_dialects_are_told_the_most_spoken_first() -> None:
    nodes = [node("a", MANAGER.register(CARDS, NOW)), node("b"), node("c")]
    assert list(find_spoken_dialects(nodes).items()) == [("hami", 2), ("gpu-manager", 1)]


def test_whole_cards_without_an_agent_are_counted() -> None:
    whole = node("n1", NodeWrite(capacity={"nvidia.com/gpu": "8"}))
    assert count_unshared([whole, node("n2"), node("plain", NodeWrite())]) == 1


@pytest.mark.parametrize("name", ["gpu-scheduler", "hami", "gpu-manager"])
def test_what_stands_in_files_is_judged_by_the_last_moment_that_they_tell_of(name: str) -> None:
    speaks = find_dialect(name)
    fresh, silent = speaks.register(CARDS, NOW), speaks.register(CARDS, NOW - 3600)
    nodes = [node("fresh", fresh), node("silent", silent)]
    dated = pod("p", creationTimestamp="2027-01-15T08:00:00Z")
    at = latest_moment(speaks, nodes, [dated])
    assert at == NOW
    refused = [each.refusal for each in view_dialect(speaks, nodes, (), at).nodes]
    silence = Reason.HEARTBEAT_TIMEOUT if name == "gpu-scheduler" else None
    assert refused == [None, silence]


# --- quotas ---------------------------------------------------------------------------------------


def test_limits_of_resource_quotas_are_shown_with_what_is_used() -> None:
    quota = msgspec.convert(
        {
            "metadata": {"name": "gpus", "namespace": "team"},
            "spec": {"hard": {"limits.nvidia.com/gpumem": "100", "cpu": "4"}},
            "status": {
                "hard": {"limits.nvidia.com/gpumem": "100", "cpu": "4"},
                "used": {"limits.nvidia.com/gpumem": "40"},
            },
        },
        ResourceQuota,
    )
    (shown,) = view_quotas(HAMI.resources, [quota])
    assert (shown.namespace, shown.resource, shown.used, shown.hard) == (
        "team",
        "limits.nvidia.com/gpumem",
        "40",
        "100",
    )


def test_quotas_by_model_are_shown_with_the_cores_that_are_used() -> None:
    labelled = node("n1", labels={"gaia.tencent.com/gpu-model": "T4"})
    limits = {"tencent.com/vcuda-core": "200", "tencent.com/vcuda-memory": "1"}
    text = '{"default": {"quota": {"T4": 3, "A100": 1}, "pool": ["fast"]}, "other": null}'
    pods = [pod("p", "n1", limits=limits), pod("q", "n2", limits=limits)]
    shown = view_model_quotas(MANAGER, text, [labelled], pods)
    assert [(each.model, each.cards, each.used_cards, each.pools) for each in shown] == [
        ("A100", 1, 0, ("fast",)),
        ("T4", 3, 2, ("fast",)),
    ]
    with pytest.raises(InvalidQuota):
        view_model_quotas(MANAGER, "[]", [], [])


# --- dynamic resource allocation ---------------------------------------------------------------


def resource_slice(pool: str, generation: int, *names: str, driver: str = "gpu.nvidia.com") -> Any:
    attributes = {"productName": {"string": "NVIDIA H100"}}
    capacity = {"memory": {"value": "80Gi"}}
    return msgspec.convert(
        {
            "metadata": {"name": f"{pool}-{generation}"},
            "spec": {
                "driver": driver,
                "nodeName": pool,
                "pool": {"name": pool, "generation": generation, "resourceSliceCount": 1},
                "devices": [
                    {"name": name, "attributes": attributes, "capacity": capacity} for name in names
                ],
            },
        },
        ResourceSlice,
    )


def claim(name: str, device: str, *, admin: bool = False) -> ResourceClaim:
    result = {"driver": "gpu.nvidia.com", "pool": "n1", "device": device, "adminAccess": admin}
    return msgspec.convert(
        {
            "metadata": {"name": name, "namespace": "default"},
            "status": {
                "allocation": {"devices": {"results": [result]}},
                "reservedFor": [{"resource": "pods", "name": f"{name}-pod", "uid": "1"}],
            },
        },
        ResourceClaim,
    )


def test_devices_are_shown_with_the_claims_that_have_them() -> None:
    slices = [resource_slice("n1", 2, "gpu-0", "gpu-1"), resource_slice("n1", 1, "old")]
    seen = view_devices(slices, [claim("train", "gpu-1"), claim("look", "gpu-0", admin=True)])
    assert [(device.name, device.model) for device in seen.devices] == [
        ("gpu-0", "NVIDIA H100"),
        ("gpu-1", "NVIDIA H100"),
    ]
    assert seen.devices[0].holders == ()
    (holder,) = seen.devices[1].holders
    assert (holder.claim, holder.pods) == ("train", ("train-pod",))


def test_devices_of_claims_that_no_slice_has_are_told_and_other_drivers_counted() -> None:
    others = resource_slice("n1", 1, "nic-0", driver="dra.net")
    seen = view_devices([others], [claim("train", "gpu-7")])
    assert (seen.devices, seen.others) == ((), 1)
    ((name, holder),) = seen.unknown
    assert (name, holder.claim) == ("gpu.nvidia.com/n1/gpu-7", "train")
