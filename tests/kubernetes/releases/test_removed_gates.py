"""Feature gates of earlier releases."""

import pytest

from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.kubernetes.releases.release import release
from podium.kubernetes.releases.removed_gates import REPLACED_BY, find_removed, without_removed


def test_no_gate_is_gone_and_there() -> None:
    known, removed = release().gates, release().removed_gates
    assert not removed.keys() & known.keys()
    assert set(REPLACED_BY) <= removed.keys()
    assert set(REPLACED_BY.values()) <= known.keys()
    assert len(removed) > 240


@pytest.mark.parametrize(
    ("name", "since"),
    [
        ("PodPriority", "1.18"),
        ("IPv6DualStack", "1.27"),
        ("VolumeCapacityPriority", "1.33"),
        ("EvenPodsSpread", "1.21"),
        ("TaintNodesByCondition", "1.18"),
        ("DRAControlPlaneController", "1.32"),
    ],
)
def test_it_is_known_since_when_a_gate_is_gone(name: str, since: str) -> None:
    found = find_removed(name, release())
    assert found is not None
    assert found.since == since


def test_a_gate_that_is_gone_changes_nothing_and_is_told() -> None:
    kept, warnings = without_removed({"PodPriority": False, "GenericWorkload": True}, release())
    assert kept == {"GenericWorkload": True}
    assert warnings == [
        "feature gate PodPriority is gone since Kubernetes 1.18 and has no effect (pods have"
        " priorities and preempt by them without a switch); leave it out"
    ]


@pytest.mark.parametrize("on", [True, False])
def test_a_gate_under_its_old_name_sets_the_new_one(on: bool) -> None:
    kept, (warning,) = without_removed({"VolumeCapacityPriority": on}, release())
    assert FeatureGates(kept)["StorageCapacityScoring"] is on
    assert f"StorageCapacityScoring={str(on).lower()} is set in its place" in warning


def test_a_gate_under_both_names_has_the_value_of_the_new_one() -> None:
    given = {"VolumeCapacityPriority": True, "StorageCapacityScoring": False}
    kept, warnings = without_removed(given, release())
    assert kept == {"StorageCapacityScoring": False}
    assert len(warnings) == 1


def test_a_slip_of_the_pen_is_left_to_be_refused() -> None:
    kept, warnings = without_removed({"PodPriorty": True}, release())
    assert kept == {"PodPriorty": True}
    assert not warnings
