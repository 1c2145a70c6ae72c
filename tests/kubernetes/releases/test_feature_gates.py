import pickle

import pytest

from podium.kubernetes.releases.feature_gates import DEFAULT_GATES, KNOWN_GATES, FeatureGateError, FeatureGates


def test_defaults_are_those_of_1_36() -> None:
    assert DEFAULT_GATES["NodeDeclaredFeatures"]
    assert DEFAULT_GATES["DynamicResourceAllocation"]
    assert not DEFAULT_GATES["GangScheduling"]
    assert not DEFAULT_GATES["SchedulerAsyncAPICalls"]
    assert not DEFAULT_GATES["StorageCapacityScoring"]
    assert set(DEFAULT_GATES) == set(KNOWN_GATES)


def test_an_override_leaves_the_original_alone() -> None:
    changed = DEFAULT_GATES.with_overrides({"StorageCapacityScoring": True})
    assert changed["StorageCapacityScoring"]
    assert not DEFAULT_GATES["StorageCapacityScoring"]


def test_overrides_add_up() -> None:
    first = FeatureGates({"GenericWorkload": True})
    both = first.with_overrides({"GangScheduling": True})
    assert both["GenericWorkload"]
    assert both["GangScheduling"]


def test_an_unknown_gate_is_refused() -> None:
    with pytest.raises(FeatureGateError, match=r"^unrecognized feature gate: Foo$"):
        DEFAULT_GATES.with_overrides({"Foo": True})


def test_a_locked_gate_does_not_change_but_may_be_confirmed() -> None:
    text = "cannot set feature gate InOrderInformers to false, feature is locked to true"
    with pytest.raises(FeatureGateError, match=text):
        DEFAULT_GATES.with_overrides({"InOrderInformers": False})
    assert DEFAULT_GATES.with_overrides({"InOrderInformers": True}) == DEFAULT_GATES


def test_a_gate_needs_the_gates_it_builds_on() -> None:
    with pytest.raises(FeatureGateError) as refused:
        DEFAULT_GATES.with_overrides({"GangScheduling": True})
    assert str(refused.value) == (
        "GangScheduling is enabled, but depends on features that are disabled: [GenericWorkload]"
    )


def test_a_gate_that_others_build_on_cannot_go_off_alone() -> None:
    with pytest.raises(FeatureGateError, match="depends on features that are disabled"):
        DEFAULT_GATES.with_overrides({"NodeDeclaredFeatures": False})
    off = DEFAULT_GATES.with_overrides(
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
    gates = DEFAULT_GATES.with_overrides({"VolumeLimitScaling": False, "AllAlpha": True})
    assert gates["GangScheduling"]
    assert not gates["VolumeLimitScaling"]
    assert not gates["SchedulerAsyncAPICalls"]


def test_reading_an_unknown_gate_is_a_bug_that_shows() -> None:
    with pytest.raises(KeyError):
        DEFAULT_GATES["Foo"]


def test_its_text_shows_what_differs_from_the_defaults() -> None:
    assert repr(DEFAULT_GATES) == "FeatureGates({})"
    changed = FeatureGates({"VolumeLimitScaling": True})
    assert repr(changed) == "FeatureGates({'VolumeLimitScaling': True})"


def test_another_process_gets_the_same_gates() -> None:
    gates = DEFAULT_GATES.with_overrides({"VolumeLimitScaling": False, "AllAlpha": True})
    copied = pickle.loads(pickle.dumps(gates))
    assert dict(copied) == dict(gates)
    assert copied.emulated == gates.emulated
    assert copied == gates
