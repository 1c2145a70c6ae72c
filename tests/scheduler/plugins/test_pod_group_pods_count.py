"""PodGroupPodsCount: placements by how many members they take."""

import numpy as np
import pytest
from support.scheduler.engine.group_driver import member

from podium.kubernetes.rules.requests import ALL_REQUESTS
from podium.scheduler.cluster.catalog import PodGroupStateMissing
from podium.scheduler.cluster.state import Cluster
from podium.scheduler.framework.cycle import Assignments, Placement, PodGroupCycle
from podium.scheduler.plugins.pod_group_pods_count import NobodyPlaced, PodGroupPodsCount
from podium.testing import make_handle, make_node


def cluster_of(*running: str) -> Cluster:
    cluster = Cluster(ALL_REQUESTS)
    cluster.pod_groups.enabled = True
    cluster.put_node(make_node("a"))
    for name in running:
        cluster.add_pod(member(name, node="a"))
    return cluster


def score(cluster: Cluster, proposed: int) -> int:
    pods = tuple((cluster.infos.of(member(f"n{i}")), "a") for i in range(proposed))
    placement = Placement("x", np.zeros(1, dtype=np.intp))
    plugin = PodGroupPodsCount(None, make_handle(cluster))
    group = PodGroupCycle(("default", "g"), cluster)
    return plugin.score_placement(group, Assignments(placement, pods))


def normalized(*scores: int) -> list[int]:
    plugin = PodGroupPodsCount(None, make_handle())
    return list(
        plugin.normalize_placements(PodGroupCycle(("default", "g"), Cluster(ALL_REQUESTS)), scores)
    )


def test_members_with_nodes_and_proposed_ones_count_alike() -> None:
    cluster = cluster_of("p", "q")
    cluster.pod_groups.put(cluster.infos.of(member("r")))
    assert score(cluster, 0) == 2
    assert score(cluster, 3) == 5
    cluster.assume(cluster.infos.of(member("r")), "a")
    assert score(cluster, 3) == 6


def test_an_unknown_group_is_an_error() -> None:
    with pytest.raises(PodGroupStateMissing) as caught:
        score(cluster_of(), 1)
    assert str(caught.value) == "pod group state not found for pod group default/g"


def test_scores_are_shares_of_the_largest_count() -> None:
    assert normalized(3, 5, 4) == [60, 100, 80]
    assert normalized(1, 3) == [33, 100]
    assert normalized(7) == [100]


def test_placements_that_take_nobody_cannot_be_compared() -> None:
    with pytest.raises(NobodyPlaced) as caught:
        normalized(0, 0)
    assert str(caught.value) == (
        "no pods from pod group are assigned to any of the candidate placements"
    )
