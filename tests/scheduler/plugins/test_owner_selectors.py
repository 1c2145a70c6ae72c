"""The selector that a pod's services and controller give it."""

from typing import Any

import msgspec
import pytest

from podium.kubernetes.kinds.workloads import (
    ReplicaSet,
    ReplicationController,
    Service,
    StatefulSet,
)
from podium.kubernetes.rules.labels import EVERYTHING, Selector, selector_of_map
from podium.scheduler.cluster.state import Cluster
from podium.scheduler.plugins.topology import OwnerSelectors
from podium.testing import make_cluster, make_pod

LABELS = {"app": "a", "tier": "front"}


def put(cluster: Cluster, kind: Any, selector: Any, *, name: str = "x", **metadata: Any) -> None:
    raw = {
        "metadata": {"name": name, "namespace": "default", **metadata},
        "spec": {"selector": selector},
    }
    cluster.catalog.put(msgspec.convert(raw, kind))


def selector_for(
    cluster: Cluster, *owners: tuple[str, str, str], controller: bool = True
) -> Selector:
    references = [
        {"apiVersion": version, "kind": kind, "name": name, "controller": controller}
        for version, kind, name in owners
    ]
    pod = make_pod("p", labels=LABELS, metadata={"ownerReferences": references})
    return OwnerSelectors(cluster.catalog).of(cluster.infos.of(pod))


def test_services_that_select_the_pod_are_merged() -> None:
    cluster = make_cluster()
    put(cluster, Service, {"app": "a"}, name="one")
    put(cluster, Service, {"tier": "front"}, name="two")
    put(cluster, Service, {"app": "b"}, name="of others")
    put(cluster, Service, {"tier": "back"}, name="elsewhere", namespace="other")
    put(cluster, Service, None, name="external")
    put(cluster, Service, {}, name="matches, adds nothing")
    assert selector_for(cluster) == selector_of_map({"app": "a", "tier": "front"})


def test_a_pod_on_its_own_has_no_selector() -> None:
    assert selector_for(make_cluster()) is EVERYTHING


@pytest.mark.parametrize(
    ("kind", "version", "name"),
    [(ReplicaSet, "apps/v1", "ReplicaSet"), (StatefulSet, "apps/v1", "StatefulSet")],
)
def test_the_controllers_label_selector_narrows_that_of_the_services(
    kind: Any, version: str, name: str
) -> None:
    cluster = make_cluster()
    put(cluster, Service, {"app": "a"})
    exists = [{"key": "hash", "operator": "Exists"}]
    put(cluster, kind, {"matchLabels": {"tier": "x"}, "matchExpressions": exists})
    selector = selector_for(cluster, (version, name, "x"))
    assert selector.matches({"app": "a", "tier": "x", "hash": "1"})
    assert not selector.matches({"app": "a", "tier": "x"})
    assert not selector.matches({"tier": "x", "hash": "1"})


def test_the_keys_of_a_replication_controller_win_over_those_of_services() -> None:
    cluster = make_cluster()
    put(cluster, Service, {"app": "a"})
    put(cluster, ReplicationController, {"app": "rc", "x": "y"})
    found = selector_for(cluster, ("v1", "ReplicationController", "x"))
    assert found == selector_of_map({"app": "rc", "x": "y"})


@pytest.mark.parametrize(
    "owner",
    [
        ("apps/v1", "ReplicaSet", "missing"),
        ("apps/v1beta1", "ReplicaSet", "x"),
        ("apps/v1", "Deployment", "x"),
        ("apps/v1", "ReplicationController", "x"),
        ("a/b/c", "ReplicaSet", "x"),
    ],
)
def test_other_owners_leave_the_services_alone(owner: tuple[str, str, str]) -> None:
    cluster = make_cluster()
    put(cluster, Service, {"app": "a"})
    put(cluster, ReplicaSet, {"matchLabels": {"tier": "front"}})
    assert selector_for(cluster, owner) == selector_of_map({"app": "a"})


def test_only_the_controlling_owner_counts() -> None:
    cluster = make_cluster()
    put(cluster, ReplicaSet, {"matchLabels": {"tier": "front"}})
    owner = ("apps/v1", "ReplicaSet", "x")
    assert selector_for(cluster, owner, controller=False).empty
    assert not selector_for(cluster, owner).empty


@pytest.mark.parametrize(
    "selector", [None, {"matchExpressions": [{"key": "a", "operator": "Near"}]}, {}]
)
def test_an_absent_broken_or_empty_controller_selector_adds_nothing(selector: Any) -> None:
    cluster = make_cluster()
    put(cluster, Service, {"app": "a"})
    put(cluster, ReplicaSet, selector)
    found = selector_for(cluster, ("apps/v1", "ReplicaSet", "x"))
    assert found == selector_of_map({"app": "a"})


def test_a_change_of_a_service_is_noticed() -> None:
    cluster = make_cluster()
    owners = OwnerSelectors(cluster.catalog)
    pod = cluster.infos.of(make_pod("p", labels=LABELS))
    assert owners.of(pod).empty
    put(cluster, Service, {"app": "a"})
    assert owners.of(pod) == selector_of_map({"app": "a"})
    put(cluster, Service, {"app": "b"})
    assert owners.of(pod).empty
