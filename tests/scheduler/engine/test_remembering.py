"""Answers the default plugins let the framework remember, held against fresh ones.

Whatever happened since an answer was remembered (pods, nodes, images, taints, a row in new hands),
the next pod of the same kind must see the cluster as it is.
"""

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from podium.kubernetes.kinds.node import Node
from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.scheduler.cluster.growth import indices
from podium.scheduler.config.load import load_configuration
from podium.scheduler.engine.scheduler import Engine
from podium.scheduler.engine.search import whole_table
from podium.scheduler.framework.cycle import Cycle
from podium.scheduler.framework.filtering import run_filters, run_pre_filters
from podium.scheduler.framework.scoring import run_pre_scores, run_scores
from podium.scheduler.plugins import in_tree_registry
from podium.testing import make_node, make_pod

NAMES = ("a", "b", "c", "d", "e")
SOFT, HARD = ("soft", "", "PreferNoSchedule"), ("hard", "", "NoSchedule")
MEGABYTE = 1024 * 1024

nodes = st.builds(
    make_node,
    st.sampled_from(NAMES),
    taints=st.lists(st.sampled_from((SOFT, HARD)), unique=True),
    images=st.dictionaries(
        st.sampled_from(("app:v1", "db:v2")), st.sampled_from((100 * MEGABYTE, 900 * MEGABYTE))
    ),
    allocatable=st.fixed_dictionaries(
        {"cpu": st.integers(1, 4), "memory": st.integers(1, 4), "pods": st.just(4)},
        optional={"example.com/gpu": st.integers(0, 2)},
    ),
)
requests = st.dictionaries(st.sampled_from(("cpu", "memory", "example.com/gpu")), st.integers(0, 2))
guests = st.builds(
    make_pod, st.sampled_from("qrstuv"), node=st.sampled_from(NAMES), requests=requests
)
kinds = st.fixed_dictionaries(
    {
        "requests": st.sampled_from(({}, {"cpu": 1}, {"cpu": 1, "example.com/gpu": 1})),
        "tolerations": st.sampled_from(
            ((), ({"key": "hard", "operator": "Exists"},), ({"operator": "Exists"},))
        ),
    }
)


def check(engine: Engine, kind: dict[str, Any]) -> None:
    """Filter and score one pod with and without what is remembered."""
    profile, cluster = engine.first_profile, engine.cluster
    cycle = Cycle(cluster.infos.of(make_pod("pending", **kind)), cluster)
    run_pre_filters(profile.pre_filter, cycle)
    rows = whole_table(cluster)
    remembered = run_filters(profile.filter, cycle, rows, profile.vectors)
    fresh = run_filters(profile.filter, cycle, rows)
    statuses = [fresh.status(position) for position in range(fresh.count)]
    assert [remembered.status(position) for position in range(fresh.count)] == statuses
    feasible = rows if not fresh.rejected_any else indices(rows)[fresh.mask_passed()]
    if len(indices(feasible)) < 2:
        return
    run_pre_scores(profile.pre_score, cycle, feasible)
    by_memory, total = run_scores(profile.score, cycle, feasible, profile.vectors)
    afresh, expected = run_scores(profile.score, cycle, feasible)
    assert [(s.plugin, s.raw.tolist(), s.normalized.tolist()) for s in by_memory] == [
        (s.plugin, s.raw.tolist(), s.normalized.tolist()) for s in afresh
    ]
    assert total.tolist() == expected.tolist()


@settings(deadline=None, max_examples=60)
@given(
    first=st.lists(nodes, min_size=2, max_size=5),
    events=st.lists(st.one_of(guests, guests, nodes, st.sampled_from(NAMES), kinds), max_size=30),
)
def test_after_any_events_the_default_plugins_answer_as_if_asked_for_the_first_time(
    first: list[Node], events: list[Node | Pod | str | dict[str, Any]]
) -> None:
    engine = Engine(
        load_configuration(None, gates=FeatureGates()), in_tree_registry(), gates=FeatureGates()
    )
    cluster = engine.cluster
    for node in first:
        cluster.put_node(node)
    for event in events:
        if isinstance(event, Node):
            cluster.put_node(event)
        elif isinstance(event, Pod) and event.metadata.uid in cluster.placements:
            cluster.remove_pod(event.metadata.uid)
        elif isinstance(event, Pod):
            cluster.add_pod(event)
        elif isinstance(event, str):
            cluster.remove_node(event)
        elif cluster.nodes.present_count:
            check(engine, event)
    if cluster.nodes.present_count:
        check(engine, {"requests": {"cpu": 1}})
        check(engine, {})
