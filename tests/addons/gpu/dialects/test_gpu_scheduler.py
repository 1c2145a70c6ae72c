"""gpu-scheduler's registration, heartbeat, labels and choice by name."""

import json

import pytest
from support.addons.gpu.dialect_objects import NOW, node, pod, registered, written

from podium.addons.gpu.cards.allocations import Allocation, CardShare
from podium.addons.gpu.cards.card import Card, NodeCards, Reason
from podium.addons.gpu.cards.requests import CardSelector
from podium.addons.gpu.dialects import find_dialect
from podium.addons.gpu.dialects.dialect import Phase
from podium.addons.gpu.dialects.reading import IN_MIG_MODE

CORE, MEMORY = "nvidia.com/vcuda-core", "nvidia.com/vcuda-memory"
HEARTBEAT, REGISTER = "tydic.io/node-gpu-heartbeat", "tydic.io/nvidia-device-register"
DIALECT = find_dialect("gpu-scheduler")
CARD = Card(0, "GPU-a", "NVIDIA GeForce RTX 3080", memory=10240)
CARDS = NodeCards(cards=(CARD,))
REAL_NODE = (
    '[{"id":"GPU-a","core":100,"memory":24576,"type":"NVIDIA GeForce RTX 3090","isMig":false,'
    '"capability":86,"health":true},'
    '{"id":"GPU-b","core":100,"memory":40960,"type":"NVIDIA A100-PCIE-40GB","isMig":true,'
    '"capability":80,"health":true},{"isMig":false,"health":false}]'
)


def test_a_unit_of_memory_is_a_mebibyte() -> None:
    assert DIALECT.memory_unit == 1_048_576


def test_an_agents_registration_is_read() -> None:
    annotations = {HEARTBEAT: "1799999990000000000", REGISTER: REAL_NODE}
    found = DIALECT.node_cards(node({CORE: 300}, annotations), NOW)
    assert found.refusal is None
    assert found.cards == (
        Card(0, "GPU-a", "NVIDIA GeForce RTX 3090", memory=24576),
        Card(1, "GPU-b", "NVIDIA A100-PCIE-40GB", memory=40960, profiles=IN_MIG_MODE),
        Card(2, healthy=False),
    )


@pytest.mark.parametrize(
    ("heartbeat", "reason"),
    [
        (None, Reason.NO_HEARTBEAT),
        ("yesterday", Reason.BAD_HEARTBEAT),
        ("", Reason.BAD_HEARTBEAT),
        ("1799999939999999000", Reason.HEARTBEAT_TIMEOUT),
        ("1799999940000000000", None),
        ("1800000060000000000", None),
    ],
)
def test_a_heartbeat_is_good_for_a_minute(heartbeat: str | None, reason: Reason | None) -> None:
    annotations = {REGISTER: REAL_NODE} | ({} if heartbeat is None else {HEARTBEAT: heartbeat})
    found = DIALECT.node_cards(node({CORE: 300}, annotations), NOW)
    assert found.refusal is reason
    assert len(found.cards) == 3  # what pods hold is known, whatever becomes of the agent


def test_a_node_tells_when_its_heartbeat_will_be_too_old() -> None:
    annotations = {HEARTBEAT: "1799999990000000000", REGISTER: REAL_NODE}
    found = DIALECT.node_cards(node({CORE: 300}, annotations), NOW)
    assert found.good_until == NOW + 50


@pytest.mark.parametrize(
    ("register", "reason"),
    [
        ("", Reason.NOT_REGISTERED),
        ("[]", Reason.NO_CARDS),
        ("{", Reason.BAD_REGISTRATION),
        ("null", Reason.BAD_REGISTRATION),
        ('[{"memory":"much"}]', Reason.BAD_REGISTRATION),
        ('[{"memory":-1}]', Reason.BAD_REGISTRATION),
        ('[{"id":"a"},{"id":"a"}]', Reason.BAD_REGISTRATION),
        (json.dumps([{}] * 257), Reason.BAD_REGISTRATION),
        ("[" * 100_000, Reason.BAD_REGISTRATION),
        (" " * 300_000, Reason.BAD_REGISTRATION),
    ],
)
def test_a_registration_that_cannot_be_read_refuses_the_node(register: str, reason: Reason) -> None:
    annotations = {HEARTBEAT: "1800000000000000000", REGISTER: register}
    found = DIALECT.node_cards(node({CORE: 300}, annotations), NOW)
    assert (found.cards, found.refusal) == ((), reason)
    assert REGISTER in found.detail


def test_nodes_without_capacity_have_no_gpu_device() -> None:
    annotations = {HEARTBEAT: "1800000000000000000", REGISTER: REAL_NODE}
    assert DIALECT.node_cards(node({}, annotations), NOW).refusal is Reason.NO_CARDS


def test_pods_choose_by_parts_of_names() -> None:
    annotations = {"nvidia.com/use-gputype": "A100, h100,,", "nvidia.com/nouse-gputype": " "}
    request = DIALECT.pod_request(pod({CORE: 100}, annotations=annotations))
    assert request is not None
    assert request.selector == CardSelector(models=("A100", "h100"))


def test_an_agent_with_cards_of_one_kind_labels_its_node() -> None:
    assert DIALECT.register((CARD,), NOW).labels == {"gaia.nvidia.com/gpu-model": "GeForce"}
    mixed = (CARD, Card(1, "GPU-b", "NVIDIA A100"))
    assert DIALECT.register(mixed, NOW).labels == {}


def test_binding_is_told_in_labels() -> None:
    asking = pod({CORE: 10, MEMORY: 5})
    taken = Allocation(containers=((CardShare(0, 10, 5),),))
    decided = written(asking, DIALECT.write_decision(asking, "n1", CARDS, taken, NOW))
    assert decided.metadata.annotations == {
        "nvidia.com/predicate-gpu-idx-0": "0",
        "nvidia.com/predicate-node": "n1",
        "nvidia.com/gpu-assigned": "false",
        "nvidia.com/predicate-time": "1800000000000000000",
    }
    binding = written(decided, DIALECT.write_binding(decided, NOW + 1))
    assert binding.metadata.labels == {
        "tydic.io/bind-time": "1800000001000000000",
        "tydic.io/bind-phase": "allocating",
    }
    phases = {
        Phase.RESERVED: binding,
        Phase.CONFIRMED: written(binding, DIALECT.confirm(binding)),
        Phase.FAILED: written(binding, DIALECT.refuse(binding)),
    }
    for phase, each in phases.items():
        decision = DIALECT.decision(each, CARDS)
        assert decision is not None
        assert decision.phase is phase
        cleared = written(each, DIALECT.clear_decision(each))
        assert (cleared.metadata.annotations, cleared.metadata.labels) == ({}, {})


def test_a_new_decision_takes_back_that_the_last_one_failed() -> None:
    failed = pod({CORE: 10, MEMORY: 5}, labels={"tydic.io/bind-phase": "failed"})
    taken = Allocation(containers=((CardShare(0, 10, 5),),))
    decided = written(failed, DIALECT.write_decision(failed, "n1", CARDS, taken, NOW))
    decision = DIALECT.decision(decided, CARDS)
    assert decision is not None
    assert decision.phase is Phase.RESERVED


def test_mixed_cards_keep_their_own_memory() -> None:
    cards = (CARD, Card(1, "GPU-b", "NVIDIA A100", memory=40960))
    assert DIALECT.node_cards(registered(DIALECT.register(cards, NOW)), NOW).cards == cards
