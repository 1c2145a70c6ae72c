"""Feature gates of earlier releases."""

import pytest

from podium.kubernetes.releases.feature_gates import KNOWN_GATES, FeatureGates
from podium.config.removed_gates import REMOVED_GATES, REPLACED_BY, without_removed


def test_no_gate_is_gone_and_there() -> None:
    assert not REMOVED_GATES.keys() & KNOWN_GATES.keys()
    assert set(REPLACED_BY) <= REMOVED_GATES.keys()
    assert set(REPLACED_BY.values()) <= KNOWN_GATES.keys()
    assert len(REMOVED_GATES) > 240


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
    assert REMOVED_GATES[name].since == since


def test_a_gate_that_is_gone_changes_nothing_and_is_told() -> None:
    kept, warnings = without_removed({"PodPriority": False, "GenericWorkload": True})
    assert kept == {"GenericWorkload": True}
    assert warnings == [
        "feature gate PodPriority is gone since Kubernetes 1.18 and has no effect (pods have"
        " priorities and preempt by them without a switch); leave it out"
    ]


@pytest.mark.parametrize("on", [True, False])
def test_a_gate_under_its_old_name_sets_the_new_one(on: bool) -> None:
    kept, (warning,) = without_removed({"VolumeCapacityPriority": on})
    assert FeatureGates(kept)["StorageCapacityScoring"] is on
    assert f"StorageCapacityScoring={str(on).lower()} is set in its place" in warning


def test_a_gate_under_both_names_has_the_value_of_the_new_one() -> None:
    given = {"VolumeCapacityPriority": True, "StorageCapacityScoring": False}
    kept, warnings = without_removed(given)
    assert kept == {"StorageCapacityScoring": False}
    assert len(warnings) == 1


def test_a_slip_of_the_pen_is_left_to_be_refused() -> None:
    kept, warnings = without_removed({"PodPriorty": True})
    assert kept == {"PodPriorty": True}
    assert not warnings
