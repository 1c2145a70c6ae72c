"""Preemption: victims, reprieve, budgets, ranking and texts, through whole attempts."""

from typing import Any

import msgspec
import pytest
from builders import make_node, make_pod
from fake_plugins import filter_by, make_engine, pre_filter

from podium.api.node import Node
from podium.api.pod import Pod
from podium.api.workloads import PodDisruptionBudget
from podium.cluster.pod_info import PodInfo
from podium.config.load import load_configuration
from podium.engine.choice import FirstByName
from podium.engine.decision import Decision
from podium.engine.scheduler import Engine
from podium.framework.cycle import Cycle
from podium.framework.points import PreFilterExtensions, PreFilterPlugin
from podium.framework.status import Code, Status, error, unschedulable
from podium.plugins import in_tree_registry
from podium.plugins.default_preemption import DefaultPreemption
from podium.plugins.node_resources_fit import NodeResourcesFit

PREEMPTED = {"type": "DisruptionTarget", "status": "True", "reason": "PreemptionByScheduler"}
GOING = {"deletionTimestamp": "2026-01-01T00:00:00Z"}


def small(name: str, cpu: int = 2, pods: int = 10) -> Node:
    return make_node(name, allocatable={"cpu": cpu, "memory": "8Gi", "pods": pods})


def running(name: str, node: str, priority: int = 0, cpu: float = 1, **more: Any) -> Pod:
    start = more.pop("start", None)
    status = more.pop("status", {})
    if start is not None:
        status = {**status, "startTime": f"2026-01-01T00:00:{start:02}Z"}
    return make_pod(
        name, node=node, priority=priority, requests={"cpu": cpu}, status=status, **more
    )


def pending(priority: int = 10, cpu: float = 1, **more: Any) -> Pod:
    return make_pod("pending", priority=priority, requests={"cpu": cpu}, **more)


def budget(name: str, allowed: int, selector: Any = None, **status: Any) -> PodDisruptionBudget:
    raw = {
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"selector": {"matchLabels": {"app": "x"}} if selector is None else selector},
        "status": {"disruptionsAllowed": allowed, **status},
    }
    return msgspec.convert(raw, PodDisruptionBudget)


def engine_of(*pods_and_nodes: Node | Pod | PodDisruptionBudget) -> Engine:
    engine = Engine(load_configuration(None), in_tree_registry(), choice=FirstByName())
    for obj in pods_and_nodes:
        if isinstance(obj, Node):
            engine.cluster.put_node(obj)
        elif isinstance(obj, Pod):
            engine.cluster.add_pod(obj)
        else:
            engine.cluster.catalog.put(obj)
    return engine


def decide(engine: Engine, pod: Pod | None = None) -> Decision:
    return engine.schedule(engine.cluster.infos.of(pod or pending())).decision


def chosen(decision: Decision) -> tuple[str | None, list[str]]:
    outcome = decision.post_filter
    assert outcome is not None
    assert outcome.code is Code.SUCCESS, outcome
    return outcome.nominated_node, [victim.pod.metadata.name for victim in outcome.victims]


# victims


def test_the_least_important_pods_that_make_room_are_the_victims() -> None:
    engine = engine_of(
        small("a", cpu=3),
        running("low", "a", 1),
        running("lower", "a", 0),
        running("mid", "a", 5),
    )
    decision = decide(engine)
    assert chosen(decision) == ("a", ["lower"])
    assert decision.message == "0/1 nodes are available: 1 Insufficient cpu."
    assert (decision.bound, decision.nominated_node, decision.is_error) == (None, "a", False)
    assert len(engine.cluster.usage.pods(0)) == 3


def test_pods_of_the_same_priority_are_never_victims() -> None:
    engine = engine_of(small("a", cpu=1), running("equal", "a", 10))
    decision = decide(engine)
    assert decision.message == (
        "0/1 nodes are available: 1 Insufficient cpu. no new claims to deallocate, preemption: "
        "0/1 nodes are available: 1 No preemption victims found for incoming pod."
    )
    assert decision.nominated_node == ""


def test_a_reprieve_goes_to_the_most_important_then_to_the_longest_running() -> None:
    engine = engine_of(
        small("a", cpu=3),
        running("young", "a", 1, start=30),
        running("old", "a", 1, start=10),
        running("unstarted", "a", 1),
    )
    assert chosen(decide(engine, pending(cpu=1))) == ("a", ["unstarted"])
    assert chosen(decide(engine, pending(cpu=2))) == ("a", ["young", "unstarted"])


def test_a_smaller_pod_may_be_reprieved_after_a_larger_one_was_not() -> None:
    engine = engine_of(
        small("a", cpu=3), running("large", "a", 2, cpu=2), running("tiny", "a", 1, cpu=1)
    )
    assert chosen(decide(engine, pending(cpu=2))) == ("a", ["large"])


def test_terminating_pods_are_potential_victims() -> None:
    engine = engine_of(small("a", cpu=1), running("going", "a", 0, metadata=GOING))
    assert chosen(decide(engine)) == ("a", ["going"])


def test_a_node_that_no_victim_can_open_keeps_its_filter_reason() -> None:
    engine = engine_of(small("a"), running("low", "a", 0), running("high", "a", 99))
    decision = decide(engine, pending(cpu=2))
    assert decision.message == (
        "0/1 nodes are available: 1 Insufficient cpu. no new claims to deallocate, preemption: "
        "0/1 nodes are available: 1 Insufficient cpu."
    )


def test_a_node_that_is_too_small_when_empty_is_not_worth_a_dry_run() -> None:
    engine = engine_of(small("a"), running("low", "a", 0))
    decision = decide(engine, pending(cpu=3))
    assert decision.message is not None
    assert decision.message.endswith("1 Preemption is not helpful for scheduling.")


def test_only_nodes_that_were_rejected_as_unschedulable_are_tried() -> None:
    tainted = make_node("t", taints=[("k", "", "NoSchedule")], allocatable={"cpu": 1, "pods": 5})
    engine = engine_of(
        tainted, small("a", cpu=1), running("low", "t", 0), running("equal", "a", 10)
    )
    decision = decide(engine)
    assert decision.message == (
        "0/2 nodes are available: 1 Insufficient cpu, 1 node(s) had untolerated taint(s). no new "
        "claims to deallocate, preemption: 0/2 nodes are available: 1 No preemption victims found "
        "for incoming pod, 1 Preemption is not helpful for scheduling."
    )


def test_nominated_pods_of_higher_priority_keep_their_room() -> None:
    engine = engine_of(small("a", cpu=2), running("v1", "a", 0), running("v2", "a", 1))
    rival = engine.cluster.infos.of(make_pod("rival", priority=50, requests={"cpu": 1}))
    engine.cluster.nominator.nominate(rival, "a")
    assert chosen(decide(engine)) == ("a", ["v2", "v1"])


def test_victims_wait_for_their_anti_affinity_to_be_in_the_way() -> None:
    against = {
        "podAntiAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": [
                {"topologyKey": "zone", "labelSelector": {"matchLabels": {"app": "x"}}}
            ]
        }
    }
    node = make_node("a", labels={"zone": "z"})
    engine = engine_of(
        node,
        running("bystander", "a", 1, cpu=0),
        running("hostile", "a", 3, cpu=0, affinity=against),
    )
    assert chosen(decide(engine, pending(labels={"app": "x"}))) == ("a", ["hostile"])


# eligibility


def test_a_pod_that_never_preempts_keeps_its_nomination() -> None:
    engine = engine_of(small("a", cpu=1), running("low", "a", 0))
    decision = decide(engine, pending(preemptionPolicy="Never"))
    assert decision.message == (
        "0/1 nodes are available: 1 Insufficient cpu. no new claims to deallocate, preemption: "
        "not eligible due to preemptionPolicy=Never."
    )
    assert decision.nominated_node is None


def waiting_for_victims(**status: Any) -> Pod:
    return running("leaving", "a", 0, metadata=GOING, status=status)


def test_a_preemptor_waits_for_its_victims_to_leave() -> None:
    engine = engine_of(
        small("a", cpu=1),
        small("b", cpu=1),
        waiting_for_victims(conditions=[PREEMPTED]),
        running("low", "b", 0),
    )
    decision = decide(engine, pending(status={"nominatedNodeName": "a"}))
    assert decision.message is not None
    assert decision.message.endswith(
        "preemption: not eligible due to a terminating pod on the nominated node."
    )
    assert decision.nominated_node is None


@pytest.mark.parametrize(
    "condition",
    [
        {**PREEMPTED, "reason": "EvictionByEvictionAPI"},
        {**PREEMPTED, "status": "False"},
        {**PREEMPTED, "type": "Ready"},
    ],
)
def test_pods_that_leave_for_another_reason_are_not_waited_for(condition: dict[str, str]) -> None:
    engine = engine_of(small("a", cpu=1), waiting_for_victims(conditions=[condition]))
    decision = decide(engine, pending(status={"nominatedNodeName": "a"}))
    assert chosen(decision) == ("a", ["leaving"])


def test_a_nominated_node_that_cannot_be_used_any_more_is_not_waited_for() -> None:
    cordoned = make_node("a", unschedulable=True, allocatable={"cpu": 1, "pods": 5})
    engine = engine_of(
        cordoned,
        small("b", cpu=1),
        waiting_for_victims(conditions=[PREEMPTED]),
        running("low", "b", 0),
    )
    decision = decide(engine, pending(status={"nominatedNodeName": "a"}))
    assert chosen(decision) == ("b", ["low"])


def test_a_nominated_node_that_is_gone_is_not_waited_for() -> None:
    """Its pods may still be known, and PreFilter may have spoken for all nodes."""
    engine = make_engine(
        pre_filter("P", unschedulable("not now")),
        DefaultPreemption,
        nodes=[small("b")],
        pods=[waiting_for_victims(conditions=[PREEMPTED]), running("low", "b", 0)],
    )
    decision = decide(engine, pending(status={"nominatedNodeName": "a"}))
    assert decision.message is not None
    assert "not eligible" not in decision.message


# budgets


def labelled(name: str, node: str, priority: int, **more: Any) -> Pod:
    return running(name, node, priority, labels={"app": "x"}, **more)


def test_a_node_whose_victims_break_no_budget_is_preferred() -> None:
    engine = engine_of(
        small("a", cpu=1),
        small("b", cpu=1),
        labelled("protected", "a", 0),
        running("free", "b", 5),
        budget("pdb", 0),
    )
    assert chosen(decide(engine)) == ("b", ["free"])


def test_protected_pods_are_reprieved_before_more_important_ones() -> None:
    engine = engine_of(
        small("a", cpu=2), labelled("protected", "a", 0), running("free", "a", 5), budget("p", 0)
    )
    assert chosen(decide(engine)) == ("a", ["free"])


@pytest.mark.parametrize("allowed", [(0, 5), (5, 0)])
def test_one_exhausted_budget_of_several_protects_a_pod(allowed: tuple[int, int]) -> None:
    engine = engine_of(
        small("a", cpu=2),
        labelled("protected", "a", 0),
        running("free", "a", 5),
        budget("one", allowed[0]),
        budget("two", allowed[1]),
    )
    assert chosen(decide(engine)) == ("a", ["free"])


def test_important_pods_use_up_a_budget_first() -> None:
    engine = engine_of(
        small("a", cpu=3),
        labelled("first", "a", 5),
        labelled("second", "a", 3),
        labelled("third", "a", 1),
        budget("pdb", 1),
    )
    assert chosen(decide(engine)) == ("a", ["first"])


@pytest.mark.parametrize(
    "harmless",
    [
        budget("empty", 0, selector={}),
        budget("other", 0, selector={"matchLabels": {"app": "y"}}),
        budget("bad", 0, selector={"matchExpressions": [{"key": "app", "operator": "What"}]}),
        budget("under-way", 0, disruptedPods={"low": "2026-01-01T00:00:00Z"}),
    ],
)
def test_budgets_that_do_not_cover_a_pod_do_not_protect_it(harmless: PodDisruptionBudget) -> None:
    engine = engine_of(small("a", cpu=2), labelled("low", "a", 0), running("mid", "a", 5), harmless)
    assert chosen(decide(engine)) == ("a", ["low"])


def test_pods_without_labels_and_of_other_namespaces_are_not_protected() -> None:
    everything = budget(
        "all", 0, selector={"matchExpressions": [{"key": "zzz", "operator": "DoesNotExist"}]}
    )
    engine = engine_of(
        small("a", cpu=2),
        running("bare", "a", 1),
        labelled("stranger", "a", 0, namespace="other"),
        everything,
    )
    assert chosen(decide(engine)) == ("a", ["stranger"])


# ranking


def ranked(*pods: Pod) -> str | None:
    names = sorted({pod.spec.node_name for pod in pods})
    engine = engine_of(*(small(name, cpu=2) for name in names), *pods)
    return chosen(decide(engine, pending(cpu=2)))[0]


def test_the_lowest_of_the_highest_priorities_wins() -> None:
    assert ranked(running("p", "a", 5, 2), running("q", "b", 4), running("r", "b", 4)) == "b"


def test_then_the_lowest_sum_of_priorities() -> None:
    assert (
        ranked(
            running("p", "a", 4), running("q", "a", 3), running("r", "b", 4), running("s", "b", 2)
        )
        == "b"
    )


def test_fewer_victims_have_the_lower_sum_even_with_negative_priorities() -> None:
    assert ranked(running("p", "a", -5), running("q", "a", -5), running("r", "b", -5, 2)) == "b"


def test_then_the_node_whose_most_important_victims_started_last() -> None:
    assert (
        ranked(
            running("p", "a", 4, start=50),
            running("q", "a", 3, start=1),
            running("r", "b", 4, start=40),
            running("s", "b", 3, start=59),
        )
        == "a"
    )


def test_a_victim_that_has_not_started_counts_as_starting_now() -> None:
    assert ranked(running("p", "a", 4, 2, start=50), running("q", "b", 4, 2)) == "b"


def test_the_last_resort_is_the_name() -> None:
    assert ranked(running("p", "b", 4, 2), running("q", "a", 4, 2)) == "a"


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


def test_enough_candidates_end_the_search() -> None:
    names = [f"n{i}" for i in range(5)]
    config = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "profiles": [
            {
                "pluginConfig": [
                    {
                        "name": "DefaultPreemption",
                        "args": {
                            "minCandidateNodesPercentage": 0,
                            "minCandidateNodesAbsolute": 2,
                        },
                    }
                ]
            }
        ],
    }
    engine = Engine(load_configuration(config), in_tree_registry(), choice=FirstByName())
    for number, name in enumerate(names):
        engine.cluster.put_node(small(name, cpu=1))
        engine.cluster.add_pod(running(f"p-{name}", name, 9 - number))
    assert chosen(decide(engine)) == ("n1", ["p-n1"])
