"""Objects beside nodes and pods: by kind and name, with a version per kind."""

from typing import Any

import msgspec
import pytest

from podium.kubernetes.kinds.meta import KubeStruct, ObjectMeta
from podium.kubernetes.kinds.workloads import Namespace, PriorityClass, Service
from podium.scheduler.cluster.catalog import Catalog


def service(name: str, namespace: str = "default", **selector: str) -> Service:
    raw: dict[str, Any] = {
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"selector": selector},
    }
    return msgspec.convert(raw, Service)


def test_objects_are_found_by_kind_namespace_and_name() -> None:
    catalog = Catalog()
    one, other = service("web"), service("web", "team")
    cluster_wide = PriorityClass(metadata=ObjectMeta(name="web"))
    for obj in (one, other, cluster_wide):
        catalog.put(obj)
    assert catalog.get(Service, "web", "default") is one
    assert catalog.get(Service, "web", "team") is other
    assert catalog.get(PriorityClass, "web") is cluster_wide
    assert catalog.get(Service, "web") is None
    assert list(catalog.all(Service)) == [one, other]


def test_a_new_object_of_the_same_name_replaces_the_old_one_in_place() -> None:
    catalog = Catalog()
    newer = service("a", app="x")
    for obj in (service("a"), service("b"), newer):
        catalog.put(obj)
    assert [s.metadata.name for s in catalog.all(Service)] == ["a", "b"]
    assert catalog.get(Service, "a", "default") is newer


def test_every_change_moves_the_version_of_its_kind_only() -> None:
    catalog = Catalog()
    assert catalog.version(Service) == 0
    catalog.put(service("a"))
    first = catalog.version(Service)
    catalog.remove(service("a"))
    assert catalog.version(Service) > first > 0
    assert catalog.version(PriorityClass) == 0
    assert list(catalog.all(Service)) == []


def test_an_unknown_namespace_has_no_labels() -> None:
    catalog = Catalog()
    catalog.put(Namespace(metadata=ObjectMeta(name="team", labels={"tier": "gold"})))
    catalog.put(Namespace(metadata=ObjectMeta(name="bare")))
    assert catalog.namespace_labels("team") == {"tier": "gold"}
    assert catalog.namespace_labels("bare") == {}
    assert catalog.namespace_labels("unknown") == {}


def test_an_object_without_metadata_cannot_be_kept() -> None:
    class Bare(KubeStruct, frozen=True):
        pass

    with pytest.raises(TypeError, match="Bare has no metadata"):
        Catalog().put(Bare())


def test_a_reader_learns_what_changed_since_it_last_looked() -> None:
    catalog = Catalog()
    catalog.put(service("a"))
    seen = catalog.version(Service)
    catalog.put(service("b"))
    catalog.put(PriorityClass(metadata=ObjectMeta(name="c")))
    catalog.remove(service("a"))
    assert catalog.changed_since(Service, 0) == ["default/a", "default/b", "default/a"]
    assert catalog.changed_since(Service, seen) == ["default/b", "default/a"]
    assert catalog.changed_since(Service, catalog.version(Service)) == []
    assert catalog.changed_since(Namespace, 0) == []


def test_changes_that_are_too_long_ago_are_not_remembered() -> None:
    catalog = Catalog()
    for _ in range(10_000):
        catalog.put(service("a"))
    version = catalog.version(Service)
    assert catalog.changed_since(Service, 0) is None
    assert catalog.changed_since(Service, version - 2) == ["default/a", "default/a"]
