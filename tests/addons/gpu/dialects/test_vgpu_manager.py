"""vgpu-manager's registration, requests and claims."""

import json

import pytest
from support.addons.gpu.dialect_objects import NOW, bound, container, node, pod, written

from podium.addons.gpu.cards.allocations import Allocation, CardShare
from podium.addons.gpu.cards.card import Card, NodeCards, Reason
from podium.addons.gpu.cards.requests import (
    CardKey,
    CardSelector,
    CardTopology,
    ContainerRequest,
    NodePolicy,
)
from podium.addons.gpu.dialects import find_dialect
from podium.addons.gpu.dialects.dialect import InvalidRequest, Phase
from podium.addons.gpu.dialects.reading import IN_MIG_MODE

NUMBER, CORES = "nvidia.com/vgpu-number", "nvidia.com/vgpu-cores"
MEMORY = "nvidia.com/vgpu-memory"
REGISTER, CONFIG = "nvidia.com/node-device-register", "nvidia.com/node-config-info"
TOPOLOGY = "nvidia.com/node-device-topology"
DIALECT = find_dialect("vgpu-manager")
CARDS = NodeCards(cards=(Card(0, "GPU-a", memory=8192), Card(1, "GPU-b", memory=8192)))
REAL_REGISTER = (
    '[{"id":1,"type":"NVIDIA A10","uuid":"GPU-b","core":100,"memory":23028,"number":10,"numa":1,'
    '"mig":true,"busId":"0000:65:00.0","capability":8.6,"healthy":true},'
    '{"id":0,"type":"NVIDIA A10","uuid":"GPU-a","core":100,"memory":23028,"number":10,"numa":-1,'
    '"mig":false,"busId":"0000:17:00.0","capability":8.6,"healthy":false}]'
)
REAL_CONFIG = '{"deviceSplit":10,"coresScaling":1,"memoryFactor":1,"memoryScaling":1}'


def vgpu_node(register: str = REAL_REGISTER, config: str = REAL_CONFIG, **more: str) -> NodeCards:
    annotations = {REGISTER: register, CONFIG: config, **more}
    return DIALECT.node_cards(node({NUMBER: 20}, annotations), NOW)


def test_an_agents_registration_is_read_in_order_of_ids() -> None:
    physical = "physical"
    assert vgpu_node().cards == (
        Card(0, "GPU-a", "NVIDIA A10", 23028, slots=10, healthy=False, mode=physical),
        Card(
            1, "GPU-b", "NVIDIA A10", 23028, slots=10, numa=1, mode=physical, profiles=IN_MIG_MODE
        ),
    )


def test_links_are_scored_by_their_kinds() -> None:
    links = [
        {"index": 0, "links": {"1": [4, 8], "9": [7], "x": [7], "0": [7]}},
        {"index": 1, "links": {"0": [4, 8, 99]}},
    ]
    found = vgpu_node(**{TOPOLOGY: json.dumps(links)})
    assert [card.links for card in found.cards] == [(0, 240), (240, 0)]


def test_links_that_cannot_be_read_are_unknown() -> None:
    assert [card.links for card in vgpu_node(**{TOPOLOGY: "?"}).cards] == [(), ()]


def test_memory_counts_in_units_of_the_nodes_factor() -> None:
    config = '{"deviceSplit":10,"memoryFactor":1024,"memoryScaling":2}'
    cards = vgpu_node(config=config)
    assert (cards.memory_factor, cards.cards[0].memory) == (1024, 22)
    assert cards.cards[0].mode == "virtual"
    asking = pod({NUMBER: 1, MEMORY: 4})
    taken = Allocation(containers=((CardShare(0, 0, 4),),))
    decided = written(asking, DIALECT.write_decision(asking, "n1", cards, taken, NOW))
    assert decided.metadata.annotation("nvidia.com/pre-allocated") == "c0[0_GPU-a_0_4096]"
    decision = DIALECT.decision(decided, cards)
    assert decision is not None
    assert decision.allocation == taken


@pytest.mark.parametrize(
    ("register", "config", "reason", "key"),
    [
        ("", REAL_CONFIG, Reason.NOT_REGISTERED, REGISTER),
        ("[]", REAL_CONFIG, Reason.NO_CARDS, REGISTER),
        ("nonsense", REAL_CONFIG, Reason.BAD_REGISTRATION, REGISTER),
        ('[{"uuid":"a_b"}]', REAL_CONFIG, Reason.BAD_REGISTRATION, REGISTER),
        ('[{"uuid":"a","id":-1}]', REAL_CONFIG, Reason.BAD_REGISTRATION, REGISTER),
        (REAL_REGISTER, "", Reason.NOT_REGISTERED, CONFIG),
        (REAL_REGISTER, "{}", Reason.BAD_REGISTRATION, CONFIG),
        (REAL_REGISTER, "[", Reason.BAD_REGISTRATION, CONFIG),
    ],
)
def test_a_registration_that_cannot_be_read_refuses_the_node(
    register: str, config: str, reason: Reason, key: str
) -> None:
    found = vgpu_node(register, config)
    assert (found.cards, found.refusal) == ((), reason)
    assert key in found.detail


def test_nodes_without_virtual_gpus_have_no_cards() -> None:
    found = DIALECT.node_cards(node({}, {REGISTER: REAL_REGISTER, CONFIG: REAL_CONFIG}), NOW)
    assert found.refusal is Reason.NO_CARDS


@pytest.mark.parametrize(
    ("limits", "asked"),
    [
        ({NUMBER: 1}, ContainerRequest(cores=100, memory_percent=100)),
        ({NUMBER: 2, CORES: 20, MEMORY: 1024}, ContainerRequest(cards=2, cores=20, memory=1024)),
        ({NUMBER: 1, CORES: 20}, ContainerRequest(cores=20, memory_percent=100)),
        ({NUMBER: 1, MEMORY: 1024}, ContainerRequest(memory=1024)),
    ],
)
def test_what_is_not_said_is_all_of_it(limits: dict[str, int], asked: ContainerRequest) -> None:
    found = DIALECT.pod_request(pod(limits, {"cpu": 1}))
    assert found is not None
    assert found.containers == (asked, None)


@pytest.mark.parametrize(
    ("limits", "says"),
    [
        ({CORES: 20}, "without nvidia.com/vgpu-number"),
        ({NUMBER: 17}, "up to 16 cards"),
        ({NUMBER: 1, CORES: 101}, "up to 100 cores"),
    ],
)
def test_requests_that_no_card_can_serve_are_invalid(limits: dict[str, int], says: str) -> None:
    with pytest.raises(InvalidRequest, match=says):
        DIALECT.pod_request(pod(limits))


def test_what_annotations_choose() -> None:
    annotations = {
        "nvidia.com/node-scheduler-policy": "Spread",
        "nvidia.com/device-scheduler-policy": "binpack",
        "nvidia.com/memory-scheduler-policy": "virtual",
        "nvidia.com/device-topology-mode": "LINK-strict",
        "nvidia.com/include-gpu-type": "A10",
        "nvidia.com/exclude-gpu-type": " , ,",
        "nvidia.com/include-gpu-uuid": "GPU-a",
        "nvidia.com/exclude-gpu-uuid": "GPU-b",
    }
    found = DIALECT.pod_request(pod({NUMBER: 1}, annotations=annotations))
    assert found is not None
    assert (found.node_policy, found.card_order) == (NodePolicy.SPREAD, (CardKey.FULLEST,))
    assert found.topology is CardTopology.LINK_STRICT
    assert found.selector == CardSelector(
        models=("A10",), uuids=("GPU-a",), not_uuids=("GPU-b",), modes=("virtual",)
    )


@pytest.mark.parametrize("word", ["", "none", "unheard-of"])
def test_without_policies_cards_go_by_their_index(word: str) -> None:
    keys = ("node-scheduler-policy", "device-scheduler-policy", "device-topology-mode")
    annotations = {f"nvidia.com/{key}": word for key in keys}
    found = DIALECT.pod_request(pod({NUMBER: 1}, annotations=annotations))
    assert found is not None
    assert (found.node_policy, found.card_order) == (NodePolicy.NONE, ())
    assert found.topology is CardTopology.NONE


def test_a_decision_names_containers_and_the_agent_repeats_it() -> None:
    asking = pod(
        {"cpu": 1}, {NUMBER: 2, CORES: 20, MEMORY: 10}, init=(container("load", {NUMBER: 1}),)
    )
    taken = Allocation(
        init_containers=((CardShare(1, 100, 8192),),),
        containers=((), (CardShare(0, 20, 10), CardShare(1, 20, 10))),
        sidecars=(False,),
    )
    decided = written(asking, DIALECT.write_decision(asking, "n1", CARDS, taken, NOW))
    claims = "load[1_GPU-b_100_8192];c1[0_GPU-a_20_10,1_GPU-b_20_10]"
    assert decided.metadata.annotations == {
        "nvidia.com/predicate-node": "n1",
        "nvidia.com/pre-allocated": claims,
        "nvidia.com/real-allocated": "",
        "nvidia.com/predicate-time": "1800000000000000000",
    }
    assert decided.metadata.labels == {
        "nvidia.com/assigned-phase": "filtering",
        "nvidia.com/metrics-node": "n1",
    }
    binding = bound(written(decided, DIALECT.write_binding(decided, NOW + 1)), "n1")
    assert binding.metadata.label("nvidia.com/assigned-phase") == "allocating"
    assert binding.metadata.annotation("nvidia.com/predicate-time") == "1800000001000000000"
    confirmed = written(binding, DIALECT.confirm(binding))
    assert confirmed.metadata.annotation("nvidia.com/real-allocated") == claims
    assert confirmed.metadata.annotation("nvidia.com/predicate-time") == "9223372036854775807"
    refused = written(binding, DIALECT.refuse(binding))
    assert "nvidia.com/metrics-node" not in (refused.metadata.labels or {})
    times = {Phase.RESERVED: NOW + 1, Phase.CONFIRMED: 0.0, Phase.FAILED: 0.0}
    for phase, each in zip(times, (binding, confirmed, refused), strict=True):
        decision = DIALECT.decision(each, CARDS)
        assert decision is not None
        assert (decision.allocation, decision.problem) == (taken, "")
        assert (decision.decided_at, decision.phase) == (times[phase], phase)
        cleared = written(each, DIALECT.clear_decision(each))
        assert (cleared.metadata.annotations, cleared.metadata.labels) == ({}, {})


def test_the_plan_counts_until_every_container_has_its_cards() -> None:
    annotations = {
        "nvidia.com/predicate-node": "n1",
        "nvidia.com/pre-allocated": "c0[0_GPU-a_1_1];c1[0_GPU-a_1_1]",
        "nvidia.com/real-allocated": "c0[1_GPU-b_1_1]",
    }
    both = pod({NUMBER: 1}, {NUMBER: 1}, annotations=annotations)
    decision = DIALECT.decision(both, CARDS)
    assert decision is not None
    assert decision.allocation.cards() == (0,)


def test_cards_are_known_by_their_uuid() -> None:
    annotations = {
        "nvidia.com/predicate-node": "n1",
        "nvidia.com/pre-allocated": "c0[7_GPU-b_1_1]",
    }
    decision = DIALECT.decision(pod({NUMBER: 1}, annotations=annotations), CARDS)
    assert decision is not None
    assert decision.allocation.cards() == (1,)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("c0", "is not container"),
        ("c0[0_GPU-a_1]", "is not index_uuid_cores_memory"),
        ("c0[0_GPU-z_1_1]", "no card 'GPU-z'"),
        ("c0[0_GPU-a_-1_1]", "cores '-1'"),
        ("other[0_GPU-a_1_1]", "no container 'other'"),
        ("c0[" + "0_GPU-a_1_1," * 300 + "]", "more than 128"),
    ],
)
def test_what_cannot_be_read_counts_nothing_and_is_named(text: str, says: str) -> None:
    annotations = {"nvidia.com/predicate-node": "n1", "nvidia.com/pre-allocated": text}
    decision = DIALECT.decision(pod({NUMBER: 1}, annotations=annotations), CARDS)
    assert decision is not None
    assert decision.allocation.containers == ((),)
    assert says in decision.problem
