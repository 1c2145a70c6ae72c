"""Profiles: plugins built once, in order, with their weights."""

import pytest
from support.scheduler.framework.fake_plugins import (
    Arrival,
    Binder,
    configuration_of,
    crowd_filter,
    filter_by,
    gate,
    pre_filter,
    score_by,
)

from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.kubernetes.rules.requests import ALL_REQUESTS
from podium.scheduler.cluster.state import Cluster
from podium.scheduler.config.merge import PluginListError
from podium.scheduler.framework.points import Plugin
from podium.scheduler.framework.profile import Profile, build_profiles
from podium.scheduler.framework.queued import WaitingPods
from podium.scheduler.framework.registry import PluginRegistry
from podium.scheduler.framework.status import unschedulable


def profiles_of(*plugins: type[Plugin], known: tuple[type[Plugin], ...] = ()) -> dict[str, Profile]:
    configuration = configuration_of(
        plugins, names=("one", "two"), weights={"Heavy": 7, "Light": 0}
    )
    registry = PluginRegistry(known or plugins)
    return build_profiles(
        configuration, registry, Cluster(ALL_REQUESTS), FeatureGates(), WaitingPods()
    )


def test_each_point_lists_the_plugins_that_serve_it_in_order() -> None:
    crowd = crowd_filter("Crowd", 1, unschedulable("full"))
    profile = profiles_of(
        filter_by("F", {}), Arrival, crowd, pre_filter("P", None), Binder, gate("G", None)
    )["one"]
    assert [p.name for p in profile.filter] == ["F", "Crowd"]
    assert [p.name for p in profile.pre_filter] == ["Crowd", "P"]
    assert [p.name for p in profile.extensions] == ["Crowd"]
    assert [p.name for p in profile.pre_enqueue] == ["G"]
    assert profile.queue_sort.name == "Arrival"
    assert [p.name for p in profile.bind] == ["Binder"]
    assert profile.points()["filter"] == [("F", 0), ("Crowd", 0)]


def test_a_plugin_is_built_once_per_profile_and_knows_it() -> None:
    profiles = profiles_of(crowd_filter("Crowd", 1, unschedulable("full")), Arrival, Binder)
    one, two = profiles["one"], profiles["two"]
    listed: list[Plugin] = [one.pre_filter[0], one.filter[0], one.extensions[0]]
    assert all(plugin is one.plugins["Crowd"] for plugin in listed)
    assert one.plugins["Crowd"] is not two.plugins["Crowd"]
    assert one.plugins["Crowd"].handle.profile is one


def test_a_missing_weight_is_one() -> None:
    profile = profiles_of(score_by("Light", {}), score_by("Heavy", {}), Arrival, Binder)["one"]
    assert [(plugin.name, weight) for plugin, weight in profile.score] == [
        ("Light", 1),
        ("Heavy", 7),
    ]
    assert profile.points()["score"] == [("Light", 1), ("Heavy", 7)]


def test_a_plugin_that_is_not_registered_is_an_error() -> None:
    with pytest.raises(PluginListError, match='"Ghost" does not exist'):
        profiles_of(filter_by("Ghost", {}), Arrival, Binder, known=(Arrival, Binder))


def test_a_profile_needs_a_binder_and_one_way_to_sort() -> None:
    with pytest.raises(PluginListError, match="at least one bind plugin is needed"):
        profiles_of(Arrival)
    with pytest.raises(PluginListError, match="only one queue sort plugin required"):
        profiles_of(Binder)
