"""NodeResourcesFit's scores: LeastAllocated, MostAllocated, RequestedToCapacityRatio."""

from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.scheduler.plugins.resource_clusters import GPU, NodeBook, ResourceCase, resource_cases

from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.rules.requests import is_scalar
from podium.scheduler.cluster.state import Cluster
from podium.scheduler.config.plugin_args import (
    NodeResourcesFitArgs,
    RequestedToCapacityRatioParam,
    ResourceSpec,
    ScoringStrategy,
    UtilizationShapePoint,
)
from podium.scheduler.plugins.node_resources_fit import NodeResourcesFit
from podium.scheduler.plugins.resources.allocation import (
    LeastAllocated,
    MostAllocated,
    curve,
    scorer_for,
)
from podium.scheduler.plugins.resources.columns import ResourceColumn
from podium.scheduler.plugins.resources.stack import FLOAT_EXACT_BELOW
from podium.testing import make_cluster, make_handle, make_node, make_pod, score_answers

EVEN = (ResourceSpec("cpu", 1), ResourceSpec("memory", 1))
RISING = ((0, 0), (100, 10))
FALLING = ((0, 10), (30, 5), (70, 0))
LEAST, MOST, RATIO = "LeastAllocated", "MostAllocated", "RequestedToCapacityRatio"

Shape = tuple[tuple[int, int], ...]


def points_of(shape: Shape) -> tuple[UtilizationShapePoint, ...]:
    return tuple(UtilizationShapePoint(utilization, score) for utilization, score in shape)


def strategy(
    kind: str, resources: tuple[ResourceSpec, ...] = EVEN, shape: Shape = RISING
) -> ScoringStrategy:
    ratio = RequestedToCapacityRatioParam(shape=points_of(shape)) if kind == RATIO else None
    return ScoringStrategy(type=kind, resources=resources, requested_to_capacity_ratio=ratio)


def scores(cluster: Cluster, pod: Pod, wanted: ScoringStrategy) -> dict[str, int]:
    args = NodeResourcesFitArgs(scoring_strategy=wanted)
    answer = score_answers(NodeResourcesFit(args, make_handle(cluster)), pod, cluster)
    assert answer is not None
    raw, normalized = answer
    assert raw == normalized
    return raw


def three_nodes(**more: Any) -> Cluster:
    """The nodes of the worked examples; n2 has a pod that requests nothing."""
    return make_cluster(
        [
            make_node("n1", allocatable={"cpu": "4", "memory": "8Gi"}),
            make_node("n2", allocatable={"cpu": "16", "memory": "64Gi", **more}),
            make_node("n3", allocatable={"cpu": "2", "memory": "1Gi"}),
        ],
        [
            make_pod("p1", node="n1", requests={"cpu": "1500m", "memory": "3Gi"}),
            make_pod("p2", node="n2", requests={"cpu": "3", "memory": "10Gi"}),
            make_pod("p3", node="n2"),
            make_pod("p4", node="n3", requests={"cpu": "1800m", "memory": "900Mi"}),
        ],
    )


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        (strategy(LEAST), [47, 79, 0]),
        (strategy(MOST), [52, 20, 100]),
        (strategy(RATIO, shape=RISING), [53, 20, 100]),
        (strategy(RATIO, shape=FALLING), [22, 67, 0]),
    ],
)
def test_the_worked_examples_come_out(wanted: ScoringStrategy, expected: list[int]) -> None:
    pod = make_pod("pending", requests={"cpu": "700m", "memory": "1Gi"})
    assert scores(three_nodes(), pod, wanted) == dict(
        zip(("n1", "n2", "n3"), expected, strict=True)
    )


def test_a_scalar_resource_counts_where_a_node_has_it_and_the_pod_wants_it() -> None:
    cluster = three_nodes(**{GPU: 8})
    cluster.add_pod(
        make_pod("p5", node="n2", requests={GPU: 3, "cpu": "0", "memory": "0"}),
    )
    weighted = (ResourceSpec("cpu", 3), ResourceSpec("memory", 1), ResourceSpec(GPU, 5))
    pod = make_pod("pending", requests={"cpu": "500m", "memory": "1Gi", GPU: 1})
    found = scores(cluster, pod, strategy(LEAST, weighted))
    assert (found["n1"], found["n2"]) == (50, 62)
    without = make_pod("plain", requests={"cpu": "500m", "memory": "1Gi"})
    assert scores(cluster, without, strategy(LEAST, weighted))["n2"] == (77 * 3 + 82) // 4


def test_a_pod_without_requests_counts_with_the_defaults() -> None:
    cluster = make_cluster([make_node("a", allocatable={"cpu": "1", "memory": "1000Mi"})])
    assert scores(cluster, make_pod("pending"), strategy(MOST)) == {"a": (10 + 20) // 2}


def test_pod_level_requests_do_not_count_for_a_pending_pod() -> None:
    cluster = make_cluster([make_node("a", allocatable={"cpu": "1", "memory": "1000Mi"})])
    pod = make_pod("pending", resources={"requests": {"cpu": "1", "memory": "1000Mi"}})
    assert scores(cluster, pod, strategy(MOST)) == {"a": (10 + 20) // 2}


def test_a_node_without_any_of_the_resources_scores_nothing() -> None:
    cluster = make_cluster([make_node("a", allocatable={"pods": 1})])
    for kind in (LEAST, MOST, RATIO):
        assert scores(cluster, make_pod("p"), strategy(kind, shape=FALLING)) == {"a": 0}
        gpus = strategy(kind, (ResourceSpec(GPU, 1),), FALLING)
        assert scores(cluster, make_pod("p", requests={GPU: 1}), gpus) == {"a": 0}


def percent_used(book: NodeBook, name: str, request: int) -> tuple[int, int, int] | None:
    """(allocatable, requested with the pod, percentage) of a resource that counts."""
    has = book.allocatable.get(name, 0)
    if has == 0 or (request == 0 and is_scalar(name)):
        return None
    used = book.nonzero[name] if name in book.nonzero else book.requested.get(name, 0)
    return has, used + request, min(used + request, has) * 100 // has


def expected_score(
    book: NodeBook, wanted: dict[str, int], kind: str, resources: tuple[ResourceSpec, ...]
) -> int:
    """The rule for one node in plain Python."""
    total = weights = 0
    for spec in resources:
        counted = percent_used(book, spec.name, wanted.get(spec.name, 0))
        if counted is None:
            continue
        has, requested, percent = counted
        if kind == LEAST:
            points = max(has - requested, 0) * 100 // has
        else:
            points = percent if kind == MOST else interpolated(FALLING, percent)
        if kind == RATIO and points == 0:
            continue
        total += points * spec.weight
        weights += spec.weight
    if weights == 0:
        return 0
    return int(Fraction(total, weights) + Fraction(kind == RATIO, 2))


def interpolated(shape: Shape, percent: int) -> int:
    """A shape in points of 0..100, by exact fractions."""
    if percent <= shape[0][0]:
        return shape[0][1] * 10
    for (left, low), (right, high) in pairwise(shape):
        if percent <= right:
            return low * 10 + int(Fraction((high - low) * 10 * (percent - left), right - left))
    return shape[-1][1] * 10


@given(
    case=resource_cases(),
    kind=st.sampled_from((LEAST, MOST, RATIO)),
    weights=st.fixed_dictionaries(
        {"cpu": st.integers(1, 100)},
        optional={
            name: st.sampled_from((1, 3, 7, 100))
            for name in ("memory", "ephemeral-storage", GPU, "unheard.of/thing", "nonsense")
        },
    ),
)
def test_columns_score_as_node_by_node_books_do(
    case: ResourceCase, kind: str, weights: dict[str, int]
) -> None:
    resources = tuple(ResourceSpec(name, weight) for name, weight in weights.items())
    pod = make_pod("pending", requests=case.requests)
    wanted = case.cluster.infos.of(pod).shape.scoring_requests
    assert scores(case.cluster, pod, strategy(kind, resources, FALLING)) == {
        name: expected_score(book, wanted, kind, resources) for name, book in case.books.items()
    }


def column(
    allocatable: list[int], used: list[int], request: int, *, floats: bool
) -> ResourceColumn:
    has = np.array(allocatable, dtype=np.int64)
    return ResourceColumn(
        weight=1,
        request=request,
        allocatable=has,
        used=np.array(used, dtype=np.int64),
        divisor=has.astype(np.float64),
        considered=None,
        exact_in_floats=floats,
    )


amounts = st.one_of(
    st.integers(1, FLOAT_EXACT_BELOW - 1),
    st.integers(FLOAT_EXACT_BELOW - 1000, FLOAT_EXACT_BELOW - 1),
    st.integers(1, 1000),
)


@given(
    nodes=st.lists(
        st.tuples(amounts, st.fractions(0, 2), st.integers(-2, 2)), min_size=1, max_size=20
    ),
    request=st.integers(0, 3),
)
def test_floats_and_integers_give_the_same_points(
    nodes: list[tuple[int, Fraction, int]], request: int
) -> None:
    # Amounts one off a whole percentage are where a rounded quotient would show.
    allocatable = [has for has, _, _ in nodes]
    used = [max(0, int(has * part * 100) // 100 + off) for has, part, off in nodes]
    for scorer in (LeastAllocated(), MostAllocated()):
        fast, exact = (
            scorer.points(column(allocatable, used, request, floats=floats)).copy()
            for floats in (True, False)
        )
        np.testing.assert_array_equal(fast, exact)


@given(st.integers(0, 100), amounts)
def test_floats_are_exact_one_below_every_whole_percentage(percent: int, has: int) -> None:
    edge = has * percent // 100
    used = [max(0, edge - 1), edge, edge + 1]
    fast = MostAllocated().points(column([has] * 3, used, 0, floats=True))
    assert fast.tolist() == [min(taken, has) * 100 // has for taken in used]


@given(
    st.lists(st.integers(0, 100), min_size=1, max_size=5, unique=True).flatmap(
        lambda at: st.tuples(
            st.just(sorted(at)),
            st.lists(st.integers(0, 10), min_size=len(at), max_size=len(at)),
        )
    )
)
def test_a_curve_runs_straight_between_its_corners(drawn: tuple[list[int], list[int]]) -> None:
    shape = tuple(zip(*drawn, strict=True))
    found = curve(points_of(shape))
    assert found == [interpolated(shape, percent) for percent in range(101)]


def test_a_strategy_nobody_knows_is_refused() -> None:
    with pytest.raises(ValueError, match="scoring strategy Middling is not supported"):
        scorer_for(ScoringStrategy(type="Middling"))
