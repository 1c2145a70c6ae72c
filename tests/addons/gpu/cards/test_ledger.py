"""The ledger of cards: objects as a watch tells them, and decisions made a moment ago."""

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from support.addons.gpu.dialect_objects import NOW, bound, node, pod, registered, written

from podium.addons.gpu.cards.allocations import Allocation
from podium.addons.gpu.cards.card import Card, Reason
from podium.addons.gpu.cards.ledger import Ledger, LedgerReservation
from podium.addons.gpu.dialects import DIALECTS, find_dialect
from podium.addons.gpu.dialects.dialect import merge_writes
from podium.kubernetes.kinds.node import Node
from podium.kubernetes.kinds.pod import Pod

MANAGER = find_dialect("gpu-manager")
CORE, MEMORY = "tencent.com/vcuda-core", "tencent.com/vcuda-memory"


def gpu_node(cards: int = 1, memory: int = 10, name: str = "n1") -> Node:
    return node({CORE: 100 * cards, MEMORY: memory * cards}, name=name)


def asking(cores: int = 60, memory: int = 5, name: str = "p", version: int = 1, **more: Any) -> Pod:
    return pod({CORE: cores, MEMORY: memory}, name=name, resourceVersion=str(version), **more)


def ledger_of(*objects: Node | Pod, dialect: str = "gpu-manager") -> Ledger:
    ledger = Ledger(find_dialect(dialect))
    for each in objects:
        if isinstance(each, Node):
            ledger.put_node(each, NOW)
        else:
            ledger.put_pod(each, NOW)
    return ledger


def reserve(
    ledger: Ledger, each: Pod, node_name: str = "n1", now: float = NOW
) -> LedgerReservation | Reason:
    request = ledger.dialect.pod_request(each)
    assert request is not None
    return ledger.reserve(each, request, node_name, now)


def decided(ledger: Ledger, reservation: LedgerReservation | Reason, now: float = NOW) -> Pod:
    """The pod as its write makes it, in the next version."""
    assert isinstance(reservation, LedgerReservation)
    dialect, on = ledger.dialect, reservation.pod
    write = dialect.write_decision(
        on, reservation.node_name, reservation.node, reservation.allocation, now
    )
    result = written(on, merge_writes(dialect.clear_decision(on), write))
    version = str(int(on.metadata.resource_version) + 1)
    return replace(result, metadata=replace(result.metadata, resource_version=version))


def used_cores(ledger: Ledger, node_name: str = "n1") -> list[int]:
    row = ledger.row(node_name)
    assert row is not None
    return [int(cores) for cores in ledger.table.used_cores[row]]


# --- reservations -----------------------------------------------------------------------------


def test_what_is_reserved_is_not_given_away_before_anybody_has_told_of_it() -> None:
    ledger = ledger_of(gpu_node())
    assert isinstance(reserve(ledger, asking(name="a")), LedgerReservation)
    assert reserve(ledger, asking(name="b")) is Reason.INSUFFICIENT_CORES


def test_a_reservation_and_the_object_that_carries_it_count_once() -> None:
    ledger = ledger_of(gpu_node())
    reservation = reserve(ledger, asking())
    ledger.put_pod(decided(ledger, reservation), NOW)
    assert used_cores(ledger) == [60]
    ledger.settle("uid-p", NOW)
    assert used_cores(ledger) == [60]


def test_a_pod_is_not_in_its_own_way_but_its_old_cards_stay_charged_for_others() -> None:
    ledger = ledger_of(gpu_node(), gpu_node(name="n2"))
    first = decided(ledger, reserve(ledger, asking()))
    ledger.put_pod(first, NOW)
    ledger.release("uid-p", NOW)
    again = reserve(ledger, first)
    assert isinstance(again, LedgerReservation)
    assert used_cores(ledger) == [60]
    assert isinstance(reserve(ledger, first, "n2"), LedgerReservation)
    assert (used_cores(ledger), used_cores(ledger, "n2")) == ([60], [60])
    assert reserve(ledger, asking(name="b")) is Reason.INSUFFICIENT_CORES


def test_a_released_reservation_frees_its_cards() -> None:
    ledger = ledger_of(gpu_node())
    reserve(ledger, asking())
    ledger.release("uid-p", NOW)
    assert used_cores(ledger) == [0]


def test_a_reservation_that_is_being_written_outlasts_time_refusals_and_deletion() -> None:
    ledger = ledger_of(gpu_node(), asking())
    reserve(ledger, asking())
    ledger.expire(NOW + 3600)
    assert used_cores(ledger) == [60]
    ledger.delete_pod("uid-p", NOW)
    assert used_cores(ledger) == [60]
    ledger.settle("uid-p", NOW)
    assert used_cores(ledger) == [0]


def test_a_settled_reservation_expires_if_nobody_binds_the_pod() -> None:
    ledger = ledger_of(gpu_node(), asking())
    reserve(ledger, asking())
    ledger.settle("uid-p", NOW)
    ledger.expire(NOW + 30)
    assert used_cores(ledger) == [60]
    ledger.expire(NOW + 32)
    assert used_cores(ledger) == [0]


def refused_at(each: Pod, text: str, version: int) -> Pod:
    condition = {"type": "PodScheduled", "status": "False", "lastTransitionTime": text}
    found = asking(name=each.name, version=version, status={"conditions": [condition]})
    return replace(
        each, status=found.status, metadata=replace(each.metadata, resource_version=str(version))
    )


@pytest.mark.parametrize(
    ("at", "left"), [("2027-01-15T08:00:00Z", 60), ("2027-01-15T08:00:02Z", 0)]
)
def test_a_settled_reservation_ends_when_the_pod_is_refused_later(at: str, left: int) -> None:
    ledger = ledger_of(gpu_node(), asking())
    written_down = decided(ledger, reserve(ledger, asking()))
    ledger.put_pod(written_down, NOW)
    ledger.settle("uid-p", NOW)
    ledger.put_pod(refused_at(written_down, at, 3), NOW + 3)
    assert used_cores(ledger) == [left]


def test_a_pod_that_is_bound_elsewhere_holds_nothing_here() -> None:
    ledger = ledger_of(gpu_node(), gpu_node(name="n2"))
    reserve(ledger, asking())
    ledger.settle("uid-p", NOW)
    ledger.put_pod(bound(asking(version=5), "n2"), NOW)
    assert used_cores(ledger) == [0]
    assert ledger.reservations == {}


# --- objects ----------------------------------------------------------------------------------


def test_all_is_rebuilt_from_objects_in_any_order() -> None:
    ledger = ledger_of(gpu_node())
    carrying = decided(ledger, reserve(ledger, asking()))
    for objects in ((gpu_node(), carrying), (carrying, gpu_node())):
        assert used_cores(ledger_of(*objects)) == [60]


def test_older_versions_are_no_news() -> None:
    ledger = ledger_of(gpu_node(), asking())
    carrying = decided(ledger, reserve(ledger, asking()))
    ledger.put_pod(carrying, NOW, seen=False)
    ledger.put_pod(asking(version=1), NOW)
    ledger.release("uid-p", NOW)
    assert used_cores(ledger) == [60]


def test_a_bound_pod_counts_before_the_watch_tells_of_it_and_for_good() -> None:
    ledger = ledger_of(gpu_node(), asking())
    carrying = decided(ledger, reserve(ledger, asking()))
    ledger.put_pod(carrying, NOW, seen=False)
    ledger.bind_pod("uid-p", "n1", NOW)
    ledger.settle("uid-p", NOW)
    ledger.put_pod(carrying, NOW)  # the echo of the decision, which knows of no node
    ledger.expire(NOW + 3600)
    assert (used_cores(ledger), ledger.reservations) == ([60], {})


def test_a_deleted_pod_does_not_come_back_with_a_late_answer() -> None:
    ledger = ledger_of(gpu_node(), asking())
    carrying = decided(ledger, reserve(ledger, asking()))
    ledger.release("uid-p", NOW)
    ledger.delete_pod("uid-p", NOW)
    ledger.put_pod(carrying, NOW, seen=False)
    assert used_cores(ledger) == [0]


def test_a_pod_that_finishes_frees_its_cards() -> None:
    ledger = ledger_of(gpu_node())
    running = bound(decided(ledger, reserve(ledger, asking())), "n1")
    ledger.put_pod(running, NOW)
    ledger.settle("uid-p", NOW)
    done = replace(running, status=replace(running.status, phase="Succeeded"))
    ledger.put_pod(replace(done, metadata=replace(done.metadata, resource_version="9")), NOW)
    assert used_cores(ledger) == [0]


def test_a_pod_of_the_same_name_is_another_one() -> None:
    ledger = ledger_of(gpu_node(), asking())
    other = replace(asking(version=7), metadata=replace(asking().metadata, uid="other"))
    ledger.put_pod(other, NOW)
    ledger.delete_pod("uid-p", NOW)
    assert ledger.find_pod("ns", "p") == other


def test_pods_that_only_answers_told_of_are_to_be_looked_for() -> None:
    ledger = ledger_of(gpu_node())
    ledger.put_pod(asking(), NOW, seen=False)
    assert ledger.find_unseen_pods(NOW + 30) == []
    assert [each.name for each in ledger.find_unseen_pods(NOW + 31)] == ["p"]
    ledger.look_again_later("uid-p", NOW + 31)
    assert ledger.find_unseen_pods(NOW + 32) == []
    ledger.put_pod(asking(), NOW + 33)
    assert ledger.find_unseen_pods(NOW + 3600) == []


def test_a_node_that_comes_again_is_as_full_as_it_was() -> None:
    ledger = ledger_of(gpu_node())
    ledger.put_pod(bound(decided(ledger, reserve(ledger, asking())), "n1"), NOW)
    ledger.settle("uid-p", NOW)
    ledger.delete_node("n1")
    assert ledger.charges_of("uid-p") == {}
    ledger.put_node(gpu_node(), NOW)
    assert used_cores(ledger) == [60]
    ledger.delete_node("n1")
    ledger.put_node(gpu_node(name="n2"), NOW)
    assert used_cores(ledger, "n2") == [0]


def test_decisions_are_read_again_when_cards_are_registered() -> None:
    hami = find_dialect("hami")
    cards = (Card(0, uuid="GPU-0", memory=1000, slots=10),)
    whole, empty = registered(hami.register(cards, NOW)), node({"nvidia.com/gpu": 10})
    ledger = ledger_of(whole, dialect="hami")
    share = pod({"nvidia.com/gpu": 1, "nvidia.com/gpumem": 300}, resourceVersion="1")
    carrying = bound(decided(ledger, reserve(ledger, share)), "n1")
    later = ledger_of(empty, carrying, dialect="hami")
    assert later.charges_of("uid-p") == {}
    later.put_node(whole, NOW)
    assert later.table.used_memory[0].tolist() == [300]


def test_config_maps_name_unhealthy_cards_before_and_after_the_node_is_known() -> None:
    share = find_dialect("gpushare")
    found = registered(share.register((Card(0, memory=8), Card(1, memory=8)), NOW))
    for is_early in (True, False):
        ledger = Ledger(share)
        if not is_early:
            ledger.put_node(found, NOW)
        ledger.put_config_map("kube-system", "unhealthy-gpu-n1", {"gpus": "1"}, NOW)
        if is_early:
            ledger.put_node(found, NOW)
        assert [card.healthy for card in ledger.cards("n1").cards] == [True, False]
        ledger.put_config_map("kube-system", "unhealthy-gpu-n1", {}, NOW)
        assert [card.healthy for card in ledger.cards("n1").cards] == [True, True]


# --- what is left behind ----------------------------------------------------------------------


@pytest.mark.parametrize("name", sorted(DIALECTS))
def test_what_a_dead_process_left_on_a_pod_is_found(name: str) -> None:
    dialect = find_dialect(name)
    limits = dict.fromkeys(dialect.resources, 1)
    cards = tuple(Card(at, uuid=f"GPU-{at}", memory=100, slots=10) for at in range(2))
    ledger = ledger_of(registered(dialect.register(cards, NOW)), dialect=name)
    carrying = decided(ledger, reserve(ledger, pod(limits, resourceVersion="1")))
    after = ledger_of(registered(dialect.register(cards, NOW)), carrying, dialect=name)
    after.expire(NOW + 30)
    assert after.stale(NOW + 30) == []
    after.expire(NOW + 32)
    assert [each.name for each in after.stale(NOW + 32)] == ["p"]
    after.put_pod(
        bound(replace(carrying, metadata=replace(carrying.metadata, resource_version="3")), "n1"),
        NOW + 33,
    )
    assert after.stale(NOW + 3600) == []


# --- many at once -----------------------------------------------------------------------------

STEPS = st.lists(
    st.tuples(
        st.sampled_from(
            ("reserve", "write", "bind", "settle", "release", "delete", "wait", "node")
        ),
        st.integers(0, 4),
        st.sampled_from((20, 60, 100)),
    ),
    max_size=40,
)


@given(STEPS)
def test_cards_are_never_given_away_twice_and_books_are_those_of_the_objects(
    steps: Sequence[tuple[str, int, int]],
) -> None:
    ledger = ledger_of(gpu_node(2))
    now = NOW
    gone: set[str] = set()
    for what, which, cores in steps:
        name = f"p{which}"
        uid = f"uid-{name}"
        known = ledger.pod(uid)
        reservation = ledger.reservations.get(uid)
        if what == "reserve" and (known is None or not known.spec.node_name):
            if name not in gone:
                reserve(ledger, known or asking(cores, name=name), now=now)
        elif what == "write" and reservation is not None:
            current = replace(reservation, pod=known or reservation.pod)
            ledger.put_pod(decided(ledger, current, now), now)
        elif what == "bind" and known is not None and reservation is not None:
            if ledger.dialect.decided_node(known):
                ledger.bind_pod(uid, "n1", now)
        elif what == "settle":
            ledger.settle(uid, now)
        elif what == "release":
            ledger.release(uid, now)
        elif what == "delete":
            ledger.delete_pod(uid, now)
            gone.add(name)
        elif what == "wait":
            now += cores
            ledger.expire(now)
        else:
            ledger.put_node(gpu_node(2), now)
        assert (ledger.table.used_cores <= 100).all()
        assert (ledger.table.used_memory <= 10).all()
    for uid in [*ledger.reservations]:
        ledger.release(uid, now)
    fresh = Ledger(MANAGER)
    fresh.put_node(gpu_node(2), now)
    for each, _ in ledger.pods():
        fresh.put_pod(each, now)
    assert fresh.table.used_cores.tolist() == ledger.table.used_cores.tolist()


def test_an_allocation_is_what_the_reservation_says() -> None:
    ledger = ledger_of(gpu_node(2))
    reservation = reserve(ledger, asking(cores=200, memory=0))
    assert isinstance(reservation, LedgerReservation)
    assert isinstance(reservation.allocation, Allocation)
    assert reservation.allocation.cards() == (0, 1)
    assert reserve(ledger, asking(name="b"), "nobody") is Reason.NO_CARDS
