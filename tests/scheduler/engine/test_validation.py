"""Every invariant, broken on purpose: the check must see it and name it."""

from collections.abc import Callable

import pytest
from support.scheduler.framework.fake_plugins import permit

from podium.scheduler.engine.scheduler import Engine
from podium.scheduler.engine.state import Flight
from podium.scheduler.engine.validation import InvariantBroken, check
from podium.scheduler.framework.points import PermitResult
from podium.scheduler.framework.queued import QueuedPod
from podium.scheduler.framework.status import Code, Status
from podium.testing import FakeCluster, make_node, make_pod
from podium.testing import make_pod as pending

WAIT = permit("Hold", PermitResult(Status(Code.WAIT), 60.0))
SPREAD = [
    {
        "maxSkew": 5,
        "topologyKey": "zone",
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {"app": "web"}},
    }
]
NEAR = {
    "podAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": [
            {"labelSelector": {"matchLabels": {"app": "web"}}, "topologyKey": "zone"}
        ]
    }
}
PORT = [{"name": "main", "ports": [{"containerPort": 80, "hostPort": 80}]}]
CLAIM = [{"name": "v", "persistentVolumeClaim": {"claimName": "c"}}]


def busy() -> FakeCluster:
    """An engine in which every part of the state has something in it."""
    driver = FakeCluster(
        make_node("a", labels={"zone": "z1"}, taints=[("k", "v", "PreferNoSchedule")]),
        make_node("b", labels={"zone": "z2"}, unschedulable=True),
        make_pod("web", node="a", labels={"app": "web"}, requests={"cpu": "1"}, affinity=NEAR),
        make_pod("ports", node="a", containers=PORT, volumes=CLAIM),
        pending("waits", labels={"app": "web"}, topologySpreadConstraints=SPREAD),
        plugins=[WAIT],
    )
    driver.run()
    driver.put(pending("huge", requests={"cpu": "99"}, preemptionPolicy="Never"))
    driver.put(pending("none", nodeSelector={"no": "where"}))
    driver.run()
    driver.change("none", nominated_node_name="a")
    driver.put(pending("held", schedulingGates=[{"name": "g"}]))
    driver.put(pending("ready"), make_pod("late", node="c"))
    return driver


def test_a_busy_engine_has_nothing_broken() -> None:
    driver = busy()
    assert driver.where() == {
        "web": "a",
        "ports": "a",
        "late": "c",
        "waits": "permit",
        "huge": "unschedulable",
        "none": "unschedulable",
        "held": "gated",
        "ready": "active",
    }
    assert check(driver.engine.state) == []


def queued(engine: Engine, name: str) -> QueuedPod:
    found = engine.queue.get(f"default/{name}")
    assert found is not None
    return found


def flight(engine: Engine) -> Flight:
    return engine.state.flights["uid-default-waits"]


def duplicate(engine: Engine) -> None:
    engine.queue._unschedulable.put(queued(engine, "ready"))


def misfile(engine: Engine) -> None:
    pods = engine.queue._unschedulable._pods
    pods["default/x"] = pods.pop("default/huge")


def assume_queued(engine: Engine) -> None:
    engine.cluster.assume(queued(engine, "ready").info, "a")


def lose(engine: Engine) -> None:
    engine.queue.delete(queued(engine, "ready").info)


def forget_waiting(engine: Engine) -> None:
    engine.cluster.forget(flight(engine).queued.info)


def end_flight(engine: Engine) -> None:
    engine.state.waiting.remove("uid-default-waits")


def drop_flight(engine: Engine) -> None:
    del engine.state.flights["uid-default-waits"]


def start_waiting(engine: Engine) -> None:
    flight(engine).started = True


def stray_event(engine: Engine) -> None:
    engine.queue.done("uid-default-waits")
    engine.queue._in_flight._entries[99] = None  # type: ignore[assignment]


def nominate_bound(engine: Engine) -> None:
    engine.cluster.nominator.nominate(engine.cluster.placements["uid-default-web"].info, "b")


def nominate_stale(engine: Engine) -> None:
    info = engine.cluster.infos.of(queued(engine, "none").info.pod)
    engine.cluster.nominator.nominate(info, "a")
    queued(engine, "none").info = engine.cluster.infos.of(pending("none"))


def gone(engine: Engine) -> None:
    del engine.state.pods["default/waits"]


def uncount(engine: Engine) -> None:
    engine.cluster.usage.requested[0, 0] += 1


def miscount_pods(engine: Engine) -> None:
    engine.cluster.usage.pod_count[0] -= 1


def miscount_nonzero(engine: Engine) -> None:
    engine.cluster.usage.nonzero[1, 0] += 1


def free_port(engine: Engine) -> None:
    engine.cluster.usage.ports.clear(0)


def drop_claim(engine: Engine) -> None:
    engine.cluster.usage.claims.clear()


def shift_class(engine: Engine) -> None:
    found = next(c for c in engine.cluster.classes._classes.values() if c.labels)
    found.rows[5] = 1


def shift_counter(engine: Engine) -> None:
    counter = next(iter(engine.cluster.classes._counters.values()))
    counter.add(0, 1)


def drop_term(engine: Engine) -> None:
    engine.cluster.classes._carried["required_affinity"].clear()


def drop_from_list(engine: Engine) -> None:
    engine.cluster.usage._pods[0].pop()


def unlist_node(engine: Engine) -> None:
    engine.cluster._order.remove("b")


def hide_node(engine: Engine) -> None:
    engine.cluster.nodes.present[1] = False


def relabel(engine: Engine) -> None:
    engine.cluster.nodes.labels.codes("zone")[0] = -1


def shrink(engine: Engine) -> None:
    engine.cluster.nodes.allocatable[0, 0] = 7


def untaint(engine: Engine) -> None:
    engine.cluster.nodes.taint_set[0] = 0


def half_nominate(engine: Engine) -> None:
    engine.cluster.nominator._node_of["uid-default-x"] = "a"


def ungate(engine: Engine) -> None:
    held = engine.queue._unschedulable.pop("default/held")
    assert held is not None
    engine.queue._active.push("default/held", held)


def absolve(engine: Engine) -> None:
    queued(engine, "huge").rejectors.clear()


def blame(engine: Engine) -> None:
    entry = engine.queue._unschedulable.pop("default/huge")
    assert entry is not None
    engine.queue._error_backoff.push("default/huge", entry)


def swap_uids(engine: Engine) -> None:
    placements = engine.cluster.placements
    placements["uid-default-web"], placements["uid-default-ports"] = (
        placements["uid-default-ports"],
        placements["uid-default-web"],
    )


def unname(engine: Engine) -> None:
    engine.cluster.nodes.names[0] = ""


def free_row(engine: Engine) -> None:
    engine.cluster.nodes._free.append(0)


def miscount_nodes(engine: Engine) -> None:
    engine.cluster.nodes.present_count += 1


def rename(engine: Engine) -> None:
    engine.cluster.nodes.objects[0] = make_node("z")


def miscount_cordoned(engine: Engine) -> None:
    engine.cluster.nodes.unschedulable_count += 1


def miscount_tainted(engine: Engine) -> None:
    engine.cluster.nodes.tainted_count += 1


def empty_nomination(engine: Engine) -> None:
    engine.cluster.nominator._by_node["x"] = {}


def disown(engine: Engine) -> None:
    del engine.state.profiles["default-scheduler"]


def forget_pod(engine: Engine) -> None:
    del engine.state.pods["default/ready"]


def rekey(engine: Engine) -> None:
    engine.state.pods["default/other"] = engine.state.pods.pop("default/web")


def take_again(engine: Engine) -> None:
    engine.queue._in_flight.start("uid-default-ready")


def rekey_flight(engine: Engine) -> None:
    engine.state.flights["x"] = engine.state.flights.pop("uid-default-waits")


def nominate_assumed(engine: Engine) -> None:
    engine.cluster.nominator.nominate(flight(engine).queued.info, "b")


@pytest.mark.parametrize(
    ("breaks", "named"),
    [
        (swap_uids, "pod default/ports is placed under the UID uid-default-web"),
        (unname, "row 0 holds pods and has no name"),
        (free_row, "free rows are [0]"),
        (miscount_nodes, "3 nodes are said to be present, counted: 2"),
        (rename, "row 0 of a shows z"),
        (miscount_cordoned, "the number of unschedulable nodes is not 2"),
        (miscount_tainted, "the number of tainted nodes is not 2"),
        (empty_nomination, "an empty list of nominations is kept for node x"),
        (disown, "pod default/ready is queued and not ours"),
        (forget_pod, "pod default/ready is queued and does not exist"),
        (rekey, "pod default/web is known as default/other"),
        (take_again, "pod default/ready is queued and in flight"),
        (rekey_flight, "the binding of default/waits is kept under the UID x"),
        (nominate_assumed, "pod default/waits is nominated to b and holds a node"),
        (duplicate, "pod default/ready is in 2 parts of the queue"),
        (misfile, "pod default/huge is queued under another key"),
        (ungate, "pod default/held may run although SchedulingGates holds it back"),
        (absolve, "pod default/huge waits as if a plugin had rejected it"),
        (blame, "pod default/huge waits as if no plugin had rejected it"),
        (assume_queued, "pod default/ready is queued and holds a node"),
        (lose, "pod default/ready is lost"),
        (forget_waiting, "pod default/waits is being bound and holds no node"),
        (end_flight, "pod default/waits holds a node and neither waits nor is being bound"),
        (drop_flight, "pod default/waits waits at Permit without a binding"),
        (start_waiting, "pod default/waits waits at Permit and is being bound"),
        (stray_event, "1 events are kept for nobody in flight"),
        (nominate_bound, "pod default/web is nominated to b and not pending"),
        (nominate_stale, "pod default/none is nominated to a with an object nobody has queued"),
        (gone, "pod default/waits is assumed on a and gone"),
        (half_nominate, "nominations by node are"),
        (uncount, "requested cpu in row 0 is 1001, counted: 1000"),
        (miscount_pods, "the number of pods in row 0 is 2, counted: 3"),
        (miscount_nonzero, "non-zero requested memory in row 0"),
        (free_port, "as ports in use, its pods have"),
        (drop_claim, "claims in use are {}"),
        (shift_class, "pod classes are"),
        (shift_counter, "in all, counted:"),
        (drop_term, "nobody counts the pods that carry"),
        (drop_from_list, "row 0 lists pods"),
        (unlist_node, "the tree of zones has ['a'], present are ['a', 'b']"),
        (hide_node, "present rows [0] are not those with a node object"),
        (relabel, "labels of row 0 (a)"),
        (shrink, "allocatable of row 0 (a)"),
        (untaint, "taints of row 0 (a)"),
    ],
)
def test_what_is_broken_is_named(breaks: Callable[[Engine], None], named: str) -> None:
    driver = busy()
    breaks(driver.engine)
    assert any(named in problem for problem in check(driver.engine.state))


def test_an_object_that_the_queue_missed_is_noticed() -> None:
    driver = busy()
    driver.engine.state.pods["default/ready"] = pending("ready", labels={"v": "2"})
    (problem,) = check(driver.engine.state)
    assert problem == "pod default/ready is queued with an object that is not the current one"
    driver.engine.state.pods["default/ready"] = make_pod("ready", node="a")
    assert "pod default/ready is on node a and not in the table" in check(driver.engine.state)


def test_a_placed_pod_that_is_elsewhere_is_noticed() -> None:
    driver = busy()
    driver.engine.state.pods["default/web"] = make_pod("web", node="b")
    assert "pod default/web is in the table on a, where it is not" in check(driver.engine.state)


# where it is checked


def test_the_transition_that_broke_it_is_named_with_its_pod() -> None:
    driver = busy()
    uncount(driver.engine)
    with pytest.raises(InvariantBroken) as caught:
        driver.put(pending("new"))
    assert (caught.value.transition, caught.value.pod) == ("Intake.pod_put", "default/new")
    assert str(caught.value).startswith("after Intake.pod_put of default/new: requested cpu")
    with pytest.raises(InvariantBroken, match=r"after Engine\.schedule_next of default/ready: "):
        driver.attempt()
    with pytest.raises(InvariantBroken, match=r"after Engine\.tick: "):
        driver.wait(1)
    with pytest.raises(InvariantBroken, match=r"after Intake\.node_put: "):
        driver.put(make_node("d"))


def test_the_reports_of_a_driver_are_transitions_too() -> None:
    driver = FakeCluster(make_node("n"), pending("p"))
    driver.run()
    uncount(driver.engine)
    with pytest.raises(InvariantBroken, match=r"after Bindings\.finish_binding of default/p: "):
        driver.finish("p")
    info = driver.engine.cluster.infos.of(pending("q"))
    with pytest.raises(
        InvariantBroken, match=r"after Preemptions\.finish_preemption of default/q: "
    ):
        driver.engine.preemptions.finish_preemption(info, None)


def test_nothing_is_checked_unless_asked_for() -> None:
    driver = FakeCluster(make_node("n"), validate=False)
    uncount(driver.engine)
    driver.put(pending("p"))
    driver.run()
    assert "schedule_next" not in vars(driver.engine)


def test_looking_does_not_settle_the_order_of_nodes() -> None:
    """A node that goes and comes back between two snapshots keeps its place."""
    orders = []
    for validate in (True, False):
        driver = FakeCluster(*map(make_node, "abc"), pending("p"), validate=validate)
        driver.run()
        driver.engine.intake.node_deleted("a")
        driver.put(make_node("a"))
        names = driver.engine.cluster.nodes.names
        orders.append([names[row] for row in driver.engine.cluster.node_order()])
    assert orders == [["a", "b", "c"]] * 2


def test_a_port_that_two_pods_share_may_be_freed_by_one_of_them() -> None:
    driver = FakeCluster(make_node("n"))
    driver.put(*(make_pod(name, node="n", containers=PORT) for name in "ab"))
    driver.delete("a")
    assert driver.engine.cluster.usage.ports.used_ports(0) == set()
    driver.delete("b")
    driver.put(make_pod("c", node="n", containers=PORT))
