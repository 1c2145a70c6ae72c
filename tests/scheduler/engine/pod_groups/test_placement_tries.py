"""Trying a group on one topology domain after the other, and choosing among those that fit."""

from collections.abc import Sequence
from typing import Any

from support.scheduler.engine.group_driver import (
    EVERYTHING,
    TOPOLOGY,
    GroupDriver,
    make_group,
    member,
    node,
    running,
)
from support.scheduler.framework.fake_plugins import filter_by

from podium.kubernetes.kinds.meta import KubeStruct
from podium.kubernetes.kinds.node import Node
from podium.scheduler.framework.cycle import Assignments, PodGroupCycle
from podium.scheduler.framework.points import PlacementScorePlugin
from podium.scheduler.framework.status import error, unschedulable


def rack(name: str, rack: str, cpu: int = 2) -> Node:
    return node(name, cpu, labels={"rack": rack})


def driver_of(*objects: KubeStruct, **more: Any) -> GroupDriver:
    return GroupDriver(*objects, gates=TOPOLOGY, **more)


def placed(driver: GroupDriver) -> dict[str, str]:
    return {name: binding.node_name for name, binding in sorted(driver.bindings.items())}


def test_a_group_without_constraints_may_go_anywhere() -> None:
    driver = driver_of(
        rack("a", "r1", 1), rack("b", "r2", 1), node("c", 1), make_group(min_count=3)
    )
    driver.put(*(member(n) for n in "pqr"))
    driver.run()
    assert sorted(placed(driver).values()) == ["a", "b", "c"]


def test_a_group_with_a_topology_stays_in_one_domain() -> None:
    driver = driver_of(
        rack("a", "r1", 1),
        rack("b", "r2", 1),
        rack("c", "r2", 1),
        node("d", 9),
        make_group(min_count=2, topology="rack"),
    )
    driver.put(member("p"), member("q"))
    driver.run()
    assert sorted(placed(driver).values()) == ["b", "c"]
    assert driver.condition() == ("True", "Scheduled", "")


def test_where_no_placement_fits_the_first_speaks_for_all() -> None:
    driver = driver_of(
        rack("a", "r1", 1),
        rack("b", "r2", 1),
        rack("c", "r2", 0),
        make_group(min_count=2, topology="rack"),
    )
    driver.put(member("p"), member("q"))
    driver.run()
    text = "0/2 placements are available, first placement status: pod group is unschedulable"
    assert driver.condition() == ("False", "Unschedulable", text)
    told = driver.told()
    fitting, failing = sorted(told, key=lambda name: "0/1" in told[name][1])
    assert told[fitting] == (
        "Unschedulable",
        "pod group is unschedulable, waiting for minCount pods from a gang to be scheduled,"
        " one or more plugins asked to wait and no plugin rejected pod",
    )
    assert told[failing] == (
        "Unschedulable",
        "0/1 nodes are available: 1 Insufficient cpu. no new claims to deallocate,"
        " preemption: not eligible due to placement-based pod group scheduling limitation",
    )


def test_a_label_that_no_node_has_fails_every_member_alike() -> None:
    driver = driver_of(node("a"), make_group(min_count=2, topology="rack"))
    driver.put(member("p", status={"nominatedNodeName": "a"}), member("q"))
    driver.run()
    told = ("Unschedulable", "no feasible placements found")
    assert driver.told() == {"p": told, "q": told}
    assert driver.nominations_written() == {"p": None, "q": None}
    assert driver.where() == {"p": "error backoff", "q": "error backoff"}
    assert driver.condition() == ("False", "Unschedulable", "no feasible placements found")


def test_members_in_two_domains_make_an_error_for_all() -> None:
    driver = driver_of(rack("a", "r1"), rack("b", "r2"), make_group(topology="rack"))
    driver.put(member("x", node="a"), member("y", node="b"), member("p"))
    driver.run()
    text = (
        "cannot determine domain for already scheduled pods:"
        " more than 1 domain found for pod group: r1, r2"
    )
    assert driver.told() == {"p": ("SchedulerError", text)}
    assert driver.condition() == ("False", "SchedulerError", text)


def test_later_members_follow_those_that_have_nodes() -> None:
    driver = driver_of(rack("a", "r1", 9), rack("b", "r2", 2), make_group(topology="rack"))
    driver.put(member("old", node="b"), member("p"))
    driver.run()
    assert placed(driver) == {"p": "b"}


def test_an_error_in_one_placement_ends_it_all() -> None:
    broken = filter_by("Broken", {"a": error("boom")})
    driver = driver_of(
        rack("a", "r1"), rack("b", "r2"), make_group(topology="rack"), plugins=[broken]
    )
    driver.put(member("p"))
    driver.run()
    assert driver.told() == {"p": ("SchedulerError", 'running "Broken" filter plugin: boom')}
    assert driver.condition()[2] == (
        'failed to schedule other pod from a pod group: running "Broken" filter plugin: boom'
    )


def test_the_fuller_placement_is_the_better_one() -> None:
    driver = driver_of(
        rack("a", "r1", 8),
        rack("b", "r2", 8),
        running("old", "b", cpu=4),
        make_group(topology="rack"),
    )
    driver.put(member("p"))
    driver.run()
    assert placed(driver) == {"p": "b"}


def test_more_members_beat_a_fuller_placement() -> None:
    driver = driver_of(rack("a", "r1", 16), rack("b", "r2", 1), make_group(topology="rack"))
    driver.put(*(member(f"m{i}") for i in range(4)))
    driver.run()
    assert set(placed(driver).values()) == {"a"}
    assert len(placed(driver)) == 4


def test_equal_placements_are_chosen_between_by_rule() -> None:
    driver = driver_of(rack("a", "r2"), rack("b", "r1"), make_group(topology="rack"))
    driver.put(member("p"))
    driver.run()
    assert placed(driver) == {"p": "b"}


def test_scoring_that_breaks_is_an_error_for_all() -> None:
    class Broken(PlacementScorePlugin):
        name = "Broken"

        def score_placement(self, group: PodGroupCycle, assignments: Assignments) -> int:
            raise RuntimeError("boom")

    driver = driver_of(
        rack("a", "r1"), rack("b", "r2"), make_group(topology="rack"), plugins=[Broken]
    )
    driver.put(member("p"), member("q"))
    driver.run()
    text = 'running PlacementScore plugins: plugin "Broken" failed with: boom'
    assert driver.told() == {"p": ("SchedulerError", text), "q": ("SchedulerError", text)}
    assert driver.condition() == ("False", "SchedulerError", text)


def test_a_single_fitting_placement_is_not_scored() -> None:
    class Broken(PlacementScorePlugin):
        name = "Broken"

        def score_placement(self, group: PodGroupCycle, assignments: Assignments) -> int:
            raise RuntimeError("boom")

    driver = driver_of(
        rack("a", "r1"), rack("b", "r2", 0), make_group(topology="rack"), plugins=[Broken]
    )
    driver.put(member("p"))
    driver.run()
    assert placed(driver) == {"p": "a"}


def test_scorers_see_the_placement_its_members_and_no_trace_of_the_try() -> None:
    seen: dict[str, tuple[list[str], list[tuple[str, str]], int]] = {}

    class Looking(PlacementScorePlugin):
        name = "Looking"

        def score_placement(self, group: PodGroupCycle, assignments: Assignments) -> int:
            nodes = group.cluster.nodes.names
            seen[assignments.placement.name] = (
                [nodes[row] for row in assignments.placement.rows],
                [(info.pod.metadata.name, name) for info, name in assignments.proposed],
                int(group.cluster.usage.pod_count.sum()),
            )
            return 0

        def normalize_placements(
            self, group: PodGroupCycle, scores: Sequence[int]
        ) -> Sequence[int]:
            assert list(scores) == [0, 0]
            return scores

    driver = driver_of(
        rack("a", "r1", 1), rack("b", "r2", 2), make_group(topology="rack"), plugins=[Looking]
    )
    driver.put(member("p"), member("q"))
    driver.run()
    assert seen == {
        "r1": (["a"], [("p", "a")], 0),
        "r2": (["b"], [("p", "b"), ("q", "b")], 0),
    }


def test_a_nominated_node_outside_the_placement_is_not_looked_at() -> None:
    driver = driver_of(rack("a", "r1"), rack("b", "r2"), make_group(topology="rack"))
    driver.put(member("old", node="a"), member("p", status={"nominatedNodeName": "b"}))
    driver.run()
    assert placed(driver) == {"p": "a"}


def test_a_narrowed_search_stays_within_the_placement() -> None:
    picky: dict[str, Any] = {
        "affinity": {
            "nodeAffinity": {
                "requiredDuringSchedulingIgnoredDuringExecution": {
                    "nodeSelectorTerms": [
                        {
                            "matchFields": [
                                {"key": "metadata.name", "operator": "In", "values": ["b"]}
                            ]
                        }
                    ]
                }
            }
        }
    }
    driver = driver_of(rack("a", "r1"), rack("b", "r2"), make_group(topology="rack"))
    driver.put(member("p", **picky))
    driver.run()
    assert placed(driver) == {"p": "b"}
    driver.put(member("q", **picky))
    assert driver.run() == ["q"]
    assert placed(driver) == {"p": "b", "q": "b"}


def test_texts_count_the_nodes_of_the_placement_only() -> None:
    refuses = filter_by("Refuses", {name: unschedulable("no") for name in "abc"})
    driver = driver_of(
        rack("a", "r1"),
        rack("b", "r2"),
        rack("c", "r2"),
        make_group(topology="rack"),
        plugins=[refuses],
    )
    driver.put(member("p"))
    driver.run()
    assert driver.told()["p"][1].startswith("0/1 nodes are available: 1 no.")


def test_an_empty_cluster_has_no_nodes_rather_than_no_placement() -> None:
    driver = driver_of(make_group())
    driver.put(member("p"))
    driver.run()
    assert driver.told() == {"p": ("Unschedulable", "no nodes available to schedule pods")}
    assert driver.condition()[2] == (
        "0/1 placements are available, first placement status: pod group is unschedulable"
    )


def test_members_preempt_by_themselves_where_there_are_no_constraints() -> None:
    driver = driver_of(node("a", 1), running("old", "a"), make_group())
    driver.put(member("p", priority=5))
    driver.run()
    (request,) = driver.preemptions
    assert request.preemptor.key == "default/p"
    assert driver.condition()[2] == (
        "pod group is unschedulable, pod group is waiting for preemption to complete"
    )


def test_constraints_of_any_kind_keep_members_from_preempting() -> None:
    driver = driver_of(node("a", 1), running("old", "a"), make_group(schedulingConstraints={}))
    driver.put(member("p", priority=5))
    driver.run()
    assert driver.preemptions == []
    assert driver.told()["p"][1] == (
        "0/1 nodes are available: 1 Insufficient cpu. no new claims to deallocate,"
        " preemption: not eligible due to placement-based pod group scheduling limitation"
    )


def test_a_group_that_is_gone_keeps_members_from_preempting() -> None:
    driver = driver_of(
        node("a", 1), running("old", "a"), disabled=["GangScheduling", "TopologyPlacementGenerator"]
    )
    driver.put(member("p", priority=5))
    driver.run()
    assert driver.told()["p"][1] == (
        "0/1 nodes are available: 1 Insufficient cpu. no new claims to deallocate,"
        " preemption: pod group for pod not found"
    )


def test_a_group_that_is_gone_cannot_be_placed() -> None:
    driver = driver_of(node("a"), disabled=["GangScheduling"])
    driver.put(member("p"))
    driver.run()
    assert driver.told() == {"p": ("SchedulerError", 'podgroup.scheduling.k8s.io "g" not found')}


def test_a_group_with_a_topology_does_not_preempt_either() -> None:
    driver = GroupDriver(
        rack("a", "r1", 1),
        running("old", "a"),
        make_group(topology="rack", priority=9),
        gates=EVERYTHING,
    )
    driver.put(member("p", priority=9))
    driver.run()
    assert driver.group_preemptions == []
    assert driver.condition()[2] == (
        "0/1 placements are available, first placement status: pod group is unschedulable,"
        " workload aware preemption is not supported for pod groups with scheduling constraints"
    )
