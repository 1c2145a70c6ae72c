"""Preemption: what happens when something breaks, and answers that are kept."""

from support.scheduler.engine.tight_clusters import (
    budget,
    chosen,
    decide,
    engine_of,
    labelled,
    pending,
    running,
    small,
)
from support.scheduler.framework.fake_plugins import filter_by, make_engine, pre_filter

from podium.scheduler.cluster.pod_info import PodInfo
from podium.scheduler.engine.scheduler import Engine
from podium.scheduler.framework.cycle import Cycle
from podium.scheduler.framework.points import PreFilterExtensions, PreFilterPlugin
from podium.scheduler.framework.status import Code, Status, error, unschedulable
from podium.scheduler.plugins.default_preemption import DefaultPreemption
from podium.scheduler.plugins.node_resources_fit import NodeResourcesFit
from podium.testing import make_pod

# when something breaks


class Forgetful(PreFilterPlugin, PreFilterExtensions):
    """Cannot follow a pod that leaves."""

    name = "Forgetful"

    def pre_filter(self, cycle: Cycle) -> None:
        return None

    def add_pod(self, cycle: Cycle, pod: PodInfo, row: int) -> Status | None:
        return None

    def remove_pod(self, cycle: Cycle, pod: PodInfo, row: int) -> Status | None:
        return error(f"lost {pod.key}")


def broken_engine(*names: str, cpu: int = 1) -> Engine:
    return make_engine(
        NodeResourcesFit,
        Forgetful,
        DefaultPreemption,
        nodes=[small(name, cpu=cpu) for name in names],
        pods=[running(f"low-{name}", name, 0) for name in names],
    )


LOST = 'running RemovePod on PreFilter plugin "Forgetful": lost default/low-'


def test_an_error_on_the_only_node_is_an_error_that_keeps_the_nomination() -> None:
    decision = decide(broken_engine("a"))
    assert decision.post_filter is not None
    assert decision.post_filter.code is Code.ERROR
    assert decision.message == f"0/1 nodes are available: 1 Insufficient cpu. preemption: {LOST}a"
    assert (decision.nominated_node, decision.is_error) == (None, False)


def test_an_error_is_told_also_where_the_pod_would_not_have_fitted() -> None:
    engine = broken_engine("a", cpu=2)
    engine.cluster.add_pod(running("high", "a", 99))
    decision = decide(engine, pending(cpu=2))
    assert decision.message is not None
    assert decision.message.endswith(f"preemption: {LOST}a")


def test_errors_on_several_nodes_are_told_together() -> None:
    decision = decide(broken_engine("a", "b"))
    assert decision.message is not None
    assert decision.message.endswith(f"preemption: [{LOST}a, {LOST}b]")


def test_an_error_does_not_matter_while_there_is_a_candidate() -> None:
    class Choosy(Forgetful):
        name = "Choosy"

        def remove_pod(self, cycle: Cycle, pod: PodInfo, row: int) -> Status | None:
            return error("lost") if row == 0 else None

    engine = make_engine(
        NodeResourcesFit,
        Choosy,
        DefaultPreemption,
        nodes=[small("a", cpu=1), small("b", cpu=1)],
        pods=[running("p", "a", 0), running("q", "b", 5)],
    )
    assert chosen(decide(engine)) == ("b", ["q"])


def test_a_node_that_needs_no_victims_is_an_error() -> None:
    """PreFilter spoke for all nodes, and the filters see no problem."""
    engine = make_engine(
        pre_filter("P", unschedulable("not now")),
        filter_by("F", {}),
        DefaultPreemption,
        nodes=[small("a")],
        pods=[running("low", "a", 0)],
    )
    assert decide(engine).message == (
        '0/1 nodes are available: not now. preemption: expected at least one victim pod on node "a"'
    )


def test_an_error_is_not_remembered() -> None:
    class Moody(Forgetful):
        name = "Moody"
        mood: list[str] = ["bad"]

        def remove_pod(self, cycle: Cycle, pod: PodInfo, row: int) -> Status | None:
            return error("bad mood") if self.mood else None

    engine = make_engine(
        NodeResourcesFit,
        Moody,
        DefaultPreemption,
        nodes=[small("a", cpu=1)],
        pods=[running("low", "a", 0)],
    )
    message = decide(engine).message
    assert message is not None
    assert message.endswith("bad mood")
    Moody.mood.clear()
    assert chosen(decide(engine)) == ("a", ["low"])


# answers that are kept


def test_a_pod_that_was_confirmed_with_its_start_time_is_looked_at_again() -> None:
    engine = engine_of(small("a"), running("older", "a", 0, start=10))
    engine.cluster.assume(engine.cluster.infos.of(running("young", "", 0)), "a")
    assert chosen(decide(engine)) == ("a", ["young"])
    engine.cluster.add_pod(running("young", "a", 0, start=5))
    assert chosen(decide(engine)) == ("a", ["older"])


def test_alike_pods_of_other_priority_get_answers_of_their_own() -> None:
    engine = engine_of(small("a"), running("low", "a", 1), running("mid", "a", 5))
    assert chosen(decide(engine, pending(cpu=2))) == ("a", ["mid", "low"])
    message = decide(engine, pending(cpu=2, priority=3)).message
    assert message is not None
    assert message.endswith("preemption: 0/1 nodes are available: 1 Insufficient cpu.")


def test_new_nominations_are_seen_and_forgotten_ones_too() -> None:
    engine = engine_of(small("a"), running("low", "a", 0), running("mid", "a", 1))
    assert chosen(decide(engine)) == ("a", ["low"])
    rival = engine.cluster.infos.of(make_pod("rival", priority=50, requests={"cpu": 1}))
    engine.cluster.nominator.nominate(rival, "a")
    assert chosen(decide(engine)) == ("a", ["mid", "low"])
    engine.cluster.nominator.drop(rival.uid)
    assert chosen(decide(engine)) == ("a", ["low"])


def test_changed_budgets_are_seen() -> None:
    engine = engine_of(small("a"), labelled("protected", "a", 0), running("free", "a", 5))
    assert chosen(decide(engine)) == ("a", ["protected"])
    engine.cluster.catalog.put(budget("pdb", 0))
    assert chosen(decide(engine)) == ("a", ["free"])
    engine.cluster.catalog.put(budget("pdb", 1))
    assert chosen(decide(engine)) == ("a", ["protected"])
