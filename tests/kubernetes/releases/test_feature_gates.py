import pickle

import pytest

from podium.kubernetes.releases.feature_gates import (
    FeatureGateError,
    FeatureGates,
)
from podium.kubernetes.releases.release import release


def test_defaults_are_those_of_1_36() -> None:
    assert FeatureGates()["NodeDeclaredFeatures"]
    assert FeatureGates()["DynamicResourceAllocation"]
    assert not FeatureGates()["GangScheduling"]
    assert not FeatureGates()["SchedulerAsyncAPICalls"]
    assert not FeatureGates()["StorageCapacityScoring"]
    assert set(FeatureGates()) == set(release().gates)


def test_an_override_leaves_the_original_alone() -> None:
    changed = FeatureGates().with_overrides({"StorageCapacityScoring": True})
    assert changed["StorageCapacityScoring"]
    assert not FeatureGates()["StorageCapacityScoring"]


def test_overrides_add_up() -> None:
    first = FeatureGates({"GenericWorkload": True})
    both = first.with_overrides({"GangScheduling": True})
    assert both["GenericWorkload"]
    assert both["GangScheduling"]


def test_an_unknown_gate_is_refused() -> None:
    with pytest.raises(FeatureGateError, match=r"^unrecognized feature gate: Foo$"):
        FeatureGates().with_overrides({"Foo": True})


def test_a_locked_gate_does_not_change_but_may_be_confirmed() -> None:
    text = "cannot set feature gate InOrderInformers to false, feature is locked to true"
    with pytest.raises(FeatureGateError, match=text):
        FeatureGates().with_overrides({"InOrderInformers": False})
    assert FeatureGates().with_overrides({"InOrderInformers": True}) == FeatureGates()


def test_a_gate_needs_the_gates_it_builds_on() -> None:
    with pytest.raises(FeatureGateError) as refused:
        FeatureGates().with_overrides({"GangScheduling": True})
    assert str(refused.value) == (
        "GangScheduling is enabled, but depends on features that are disabled: [GenericWorkload]"
    )


def test_a_gate_that_others_build_on_cannot_go_off_alone() -> None:
    with pytest.raises(FeatureGateError, match="depends on features that are disabled"):
        FeatureGates().with_overrides({"NodeDeclaredFeatures": False})
    off = FeatureGates().with_overrides(
        {
            "NodeDeclaredFeatures": False,
            "ExtendWebSocketsToKubelet": False,
            "InPlacePodLevelResourcesVerticalScaling": False,
            "InPlacePodVerticalScalingInitContainers": False,
            "RestartAllContainersOnContainerExits": False,
        }
    )
    assert not off["NodeDeclaredFeatures"]


def test_a_group_gate_sets_all_but_the_gates_named_with_it() -> None:
    gates = FeatureGates().with_overrides({"VolumeLimitScaling": False, "AllAlpha": True})
    assert gates["GangScheduling"]
    assert not gates["VolumeLimitScaling"]
    assert not gates["SchedulerAsyncAPICalls"]


def test_reading_an_unknown_gate_is_a_bug_that_shows() -> None:
    with pytest.raises(KeyError):
        FeatureGates()["Foo"]


def test_its_text_shows_what_differs_from_the_defaults() -> None:
    assert repr(FeatureGates()) == "FeatureGates({})"
    changed = FeatureGates({"VolumeLimitScaling": True})
    assert repr(changed) == "FeatureGates({'VolumeLimitScaling': True})"


def test_another_process_gets_the_same_gates() -> None:
    gates = FeatureGates().with_overrides({"VolumeLimitScaling": False, "AllAlpha": True})
    copied = pickle.loads(pickle.dumps(gates))
    assert dict(copied) == dict(gates)
    assert copied.emulated == gates.emulated
    assert copied == gates
