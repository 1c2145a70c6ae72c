"""gpu-manager's resources, and the annotations that gpu-admission and its agent exchange."""

import pytest
from msgspec.structs import replace
from support.addons.gpu.dialect_objects import NOW, container, node, pod, written

from podium.addons.gpu.cards.allocations import Allocation, CardShare
from podium.addons.gpu.cards.card import Card, NodeCards, Reason
from podium.addons.gpu.cards.requests import CardKey, ContainerRequest, NodePolicy
from podium.addons.gpu.dialects import find_dialect
from podium.addons.gpu.dialects.dialect import InvalidRequest, Phase

CORE, MEMORY = "tencent.com/vcuda-core", "tencent.com/vcuda-memory"
DIALECT = find_dialect("gpu-manager")
TWO_CARDS = NodeCards(cards=(Card(0, memory=4), Card(1, memory=4)))
SHARE = {CORE: 10, MEMORY: 1}


def test_a_unit_of_memory_is_256_mebibytes() -> None:
    assert DIALECT.memory_unit == 268_435_456


def test_cards_are_made_of_the_capacity() -> None:
    assert DIALECT.node_cards(node({CORE: 200, MEMORY: 8}), NOW) == TWO_CARDS


def test_capacity_not_allocatable_is_read() -> None:
    empty = node({CORE: "200", MEMORY: "9"})
    empty = replace(empty, status=replace(empty.status, allocatable={CORE: 0}))
    assert DIALECT.node_cards(empty, NOW) == TWO_CARDS


@pytest.mark.parametrize("cores", [1, 99])
def test_capacity_below_a_card_is_no_card(cores: int) -> None:
    found = DIALECT.node_cards(node({CORE: cores, MEMORY: 8}), NOW)
    assert (found.cards, found.refusal) == ((), Reason.NO_CARDS)
    assert found.detail == f"capacity {CORE} {cores} is less than a card, which is 100"


def test_nodes_without_the_resource_have_no_gpu_device() -> None:
    found = DIALECT.node_cards(node({"cpu": 4}), NOW)
    assert found.refusal is Reason.NO_CARDS
    assert found.refusal.phrase == "no GPU device"


def test_a_capacity_of_thousands_of_cards_is_refused() -> None:
    found = DIALECT.node_cards(node({CORE: 10**12, MEMORY: 8}), NOW)
    assert found.refusal is Reason.BAD_REGISTRATION


def test_shares_and_whole_cards() -> None:
    request = DIALECT.pod_request(pod({CORE: 10, MEMORY: 2}, {CORE: 200, MEMORY: 10}, {"cpu": 1}))
    assert request is not None
    assert request.containers == (
        ContainerRequest(cores=10, memory=2),
        ContainerRequest(cards=2, cores=100, exclusive=True, whole=True),
        None,
    )
    assert request.node_policy is NodePolicy.FULLEST_BY_CORES
    assert request.card_order == (CardKey.FREE_CORES, CardKey.FREE_MEMORY)


def test_a_whole_card_needs_no_memory() -> None:
    request = DIALECT.pod_request(pod({CORE: 100}))
    assert request is not None
    assert request.containers[0] is not None
    assert request.containers[0].whole


def test_pods_that_ask_for_nothing_are_not_for_gpus() -> None:
    assert DIALECT.pod_request(pod({"cpu": 1}, {CORE: 0, MEMORY: 0})) is None


@pytest.mark.parametrize(
    ("limits", "says"),
    [
        ({CORE: 60}, f"asks for {CORE} without {MEMORY}"),
        ({MEMORY: 2}, f"asks for {MEMORY} without {CORE}"),
        ({CORE: 150, MEMORY: 1}, "multiples of 100"),
        ({CORE: "-5", MEMORY: 1}, "not between 0"),
        ({CORE: "many", MEMORY: 1}, "many"),
    ],
)
def test_requests_that_no_card_can_serve_are_invalid(
    limits: dict[str, int | str], says: str
) -> None:
    with pytest.raises(InvalidRequest, match=says):
        DIALECT.pod_request(pod({"cpu": 1}, limits))


def test_two_containers_without_memory_are_no_gpu_pod_together() -> None:
    # Their sum would be a whole card, but neither would get one.
    with pytest.raises(InvalidRequest, match="container c0"):
        DIALECT.pod_request(pod({CORE: 60}, {CORE: 60}))


def test_init_containers_cannot_ask_for_cards() -> None:
    with pytest.raises(InvalidRequest, match="init container warm"):
        DIALECT.pod_request(pod(SHARE, init=(container("warm", SHARE),)))


def test_a_decision_is_four_kinds_of_annotations() -> None:
    asking = pod(SHARE, {CORE: 200}, {"cpu": 1})
    taken = Allocation(
        containers=((CardShare(1, 10, 1),), (CardShare(0, 100, 4), CardShare(1, 100, 4)), ())
    )
    write = DIALECT.write_decision(asking, "n1", TWO_CARDS, taken, NOW)
    assert write.annotations == {
        "tencent.com/predicate-gpu-idx-0": "1",
        "tencent.com/predicate-gpu-idx-1": "0,1",
        "tencent.com/predicate-node": "n1",
        "tencent.com/gpu-assigned": "false",
        "tencent.com/predicate-time": "1800000000000000000",
    }
    assert write.labels == {}
    decision = DIALECT.decision(written(asking, write), TWO_CARDS)
    assert decision is not None
    assert decision.allocation == taken
    assert (decision.node, decision.decided_at, decision.phase) == ("n1", NOW, Phase.RESERVED)
    assert decision.problem == ""


def test_an_earlier_decision_leaves_nothing_behind() -> None:
    before = pod(SHARE, annotations={"tencent.com/predicate-gpu-idx-7": "3"})
    taken = Allocation(containers=((CardShare(0, 10, 1),),))
    write = DIALECT.write_decision(before, "n1", TWO_CARDS, taken, NOW)
    assert write.annotations["tencent.com/predicate-gpu-idx-7"] is None
    after = written(before, write)
    assert written(after, DIALECT.clear_decision(after)).metadata.annotations == {}


def test_the_agent_assigns() -> None:
    confirmed = written(
        pod(SHARE, annotations={"tencent.com/predicate-node": "n1"}), DIALECT.confirm(pod(SHARE))
    )
    decision = DIALECT.decision(confirmed, TWO_CARDS)
    assert decision is not None
    assert decision.phase is Phase.CONFIRMED


@pytest.mark.parametrize(
    ("indexes", "counted", "says"),
    [
        ("-1", (), "index '-1' is not a number from 0 to 127"),
        ("0,x", (), "index 'x'"),
        ("0,,1", (), "index ''"),
        ("1,1", (), "names a card twice"),
        ("0,7", (CardShare(0, 10, 1),), "the node has no card 7"),
        ("9" * 5000, (), "is not a number"),
        (",".join(["0"] * 5000), (), "more than 128 cards"),
    ],
)
def test_what_cannot_be_read_counts_nothing_and_is_named(
    indexes: str, counted: tuple[CardShare, ...], says: str
) -> None:
    key = "tencent.com/predicate-gpu-idx-0"
    annotations = {
        "tencent.com/predicate-node": "n1",
        "tencent.com/predicate-time": "1800000000000000000",
        key: indexes,
    }
    decision = DIALECT.decision(pod(SHARE, annotations=annotations), TWO_CARDS)
    assert decision is not None
    assert decision.allocation.containers == (counted,)
    assert decision.problem.startswith(f"{key}: ")
    assert says in decision.problem


def test_what_others_decided_counts_however_it_was_asked_for() -> None:
    annotations = {
        "tencent.com/predicate-node": "n1",
        "tencent.com/predicate-time": "1800000000000000000",
        "tencent.com/predicate-gpu-idx-0": "0",
        "tencent.com/predicate-gpu-idx-1": "1",
    }
    odd = pod({CORE: 150, MEMORY: 1}, {CORE: 60}, annotations=annotations)
    decision = DIALECT.decision(odd, TWO_CARDS)
    assert decision is not None
    assert decision.allocation.containers == ((CardShare(0, 100, 4),), (CardShare(1, 60, 0),))
    assert decision.problem == ""


def test_a_decision_without_a_time_is_from_long_ago() -> None:
    decision = DIALECT.decision(
        pod(SHARE, annotations={"tencent.com/predicate-node": "n1"}), TWO_CARDS
    )
    assert decision is not None
    assert decision.decided_at == 0.0
    assert "predicate-time" in decision.problem


def test_pods_without_a_node_annotation_have_no_decision() -> None:
    idle = pod(SHARE, annotations={"tencent.com/predicate-gpu-idx-0": "0"})
    assert DIALECT.decision(idle, TWO_CARDS) is None
    assert DIALECT.decided_node(idle) == ""
