"""Holding a node: assume, Reserve, Permit, and the way back."""

import pytest
from support.scheduler.framework.fake_plugins import (
    filter_by,
    make_engine,
    permit,
    reserve,
)

from podium.kubernetes.kinds.node import Node
from podium.kubernetes.kinds.pod import Pod
from podium.scheduler.engine.decision import Decision
from podium.scheduler.engine.scheduler import Attempt, Engine
from podium.scheduler.framework.points import PermitResult
from podium.scheduler.framework.status import Code, Status, error, unresolvable, unschedulable
from podium.testing import make_node, make_pod

NAMES = ("a", "b", "c")
FULL = unschedulable("full")


def nodes() -> list[Node]:
    return [make_node(name) for name in NAMES]


def schedule(engine: Engine, pod: Pod | None = None) -> Attempt:
    return engine.schedule(engine.cluster.infos.of(pod or make_pod("p")))


def decide(engine: Engine, pod: Pod | None = None) -> Decision:
    return schedule(engine, pod).decision


def pods_on(engine: Engine, node: str) -> int:
    return len(engine.cluster.usage.pods(engine.cluster.nodes.row(node)))


def test_reserve_plugins_run_in_order_on_the_chosen_node() -> None:
    log: list[str] = []
    engine = make_engine(reserve("A", None, log), reserve("B", None, log), nodes=nodes()[:1])
    assert decide(engine).bound == "a"
    assert log == ["reserve A a", "reserve B a"]


@pytest.mark.parametrize("refusal", [FULL, unresolvable("full"), Status(Code.PENDING, ("full",))])
def test_a_refused_reservation_is_undone_in_reverse_while_the_pod_is_still_assumed(
    refusal: Status,
) -> None:
    log: list[str] = []
    engine = make_engine(
        filter_by("F", {"b": FULL}),
        reserve("A", None, log),
        reserve("B", refusal, log),
        reserve("C", None, log),
        nodes=nodes()[:2],
    )
    attempt = schedule(engine)
    decision = attempt.decision
    assert log == ["reserve A a", "reserve B a", "unreserve C a", "unreserve B a", "unreserve A a"]
    assert decision.message == "0/1 nodes are available: 1 full."
    assert (decision.chosen, decision.bound, attempt.binding) == ("a", None, None)
    assert (decision.rejectors, decision.is_error, decision.nominated_node) == ({"B"}, False, "")
    assert decision.pending_plugins == ({"B"} if refusal.code is Code.PENDING else set())
    assert pods_on(engine, "a") == 0
    assert decision.best == ["a"]


@pytest.mark.parametrize(
    "answer", [error("boom"), ValueError("boom"), Status(Code.SKIP, ("boom",))]
)
def test_a_broken_reservation_is_an_error(answer: Status | Exception) -> None:
    log: list[str] = []
    engine = make_engine(reserve("A", answer, log), nodes=nodes()[:1])
    decision = decide(engine)
    assert (decision.message, decision.is_error) == ('running Reserve plugin "A": boom', True)
    assert decision.rejectors == set()
    assert log == ["reserve A a", "unreserve A a"]
    assert pods_on(engine, "a") == 0


def test_a_plugin_that_breaks_while_undoing_does_not_keep_the_pod_on_its_node() -> None:
    log: list[str] = []
    engine = make_engine(
        reserve("A", None, log),
        reserve("B", FULL, log, undoing=ValueError("stuck")),
        nodes=nodes()[:1],
    )
    decision = decide(engine)
    assert log[-2:] == ["unreserve B a", "unreserve A a"]
    assert pods_on(engine, "a") == 0
    assert decision.is_error
    assert decision.message == 'full; running Unreserve plugin "B": stuck'


def test_a_pod_that_is_in_the_cache_already_cannot_be_held() -> None:
    engine = make_engine(nodes=nodes()[:1], pods=[make_pod("p", node="a")])
    decision = decide(engine)
    assert decision.is_error
    assert decision.message == "pod uid-default-p(default/p) is in the cache, so can't be assumed"
    assert decision.nominated_node == ""
    assert pods_on(engine, "a") == 1


def test_a_placed_pod_has_no_nomination_any_more() -> None:
    engine = make_engine(nodes=nodes()[:1])
    info = engine.cluster.infos.of(make_pod("p"))
    engine.cluster.nominator.nominate(info, "elsewhere")
    engine.schedule(info)
    assert engine.cluster.nominator.node_of(info.uid) == ""


def test_permit_plugins_may_ask_to_wait() -> None:
    engine = make_engine(
        permit("A", PermitResult(Status(Code.WAIT), 30.0)),
        permit("B", None),
        permit("C", PermitResult(Status(Code.WAIT), 5.0)),
        nodes=nodes()[:1],
    )
    decision = decide(engine)
    assert (decision.bound, decision.waits_s) == ("a", {"A": 30.0, "C": 5.0})


def test_a_permit_refusal_undoes_the_reservation_even_after_others_asked_to_wait() -> None:
    log: list[str] = []
    engine = make_engine(
        reserve("R", None, log),
        permit("A", PermitResult(Status(Code.WAIT), 30.0)),
        permit("B", PermitResult(FULL)),
        nodes=nodes()[:1],
    )
    decision = decide(engine)
    assert decision.message == "0/1 nodes are available: 1 full."
    assert (decision.rejectors, decision.waits_s, decision.bound) == ({"B"}, {}, None)
    assert log == ["reserve R a", "unreserve R a"]
    assert pods_on(engine, "a") == 0


@pytest.mark.parametrize("answer", [PermitResult(error("boom")), ValueError("boom")])
def test_a_broken_permit_is_an_error(answer: PermitResult | Exception) -> None:
    engine = make_engine(permit("A", answer), nodes=nodes()[:1])
    decision = decide(engine)
    assert (decision.message, decision.is_error) == ('running Permit plugin "A": boom', True)
