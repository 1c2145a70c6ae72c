"""What follows from a change, and that trying one out leaves nothing behind."""

import random
from typing import Any

import msgspec
import pytest
from support.offline.what_if.clusters import HOST, ZONE, anti_affinity, node, owned, pod, simulation

from podium.golang.errors import InputError
from podium.kubernetes.kinds.node import Node, Taint
from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.kinds.workloads import PodDisruptionBudget
from podium.offline.simulate import Scenario
from podium.offline.simulate.disruptions import count_budget
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
    return [count_budget(each, pods, lambda *_: None) for each in budgets]


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
