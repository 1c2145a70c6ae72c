"""Group state: who belongs to a group, and which of its pods have nodes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.kinds.pod_groups import PodGroup
from podium.kubernetes.rules.requests import ALL_REQUESTS
from podium.scheduler.cluster.catalog import (
    PodGroupMissing,
    PodGroupState,
    PodGroupStateMissing,
    PodGroupStates,
    group_of,
    pod_group,
)
from podium.scheduler.cluster.pod_info import PodInfo, PodInfos
from podium.scheduler.cluster.state import Cluster
from podium.testing import make_node, make_pod

INFOS = PodInfos(ALL_REQUESTS)
KEY = ("default", "g")


def member(name: str, node: str = "", group: str | None = "g") -> Pod:
    return make_pod(name, node=node, schedulingGroup={"podGroupName": group})


def info(name: str, node: str = "") -> PodInfo:
    return INFOS.of(member(name, node))


def cluster_of(*nodes: str) -> Cluster:
    cluster = Cluster(ALL_REQUESTS)
    cluster.pod_groups.enabled = True
    for name in nodes:
        cluster.put_node(make_node(name))
    return cluster


def parts(group: PodGroupState) -> tuple[list[str], list[str], list[tuple[str, str]]]:
    """(unscheduled, assumed UIDs, scheduled with their nodes)."""
    names = [p.pod.metadata.name for p in group.unscheduled_pods()]
    placed = [(p.pod.metadata.name, node) for p, node in group.scheduled_pods()]
    return names, list(group.assumed), placed


def test_a_pod_joins_by_name_within_its_namespace() -> None:
    assert group_of(member("p")) == KEY
    assert group_of(make_pod("p")) is None
    assert group_of(member("p", group=None)) == ("default", "")


def test_a_group_is_there_from_its_first_pod_to_its_last() -> None:
    states = PodGroupStates()
    states.enabled = True
    states.put(info("p"))
    states.put(info("q"))
    assert len(states.get(KEY)) == 2
    states.remove(info("p"))
    states.remove(info("q"))
    states.remove(info("q"))
    assert states.find(KEY) is None
    with pytest.raises(PodGroupStateMissing) as caught:
        states.get(KEY)
    assert str(caught.value) == "pod group state not found for pod group default/g"


def test_nothing_is_kept_while_groups_are_off() -> None:
    states = PodGroupStates()
    states.put(info("p"))
    states.assume(info("p"), "a")
    states.forget(info("p"))
    states.remove(info("p"))
    assert states.find(KEY) is None


def test_pods_without_a_group_pass_by() -> None:
    states = PodGroupStates()
    states.enabled = True
    lonely = INFOS.of(make_pod("p"))
    states.put(lonely)
    states.assume(lonely, "a")
    states.forget(lonely)
    states.remove(lonely)
    assert states.find(("default", "")) is None


def test_a_pod_goes_from_unscheduled_over_assumed_to_assigned() -> None:
    cluster = cluster_of("a")
    cluster.pod_groups.put(info("p"))
    cluster.pod_groups.put(info("q"))
    group = cluster.pod_groups.get(KEY)
    assert parts(group) == (["p", "q"], [], [])
    cluster.assume(info("p"), "a")
    assert parts(group) == (["q"], ["uid-default-p"], [("p", "a")])
    cluster.add_pod(member("p", "a"))
    assert parts(group) == (["q"], [], [("p", "a")])
    assert (len(group), group.scheduled_count) == (2, 1)


def test_a_forgotten_pod_is_unscheduled_again() -> None:
    cluster = cluster_of("a")
    cluster.pod_groups.put(info("p"))
    cluster.assume(info("p"), "a")
    cluster.forget(info("p"))
    assert parts(cluster.pod_groups.get(KEY)) == (["p"], [], [])


def test_a_pod_that_was_deleted_while_assumed_does_not_come_back() -> None:
    cluster = cluster_of("a")
    cluster.pod_groups.put(info("p"))
    cluster.pod_groups.put(info("q"))
    cluster.assume(info("p"), "a")
    cluster.pod_groups.remove(info("p"))
    cluster.forget(info("p"))
    assert parts(cluster.pod_groups.get(KEY)) == (["q"], [], [])


def test_a_pod_that_is_gone_when_its_node_is_held_stays_out() -> None:
    cluster = cluster_of("a")
    cluster.pod_groups.put(info("q"))
    cluster.assume(info("p"), "a")
    assert parts(cluster.pod_groups.get(KEY)) == (["q"], [], [])


def test_a_pod_bound_by_somebody_else_is_assigned() -> None:
    cluster = cluster_of("a")
    cluster.pod_groups.put(info("p"))
    cluster.add_pod(member("p", "a"))
    assert parts(cluster.pod_groups.get(KEY)) == ([], [], [("p", "a")])


def test_a_pod_bound_elsewhere_than_assumed_is_where_the_api_server_says() -> None:
    cluster = cluster_of("a", "b")
    cluster.assume(info("p"), "a")
    cluster.add_pod(member("p", "b"))
    assert parts(cluster.pod_groups.get(KEY)) == ([], [], [("p", "b")])


def test_an_assumed_pod_whose_object_changes_stays_assumed() -> None:
    cluster = cluster_of("a")
    cluster.pod_groups.put(info("p"))
    cluster.assume(info("p"), "a")
    cluster.pod_groups.put(info("p"))
    assert parts(cluster.pod_groups.get(KEY)) == ([], ["uid-default-p"], [("p", "a")])


def test_a_bound_pod_that_leaves_leaves_its_group() -> None:
    cluster = cluster_of("a")
    cluster.add_pod(member("p", "a"))
    cluster.update_pod(member("p", "a"))
    assert cluster.pod_groups.get(KEY).scheduled_count == 1
    cluster.remove_pod("uid-default-p")
    assert cluster.pod_groups.find(KEY) is None


def test_a_missing_group_object_is_told_as_the_api_tells_it() -> None:
    cluster = Cluster(ALL_REQUESTS)
    with pytest.raises(PodGroupMissing) as caught:
        pod_group(cluster.catalog, KEY)
    assert str(caught.value) == 'podgroup.scheduling.k8s.io "g" not found'


def test_a_group_object_is_found_by_namespace_and_name() -> None:
    cluster = Cluster(ALL_REQUESTS)
    made = PodGroup(metadata=member("g").metadata)
    cluster.catalog.put(made)
    assert pod_group(cluster.catalog, KEY) is made


@given(
    st.lists(
        st.tuples(
            st.sampled_from(("pending", "assume", "forget", "bind", "drop")),
            st.sampled_from(("p", "q", "r")),
        ),
        max_size=30,
    )
)
def test_the_parts_always_make_up_the_whole(steps: list[tuple[str, str]]) -> None:
    cluster = cluster_of("a")
    for step, name in steps:
        held = cluster.placements.get(f"uid-default-{name}")
        if step == "pending" and held is None:
            cluster.pod_groups.put(info(name))
        elif step == "assume" and held is None:
            cluster.pod_groups.put(info(name))
            cluster.assume(info(name), "a")
        elif step == "forget" and held is not None and held.assumed:
            cluster.forget(info(name))
        elif step == "bind" and (held is None or held.assumed):
            cluster.add_pod(member(name, "a"))
        elif step == "drop":
            cluster.remove_pod(f"uid-default-{name}")
            cluster.pod_groups.remove(info(name))
        group = cluster.pod_groups.find(KEY)
        placed = set(cluster.placements)
        if group is None:
            assert not placed
            continue
        unscheduled = {p.uid for p in group.unscheduled_pods()}
        scheduled = {p.uid for p, _ in group.scheduled_pods()}
        assert unscheduled.isdisjoint(scheduled)
        assert len(unscheduled) + len(scheduled) == len(group) > 0
        assert scheduled == placed
        assert set(group.assumed) == {u for u, h in cluster.placements.items() if h.assumed}
