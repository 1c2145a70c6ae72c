"""Moves that reach a goal: the fewest, and each of them made by the scheduler as it is told."""

import random
from typing import Any

import msgspec
import pytest
from support.offline.what_if.clusters import HOST, ZONE, anti_affinity, node, owned, pod, simulation

from podium.golang.document_structs import PodOnNode
from podium.golang.errors import InputError
from podium.kubernetes.kinds.node import Node
from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.kinds.workloads import PodDisruptionBudget
from podium.offline.simulate import Scenario, Simulation
from podium.offline.what_if.changed_cluster import ChangedCluster
from podium.offline.what_if.changes import Cordon
from podium.offline.what_if.rebalance import RebalanceQuestion, find_rebalance
from podium.offline.what_if.rebalance_answer import RebalanceAnswer
from podium.offline.what_if.rebalance_goals import (
    FitPending,
    FreeNodes,
    Goal,
    LimitSkew,
    parse_skew,
)
from podium.testing import make_node

Cluster = tuple[list[Node], list[Pod], list[Pod], list[PodDisruptionBudget]]


def begin(cluster: Cluster) -> Simulation:
    run = simulation(*cluster)
    run.run()
    return run


def scenario_of(cluster: Cluster) -> Scenario:
    nodes, running, pending, objects = cluster
    return Scenario(tuple(nodes), tuple(running), tuple(pending), tuple(objects))


def rebalance(cluster: Cluster, goal: Goal, **more: Any) -> RebalanceAnswer:
    question = RebalanceQuestion(goal, **more)
    return find_rebalance(lambda: begin(cluster), scenario_of(cluster), question)


def cluster_of(nodes: list[Node], running: list[Pod], pending: list[Pod] | None = None) -> Cluster:
    return nodes, running, pending or [], []


def web(number: int, where: str, cpu: str = "1", **more: Any) -> Pod:
    return owned(f"web-{number}", "web", cpu=cpu, node=where, labels={"app": "web"}, **more)


def budget(app: str, allowed: int) -> PodDisruptionBudget:
    raw = {
        "metadata": {"name": app, "namespace": "default", "uid": f"uid-{app}"},
        "spec": {"selector": {"matchLabels": {"app": app}}},
        "status": {"disruptionsAllowed": allowed, "expectedPods": 3, "currentHealthy": 3},
    }
    return msgspec.convert(raw, PodDisruptionBudget)


# --- goals ------------------------------------------------------------------------------------


def test_nodes_are_freed_with_the_fewest_moves() -> None:
    nodes = [node(f"n{number}") for number in range(4)]
    running = [web(number, f"n{number % 4}") for number in range(6)]

    found = rebalance(cluster_of(nodes, running), FreeNodes(2))

    assert found.reached
    assert {step.source for step in found.steps} == {"n2", "n3"}
    assert len(found.steps) == found.fewest_moves == 2
    assert found.cordoned == ("n2", "n3")
    assert found.commands[0] == "kubectl cordon n2 n3"


def test_nodes_that_are_empty_already_count() -> None:
    nodes = [node("n0"), node("n1")]

    found = rebalance(cluster_of(nodes, [web(0, "n0")]), FreeNodes(1))

    assert found.reached
    assert found.commands == ()


def test_pods_are_moved_out_of_the_way_of_one_that_waits() -> None:
    running = [web(0, "n0", "2"), web(1, "n1", "2")]

    found = rebalance(
        cluster_of([node("n0"), node("n1")], running, [pod("big", "4")]), FitPending()
    )

    assert found.reached
    (step,) = found.steps
    assert step.placed == (PodOnNode("default/big", step.source),)
    name = step.pod.removeprefix("default/")
    eviction = (
        '{"apiVersion":"policy/v1","kind":"Eviction",'
        f'"metadata":{{"name":"{name}","namespace":"default"}}}}'
    )
    path = f"/api/v1/namespaces/default/pods/{name}/eviction"
    fields = f"spec.nodeName={step.target},status.phase!=Succeeded,status.phase!=Failed"
    assert list(step.commands) == [
        f"kubectl cordon {step.source}",
        f"echo '{eviction}' | kubectl create --raw {path} -f -",
        f"kubectl -n default wait --for=delete pod/{name} --timeout=10m",
        f"until test \"$(kubectl -n default get pods -l app=web '--field-selector={fields}'"
        ' -o name | wc -l)" -ge 2; do sleep 1; done',
        f"kubectl uncordon {step.source}",
        "kubectl -n default wait --for=condition=Ready pod -l app=web"
        f" --field-selector=spec.nodeName={step.target} --timeout=10m",
        "kubectl -n default wait --for=condition=PodScheduled pod/big --timeout=10m",
    ]


def test_a_pod_that_keeps_its_name_is_not_waited_for_to_be_gone() -> None:
    labels = {"app": "db", "statefulset.kubernetes.io/pod-name": "db-0"}
    database = owned("db-0", "db", "StatefulSet", cpu="1", node="n0", labels=labels)

    bare = pod("bare", node="n1")
    found = rebalance(cluster_of([node("n0"), node("n1")], [database, bare]), FreeNodes(1))

    (step,) = found.steps
    assert step.pod == "default/db-0"
    assert any("-l app=db " in each for each in step.commands)
    assert not any("--for=delete" in each for each in step.commands)


def test_nodes_that_no_pod_may_use_do_not_count_in_a_skew() -> None:
    nodes = [node("n0"), node("n1"), node("n2")]
    closed = make_node(
        "gpu",
        allocatable={"cpu": "4", "memory": "8Gi", "pods": 10},
        taints=[("x", "", "NoSchedule")],
    )
    running = [web(number, "n0") for number in range(3)]

    found = rebalance(cluster_of([*nodes, closed], running), LimitSkew("cpu"))

    assert (found.measure.before, found.measure.after) == (0.75, 0.0)
    assert found.left_out == ("gpu",)


def test_a_pool_that_a_pod_selects_and_tolerates_counts() -> None:
    tolerating = owned(
        "gpu-0",
        "gpu",
        node="n0",
        tolerations=[{"key": "x", "operator": "Exists"}],
    )
    closed = make_node(
        "gpu",
        allocatable={"cpu": "4", "memory": "8Gi", "pods": 10},
        taints=[("x", "", "NoSchedule")],
    )

    found = rebalance(cluster_of([node("n0"), closed], [tolerating]), FreeNodes(1))

    assert found.measure.before == 1
    assert found.left_out == ()


def test_a_skew_is_brought_below_its_limit() -> None:
    nodes = [node(f"n{number}") for number in range(4)]
    running = [web(number, "n0") for number in range(4)]

    found = rebalance(cluster_of(nodes, running), LimitSkew("cpu", 0.25))

    assert found.reached
    assert found.measure.before == 1.0
    assert found.measure.after <= 0.25
    assert len(found.steps) == found.fewest_moves == 3


def test_a_skew_of_zones_counts_their_nodes_together() -> None:
    nodes = [node("n0", "a"), node("n1", "a"), node("n2", "b"), node("n3", "b")]
    running = [web(0, "n0"), web(1, "n1"), web(2, "n0"), web(3, "n1")]

    found = rebalance(cluster_of(nodes, running), LimitSkew("pods", 0.0, ZONE))

    assert found.reached
    assert len(found.steps) == found.fewest_moves == 2


def test_a_skew_without_a_limit_is_made_as_small_as_the_moves_allow() -> None:
    nodes = [node("n0"), node("n1"), node("n2")]
    running = [web(number, "n0") for number in range(4)]

    found = rebalance(cluster_of(nodes, running), LimitSkew("cpu"), max_moves=1)

    assert len(found.steps) == 1
    assert found.measure.after == found.measure.bound == 0.75


def test_a_goal_out_of_reach_says_how_near_it_came() -> None:
    nodes = [node("n0"), node("n1"), node("n2")]
    running = [web(0, "n0", "3"), web(1, "n1", "3"), web(2, "n2", "1")]

    found = rebalance(cluster_of(nodes, running), FreeNodes(2))

    assert not found.reached
    assert (found.measure.after, found.measure.bound) == (1, 1)
    assert len(found.steps) == 1


# --- who may move -----------------------------------------------------------------------------


def test_pods_stay_that_kubectl_would_not_drain() -> None:
    local = web(1, "n1", volumes=[{"name": "scratch", "emptyDir": {}}])
    cluster = cluster_of([node("n0"), node("n1")], [pod("bare", node="n0"), local])

    found = rebalance(cluster, FreeNodes(1))

    assert not found.reached
    assert {each.pod: each.why for each in found.kept} == {
        "default/bare": "nothing would make it again",
        "default/web-1": "it has local storage (emptyDir)",
    }
    assert rebalance(cluster, FreeNodes(1), deletes_empty_dirs=True).reached


def test_pods_of_daemon_sets_do_not_keep_a_node_from_being_empty() -> None:
    agents = [owned(f"agent-{n}", "agents", "DaemonSet", node=f"n{n}") for n in range(2)]

    found = rebalance(cluster_of([node("n0"), node("n1")], [*agents, web(0, "n0")]), FreeNodes(2))

    assert (found.measure.before, found.measure.after) == (1, 1)
    assert found.steps == ()


def test_a_budget_that_lets_nobody_go_is_respected() -> None:
    nodes, running = [node("n0"), node("n1")], [web(0, "n0"), web(1, "n1")]

    held = rebalance((nodes, running, [], [budget("web", 0)]), FreeNodes(1))
    one = rebalance((nodes, running, [], [budget("web", 1)]), FreeNodes(1))

    assert not held.reached
    assert {each.why for each in held.kept} == {"PodDisruptionBudget web lets no more pods go"}
    assert one.reached


def test_no_more_moves_are_proposed_than_allowed() -> None:
    running = [web(number, "n0", "1") for number in range(3)]

    found = rebalance(cluster_of([node("n0"), node("n1")], running), LimitSkew("cpu"), max_moves=0)

    assert found.steps == ()


# --- the promise ------------------------------------------------------------------------------


def random_cluster(seed: int) -> Cluster:
    chance = random.Random(seed)
    nodes = [
        make_node(
            f"n{number}",
            labels={HOST: f"n{number}", ZONE: chance.choice("ab")},
            allocatable={"cpu": str(chance.randint(3, 6)), "memory": "8Gi", "pods": 10},
            taints=[("x", "", "NoSchedule")] if chance.random() < 0.1 else [],
        )
        for number in range(chance.randint(3, 5))
    ]
    specs: dict[str, dict[str, Any]] = {}
    for app in ("a", "b", "c"):
        spec: dict[str, Any] = {}
        if chance.random() < 0.3:
            spec["affinity"] = anti_affinity(HOST, chance.choice("abc"))
        if chance.random() < 0.3:
            spec["topologySpreadConstraints"] = [
                {
                    "maxSkew": chance.randint(1, 2),
                    "topologyKey": chance.choice((HOST, ZONE)),
                    "whenUnsatisfiable": "DoNotSchedule",
                    "labelSelector": {"matchLabels": {"app": app}},
                }
            ]
        specs[app] = spec
    running, pending = [], []
    for number in range(chance.randint(3, 8)):
        app = chance.choice("abc")
        where = chance.choice(nodes).metadata.name
        make = pod if chance.random() < 0.1 else lambda name, **rest: owned(name, "set", **rest)
        cpu = str(chance.randint(1, 2))
        running.append(
            make(f"{app}-{number}", cpu=cpu, node=where, labels={"app": app}, **specs[app])
        )
    for number in range(chance.randint(0, 2)):
        cpu, priority = str(chance.randint(2, 5)), chance.choice((0, 0, 5))
        pending.append(
            owned(f"late-{number}", "late", cpu=cpu, labels={"app": "late"}, priority=priority)
        )
    budgets = [budget("a", chance.randint(0, 2))] if chance.random() < 0.4 else []
    return nodes, running, pending, budgets


def replay(cluster: Cluster, found: RebalanceAnswer) -> tuple[Simulation, list[tuple[str, str]]]:
    """Carry out the printed commands on a fresh cluster; where each deleted pod went."""
    run = begin(cluster)
    changed = ChangedCluster(run, scenario_of(cluster))
    went = []
    for command in found.commands:
        words = command.split()
        if words[1] in ("cordon", "uncordon"):
            for name in words[2:]:
                changed.apply(Cordon(name, closed=words[1] == "cordon"))
        elif words[0] == "echo":
            _, _, _, _, namespace, _, name, _ = words[words.index("--raw") + 1].split("/")
            key = f"{namespace}/{name}"
            assert changed.evict(key) == ""
            went.append((key, run.engine.state.pods[key].spec.node_name))
    return run, went


GOALS: tuple[Goal, ...] = (FreeNodes(1), FreeNodes(2), FitPending(), LimitSkew("cpu", 0.3))


@pytest.mark.parametrize("seed", range(14))
def test_the_scheduler_makes_every_move_as_it_is_told(seed: int) -> None:
    cluster = random_cluster(seed)
    before = {key: p.spec.node_name for key, p in begin(cluster).engine.state.pods.items()}
    for goal in GOALS:
        found = rebalance(cluster, goal)

        run, went = replay(cluster, found)

        assert went == [(step.pod, step.target) for step in found.steps]
        after = {key: p.spec.node_name for key, p in run.engine.state.pods.items()}
        assert goal.measure(run.engine) == found.measure.after
        moved = {step.pod for step in found.steps}
        for key, where in before.items():
            if where and key not in moved:
                assert after[key] == where
        if found.reached and found.fewest_moves is not None:
            assert len(found.steps) >= found.fewest_moves


# --- what is refused --------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["cpu", "cpu<=", "<=3", "cpu<=x", "cpu<=150%", "cpu<=-1"])
def test_a_limit_that_says_nothing_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="is no limit of a skew"):
        parse_skew(text)


def test_limits_are_shares_or_percentages() -> None:
    assert parse_skew("cpu<=20%") == ("cpu", 0.2)
    assert parse_skew("memory <= 0.5") == ("memory", 0.5)


def test_a_resource_that_no_node_has_is_refused() -> None:
    with pytest.raises(InputError, match=r"no node that takes pods has example\.com/gpu"):
        rebalance(cluster_of([node("n0")], []), LimitSkew("example.com/gpu", 0.1))
