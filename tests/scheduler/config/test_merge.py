"""Merging and expansion, mostly by upstream's own worked examples (default gates)."""

from typing import Any

import pytest

from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.scheduler.config.load import load_configuration
from podium.scheduler.config.merge import (
    PluginListError,
    expand_point,
    expand_profiles,
    merge_plugins,
    merge_set,
)
from podium.scheduler.config.types import (
    Configuration,
    ExtensionPoint,
    PluginRef,
    Plugins,
    PluginSet,
)

PREFILTER = (
    "NodeAffinity NodePorts NodeResourcesFit VolumeRestrictions NodeVolumeLimits VolumeBinding "
    "VolumeZone PodTopologySpread InterPodAffinity DynamicResources NodeDeclaredFeatures"
)
FILTER = f"NodeUnschedulable NodeName TaintToleration {PREFILTER}"
SCORE = (
    "TaintToleration NodeAffinity NodeResourcesFit VolumeBinding PodTopologySpread "
    "InterPodAffinity DynamicResources NodeResourcesBalancedAllocation ImageLocality"
)
PRE_SCORE = (
    "TaintToleration NodeAffinity NodeResourcesFit VolumeBinding PodTopologySpread "
    "InterPodAffinity NodeResourcesBalancedAllocation"
)
IMPLEMENTED = {
    "preEnqueue": "SchedulingGates DynamicResources DefaultPreemption GangScheduling",
    "queueSort": "PrioritySort OtherSort",
    "preFilter": PREFILTER,
    "filter": FILTER,
    "postFilter": "DynamicResources DefaultPreemption",
    "preScore": PRE_SCORE,
    "score": SCORE,
    "reserve": "VolumeBinding DynamicResources",
    "permit": "GangScheduling",
    "preBind": "VolumeBinding DynamicResources",
    "bind": "DefaultBinder",
    "postBind": "",
    "placementGenerate": "TopologyPlacementGenerator OtherGenerator",
    "placementScore": "NodeResourcesFit PodGroupPodsCount",
}
PLUGINS_AT = {point: frozenset(names.split()) for point, names in IMPLEMENTED.items()}
EXISTING = frozenset().union(*PLUGINS_AT.values())


def implements(name: str, point: ExtensionPoint) -> bool:
    return name in PLUGINS_AT[point]


def loaded(*profiles: dict[str, Any], gates: FeatureGates | None = None) -> Configuration:
    return load_configuration(
        {
            "apiVersion": "kubescheduler.config.k8s.io/v1",
            "kind": "KubeSchedulerConfiguration",
            "profiles": list(profiles),
        },
        gates=gates or FeatureGates(),
    )


def expanded(plugins: dict[str, Any], gates: FeatureGates | None = None) -> dict[str, str]:
    """What runs at each point, as `name name` or, where weights count, `name 1, name 2`."""
    configuration = loaded({"plugins": plugins}, gates=gates)
    lists = expand_profiles(configuration, implements, EXISTING.__contains__)["default-scheduler"]
    return {
        point.value: ", ".join(f"{plugin.name} {plugin.weight}" for plugin in found)
        if point.is_weighted
        else " ".join(plugin.name for plugin in found)
        for point, found in lists.items()
        if found
    }


def refusal(plugins: dict[str, Any]) -> str:
    with pytest.raises(PluginListError) as refused:
        expanded(plugins)
    return str(refused.value)


def on(*plugins: str | tuple[str, int]) -> list[dict[str, Any]]:
    return [
        {"name": plugin} if isinstance(plugin, str) else {"name": plugin[0], "weight": plugin[1]}
        for plugin in plugins
    ]


DEFAULT = {
    "preEnqueue": "SchedulingGates DynamicResources DefaultPreemption",
    "queueSort": "PrioritySort",
    "preFilter": PREFILTER,
    "filter": FILTER,
    "postFilter": "DynamicResources DefaultPreemption",
    "preScore": PRE_SCORE,
    "score": (
        "TaintToleration 3, NodeAffinity 2, NodeResourcesFit 1, VolumeBinding 1, "
        "PodTopologySpread 2, InterPodAffinity 2, DynamicResources 2, "
        "NodeResourcesBalancedAllocation 1, ImageLocality 1"
    ),
    "reserve": "VolumeBinding DynamicResources",
    "preBind": "VolumeBinding DynamicResources",
    "bind": "DefaultBinder",
    "placementScore": "NodeResourcesFit 1",
}


def test_the_defaults_expand_to_the_known_lists() -> None:
    assert expanded({}) == DEFAULT


def test_a_default_listed_again_in_multi_point_keeps_its_place_and_takes_the_weight() -> None:
    plugins = {
        "multiPoint": {"enabled": on("TaintToleration", ("NodeAffinity", 7))},
        "score": {"enabled": on("NodeResourcesFit")},
    }
    score = (
        "NodeResourcesFit 1, TaintToleration 1, NodeAffinity 7, VolumeBinding 1, "
        "PodTopologySpread 2, InterPodAffinity 2, DynamicResources 2, "
        "NodeResourcesBalancedAllocation 1, ImageLocality 1"
    )
    assert expanded(plugins) == DEFAULT | {"score": score}


def test_without_defaults_only_the_users_multi_point_runs() -> None:
    plugins = {
        "multiPoint": {
            "disabled": on("*"),
            "enabled": on("PrioritySort", "DefaultBinder", "NodeResourcesFit"),
        }
    }
    assert expanded(plugins) == {
        "preFilter": "NodeResourcesFit",
        "filter": "NodeResourcesFit",
        "preScore": "NodeResourcesFit",
        "score": "NodeResourcesFit 1",
        "bind": "DefaultBinder",
        "queueSort": "PrioritySort",
        "placementScore": "NodeResourcesFit 1",
    }


def test_a_plugin_at_one_point_does_not_bring_its_other_points() -> None:
    plugins = {
        "multiPoint": {"disabled": on("*")},
        "queueSort": {"enabled": on("PrioritySort")},
        "bind": {"enabled": on("DefaultBinder")},
        "filter": {"enabled": on("NodeName", "NodePorts")},
    }
    assert expanded(plugins) == {
        "filter": "NodeName NodePorts",
        "bind": "DefaultBinder",
        "queueSort": "PrioritySort",
    }


def test_all_disabled_at_a_point_keeps_what_the_point_enables() -> None:
    plugins = {
        "score": {"disabled": on("*"), "enabled": on("ImageLocality", ("NodeAffinity", 5))},
    }
    assert expanded(plugins) == DEFAULT | {"score": "ImageLocality 1, NodeAffinity 5"}


def test_plugins_listed_at_a_point_move_to_its_front() -> None:
    rest = FILTER.replace("NodeName ", "").replace("InterPodAffinity ", "")
    plugins = {"filter": {"enabled": on("InterPodAffinity", "NodeName")}}
    assert expanded(plugins)["filter"] == f"InterPodAffinity NodeName {rest}"


@pytest.mark.parametrize("where", ["filter", "multiPoint"])
def test_disabled_and_enabled_at_once_moves_to_the_back(where: str) -> None:
    plugins = {where: {"disabled": on("NodeName"), "enabled": on("NodeName")}}
    assert expanded(plugins)["filter"] == f"{FILTER.replace('NodeName ', '')} NodeName"


def test_disabling_a_plugin_at_a_point_leaves_its_other_points() -> None:
    plugins = {"score": {"disabled": on("ImageLocality", "Nope"), "enabled": on("NodeAffinity")}}
    result = expanded(plugins)
    assert result["score"].startswith("NodeAffinity 1, TaintToleration 3, ")
    assert "ImageLocality" not in result["score"]
    assert result["preScore"] == PRE_SCORE


def test_gated_plugins_come_last() -> None:
    gates = FeatureGates(
        {
            "GenericWorkload": True,
            "GangScheduling": True,
            "TopologyAwareWorkloadScheduling": True,
        }
    )
    assert expanded({}, gates) == DEFAULT | {
        "preEnqueue": "SchedulingGates DynamicResources DefaultPreemption GangScheduling",
        "permit": "GangScheduling",
        "placementGenerate": "TopologyPlacementGenerator",
        "placementScore": "NodeResourcesFit 1, PodGroupPodsCount 1",
    }


IN_DEFAULT_PROFILE = (
    "initializing profiles: creating profile for scheduler name default-scheduler: "
)
OF_DEFAULT_PROFILE = 'for profile with scheduler name "default-scheduler"'


@pytest.mark.parametrize(
    ("plugins", "text"),
    [
        (
            {"filter": {"enabled": on("NodeName", "NodeName")}},
            'plugin "NodeName" already registered as "FilterPlugin"',
        ),
        (
            {"multiPoint": {"enabled": on("NodeName", "NodeName")}},
            'plugin "NodeName" already registered as "FilterPlugin"',
        ),
        (
            {"filter": {"enabled": on("ImageLocality")}},
            'plugin "ImageLocality" does not extend FilterPlugin plugin',
        ),
        ({"score": {"enabled": [{"weight": 3}]}}, 'ScorePlugin "" does not exist'),
        ({"multiPoint": {"enabled": on("Nope")}}, 'PreFilterPlugin "Nope" does not exist'),
        (
            {"bind": {"disabled": on("*")}},
            f"at least one bind plugin is needed {OF_DEFAULT_PROFILE}",
        ),
        (
            {"queueSort": {"disabled": on("*")}},
            f"only one queue sort plugin required {OF_DEFAULT_PROFILE}, but got 0",
        ),
        (
            {"placementGenerate": {"enabled": on("TopologyPlacementGenerator", "OtherGenerator")}},
            f"at most one placement generate plugin is allowed {OF_DEFAULT_PROFILE}",
        ),
    ],
)
def test_lists_that_make_no_sense_are_refused(plugins: dict[str, Any], text: str) -> None:
    assert refusal(plugins) == IN_DEFAULT_PROFILE + text


def test_a_mistake_at_an_earlier_point_is_reported_first() -> None:
    plugins = {
        "multiPoint": {"enabled": on("NopeC")},
        "queueSort": {"enabled": on("NopeB")},
        "score": {"enabled": on("NopeA")},
    }
    assert refusal(plugins) == f'{IN_DEFAULT_PROFILE}ScorePlugin "NopeA" does not exist'


@pytest.mark.parametrize(
    "plugins",
    [
        {"multiPoint": {"enabled": on(("NodeAffinity", -3))}},
        {"multiPoint": {"enabled": on(("ImageLocality", -1))}},
    ],
)
def test_a_negative_weight_passes_while_the_running_sum_does_not_fall_below_zero(
    plugins: dict[str, Any],
) -> None:
    assert "-" in expanded(plugins)["score"]


@pytest.mark.parametrize(
    "plugins",
    [
        {"multiPoint": {"enabled": on(("TaintToleration", -1))}},
        {"score": {"enabled": on(("NodeAffinity", -4))}},
    ],
)
def test_a_negative_running_sum_counts_as_an_overflow(plugins: dict[str, Any]) -> None:
    text = "score plugins: total score of Score plugins could overflow"
    assert refusal(plugins) == IN_DEFAULT_PROFILE + text


def test_profiles_must_agree_on_how_the_queue_is_sorted() -> None:
    other = {
        "schedulerName": "b",
        "plugins": {"multiPoint": {"disabled": on("PrioritySort"), "enabled": on("OtherSort")}},
    }
    configuration = loaded({"schedulerName": "a"}, other)
    with pytest.raises(PluginListError) as refused:
        expand_profiles(configuration, implements, EXISTING.__contains__)
    assert str(refused.value) == (
        'initializing profiles: different queue sort plugins for profile "b": "OtherSort", '
        'first: "PrioritySort"'
    )


def test_profiles_must_agree_on_the_arguments_of_the_queue_sort() -> None:
    first = {"schedulerName": "a", "pluginConfig": [{"name": "PrioritySort", "args": {"x": 1}}]}
    other = {"schedulerName": "b", "pluginConfig": [{"name": "PrioritySort", "args": {"x": 2}}]}
    with pytest.raises(PluginListError) as refused:
        expand_profiles(loaded(first, other), implements, EXISTING.__contains__)
    text = 'initializing profiles: different queue sort plugin args for profile "b"'
    assert str(refused.value) == text


def test_one_point_can_be_expanded_by_its_name() -> None:
    plugins = Plugins(multi_point=PluginSet((PluginRef("NodeName"), PluginRef("ImageLocality"))))
    assert expand_point(plugins, "filter", implements) == (PluginRef("NodeName"),)
    assert expand_point(plugins, "score", implements) == (PluginRef("ImageLocality", 1),)


def test_merging_keeps_disabled_names_and_drops_their_weights() -> None:
    default = PluginSet((PluginRef("A"), PluginRef("B")), (PluginRef("C"),))
    user = PluginSet(disabled=(PluginRef("Nope", 4), PluginRef("A")))
    merged = merge_set(default, user)
    assert merged == PluginSet(
        (PluginRef("B"),), (PluginRef("Nope"), PluginRef("A"), PluginRef("C"))
    )


def test_merging_keeps_a_users_repetition_for_the_expansion_to_refuse() -> None:
    default = PluginSet((PluginRef("A", 1), PluginRef("B")))
    user = PluginSet((PluginRef("A", 2), PluginRef("A", 3)))
    assert merge_set(default, user).enabled == (
        PluginRef("A", 3),
        PluginRef("B"),
        PluginRef("A", 2),
    )


def test_every_set_is_merged_on_its_own() -> None:
    default = Plugins(score=PluginSet((PluginRef("A"),)), filter=PluginSet((PluginRef("A"),)))
    user = Plugins(score=PluginSet(disabled=(PluginRef("*"),)))
    merged = merge_plugins(default, user)
    assert merged.score == PluginSet((), (PluginRef("*"),))
    assert merged.filter == PluginSet((PluginRef("A"),))
