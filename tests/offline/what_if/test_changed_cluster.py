"""What follows from a change, and that trying one out leaves nothing behind."""

import random
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace
from support.offline.what_if.clusters import HOST, ZONE, anti_affinity, node, owned, pod, simulation

from podium.golang.errors import InputError
from podium.kubernetes.controllers.workloads import DaemonSet, StatefulSet
from podium.kubernetes.kinds.node import Node, Taint
from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.kinds.workloads import PodDisruptionBudget, PodDisruptionBudgetStatus
from podium.offline.simulate import Scenario
from podium.offline.simulate.disruption_budgets import count_budgets
from podium.offline.what_if.changed_cluster import ChangedCluster
from podium.offline.what_if.changes import (
    AddNodes,
    Change,
    Cordon,
    Drain,
    Fail,
    Remove,
    Scale,
    SetTaint,
    ZoneOutage,
)
from podium.offline.what_if.consequences import Consequences
from podium.offline.what_if.failures import fail_each_node, fail_each_zone
from podium.scheduler.cluster.load import load_of


def budget(name: str, app: str, **spec: Any) -> PodDisruptionBudget:
    raw = {
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"selector": {"matchLabels": {"app": app}}, **spec},
    }
    return msgspec.convert(raw, PodDisruptionBudget)


def counted(budgets: list[PodDisruptionBudget], pods: list[Pod]) -> list[PodDisruptionBudget]:
    return count_budgets(budgets, pods, ())


def changed(
    nodes: list[Node],
    running: list[Pod],
    *changes: Change,
    pending: list[Pod] | None = None,
    budgets: list[PodDisruptionBudget] | None = None,
) -> Consequences:
    objects = counted(budgets or [], running)
    run = simulation(nodes, running, pending or [], objects)
    run.run()
    scenario = Scenario(tuple(nodes), tuple(running), tuple(pending or ()), tuple(objects))
    what = ChangedCluster(run, scenario)
    for change in changes:
        what.apply(change)
    return what.consequences()


def moves(found: Consequences) -> dict[str, tuple[str | None, str]]:
    return {each.pod.removeprefix("default/"): (each.before, each.after) for each in found.moved}


def web(number: int, where: str, **more: Any) -> Pod:
    return owned(f"web-{number}", "web", node=where, labels={"app": "web"}, **more)


# --- draining ---------------------------------------------------------------------------------


def test_a_drained_node_loses_all_but_its_own_pods() -> None:
    daemon = owned("agent", "agents", kind="DaemonSet", node="n1")
    static = pod(
        "kube-proxy", node="n1", metadata={"annotations": {"kubernetes.io/config.mirror": "x"}}
    )
    bare = pod("alone", node="n1")
    running = [web(0, "n1"), daemon, static, bare]

    found = changed([node("n1"), node("n2")], running, Drain("n1"))

    assert moves(found) == {"web-0": ("n1", "n2")}
    assert [each.pod for each in found.gone] == ["default/alone"]
    assert not found.is_survived


def test_a_drain_goes_on_as_budgets_are_filled_again() -> None:
    running = [web(number, "n1") for number in range(3)]

    found = changed(
        [node("n1"), node("n2")],
        running,
        Drain("n1"),
        budgets=[budget("b", "web", maxUnavailable=1)],
    )

    assert moves(found) == {f"web-{number}": ("n1", "n2") for number in range(3)}
    assert found.is_survived


def test_what_a_budget_does_not_let_go_stays_and_is_told() -> None:
    running = [web(number, "n1") for number in range(3)]
    small = node("n2", cpu="1")

    found = changed(
        [node("n1"), small], running, Drain("n1"), budgets=[budget("b", "web", minAvailable=2)]
    )

    assert len(found.moved) == 1
    assert len(found.stranded) == 1
    assert [(each.pod, each.node) for each in found.kept] == [("default/web-2", "n1")]
    assert "PodDisruptionBudget b lets no more pods go" in found.kept[0].why
    assert "Insufficient cpu" in found.stranded[0].message
    assert found.stranded[0].causes[0].code == "insufficient-resource"


def test_a_pod_that_two_budgets_cover_cannot_be_evicted() -> None:
    budgets = [budget("a", "web", maxUnavailable=1), budget("b", "web", maxUnavailable=1)]

    found = changed([node("n1"), node("n2")], [web(0, "n1")], Drain("n1"), budgets=budgets)

    assert "more than one PodDisruptionBudget covers it: a, b" in found.kept[0].why


def test_a_budget_with_an_empty_selector_guards_all_pods_of_its_namespace() -> None:
    never = budget("b", "web", maxUnavailable=0, selector={})

    found = changed([node("n1"), node("n2")], [web(0, "n1")], Drain("n1"), budgets=[never])

    assert [each.pod for each in found.kept] == ["default/web-0"]


@pytest.mark.parametrize(("policy", "kept"), [("AlwaysAllow", 1), ("IfHealthyBudget", 2)])
def test_pods_that_are_not_ready_go_as_their_budget_says(policy: str, kept: int) -> None:
    unready = {"phase": "Running", "conditions": [{"type": "Ready", "status": "False"}]}
    running = [web(0, "n1", status=unready), web(1, "n1")]
    guard = budget("b", "web", minAvailable=2, unhealthyPodEvictionPolicy=policy)

    found = changed([node("n1"), node("n2")], running, Drain("n1"), budgets=[guard])

    assert len(found.kept) == kept


def test_a_budget_whose_count_somebody_has_written_by_hand_is_asked() -> None:
    guard = budget("b", "web", maxUnavailable=1)
    metadata = replace(guard.metadata, generation=1)
    status = PodDisruptionBudgetStatus(disruptions_allowed=1, current_healthy=1, expected_pods=1)
    guard = replace(guard, metadata=metadata, status=status)

    found = changed([node("n1"), node("n2")], [web(0, "n1")], Drain("n1"), budgets=[guard])

    assert moves(found) == {"web-0": ("n1", "n2")}


def test_a_pod_that_is_not_up_yet_is_evicted_without_asking() -> None:
    waiting = web(0, "n1", status={"phase": "Pending"})
    never = budget("b", "web", maxUnavailable=0)

    found = changed([node("n1"), node("n2")], [waiting], Drain("n1"), budgets=[never])

    assert moves(found) == {"web-0": ("n1", "n2")}


def test_a_budget_follows_the_pods_that_its_workload_is_to_have() -> None:
    raw = {"metadata": {"name": "web", "namespace": "default"}, "spec": {"replicas": 4}}
    wanted = msgspec.convert(raw, StatefulSet)
    running = [
        owned(f"web-{n}", "web", "StatefulSet", node="n1", labels={"app": "web"}, cpu="100m")
        for n in range(3)
    ]
    guard = budget("b", "web", maxUnavailable="50%")
    run = simulation([node("n1")], running, [], [guard], workloads=[wanted])
    run.run()
    scenario = Scenario((node("n1"),), tuple(running), (), (guard,), workloads=(wanted,))
    what = ChangedCluster(run, scenario)

    def allowed() -> int:
        run.disruptions.recount()
        found = run.engine.cluster.catalog.get(PodDisruptionBudget, "b", "default")
        assert found is not None
        return found.status.disruptions_allowed

    assert allowed() == 1
    what.apply(Scale("sts/web", 6))
    assert allowed() == 3


def test_a_failure_asks_no_budget() -> None:
    never = [budget("b", "web", maxUnavailable=0)]
    nodes, running = [node("n1"), node("n2")], [web(0, "n1")]

    assert changed(nodes, running, Drain("n1"), budgets=never).kept
    assert changed(nodes, running, Remove("n1"), budgets=never).kept
    assert moves(changed(nodes, running, Fail("n1"), budgets=never)) == {"web-0": ("n1", "n2")}


# --- other changes ----------------------------------------------------------------------------


def test_changes_are_made_in_their_order() -> None:
    nodes, running = [node("n1"), node("n2"), node("n3", "b")], [web(0, "n1")]

    first = changed(nodes, running, Cordon("n2"), Fail("n1"))
    then = changed(nodes, running, Fail(f"{HOST}=n1"), Cordon("n2"))

    assert moves(first) == {"web-0": ("n1", "n3")}
    assert moves(then)["web-0"][0] == "n1"
    assert first.changes == ("cordon n2", "fail n1")


def test_a_victim_of_preemption_comes_back_and_looks_for_another_node() -> None:
    weak = owned("weak", "weak", node="n2", cpu="3", priority=1)
    strong = owned("strong", "strong", node="n1", cpu="3", priority=100)
    nodes = [node("n1"), node("n2"), node("n3", cpu="3")]
    running = [weak, strong, owned("filler", "filler", node="n3", cpu="2", priority=200)]

    found = changed(nodes, running, Fail("n1"))

    assert moves(found) == {"strong": ("n1", "n2")}
    assert [(each.pod, each.by) for each in found.preempted] == [("default/weak", "default/strong")]
    assert [each.pod for each in found.stranded] == ["default/weak"]


def test_new_nodes_take_pods_that_wait_and_get_their_daemons() -> None:
    pinned = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n1"]}]}
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [pinned]}}
    agent = owned(
        "agent", "agents", kind="DaemonSet", node="n1", cpu="1", affinity={"nodeAffinity": required}
    )

    found = changed(
        [node("n1")],
        [agent],
        AddNodes((node("n2"),)),
        pending=[pod("large", cpu="4"), pod("wide", cpu="3500m")],
    )

    assert found.waiting_before == 2
    assert found.waiting_after == 2  # an agent takes 1 of 4 first
    found = changed(
        [node("n1")], [], AddNodes((node("n2", cpu="8"),)), pending=[pod("large", cpu="5")]
    )
    assert moves(found) == {"large": (None, "n2")}
    assert (found.waiting_before, found.waiting_after) == (1, 0)


DRIVER: dict[str, Any] = {
    "metadata": {"name": "driver", "namespace": "default", "uid": "u"},
    "spec": {
        "selector": {"matchLabels": {"app": "driver"}},
        "template": {
            "metadata": {"labels": {"app": "driver"}},
            "spec": {
                "nodeSelector": {"gpu": "true"},
                "priorityClassName": "system-node-critical",
                "containers": [
                    {"name": "c", "image": "i", "resources": {"requests": {"cpu": "1"}}}
                ],
            },
        },
    },
}


def with_labels(of: Node, labels: dict[str, str]) -> Node:
    metadata = replace(of.metadata, labels={**(of.metadata.labels or {}), **labels})
    return replace(of, metadata=metadata)


@pytest.mark.parametrize(("labels", "waiting"), [({"gpu": "true"}, 1), ({}, 0)])
def test_a_daemon_set_without_pods_so_far_makes_one_for_a_node_that_it_allows(
    labels: dict[str, str], waiting: int
) -> None:
    daemon_set = msgspec.convert(DRIVER, DaemonSet)
    pending = [pod("large", cpu="3500m")]
    run = simulation([node("n1", cpu="1")], [], pending)
    run.run()
    scenario = Scenario((node("n1", cpu="1"),), (), tuple(pending), workloads=(daemon_set,))
    what = ChangedCluster(run, scenario)

    what.apply(AddNodes((with_labels(node("n2", cpu="4"), labels),)))

    assert what.consequences().waiting_after == waiting
    made = run.engine.state.pods.get("default/driver-n2")
    assert (made is not None) == bool(labels)
    assert made is None or (made.spec.node_name, made.spec.priority) == ("n2", 2000001000)


def test_a_taint_that_expels_moves_who_does_not_tolerate_it() -> None:
    taint = Taint(key="dedicated", value="db", effect="NoExecute")
    stays = web(1, "n1", tolerations=[{"key": "dedicated", "operator": "Exists"}])
    leaves = web(
        2, "n1", tolerations=[{"key": "dedicated", "operator": "Exists", "tolerationSeconds": 9}]
    )
    nodes, running = [node("n1"), node("n2")], [web(0, "n1"), stays, leaves]

    found = changed(nodes, running, SetTaint("n1", taint))
    assert {*moves(found)} >= {"web-0"}
    assert "web-1" not in moves(found)
    only_new = changed(nodes, running, SetTaint("n1", Taint(key="x", effect="NoSchedule")))
    assert not only_new.moved


def test_a_workload_grows_and_shrinks_as_its_controller_would_have_it() -> None:
    nodes, running = [node("n1"), node("n2", cpu="2")], [web(0, "n1"), web(1, "n2")]

    more = changed(nodes, running, Scale("rs/web", 9))
    assert len(more.moved) == 4
    assert len(more.stranded) == 3
    fewer = changed(nodes, running, Scale("default/rs/web", 1), Fail("n1"), Fail("n2"))
    assert [each.pod for each in fewer.stranded] in (["default/web-0"], ["default/web-1"])
    sets = [owned(f"db-{n}", "db", kind="StatefulSet", node="n1", cpu="100m") for n in range(3)]
    found = changed(nodes, sets, Scale("sts/db", 2), Fail("n1"))
    assert {*moves(found)} == {"db-0", "db-1"}


def test_a_zone_fails_with_all_its_nodes() -> None:
    nodes = [node("n1", "a"), node("n2", "a"), node("n3", "b")]

    found = changed(nodes, [web(0, "n1"), web(1, "n2")], ZoneOutage("a"))

    assert moves(found) == {"web-0": ("n1", "n3"), "web-1": ("n2", "n3")}


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (Drain("n9"), "no node named n9"),
        (Drain("pool=none"), "no node has pool=none"),
        (Drain("pool in"), "is no label selector"),
        (ZoneOutage("z"), "no node is in zone z"),
        (Scale("deploy/none", 3), "has no pods"),
    ],
)
def test_a_change_about_nothing_is_refused(change: Change, told: str) -> None:
    with pytest.raises(InputError, match=told):
        changed([node("n1")], [web(0, "n1")], change)


# --- every failure by itself ------------------------------------------------------------------


def made_up_cluster(seed: int) -> tuple[list[Node], list[Pod], list[PodDisruptionBudget]]:
    rolls = random.Random(seed)
    nodes = [node(f"n{n}", "abc"[n % 3], cpu=rolls.choice(["2", "4"])) for n in range(7)]
    running = []
    for number in range(18):
        app = rolls.choice(["web", "db", "job"])
        rules: dict[str, Any] = {}
        if app == "db":
            rules["affinity"] = anti_affinity(rolls.choice([HOST, ZONE]), "none")
        if app == "job":
            rules["priority"] = rolls.choice([0, 10, 1000])
        running.append(
            owned(
                f"{app}-{number}",
                app,
                node=rolls.choice(nodes).metadata.name,
                cpu=rolls.choice(["250m", "500m", "1"]),
                labels={"app": app},
                **rules,
            )
        )
    running.append(pod("bare", node="n0"))
    return nodes, running, counted([budget("b", "web", maxUnavailable=1)], running)


@pytest.mark.parametrize("seed", range(4))
def test_each_failure_is_what_it_would_be_by_itself(seed: int) -> None:
    nodes, running, budgets = made_up_cluster(seed)
    scenario = Scenario(tuple(nodes), tuple(running), (), tuple(budgets))
    run = simulation(nodes, running, [], budgets)
    run.run()
    before = load_of(run.engine.cluster)

    by_node = fail_each_node(run, scenario)
    by_zone = fail_each_zone(run, scenario)

    for failure in (*by_node, *by_zone):
        fresh = simulation(nodes, running, [], budgets)
        fresh.run()
        alone = ChangedCluster(fresh, scenario)
        is_node = failure.what.startswith("n")
        alone.apply(Fail(failure.what) if is_node else ZoneOutage(failure.what))
        assert failure.consequences == alone.consequences(explains=False)
    after = load_of(run.engine.cluster)
    assert (before.nodes, before.requested.tolist()) == (after.nodes, after.requested.tolist())
    assert {pod.metadata.uid for pod in run.engine.state.pods.values()} == {
        pod.metadata.uid for pod in running
    }


def test_trying_failures_breaks_no_invariant() -> None:
    nodes, running, budgets = made_up_cluster(5)
    run = simulation(nodes, running, [], budgets, validate=True)
    run.run()

    found = fail_each_node(run, Scenario(tuple(nodes), tuple(running), (), tuple(budgets)))

    assert [each.what for each in found] == [f"n{n}" for n in range(7)]
