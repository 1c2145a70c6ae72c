"""Which changes are proposed, and in which order."""

import msgspec
import pytest
from msgspec.structs import replace
from support.scheduler.explain.asked_engine import (
    GPU,
    ask,
    engine_with,
    node,
    owned_by,
    proposal,
    sentences,
)

from podium.kubernetes.kinds.meta import KubeObject, ObjectMeta
from podium.kubernetes.kinds.node import NodeAddress
from podium.kubernetes.kinds.workloads import PodDisruptionBudget, PriorityClass
from podium.scheduler.explain.proposals.search import MAX_TRIALS, find_proposals
from podium.scheduler.explain.trial import Trial
from podium.scheduler.framework.explanations import disturbance
from podium.testing import make_pod


def filler(name: str, where: str, cpu: str, **more: object) -> KubeObject:
    return make_pod(name, node=where, requests={"cpu": cpu}, **more)  # type: ignore[arg-type]


def test_a_pod_that_fits_is_told_where_it_goes() -> None:
    answer = ask(make_pod("p"), node("a"))
    assert answer.node == "a"
    assert answer.proposals == []


def test_a_pod_that_is_being_deleted_cannot_be_helped() -> None:
    going = make_pod("p", metadata={"deletionTimestamp": "2026-01-01T00:00:00Z"})
    answer = ask(going, node("a"))
    assert not answer.node
    assert not answer.proposals
    assert "being deleted" in answer.reason


def test_a_cluster_without_nodes_leaves_nothing_to_propose() -> None:
    answer = ask(make_pod("p"))
    assert not answer.proposals
    assert answer.reason


def test_a_toleration_comes_before_taking_the_taint_off() -> None:
    answer = ask(make_pod("p"), node("a", taints=[GPU]), node("b", taints=[GPU]))
    assert sentences(answer)[:2] == [
        "tolerate gpu=yes:NoSchedule",
        "remove gpu=yes:NoSchedule from node a",
    ]
    assert [each.nodes for each in answer.proposals[:2]] == [2, 1]


def test_both_taints_of_a_node_are_tolerated_at_once() -> None:
    answer = ask(make_pod("p"), node("a", taints=[GPU, ("team", "", "NoExecute")]))
    assert sentences(answer)[0] == "tolerate gpu=yes:NoSchedule and team:NoExecute"


def test_the_taint_of_a_node_that_is_not_well_is_nothing_to_take_off() -> None:
    answer = ask(
        make_pod("p"), node("a", taints=[("node.kubernetes.io/not-ready", "", "NoExecute")])
    )
    assert "remove-taint" not in {each.code for each in answer.proposals}
    assert proposal(answer, "tolerate-taint").disturbance > disturbance.EVICT_PODS


def test_a_cordon_and_the_taint_that_it_brings_are_one_thing() -> None:
    cordon = ("node.kubernetes.io/unschedulable", "", "NoSchedule")
    answer = ask(make_pod("p"), node("a", unschedulable=True, taints=[cordon]))
    first = answer.proposals[0]
    assert first.sentence == "uncordon node a"
    assert first.commands == ("kubectl uncordon node/a",)


def test_requests_are_read_under_the_gates_of_the_scheduler() -> None:
    """Without PodLevelResources the containers' requests are what no node has, not the pod's."""
    pod = make_pod("p", requests={"cpu": "8"}, resources={"requests": {"cpu": "1"}})

    off = {"PodLevelResources": False, "InPlacePodLevelResourcesVerticalScaling": False}
    answer = ask(pod, node("a"), **off)

    assert ask(pod, node("a")).node == "a"
    assert not answer.node
    assert proposal(answer, "lower-request").sentence == "lower the cpu request from 8 to 4"
    assert proposal(answer, "add-larger-node").sentence == "add a node like a, but with 8 cpu"


def test_the_smaller_request_is_the_largest_that_fits() -> None:
    pod = make_pod("p", requests={"cpu": "3500m"})
    answer = ask(pod, node("a"), filler("r", "a", "1250m"), node("b", 1))
    first = proposal(answer, "lower-request")
    assert first.sentence == "lower the cpu request from 3500m to 2750m"
    (container,) = first.hypothesis.pod.spec.containers or ()
    assert container.resources is not None
    assert container.resources.requests == {"cpu": "2750m"}


def test_of_several_containers_the_largest_gives_up_what_is_too_much() -> None:
    containers = [
        {"name": name, "resources": {"requests": {"cpu": cpu}}}
        for name, cpu in (("small", "500m"), ("large", "5"))
    ]
    answer = ask(make_pod("p", containers=containers), node("a"))
    changed = proposal(answer, "lower-request").hypothesis.pod.spec.containers or ()
    assert [c.resources.requests for c in changed if c.resources] == [
        {"cpu": "500m"},
        {"cpu": "3500m"},
    ]


def test_two_changes_are_proposed_where_one_is_not_enough() -> None:
    answer = ask(make_pod("p", requests={"cpu": "6"}), node("a", taints=[GPU]))
    assert sentences(answer)[0] == (
        "tolerate gpu=yes:NoSchedule, and lower the cpu request from 6 to 4"
    )


def test_no_combination_has_a_change_that_is_not_needed() -> None:
    answer = ask(
        make_pod("p", requests={"cpu": "6"}), node("a", taints=[GPU]), node("b"), node("c")
    )
    assert proposal(answer, "lower-request").nodes == 2
    assert "tolerate-taint+lower-request" not in {each.code for each in answer.proposals}


def test_three_changes_are_the_most() -> None:
    pod = make_pod("p", requests={"cpu": "6"}, nodeSelector={"disk": "ssd"})
    answer = ask(pod, node("a", taints=[GPU]))
    assert {len(each.steps) for each in answer.proposals if "lower-request" in each.code} == {3}


def test_a_pod_that_fits_elsewhere_is_moved_rather_than_evicted() -> None:
    answer = ask(
        make_pod("p", requests={"cpu": "3"}, nodeSelector={"kubernetes.io/hostname": "a"}),
        node("a"),
        node("b"),
        filler("r", "a", "2"),
    )
    moves = proposal(answer, "move-pods")
    assert moves.sentence == "move default/r off node a"
    assert moves.destinations == ("b",)
    assert moves.disturbance < proposal(answer, "evict-pods").disturbance


def test_the_smallest_pod_that_is_enough_is_evicted() -> None:
    answer = ask(
        make_pod("p", requests={"cpu": "2"}),
        node("a"),
        filler("large", "a", "2500m"),
        filler("small", "a", "1500m"),
    )
    assert proposal(answer, "evict-pods").sentence.startswith("evict default/large from node a")
    answer = ask(
        make_pod("p", requests={"cpu": "1"}),
        node("a"),
        filler("large", "a", "2500m"),
        filler("small", "a", "1500m"),
    )
    assert proposal(answer, "evict-pods").sentence.startswith("evict default/small from node a")


def test_budgets_are_kept_and_daemons_stay() -> None:
    budget = _budget(allowed=0)
    guarded = filler("guarded", "a", "4", labels={"app": "db"})
    daemon = filler("daemon", "b", "4", metadata=owned_by("DaemonSet", "agents"))
    answer = ask(
        make_pod("p", requests={"cpu": "4"}), node("a"), node("b"), guarded, daemon, budget
    )
    assert not {"move-pods", "evict-pods"} & {each.code for each in answer.proposals}
    answer = ask(
        make_pod("p", requests={"cpu": "4"}), node("a"), node("b"), guarded, daemon, _budget(1)
    )
    assert "default/guarded" in proposal(answer, "evict-pods").sentence


def _budget(allowed: int) -> KubeObject:
    raw = {
        "metadata": {"name": "db", "namespace": "default"},
        "spec": {"selector": {"matchLabels": {"app": "db"}}},
        "status": {"disruptionsAllowed": allowed},
    }
    return msgspec.convert(raw, PodDisruptionBudget)


def test_more_important_pods_are_not_evicted() -> None:
    answer = ask(
        make_pod("p", requests={"cpu": "4"}), node("a"), filler("vip", "a", "4", priority=10)
    )
    assert "evict-pods" not in {each.code for each in answer.proposals}


def test_a_priority_class_that_exists_is_used_before_a_new_one_is_made() -> None:
    pod = make_pod("p", requests={"cpu": "4"})
    there = (node("a"), filler("r", "a", "4", priority=10))
    high = PriorityClass(metadata=ObjectMeta(name="high"), value=100)
    low = PriorityClass(metadata=ObjectMeta(name="low"), value=5)
    found = proposal(ask(pod, *there, low, high), "raise-priority")
    assert found.sentence == (
        "use PriorityClass high (100), so that it preempts default/r on node a"
    )
    found = proposal(ask(pod, *there, low), "raise-priority")
    assert found.sentence.startswith("create PriorityClass above-10 (11) and use it")


def test_the_smallest_shape_that_suffices_is_the_node_to_add() -> None:
    full = [filler(f"r{size}", f"n{size}", f"{size}") for size in (2, 4, 8)]
    answer = ask(
        make_pod("p", requests={"cpu": "3"}), *(node(f"n{s}", s) for s in (8, 4, 2)), *full
    )
    assert proposal(answer, "add-node").sentence == "add a node like n4 (4 cpu, 8Gi)"


def test_a_node_to_add_has_not_the_address_of_the_one_it_is_like() -> None:
    like = node("a")
    address = NodeAddress(type="InternalIP", address="10.1.2.3")
    like = replace(like, status=replace(like.status, addresses=(address,)))
    found = proposal(
        ask(make_pod("p", requests={"cpu": "3"}), like, filler("r", "a", "4")), "add-node"
    )
    assert found.commands
    assert "10.1.2.3" not in " ".join(found.commands)


def test_a_larger_node_is_added_where_no_shape_suffices() -> None:
    answer = ask(make_pod("p", requests={"cpu": "30"}), node("a"), node("b", 8))
    assert proposal(answer, "add-larger-node").sentence == "add a node like b, but with 30 cpu"


def test_a_pod_that_waits_longer_gets_what_is_freed_first() -> None:
    engine = engine_with(node("a", unschedulable=True))
    for name in ("first", "second"):
        engine.intake.pod_put(make_pod(name, requests={"cpu": "4"}))
    while engine.schedule_next() is not None:
        pass
    second = engine.state.pods["default/second"]
    answer = find_proposals(Trial(engine, second))
    assert "uncordon-node" not in {each.code for each in answer.proposals}
    first = engine.state.pods["default/first"]
    assert sentences(find_proposals(Trial(engine, first)))[0] == "uncordon node a"


@pytest.mark.parametrize("nodes", [1, 50])
def test_the_engine_is_as_it_was_and_answers_the_same_again(nodes: int) -> None:
    taints = [GPU]
    engine = engine_with(*(node(f"n{at}", taints=taints) for at in range(nodes)))
    engine.intake.pod_put(make_pod("r", node="n0", requests={"cpu": "3"}))
    trial = Trial(engine, make_pod("p", requests={"cpu": "2"}))
    before = find_proposals(trial)
    placed = {uid: held.row for uid, held in engine.cluster.placements.items()}
    after = find_proposals(Trial(engine, trial.pod))
    assert sentences(before) == sentences(after)
    assert {uid: held.row for uid, held in engine.cluster.placements.items()} == placed
    assert len(engine.cluster.node_order()) == nodes


def test_the_number_of_trials_is_bounded() -> None:
    labels = [{f"k{key}": f"v{at % (key + 2)}" for key in range(6)} for at in range(40)]
    pod = make_pod(
        "p",
        requests={"cpu": "9", "memory": "90Gi", "example.com/x": "1"},
        nodeSelector={f"k{key}": "none" for key in range(6)},
    )
    answer = ask(pod, *(node(f"n{at}", labels=labels[at], taints=[GPU]) for at in range(40)))
    assert answer.trials < MAX_TRIALS + 50
