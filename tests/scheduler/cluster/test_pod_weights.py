"""What many queries count together is what they count one by one."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from podium.kubernetes.rules.labels import NOTHING, Requirement, Selector
from podium.scheduler.cluster.pod_classes import PodQuery, PodWeights
from podium.testing import make_cluster, make_node, make_pod

NODES = ("a", "b", "c")
KEYS, VALUES, NAMESPACES = ("app", "tier"), ("x", "y", "z"), ("n1", "n2")

requirements = st.one_of(
    st.builds(
        Requirement,
        st.sampled_from(KEYS),
        st.sampled_from(("In", "NotIn")),
        st.frozensets(st.sampled_from(VALUES), min_size=1),
    ),
    st.builds(
        Requirement,
        st.sampled_from((*KEYS, "other")),
        st.sampled_from(("Exists", "DoesNotExist")),
    ),
)
selectors = st.lists(requirements, max_size=3).map(Selector) | st.just(NOTHING)
queries = st.builds(
    lambda namespaces, selector: PodQuery(((namespaces, selector),)),
    st.none() | st.frozensets(st.sampled_from(NAMESPACES)),
    selectors,
)
pods = st.tuples(
    st.sampled_from(NODES),
    st.sampled_from(NAMESPACES),
    st.dictionaries(st.sampled_from(KEYS), st.sampled_from(VALUES)),
)


@given(
    placed=st.lists(pods, max_size=8),
    weighted=st.lists(st.tuples(st.integers(-100, 100), queries), max_size=6),
)
def test_weights_add_up_to_those_of_single_queries(
    placed: list[tuple[str, str, dict[str, str]]], weighted: list[tuple[int, PodQuery]]
) -> None:
    cluster = make_cluster(
        [make_node(name) for name in NODES],
        [
            make_pod(f"p{number}", namespace=namespace, labels=labels, node=node)
            for number, (node, namespace, labels) in enumerate(placed)
        ],
    )
    capacity = cluster.nodes.capacity
    expected = np.zeros(capacity, dtype=np.int64)
    for weight, query in weighted:
        expected += weight * cluster.classes.counts(query)
    found = PodWeights(cluster.classes.all()).per_row(weighted, capacity)
    assert found.tolist() == expected.tolist()
