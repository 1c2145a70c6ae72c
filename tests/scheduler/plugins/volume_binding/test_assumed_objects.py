"""Decisions laid over the catalog."""

import pytest
from msgspec.structs import replace
from support.scheduler.plugins.storage_builders import make_claim, make_volume

from podium.kubernetes.kinds.storage import PersistentVolume, PersistentVolumeClaim
from podium.scheduler.cluster.catalog import Catalog
from podium.scheduler.plugins.volume_binding.pod_volumes import AssumedObjects, AssumeError


def versioned(version: str, **labels: str) -> PersistentVolume:
    return make_volume("v", labels=labels, metadata={"resourceVersion": version})


def holding(stored: PersistentVolume) -> tuple[Catalog, AssumedObjects[PersistentVolume]]:
    catalog = Catalog()
    catalog.put(stored)
    return catalog, AssumedObjects(catalog, PersistentVolume)


def test_a_decision_is_seen_until_it_is_taken_back() -> None:
    stored, changed = versioned("1"), versioned("1", by="us")
    _, assumed = holding(stored)
    assert assumed.get("v") is stored
    assumed.assume(changed)
    assert assumed.get("v") is changed
    assert assumed.get_stored("v") is stored
    assumed.restore(changed)
    assert assumed.get("v") is stored


def test_a_newer_object_voids_the_decision_for_good() -> None:
    catalog, assumed = holding(versioned("1"))
    assumed.assume(versioned("1", by="us"))
    newer = versioned("2")
    catalog.put(newer)
    assert assumed.get("v") is newer
    catalog.put(versioned("1"))
    assert assumed.get("v") is not None
    assert (assumed.get("v") or newer).metadata.labels == {}


def test_the_same_version_again_does_not_void_the_decision() -> None:
    catalog, assumed = holding(versioned("1"))
    changed = versioned("1", by="us")
    assumed.assume(changed)
    catalog.put(versioned("1"))
    assert assumed.get("v") is changed


def test_without_versions_any_new_object_voids_the_decision() -> None:
    catalog, assumed = holding(versioned(""))
    assumed.assume(versioned("", by="us"))
    newer = versioned("")
    catalog.put(newer)
    assert assumed.get("v") is newer


def test_an_object_that_is_gone_does_not_live_on_in_a_decision() -> None:
    catalog, assumed = holding(versioned("1"))
    assumed.assume(versioned("1", by="us"))
    catalog.remove(versioned("1"))
    assert assumed.get("v") is None


def test_a_decision_about_an_outdated_object_is_refused() -> None:
    _, assumed = holding(versioned("3"))
    with pytest.raises(AssumeError) as caught:
        assumed.assume(versioned("2"))
    assert str(caught.value) == '"v" is out of sync (stored: 3, assume: 2)'


def test_a_decision_about_an_unknown_object_is_refused() -> None:
    claims = AssumedObjects(Catalog(), PersistentVolumeClaim)
    with pytest.raises(AssumeError) as caught:
        claims.assume(make_claim("c"))
    assert str(caught.value) == 'persistentvolumeclaims "default/c" not found'


def test_taking_back_an_older_decision_leaves_the_newer_one() -> None:
    catalog, assumed = holding(versioned("1"))
    first = versioned("1", by="us")
    assumed.assume(first)
    catalog.put(versioned("2"))
    second = replace(first, metadata=replace(first.metadata, resource_version="2"))
    assumed.assume(second)
    assumed.restore(first)
    assert assumed.get("v") is second


def test_touched_keys_are_told_once() -> None:
    _, assumed = holding(versioned("1"))
    assumed.assume(versioned("1", by="us"))
    assert set(assumed.take_touched()) == {"v"}
    assert not assumed.take_touched()
    assumed.restore(versioned("1"))
    assert set(assumed.take_touched()) == {"v"}
