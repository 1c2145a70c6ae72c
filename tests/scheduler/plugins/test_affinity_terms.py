"""Terms in both directions: what a pending pod asks for, and what pods on nodes ask of it."""

from typing import Any

import pytest
from support.scheduler.plugins.affinity_clusters import cluster_of, put_namespace, required, term

from podium.kubernetes.rules.pod_affinity import AffinityTerm, parse_pod_affinity
from podium.kubernetes.rules.requests import ALL_REQUESTS
from podium.scheduler.cluster import pod_classes
from podium.scheduler.cluster.pod_classes import PodQuery
from podium.scheduler.cluster.state import Cluster
from podium.scheduler.plugins.inter_pod_affinity.terms import CarriedTerms, TermQueries
from podium.testing import make_node, make_pod

NODES = [make_node(name, labels={"host": name}) for name in ("n1", "n2")]


def compiled(**fields: Any) -> AffinityTerm:
    pod = make_pod("p", affinity=required("podAffinity", term("a", **fields)))
    return parse_pod_affinity(pod).required_affinity[0]


def namespaces_of(query: PodQuery) -> set[str] | None:
    ((namespaces, _),) = query.conditions
    return None if namespaces is None else set(namespaces)


def test_a_term_without_namespaces_means_the_pods_own() -> None:
    queries = TermQueries(Cluster(ALL_REQUESTS).catalog)
    assert namespaces_of(queries.query(compiled())) == {"default"}
    assert namespaces_of(queries.query(compiled(namespaces=["b", "c"]))) == {"b", "c"}


def test_a_namespace_selector_adds_the_namespaces_it_selects_now() -> None:
    cluster = Cluster(ALL_REQUESTS)
    put_namespace(cluster, "one", {"team": "x"})
    queries = TermQueries(cluster.catalog)
    by_team = compiled(namespaces=["b"], namespaceSelector={"matchLabels": {"team": "x"}})
    assert namespaces_of(queries.query(by_team)) == {"b", "one"}
    put_namespace(cluster, "two", {"team": "x"})
    assert namespaces_of(queries.query(by_team)) == {"b", "one", "two"}


def test_an_empty_namespace_selector_means_every_namespace() -> None:
    queries = TermQueries(Cluster(ALL_REQUESTS).catalog)
    assert namespaces_of(queries.query(compiled(namespaceSelector={}))) is None


def test_a_purely_negative_namespace_selector_means_every_namespace_too() -> None:
    """Quirk Q1."""
    queries = TermQueries(Cluster(ALL_REQUESTS).catalog)
    absent = {"matchExpressions": [{"key": "team", "operator": "DoesNotExist"}]}
    assert namespaces_of(queries.query(compiled(namespaceSelector=absent))) is None


def hostile(name: str, *, against: str = "a", node: str = "n1", **fields: Any) -> Any:
    """A pod that wants to be alone with respect to an app."""
    affinity = required("podAntiAffinity", term(against, **fields))
    return make_pod(name, labels={"app": name}, node=node, affinity=affinity)


def matching(carried: CarriedTerms, cluster: Cluster, **pod: Any) -> dict[str, int]:
    """Topology key -> carriers, of the terms that match a pod with app a."""
    shape = cluster.infos.of(make_pod("pending", labels={"app": "a"}, **pod)).shape
    found = carried.find_matching("required_anti", shape)
    return {term.term.topology_key: counter.total for term, counter in found if counter.total}


def test_terms_that_come_later_are_found_as_well() -> None:
    cluster = cluster_of(NODES, [])
    carried = CarriedTerms(cluster.catalog, cluster.classes)
    assert matching(carried, cluster) == {}
    cluster.add_pod(hostile("p1"))
    cluster.add_pod(hostile("p2", against="b"))
    assert matching(carried, cluster) == {"host": 1}
    cluster.add_pod(hostile("p3"))
    cluster.add_pod(hostile("p4", key="zone"))
    assert matching(carried, cluster) == {"host": 2, "zone": 1}
    cluster.remove_pod("uid-default-p4")
    assert matching(carried, cluster) == {"host": 2}


def test_terms_that_were_dropped_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pod_classes, "_MAX_EMPTY_CLASSES", 0)
    cluster = cluster_of(NODES, [hostile("p1"), hostile("p2", key="zone")])
    carried = CarriedTerms(cluster.catalog, cluster.classes)
    assert matching(carried, cluster) == {"host": 1, "zone": 1}
    cluster.remove_pod("uid-default-p1")
    assert matching(carried, cluster) == {"zone": 1}
    cluster.add_pod(hostile("p3", key="rack"))
    cluster.add_pod(hostile("p1"))
    assert matching(carried, cluster) == {"zone": 1, "rack": 1, "host": 1}


def test_new_labels_of_the_pods_namespace_change_what_means_it() -> None:
    team = {"matchLabels": {"team": "z"}}
    cluster = cluster_of(NODES, [hostile("p1", namespaceSelector=team)])
    carried = CarriedTerms(cluster.catalog, cluster.classes)
    assert matching(carried, cluster) == {}
    put_namespace(cluster, "default", {"team": "z"})
    assert matching(carried, cluster) == {"host": 1}
    assert matching(carried, cluster, namespace="other") == {}
