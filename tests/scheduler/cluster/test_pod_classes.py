"""Pod classes and the counters over them, held against counting pod by pod."""

from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.rules.labels import EVERYTHING, Selector, selector_of_map
from podium.scheduler.cluster import pod_classes
from podium.scheduler.cluster.growth import FIRST_CAPACITY
from podium.scheduler.cluster.pod_classes import CarriedTerm, PodQuery, TermKind
from podium.scheduler.cluster.state import Cluster
from podium.testing import make_cluster, make_node, make_pod

NODES = ("a", "b", "c")
KINDS: tuple[TermKind, ...] = (
    "required_affinity",
    "required_anti",
    "preferred_affinity",
    "preferred_anti",
)
GONE = {"deletionTimestamp": "2026-01-01T00:00:00Z"}


def app(value: str) -> Selector:
    return selector_of_map({"app": value})


def query(selector: Selector, *namespaces: str, terminating: bool = True) -> PodQuery:
    return PodQuery(((frozenset(namespaces) or None, selector),), terminating)


def term(app: str, key: str = "zone") -> dict[str, Any]:
    return {"labelSelector": {"matchLabels": {"app": app}}, "topologyKey": key}


def anti(*terms: dict[str, Any]) -> dict[str, Any]:
    return {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": list(terms)}}


def preferring(*terms: tuple[int, dict[str, Any]]) -> dict[str, Any]:
    entries = [{"weight": w, "podAffinityTerm": t} for w, t in terms]
    return {"podAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": entries}}


def counted(cluster: Cluster, asked: PodQuery) -> list[int]:
    """The same question asked of every pod."""
    return [
        sum(
            asked.matches(i.shape.namespace, i.shape.labels, i.terminating)
            for i in cluster.usage.pods(row)
        )
        for row in range(cluster.nodes.size)
    ]


def carried(cluster: Cluster) -> dict[CarriedTerm, list[int]]:
    """Terms of all pods, with how often they stand on each row."""
    found: dict[CarriedTerm, Counter[int]] = {}
    for row in range(cluster.nodes.size):
        for info in cluster.usage.pods(row):
            terms = info.shape.affinity
            for t in (
                *(CarriedTerm("required_affinity", 0, t) for t in terms.required_affinity),
                *(CarriedTerm("required_anti", 0, t) for t in terms.required_anti),
                *(CarriedTerm("preferred_affinity", w, t) for w, t in terms.preferred_affinity),
                *(CarriedTerm("preferred_anti", w, t) for w, t in terms.preferred_anti),
            ):
                found.setdefault(t, Counter())[row] += 1
    return {t: [c[row] for row in range(cluster.nodes.size)] for t, c in found.items()}


def shown(cluster: Cluster) -> dict[CarriedTerm, list[int]]:
    """The same from the counters; terms nobody carries any more are left out."""
    classes, found = cluster.classes, {}
    for kind in KINDS:
        for term, counter in classes.carried_terms(kind).items():
            column = classes.column(counter)[: cluster.nodes.size]
            assert counter.total == column.sum()
            if counter.total:
                found[term] = column.tolist()
    return found


def answer(cluster: Cluster, asked: PodQuery) -> list[int]:
    counts: list[int] = cluster.classes.counts(asked)[: cluster.nodes.size].tolist()
    return counts


def test_matching_pods_are_counted_per_node() -> None:
    cluster = make_cluster(
        [make_node(name) for name in NODES],
        [
            make_pod("p", node="a", labels={"app": "x"}),
            make_pod("q", node="a", labels={"app": "x"}),
            make_pod("r", node="b", labels={"app": "x"}, namespace="team"),
            make_pod("s", node="b", labels={"app": "y"}),
            make_pod("t", node="c", labels={"app": "x"}, metadata=GONE),
        ],
    )
    assert answer(cluster, query(app("x"))) == [2, 1, 1]
    assert answer(cluster, query(app("x"), "default")) == [2, 0, 1]
    assert answer(cluster, query(app("x"), terminating=False)) == [2, 1, 0]
    assert answer(cluster, query(EVERYTHING, "default", "team")) == [2, 2, 1]


def test_all_conditions_of_a_query_must_hold() -> None:
    both = PodQuery(((None, app("x")), (frozenset({"team"}), EVERYTHING)))
    cluster = make_cluster(
        [make_node("a")],
        [
            make_pod("p", node="a", labels={"app": "x"}),
            make_pod("q", node="a", labels={"app": "x"}, namespace="team"),
        ],
    )
    assert answer(cluster, both) == [1]
    assert answer(cluster, PodQuery(())) == [2]


def test_a_counter_in_use_follows_pods_that_come_and_go() -> None:
    cluster = make_cluster([make_node("a"), make_node("b")])
    asked = query(app("x"))
    assert answer(cluster, asked) == [0, 0]
    cluster.add_pod(make_pod("p", node="b", labels={"app": "x"}))
    assert answer(cluster, asked) == [0, 1]
    cluster.update_pod(make_pod("p", node="b", labels={"app": "y"}))
    assert answer(cluster, asked) == [0, 0]


def test_a_pod_that_starts_to_terminate_changes_class() -> None:
    cluster = make_cluster([make_node("a")], [make_pod("p", node="a", labels={"app": "x"})])
    living = query(app("x"), terminating=False)
    assert answer(cluster, living) == [1]
    cluster.update_pod(make_pod("p", node="a", labels={"app": "x"}, metadata=GONE))
    assert answer(cluster, living) == [0]
    assert answer(cluster, query(app("x"))) == [1]


def test_counters_grow_with_the_nodes() -> None:
    cluster = make_cluster([make_node("first")], [make_pod("p", node="first")])
    asked = query(EVERYTHING)
    assert answer(cluster, asked) == [1]
    for number in range(FIRST_CAPACITY):
        cluster.put_node(make_node(f"n{number}"))
    cluster.add_pod(make_pod("q", node=f"n{FIRST_CAPACITY - 1}"))
    assert len(cluster.classes.counts(asked)) == cluster.nodes.capacity
    assert answer(cluster, asked) == counted(cluster, asked)


def test_a_term_that_a_pod_carries_twice_counts_twice() -> None:
    pod = make_pod("p", node="a", affinity=anti(term("x"), term("x"), term("y")))
    cluster = make_cluster([make_node("a")], [pod])
    terms = cluster.classes.carried_terms("required_anti")
    assert [counter.total for counter in terms.values()] == [2, 1]
    cluster.remove_pod("uid-default-p")
    assert [counter.total for counter in terms.values()] == [0, 0]


def test_equal_terms_with_other_weights_are_counted_apart() -> None:
    affinity = preferring((1, term("x")), (5, term("x")))
    cluster = make_cluster([make_node("a")], [make_pod("p", node="a", affinity=affinity)])
    weights = {
        t.weight: c.total for t, c in cluster.classes.carried_terms("preferred_affinity").items()
    }
    assert weights == {1: 1, 5: 1}
    assert cluster.classes.carried_terms("required_affinity") == {}


def test_counters_that_nobody_asks_for_are_dropped_and_come_back_right(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(pod_classes, "_MAX_COUNTER_BYTES", 0)
    monkeypatch.setattr(pod_classes, "_FEWEST_COUNTERS", 2)
    cluster = make_cluster([make_node("a")], [make_pod("p", node="a", labels={"app": "x"})])
    oldest = query(app("x"))
    assert answer(cluster, oldest) == [1]
    for value in ("y", "z", "w"):
        assert answer(cluster, query(app(value))) == [0]
    cluster.add_pod(make_pod("q", node="a", labels={"app": "x"}))
    assert answer(cluster, oldest) == [2]
    cluster.remove_pod("uid-default-p")
    assert answer(cluster, oldest) == [1]


def test_a_counter_that_was_asked_for_lately_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pod_classes, "_MAX_COUNTER_BYTES", 0)
    monkeypatch.setattr(pod_classes, "_FEWEST_COUNTERS", 2)
    cluster = make_cluster([make_node("a")])
    kept = cluster.classes.counts(query(app("x")))
    for value in ("y", "z", "w"):
        cluster.classes.counts(query(app("x")))
        cluster.classes.counts(query(app(value)))
    assert cluster.classes.counts(query(app("x"))) is kept


def test_classes_without_pods_are_forgotten_when_there_are_many(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(pod_classes, "_MAX_EMPTY_CLASSES", 3)
    cluster = make_cluster([make_node("a")])
    asked = query(EVERYTHING)
    answer(cluster, asked)
    epoch = cluster.classes.carried_epoch
    for number in range(5):
        pod = make_pod(f"p{number}", node="a", labels={"n": str(number)}, affinity=anti(term("x")))
        cluster.add_pod(pod)
        cluster.remove_pod(f"uid-default-p{number}")
    assert cluster.classes.carried_epoch > epoch
    cluster.add_pod(make_pod("p0", node="a", labels={"n": "0"}, affinity=anti(term("x"))))
    assert answer(cluster, asked) == [1]
    assert shown(cluster) == carried(cluster)


selectors = st.sampled_from((EVERYTHING, app("x"), app("y"), app("never")))
conditions = st.tuples(
    st.none() | st.frozensets(st.sampled_from(("default", "team")), min_size=1), selectors
)
queries = st.builds(PodQuery, st.lists(conditions, max_size=2).map(tuple), st.booleans())
affinities = st.sampled_from(
    (
        None,
        anti(term("x")),
        anti(term("x"), term("x")),
        anti(term("x", "host"), term("y")),
        preferring((1, term("x")), (1, term("x"))),
        preferring((1, term("x")), (7, term("y"))),
    )
)
pods = st.builds(
    make_pod,
    st.sampled_from(("p", "q", "r", "s", "t")),
    node=st.sampled_from((*NODES, "later")),
    namespace=st.sampled_from(("default", "team")),
    labels=st.dictionaries(st.just("app"), st.sampled_from("xy")),
    metadata=st.sampled_from(({}, GONE)),
    affinity=affinities,
)


def apply(cluster: Cluster, pod: Pod) -> None:
    """The pod is new, changed, or gone, whichever the cluster can take."""
    held = cluster.placements.get(pod.metadata.uid)
    if held is None:
        cluster.add_pod(pod)
    elif cluster.nodes.names[held.row] == pod.spec.node_name:
        cluster.update_pod(pod)
    else:
        cluster.remove_pod(pod.metadata.uid)


@given(
    events=st.lists(pods | queries | st.sampled_from((*NODES, "later")), max_size=30),
    early=st.lists(queries, max_size=3),
    late=st.lists(queries, max_size=3),
    empty_classes=st.integers(0, 3),
)
def test_early_and_late_counters_agree_with_counting_pod_by_pod(
    events: list[Pod | PodQuery | str],
    early: list[PodQuery],
    late: list[PodQuery],
    empty_classes: int,
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pod_classes, "_MAX_EMPTY_CLASSES", empty_classes)
        patch.setattr(pod_classes, "_MAX_COUNTER_BYTES", 0)
        patch.setattr(pod_classes, "_FEWEST_COUNTERS", 4)
        cluster = make_cluster(make_node(name) for name in NODES)
        asked = list(early)
        for one in early:
            answer(cluster, one)
        for event in events:
            if isinstance(event, Pod):
                apply(cluster, event)
            elif isinstance(event, PodQuery):
                asked.append(event)
                answer(cluster, event)
            elif cluster.nodes.is_present(event):
                cluster.remove_node(event)
            else:
                cluster.put_node(make_node(event))
        for one in (*asked, *late):
            assert answer(cluster, one) == counted(cluster, one)
        assert shown(cluster) == carried(cluster)
