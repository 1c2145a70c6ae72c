"""gpushare's memory, its annotations, and the ConfigMap of unhealthy cards."""

import pytest
from support.addons.gpu.dialect_objects import NOW, bound, container, node, pod, written

from podium.addons.gpu.cards.allocations import Allocation, CardShare
from podium.addons.gpu.cards.card import Card, NodeCards, Reason
from podium.addons.gpu.cards.requests import CardKey, ContainerRequest, NodePolicy
from podium.addons.gpu.dialects import find_dialect
from podium.addons.gpu.dialects.dialect import InvalidRequest, Phase

MEMORY, COUNT = "aliyun.com/gpu-mem", "aliyun.com/gpu-count"
DIALECT = find_dialect("gpushare")
TWO_CARDS = NodeCards(cards=(Card(0, memory=15), Card(1, memory=15)))


def test_units_are_an_option_of_the_agent() -> None:
    assert DIALECT.memory_unit == 1 << 30
    assert find_dialect("gpushare-mib").memory_unit == 1 << 20


def test_cards_are_made_of_the_capacity() -> None:
    assert DIALECT.node_cards(node({MEMORY: 30, COUNT: 2}), NOW) == TWO_CARDS


@pytest.mark.parametrize(
    ("capacity", "reason"),
    [
        ({}, Reason.NO_CARDS),
        ({MEMORY: 30}, Reason.NO_CARDS),
        ({COUNT: 2}, Reason.NO_CARDS),
        ({MEMORY: 30, COUNT: 10**9}, Reason.BAD_REGISTRATION),
    ],
)
def test_nodes_without_cards_are_refused(capacity: dict[str, int], reason: Reason) -> None:
    assert DIALECT.node_cards(node(capacity), NOW).refusal is reason


def test_unhealthy_cards_are_listed_in_a_config_map() -> None:
    assert DIALECT.config_map_name("n1") == ("kube-system", "unhealthy-gpu-n1")
    marked = DIALECT.read_config_map(TWO_CARDS, {"gpus": "1, 9, x"})
    assert [card.healthy for card in marked.cards] == [True, False]
    assert DIALECT.read_config_map(TWO_CARDS, {}) == TWO_CARDS


def test_other_dialects_read_no_config_map() -> None:
    other = find_dialect("hami")
    assert other.config_map_name("n1") is None
    assert other.read_config_map(TWO_CARDS, {"gpus": "1"}) is TWO_CARDS


def test_pods_ask_for_memory_of_one_card() -> None:
    request = DIALECT.pod_request(pod({"cpu": 1}, {MEMORY: 3}))
    assert request is not None
    assert request.containers == (None, ContainerRequest(memory=3))
    assert request.card_order == (CardKey.FREE_MEMORY,)
    assert request.node_policy is NodePolicy.NONE


def test_pods_whose_containers_the_agent_could_not_serve_are_invalid() -> None:
    with pytest.raises(InvalidRequest, match="2 containers ask"):
        DIALECT.pod_request(pod({MEMORY: 3}, {MEMORY: 1}))
    with pytest.raises(InvalidRequest, match="init container warm"):
        DIALECT.pod_request(pod({MEMORY: 3}, init=(container("warm", {MEMORY: 3}),)))


def test_a_decision_counts_once_the_pod_is_bound() -> None:
    asking = pod({MEMORY: 3})
    taken = Allocation(containers=((CardShare(1, 0, 3),),))
    decided = written(asking, DIALECT.write_decision(asking, "n1", TWO_CARDS, taken, NOW))
    assert decided.metadata.annotations == {
        "ALIYUN_COM_GPU_MEM_IDX": "1",
        "ALIYUN_COM_GPU_MEM_DEV": "15",
        "ALIYUN_COM_GPU_MEM_POD": "3",
        "ALIYUN_COM_GPU_MEM_ASSIGNED": "false",
        "ALIYUN_COM_GPU_MEM_ASSUME_TIME": "1800000000000000000",
    }
    assert DIALECT.decision(decided, TWO_CARDS) is None
    decision = DIALECT.decision(bound(decided, "n1"), TWO_CARDS)
    assert decision is not None
    assert (decision.node, decision.allocation) == ("n1", taken)
    assert decision.phase is Phase.RESERVED
    assigned = bound(written(decided, DIALECT.confirm(decided)), "n1")
    confirmed = DIALECT.decision(assigned, TWO_CARDS)
    assert confirmed is not None
    assert confirmed.phase is Phase.CONFIRMED
    assert written(assigned, DIALECT.clear_decision(assigned)).metadata.annotations == {}


def test_memory_of_the_pod_is_what_was_written() -> None:
    annotations = {"ALIYUN_COM_GPU_MEM_IDX": "0", "ALIYUN_COM_GPU_MEM_POD": "7"}
    decision = DIALECT.decision(pod({MEMORY: 3}, node="n1", annotations=annotations), TWO_CARDS)
    assert decision is not None
    assert decision.allocation.containers == ((CardShare(0, 0, 7),),)


@pytest.mark.parametrize(
    "annotations",
    [
        {"ALIYUN_COM_GPU_MEM_IDX": "-1"},
        {"ALIYUN_COM_GPU_MEM_IDX": "2"},
        {"ALIYUN_COM_GPU_MEM_IDX": "0,1"},
        {"ALIYUN_COM_GPU_MEM_IDX": "0", "ALIYUN_COM_GPU_MEM_POD": "-3"},
    ],
)
def test_what_cannot_be_read_counts_nothing_and_is_named(annotations: dict[str, str]) -> None:
    decision = DIALECT.decision(pod({MEMORY: 3}, node="n1", annotations=annotations), TWO_CARDS)
    assert decision is not None
    assert decision.allocation.containers == ((),)
    assert "ALIYUN_COM_GPU_MEM" in decision.problem
