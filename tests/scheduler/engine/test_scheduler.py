"""The engine around its attempts: profiles, gates, undoing, failed bindings."""

import pytest
from support.scheduler.framework.fake_plugins import (
    Arrival,
    Binder,
    gate,
    make_engine,
    reserve,
    score_by,
)

from podium.kubernetes.kinds.pod import Pod
from podium.scheduler.engine.requests import Bind
from podium.scheduler.engine.scheduler import Engine, UnknownProfileError
from podium.scheduler.framework.status import Code, Status, error, unresolvable, unschedulable
from podium.testing import make_node, make_pod


def bound(pod: Pod, node: str) -> Pod:
    return make_pod(pod.metadata.name, node=node)


def start_binding(engine: Engine, pod: Pod) -> Bind:
    engine.intake.pod_put(pod)
    attempt = engine.schedule_next()
    assert attempt is not None
    request = next(r for r in engine.take_requests() if isinstance(r, Bind))
    assert request.binding is attempt.binding
    return request


def test_a_pod_of_another_scheduler_has_no_profile_here() -> None:
    engine = make_engine(nodes=[make_node("a")], names=("one", "two"))
    with pytest.raises(UnknownProfileError) as caught:
        engine.schedule(engine.cluster.infos.of(make_pod("p", schedulerName="other")))
    assert str(caught.value) == "no profile is named 'other' (profiles: one, two)"


def test_each_pod_is_tried_by_the_profile_it_names() -> None:
    engine = make_engine(score_by("S", {}), nodes=[make_node("a")], names=("one", "two"))
    info = engine.cluster.infos.of(make_pod("p", schedulerName="two"))
    assert engine.schedule(info).decision.profile == "two"
    assert engine.first_profile.name == "one"


def test_a_gate_holds_a_pod_back_in_the_name_of_its_plugin() -> None:
    engine = make_engine(gate("Open", None), gate("Shut", unresolvable("wait")))
    info = engine.cluster.infos.of(make_pod("p"))
    status = engine.pre_enqueue(info)
    assert status == Status(Code.UNRESOLVABLE, ("wait",), "Shut")
    decision = engine.record_gated(info, status)
    assert (decision.attempt, decision.pre_enqueue, decision.scheduled) == (0, status, False)


def test_open_gates_let_a_pod_in() -> None:
    engine = make_engine(gate("Open", None), gate("Clear", Status(Code.SUCCESS)))
    assert engine.pre_enqueue(engine.cluster.infos.of(make_pod("p"))) is None


@pytest.mark.parametrize("answer", [error("boom"), ValueError("boom")])
def test_a_gate_that_breaks_holds_only_its_own_pod(answer: Status | Exception) -> None:
    engine = make_engine(gate("Broken", answer))
    status = engine.pre_enqueue(engine.cluster.infos.of(make_pod("p")))
    assert status == Status(Code.ERROR, ("boom",), "Broken")


def test_undoing_a_binding_frees_the_node() -> None:
    log: list[str] = []
    engine = make_engine(reserve("R", None, log), nodes=[make_node("a")])
    info = engine.cluster.infos.of(make_pod("p"))
    binding = engine.schedule(info).binding
    assert binding is not None
    assert engine.undo(binding) == []
    assert log == ["reserve R a", "unreserve R a"]
    assert not engine.cluster.is_assumed(info.uid)
    assert engine.schedule(info).decision.bound == "a"


def test_undoing_goes_on_when_a_plugin_breaks_and_tells() -> None:
    log: list[str] = []
    engine = make_engine(
        reserve("R", None, log),
        reserve("S", None, log, ValueError("stuck")),
        nodes=[make_node("a")],
    )
    info = engine.cluster.infos.of(make_pod("p"))
    binding = engine.schedule(info).binding
    assert binding is not None
    assert engine.undo(binding) == ['running Unreserve plugin "S": stuck']
    assert log[-2:] == ["unreserve S a", "unreserve R a"]
    assert not engine.cluster.is_assumed(info.uid)


def test_a_pod_that_was_confirmed_meanwhile_stays_when_its_binding_reports_a_failure() -> None:
    engine = make_engine(nodes=[make_node("a")])
    pod = make_pod("p")
    request = start_binding(engine, pod)
    engine.intake.pod_put(bound(pod, "a"))
    engine.bindings.finish_binding(request.binding, error("timed out"))
    assert len(engine.cluster.usage.pods(0)) == 1
    assert engine.schedule_next() is None


def test_a_failed_binding_puts_the_pod_back_and_frees_the_node() -> None:
    engine = make_engine(nodes=[make_node("a")])
    request = start_binding(engine, make_pod("p"))
    engine.bindings.finish_binding(request.binding, error('running Bind plugin "Binder": api down'))
    assert len(engine.cluster.usage.pods(0)) == 0
    assert engine.queue.get("default/p") is not None


def test_a_binding_ends_once() -> None:
    engine = make_engine(nodes=[make_node("a")])
    request = start_binding(engine, make_pod("p"))
    engine.bindings.finish_binding(request.binding, None)
    with pytest.raises(LookupError, match="no binding of default/p is under way"):
        engine.bindings.finish_binding(request.binding, unschedulable("late"))


def test_the_configured_percentage_can_be_overridden() -> None:
    names = [f"n{i:03}" for i in range(200)]
    nodes = [make_node(name) for name in names]
    pod = make_pod("p")
    few = make_engine(score_by("S", {}), nodes=nodes, percentage=10)
    every = make_engine(score_by("S", {}), nodes=nodes)
    assert len(few.schedule(few.cluster.infos.of(pod)).decision.feasible) == 100
    assert len(every.schedule(every.cluster.infos.of(pod)).decision.feasible) == 200


def test_an_engine_without_plugins_of_its_own_takes_the_next_node_in_turn() -> None:
    engine = make_engine(Arrival, Binder, nodes=[make_node("a"), make_node("b")])
    infos = [engine.cluster.infos.of(make_pod(f"p{i}")) for i in range(3)]
    assert [engine.schedule(info).decision.bound for info in infos] == ["a", "b", "a"]
