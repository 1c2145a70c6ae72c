"""What pods ask HAMi for, and the annotations that it and its agent exchange."""

import json

import pytest
from support.addons.gpu.dialect_objects import NOW, container, pod, written

from podium.addons.gpu.cards.allocations import Allocation, CardShare
from podium.addons.gpu.cards.card import Card, MigProfile, NodeCards
from podium.addons.gpu.cards.requests import (
    CardKey,
    CardSelector,
    CardTopology,
    ContainerRequest,
    NodePolicy,
    ScoreWeights,
)
from podium.addons.gpu.dialects import find_dialect
from podium.addons.gpu.dialects.dialect import InvalidRequest, Phase

GPU, MEMORY = "nvidia.com/gpu", "nvidia.com/gpumem"
PERCENT, CORES = "nvidia.com/gpumem-percentage", "nvidia.com/gpucores"
DIALECT = find_dialect("hami")
CARDS = NodeCards(cards=(Card(0, "GPU-a", memory=8192), Card(1, "GPU-b", memory=8192)))


def request(**more: int) -> ContainerRequest:
    fields = {"cards": 1, "cores": 0, "memory": 0, "memory_percent": None, **more}
    return ContainerRequest(
        **fields,  # type: ignore[arg-type]
        exclusive=fields["cores"] == 100,
    )


@pytest.mark.parametrize(
    ("limits", "asked"),
    [
        ({GPU: 1}, request(memory_percent=100, cores=100)),
        ({GPU: 2, MEMORY: 3000, CORES: 30}, request(cards=2, memory=3000, cores=30)),
        ({GPU: 1, MEMORY: 3000}, request(memory=3000)),
        ({GPU: 1, PERCENT: 50}, request(memory_percent=50)),
        ({GPU: 1, PERCENT: 100}, request(memory_percent=100, cores=100)),
        ({GPU: 1, PERCENT: 250, CORES: 10}, request(memory_percent=100, cores=10)),
        ({GPU: 1, PERCENT: 0, CORES: 10}, request(memory_percent=100, cores=10)),
        ({GPU: 1, MEMORY: 3000, PERCENT: 50}, request(memory=3000)),
        ({GPU: 1, CORES: 40}, request(memory_percent=100, cores=40)),
        ({GPU: 1, MEMORY: 3000, CORES: 100}, request(memory=3000, cores=100)),
        ({GPU: 1, MEMORY: 3000, CORES: 700}, request(memory=3000, cores=100)),
    ],
)
def test_what_is_not_said_has_hamis_defaults(
    limits: dict[str, int], asked: ContainerRequest
) -> None:
    found = DIALECT.pod_request(pod(limits))
    assert found is not None
    assert found.containers == (asked,)


def test_requests_are_read_where_there_are_no_limits() -> None:
    requests = {"name": "c0", "resources": {"requests": {GPU: 1, MEMORY: 5}}}
    found = DIALECT.pod_request(pod(requests))
    assert found is not None
    assert found.containers == (request(memory=5),)


def test_pods_without_cards_are_not_for_gpus() -> None:
    assert DIALECT.pod_request(pod({"cpu": 1}, {GPU: 0})) is None


@pytest.mark.parametrize(
    ("limits", "says"),
    [
        ({MEMORY: 3000}, "asks for a share without nvidia.com/gpu"),
        ({CORES: 30}, "asks for a share without nvidia.com/gpu"),
        ({GPU: 1, MEMORY: "3Gi"}, "counts megabytes"),
        ({GPU: 1000}, "more than 128 cards"),
        ({GPU: 1, MEMORY: "-1"}, "not between 0"),
    ],
)
def test_requests_that_no_card_can_serve_are_invalid(
    limits: dict[str, int | str], says: str
) -> None:
    with pytest.raises(InvalidRequest, match=says):
        DIALECT.pod_request(pod(limits))


def test_init_containers_and_sidecars_ask_as_well() -> None:
    share = {GPU: 1, MEMORY: 100}
    found = DIALECT.pod_request(
        pod(
            {"cpu": 1},
            init=(
                container("load", share),
                container("log", share, restartPolicy="Always"),
            ),
        )
    )
    assert found is not None
    assert found.containers == (None,)
    assert found.init_containers == (request(memory=100), request(memory=100))
    assert found.sidecars == (False, True)


def test_policies_default_to_full_nodes_and_empty_cards() -> None:
    found = DIALECT.pod_request(pod({GPU: 1}))
    assert found is not None
    assert found.node_policy is NodePolicy.BINPACK
    assert found.card_order == (CardKey.EMPTIEST,)
    assert (found.idle_only, found.topology) == (False, CardTopology.NONE)
    assert (found.selector, found.weights) == (CardSelector(), ScoreWeights())


@pytest.mark.parametrize(
    ("policy", "order", "idle", "topology"),
    [
        ("binpack", (CardKey.FULLEST,), False, CardTopology.NONE),
        ("spread", (CardKey.EMPTIEST,), False, CardTopology.NONE),
        ("numa", (CardKey.NUMA,), False, CardTopology.NONE),
        ("mutex", (CardKey.EMPTIEST,), True, CardTopology.NONE),
        ("topology-aware", (CardKey.EMPTIEST,), False, CardTopology.LINK),
        ("numa, binpack, numa", (CardKey.NUMA, CardKey.FULLEST), False, CardTopology.NONE),
        ("mutex,binpack", (CardKey.FULLEST,), True, CardTopology.NONE),
        ("whatever", (CardKey.EMPTIEST,), False, CardTopology.NONE),
    ],
)
def test_a_cards_policy_is_a_chain(
    policy: str, order: tuple[CardKey, ...], idle: bool, topology: CardTopology
) -> None:
    annotations = {"hami.io/gpu-scheduler-policy": policy}
    found = DIALECT.pod_request(pod({GPU: 1}, annotations=annotations))
    assert found is not None
    assert (found.card_order, found.idle_only, found.topology) == (order, idle, topology)


def test_what_annotations_choose() -> None:
    annotations = {
        "hami.io/node-scheduler-policy": "spread",
        "hami.io/device-scoring-weights": "slot=1, core=0,memory=3",
        "nvidia.com/use-gputype": "A100,V100",
        "nvidia.com/nouse-gputype": "1080",
        "nvidia.com/use-gpuuuid": "GPU-a, GPU-b",
        "nvidia.com/nouse-gpuuuid": "GPU-c",
        "nvidia.com/numa-bind": "true",
        "nvidia.com/vgpu-mode": "mps",
    }
    found = DIALECT.pod_request(pod({GPU: 1}, annotations=annotations))
    assert found is not None
    assert found.node_policy is NodePolicy.SPREAD
    assert found.weights == ScoreWeights(slots=1, cores=0, memory=3)
    assert found.topology is CardTopology.NUMA_STRICT
    assert found.selector == CardSelector(
        models=("A100", "V100"),
        not_models=("1080",),
        uuids=("GPU-a", "GPU-b"),
        not_uuids=("GPU-c",),
        modes=("mps",),
    )


@pytest.mark.parametrize(("mode", "mig"), [("mig", True), ("hami-core", False), ("", False)])
def test_instances_are_for_pods_that_ask_for_the_mode(mode: str, mig: bool) -> None:
    annotations = {"nvidia.com/vgpu-mode": mode}
    found = DIALECT.pod_request(pod({GPU: 1}, annotations=annotations))
    assert found is not None
    assert found.containers[0] is not None
    assert found.containers[0].mig is mig


@pytest.mark.parametrize(
    "weights",
    ["", "slot=1", "slot=0,core=0,memory=0", "slot=1,core=1,memory=-1", "slot=1,slot=1,memory=1"],
)
def test_weights_that_make_no_sense_are_invalid(weights: str) -> None:
    annotations = {"hami.io/device-scoring-weights": weights}
    with pytest.raises(InvalidRequest, match="slot=1,core=1,memory=3"):
        DIALECT.pod_request(pod({GPU: 1}, annotations=annotations))


def test_a_decision_lists_containers_and_their_cards() -> None:
    share = {GPU: 1, MEMORY: 3000}
    asking = pod({"cpu": 1}, {GPU: 2, MEMORY: 10}, init=(container("load", share),))
    taken = Allocation(
        init_containers=((CardShare(0, 0, 3000),),),
        containers=((), (CardShare(0, 5, 10), CardShare(1, 5, 10))),
        sidecars=(False,),
    )
    decided = written(asking, DIALECT.write_decision(asking, "n1", CARDS, taken, NOW + 0.9))
    text = "GPU-a,NVIDIA,3000,0:;;GPU-a,NVIDIA,10,5:GPU-b,NVIDIA,10,5:;"
    assert decided.metadata.annotations == {
        "hami.io/vgpu-node": "n1",
        "hami.io/vgpu-time": "1800000000",
        "hami.io/vgpu-devices-to-allocate": text,
        "hami.io/vgpu-devices-allocated": text,
    }
    assert decided.metadata.labels == {"hami.io/vgpu-node": "n1"}
    binding = written(decided, DIALECT.write_binding(decided, NOW + 2))
    assert binding.metadata.annotations is not None
    assert binding.metadata.annotations["hami.io/bind-time"] == "1800000002"
    assert binding.metadata.annotations["hami.io/bind-phase"] == "allocating"
    confirmed = written(binding, DIALECT.confirm(binding))
    assert confirmed.metadata.annotation("hami.io/vgpu-devices-to-allocate") == ";;;"
    refused = written(binding, DIALECT.refuse(binding))
    phases = {Phase.RESERVED: binding, Phase.CONFIRMED: confirmed, Phase.FAILED: refused}
    for phase, each in phases.items():
        decision = DIALECT.decision(each, CARDS)
        assert decision is not None
        assert (decision.node, decision.decided_at, decision.phase) == ("n1", NOW, phase)
        assert (decision.allocation, decision.problem) == (taken, "")
        cleared = written(each, DIALECT.clear_decision(each))
        assert (cleared.metadata.annotations, cleared.metadata.labels) == ({}, {})


def test_a_new_decision_takes_back_that_the_last_one_failed() -> None:
    failed = pod({GPU: 1}, annotations={"hami.io/bind-phase": "failed"})
    taken = Allocation(containers=((CardShare(0, 100, 8192),),))
    write = DIALECT.write_decision(failed, "n1", CARDS, taken, NOW)
    assert write.annotations["hami.io/bind-phase"] is None


def test_long_names_of_nodes_are_no_labels() -> None:
    taken = Allocation(containers=((CardShare(0, 0, 1),),))
    name = "n" * 100
    assert DIALECT.write_decision(pod({GPU: 1}), name, CARDS, taken, NOW).labels == {}


def test_instances_of_cards_in_mig_mode_are_named_beside() -> None:
    profile = MigProfile("1g.5gb", memory=5120, cores=14, width=1, placements=(5, 6))
    cards = NodeCards(cards=(Card(0, "GPU-a", memory=40960, profiles=(profile,)),))
    asking = pod({GPU: 1, MEMORY: 5000})
    taken = Allocation(containers=((CardShare(0, 14, 5120, "1g.5gb", 6, 1),),))
    decided = written(asking, DIALECT.write_decision(asking, "n1", cards, taken, NOW))
    text = decided.metadata.annotation("hami.io/vgpu-mig-allocations")
    assert json.loads(text) == [
        {
            "containerIndex": 0,
            "deviceIndex": 0,
            "gpuUUID": "GPU-a",
            "profile": "1g.5gb",
            "placement": {"start": 6, "size": 1},
        }
    ]
    decision = DIALECT.decision(decided, cards)
    assert decision is not None
    assert decision.allocation == taken


@pytest.mark.parametrize(
    ("text", "counted", "says"),
    [
        ("GPU-a,NVIDIA,much,0:;", (), "memory 'much'"),
        ("GPU-a,NVIDIA,1:;", (), "is not uuid,type,memory,cores"),
        ("GPU-z,NVIDIA,1,1:;", (), "the node has no card 'GPU-z'"),
        ("GPU-z,NVIDIA,1,1:GPU-a,NVIDIA,1,2:;", (CardShare(0, 2, 1),), "no card 'GPU-z'"),
        (";;GPU-a,NVIDIA,1,1:;", (), "decision has 3 containers, the pod has 1"),
        ("GPU-a,NVIDIA,1,-1:;", (), "cores '-1'"),
        ("GPU-a,NVIDIA,1,1:" * 300, (), "more than 128 cards"),
        ("x" * 300_000, (), "longer than"),
    ],
)
def test_what_cannot_be_read_counts_nothing_and_is_named(
    text: str, counted: tuple[CardShare, ...], says: str
) -> None:
    annotations = {
        "hami.io/vgpu-node": "n1",
        "hami.io/vgpu-time": "1800000000",
        "hami.io/vgpu-devices-allocated": text,
    }
    decision = DIALECT.decision(pod({GPU: 1}, annotations=annotations), CARDS)
    assert decision is not None
    assert decision.allocation.containers == (counted,)
    assert says in decision.problem
