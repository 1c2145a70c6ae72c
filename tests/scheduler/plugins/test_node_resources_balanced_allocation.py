"""NodeResourcesBalancedAllocation: an even use of a node's resources."""

import math

from hypothesis import given
from hypothesis import strategies as st
from support.scheduler.plugins.resource_clusters import GPU, NodeBook, ResourceCase, resource_cases

from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.rules.requests import ALL_REQUESTS, is_scalar
from podium.scheduler.cluster.state import Cluster
from podium.scheduler.config.plugin_args import NodeResourcesBalancedAllocationArgs, ResourceSpec
from podium.scheduler.framework.status import SKIP
from podium.scheduler.plugins.node_resources_balanced_allocation import (
    NodeResourcesBalancedAllocation,
)
from podium.testing import (
    cycle_for,
    make_cluster,
    make_handle,
    make_node,
    make_pod,
    present_rows,
    score_answers,
)


def plugin_for(cluster: Cluster, *names: str) -> NodeResourcesBalancedAllocation:
    specs = tuple(ResourceSpec(name, 1) for name in names or ("cpu", "memory"))
    args = NodeResourcesBalancedAllocationArgs(resources=specs)
    return NodeResourcesBalancedAllocation(args, make_handle(cluster))


def scores(cluster: Cluster, pod: Pod, *names: str) -> dict[str, int] | None:
    answer = score_answers(plugin_for(cluster, *names), pod, cluster)
    if answer is None:
        return None
    raw, normalized = answer
    assert raw == normalized
    return raw


def worked_example() -> Cluster:
    return make_cluster(
        [
            make_node("n1", allocatable={"cpu": "4", "memory": "8Gi"}),
            make_node("n2", allocatable={"cpu": "16", "memory": "64Gi", GPU: 8}),
            make_node("n3", allocatable={"cpu": "2", "memory": "1Gi"}),
        ],
        [
            make_pod("p1", node="n1", requests={"cpu": "1500m", "memory": "3Gi"}),
            make_pod("p2", node="n2", requests={"cpu": "3", "memory": "10Gi", GPU: 3}),
            make_pod("p3", node="n2"),
            make_pod("p4", node="n3", requests={"cpu": "1800m", "memory": "900Mi"}),
        ],
    )


def test_the_worked_example_comes_out() -> None:
    pod = make_pod("pending", requests={"cpu": "700m", "memory": "1Gi"})
    assert scores(worked_example(), pod) == {"n1": 73, "n2": 74, "n3": 76}


def test_three_resources_come_out_as_worked_by_hand() -> None:
    pod = make_pod("pending", requests={"cpu": "500m", "memory": "1Gi", GPU: 1})
    found = scores(worked_example(), pod, "cpu", "memory", GPU)
    assert found is not None
    assert found["n2"] == 72


def test_a_pod_that_asks_for_none_of_the_resources_is_not_scored() -> None:
    cluster = worked_example()
    assert scores(cluster, make_pod("pending")) is None
    assert scores(cluster, make_pod("pending", requests={"cpu": "0", GPU: 1})) is None
    assert scores(cluster, make_pod("pending", requests={GPU: 1}), GPU) is not None


def test_scoring_without_preparation_gives_such_a_pod_nothing() -> None:
    cluster = worked_example()
    plugin, cycle = plugin_for(cluster), cycle_for(make_pod("pending"), cluster)
    assert plugin.pre_score(cycle, present_rows(cluster)) is SKIP
    assert plugin.score(cycle, present_rows(cluster)).tolist() == [0, 0, 0]


def test_pod_level_requests_count() -> None:
    cluster = make_cluster([make_node("a", allocatable={"cpu": "4", "memory": "8Gi"})])
    pod = make_pod("pending", resources={"requests": {"cpu": "4"}})
    assert scores(cluster, pod) == {"a": 50 + (50 + 50 - 100) // 2}


def test_a_single_resource_is_always_balanced() -> None:
    pod = make_pod("pending", requests={"cpu": "1"})
    assert scores(worked_example(), pod, "cpu") == {"n1": 75, "n2": 75, "n3": 75}


def test_the_plugin_waits_for_no_event() -> None:
    assert list(plugin_for(Cluster(ALL_REQUESTS)).events()) == []


def balance(fractions: list[float]) -> int:
    """Upstream's rule for one node in plain Python."""
    spread = 0.0
    if len(fractions) == 2:
        spread = abs((fractions[0] - fractions[1]) / 2)
    elif len(fractions) > 2:
        total = 0.0
        for fraction in fractions:
            total += fraction
        mean = total / len(fractions)
        squares = 0.0
        for fraction in fractions:
            squares += (fraction - mean) * (fraction - mean)
        spread = math.sqrt(squares / len(fractions))
    return int((1 - spread) * 100.0)


def expected_score(book: NodeBook, wanted: dict[str, int], names: tuple[str, ...]) -> int:
    with_pod, without = [], []
    for name in names:
        has, request = book.allocatable.get(name, 0), wanted.get(name, 0)
        if has == 0 or (request == 0 and is_scalar(name)):
            continue
        used = book.requested.get(name, 0)
        with_pod.append(min(float(used + request) / float(has), 1.0))
        without.append(min(float(used) / float(has), 1.0))
    return 50 + (50 + balance(with_pod) - balance(without)) // 2


@given(
    case=resource_cases(),
    names=st.lists(
        st.sampled_from(("cpu", "memory", "ephemeral-storage", GPU, "unheard.of/thing")),
        min_size=1,
        max_size=5,
        unique=True,
    ).map(tuple),
)
def test_columns_score_as_node_by_node_books_do(case: ResourceCase, names: tuple[str, ...]) -> None:
    pod = make_pod("pending", requests=case.requests)
    wanted = case.cluster.infos.of(pod).shape.accounted
    expected = {name: expected_score(book, wanted, names) for name, book in case.books.items()}
    skipped = not any(wanted.get(name) for name in names)
    assert scores(case.cluster, pod, *names) == (None if skipped else expected)
