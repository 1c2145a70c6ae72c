"""Groups in any order of events: all or nothing, no trace of a try, nobody overcommitted.

The engine checks all of its invariants after every step here. Where members neither preempt nor
wait, a group must come out as its members would one by one.
"""

from typing import Any

from hypothesis import strategies as st
from support.scheduler.engine.group_driver import (
    EVERYTHING,
    GENERIC,
    TOPOLOGY,
    GroupDriver,
    make_group,
    member,
    node,
)
from support.suite.slow_cases import given_examples

from podium.scheduler.cluster.catalog import group_of
from podium.scheduler.cluster.pod_info import uid_of
from podium.scheduler.framework.status import error
from podium.testing import FakeCluster
from podium.testing import make_pod as pending

cpus = st.integers(0, 4)
fleets = st.dictionaries(st.sampled_from("abcde"), cpus, min_size=1)


def nodes_of(fleet: dict[str, int]) -> list[Any]:
    return [node(n, cpu, labels={"rack": f"r{i % 2}"}) for i, (n, cpu) in enumerate(fleet.items())]


def one_by_one(fleet: dict[str, int], sizes: list[int]) -> dict[str, str]:
    """Where the same pods go that know nothing of each other."""
    driver = FakeCluster(*nodes_of(fleet))
    for i, cpu in enumerate(sizes):
        driver.put(pending(f"m{i}", requests={"cpu": cpu}))
        driver.run()
    return {name: binding.node_name for name, binding in driver.bindings.items()}


@given_examples(20, 60, fleets, st.lists(cpus, min_size=1, max_size=5), st.integers(0, 5))
def test_a_group_goes_where_its_members_would_if_enough_of_them_do(
    fleet: dict[str, int], sizes: list[int], min_count: int
) -> None:
    group = make_group(min_count=min_count) if min_count else make_group()
    driver = GroupDriver(*nodes_of(fleet), group, gates=None if min_count else GENERIC)
    for i, cpu in enumerate(sizes):
        driver.put(member(f"m{i}", cpu=cpu))
        driver.clock.advance(0.01)
    # the first to arrive is the first to be tried, as among pods that come one by one
    for queued in driver.engine.queue:
        queued.initial_attempt_timestamp = queued.timestamp
    driver.run()
    alone = one_by_one(fleet, sizes)
    enough = len(alone) >= max(min_count, 1) and len(sizes) >= min_count
    assert {n: b.node_name for n, b in driver.bindings.items()} == (alone if enough else {})


members = st.fixed_dictionaries(
    {
        "group": st.sampled_from("gh"),
        "cpu": st.integers(0, 3),
        "priority": st.sampled_from((0, 0, 5, 10)),
    }
)
steps = st.one_of(
    st.tuples(st.just("add"), members),
    st.tuples(st.just("add"), members),
    st.tuples(st.just("run"), st.none()),
    st.tuples(st.just("run"), st.none()),
    st.tuples(st.sampled_from(("bind", "fail", "delete", "evict")), st.integers(0, 9)),
    st.tuples(st.just("wait"), st.sampled_from((1, 3, 11, 301))),
    st.tuples(st.just("node"), st.tuples(st.sampled_from("abcde"), cpus)),
    st.tuples(st.just("group"), st.none()),
)


class World:
    def __init__(self, gates: dict[str, bool], fleet: dict[str, int], gang: int) -> None:
        self.driver = GroupDriver(*nodes_of(fleet), gates=gates)
        self.gang = gang
        self.count = 0

    def step(self, what: str, how: Any) -> None:
        driver = self.driver
        names = sorted(driver.where())
        match what:
            case "add":
                self.count += 1
                driver.put(member(f"m{self.count}", **how))
            case "run":
                driver.run()
            case "wait":
                driver.wait(how)
            case "node":
                driver.put(node(how[0], how[1], labels={"rack": "r0"}))
            case "group":
                topology = "rack" if self.gang % 2 else None
                driver.put(
                    make_group("g", min_count=self.gang, priority=5),
                    make_group("h", topology=topology, disruptionMode="PodGroup"),
                )
            case "bind" if driver.bindings:
                driver.bound(sorted(driver.bindings)[how % len(driver.bindings)])
            case "fail" if driver.bindings:
                driver.finish(sorted(driver.bindings)[how % len(driver.bindings)], error("down"))
            case "delete" if names:
                self.delete(names[how % len(names)])
            case "evict" if driver.group_preemptions or driver.preemptions:
                self.evict()
        driver.collect()

    def delete(self, name: str) -> None:
        """Pods that are being bound are left alone: their bindings would have to fail by rule."""
        if name not in self.driver.bindings:
            self.driver.delete(name)

    def evict(self) -> None:
        driver = self.driver
        requests: list[Any] = [*driver.group_preemptions, *driver.preemptions]
        driver.group_preemptions.clear()
        driver.preemptions.clear()
        for request in requests:
            for eviction in request.evict:
                name = eviction.victim.pod.metadata.name
                known = f"default/{name}" in driver.engine.state.pods
                driver.engine.preemptions.confirm_eviction(
                    request.preemptor, eviction.victim, request.node_name, was_gone=not known
                )
                if known:
                    self.delete(name)
            driver.engine.preemptions.finish_preemption(request.preemptor, None)

    def check(self) -> None:
        """What is known of each group is what the pods say, one by one."""
        state = self.driver.engine.state
        placements, names = state.cluster.placements, state.cluster.nodes.names
        for name in "gh":
            key = ("default", name)
            pods = [pod for pod in state.pods.values() if group_of(pod) == key]
            group = state.cluster.pod_groups.find(key)
            if group is None:
                assert pods == []
                continue
            held = {uid_of(p): placements.get(uid_of(p)) for p in pods}
            assert {i.uid for i in group.unscheduled_pods()} == {
                u for u, h in held.items() if h is None
            }
            assert set(group.assumed) == {u for u, h in held.items() if h is not None and h.assumed}
            assert {(i.uid, n) for i, n in group.scheduled_pods()} == {
                (u, names[h.row]) for u, h in held.items() if h is not None
            }


@given_examples(
    24,
    120,
    st.sampled_from((GENERIC, TOPOLOGY, EVERYTHING)),
    fleets,
    st.integers(1, 3),
    st.lists(steps, max_size=25),
)
def test_any_order_of_events_keeps_the_engine_whole(
    gates: dict[str, bool], fleet: dict[str, int], gang: int, story: list[tuple[str, Any]]
) -> None:
    world = World(gates, fleet, gang)
    for what, how in story:
        world.step(what, how)
        world.check()


@given_examples(20, 60, fleets, st.lists(members, min_size=1, max_size=6), st.integers(2, 4))
def test_a_gang_is_never_bound_in_part(
    fleet: dict[str, int], wanted: list[dict[str, Any]], min_count: int
) -> None:
    driver = GroupDriver(*nodes_of(fleet), make_group(min_count=min_count), gates=TOPOLOGY)
    for i, one in enumerate(wanted):
        driver.put(member(f"m{i}", **{**one, "group": "g"}))
        driver.run()
        for _ in range(2):
            driver.wait(11)
            driver.run()
        assert len(driver.bindings) == 0 or len(driver.bindings) >= min_count
