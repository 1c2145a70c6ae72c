"""Other weights for a profile, in force and as a file."""

from typing import Any

import pytest

from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.scheduler.config.load import load_configuration
from podium.scheduler.config.merge import expand_profiles, score_weights_file, with_score_weights
from podium.scheduler.config.types import API_VERSION, KIND, Configuration, ExtensionPoint
from podium.scheduler.plugins import in_tree_registry

PROFILE = "default-scheduler"


def loaded(**plugins: Any) -> Configuration:
    profiles = [{"schedulerName": PROFILE, "plugins": plugins}, {"schedulerName": "other"}]
    return load_configuration(
        {"apiVersion": API_VERSION, "kind": KIND, "profiles": profiles}, gates=FeatureGates()
    )


def weights_of(configuration: Configuration, profile: str = PROFILE) -> dict[str, int]:
    registry = in_tree_registry()
    lists = expand_profiles(configuration, registry.implements, registry.__contains__)
    return {ref.name: ref.weight for ref in lists[profile][ExtensionPoint.SCORE]}


def test_a_weight_changes_in_its_profile_and_order_and_the_rest_stay() -> None:
    before = loaded()
    changed = with_score_weights(before, PROFILE, {"NodeAffinity": 9})
    assert weights_of(changed) == {**weights_of(before), "NodeAffinity": 9}
    assert list(weights_of(changed)) == list(weights_of(before))
    assert weights_of(changed, "other") == weights_of(before, "other")


def test_weight_nought_switches_a_plugin_off_at_score_and_nowhere_else() -> None:
    changed = with_score_weights(loaded(), PROFILE, {"TaintToleration": 0})
    assert "TaintToleration" not in weights_of(changed)
    registry = in_tree_registry()
    lists = expand_profiles(changed, registry.implements, registry.__contains__)
    assert "TaintToleration" in [ref.name for ref in lists[PROFILE][ExtensionPoint.FILTER]]


def test_a_weight_in_the_list_of_score_is_changed_there() -> None:
    before = loaded(score={"enabled": [{"name": "NodeAffinity", "weight": 3}]})
    changed = with_score_weights(before, PROFILE, {"NodeAffinity": 7})
    assert weights_of(changed)["NodeAffinity"] == 7
    assert changed.profiles[0].plugins.multi_point == before.profiles[0].plugins.multi_point
    gone = with_score_weights(before, PROFILE, {"NodeAffinity": 0})
    assert "NodeAffinity" not in weights_of(gone)


def test_where_all_others_are_off_at_score_nothing_more_is_disabled() -> None:
    listed = [{"name": "NodeAffinity"}, {"name": "ImageLocality"}]
    before = loaded(score={"enabled": listed, "disabled": [{"name": "*"}]})
    changed = with_score_weights(before, PROFILE, {"NodeAffinity": 0, "ImageLocality": 4})
    assert weights_of(changed) == {"ImageLocality": 4}


@pytest.mark.parametrize(
    "weights", [{"NodeAffinity": 9, "ImageLocality": 0}, {"PodTopologySpread": 1}, {}]
)
def test_the_file_that_is_shown_loads_as_the_configuration_in_force(
    weights: dict[str, int],
) -> None:
    empty = load_configuration({"apiVersion": API_VERSION, "kind": KIND}, gates=FeatureGates())
    in_force = with_score_weights(empty, PROFILE, weights)
    file = score_weights_file(empty.profiles[0].plugins, PROFILE, weights)
    assert load_configuration(file, gates=FeatureGates()) == in_force
