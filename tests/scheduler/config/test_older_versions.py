"""v1beta1, v1beta2 and v1beta3: read by their own rules, written back, said in v1."""

from typing import Any

import pytest
import yaml
from support.scheduler.config.known_plugins import in_tree

from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.scheduler.config.effective import effective
from podium.scheduler.config.errors import ConfigurationError
from podium.scheduler.config.examine import Examination, examine
from podium.scheduler.config.load import load_configuration
from podium.scheduler.config.versions import to_v1

VERSIONS = ("v1beta1", "v1beta2", "v1beta3")


def document(version: str, **more: Any) -> dict[str, Any]:
    api_version = f"kubescheduler.config.k8s.io/{version}"
    return {"apiVersion": api_version, "kind": "KubeSchedulerConfiguration", **more}


def profile(**more: Any) -> dict[str, Any]:
    return {"profiles": [{"schedulerName": "s", **more}]}


def found(version: str, **more: Any) -> Examination:
    return examine(
        yaml.safe_dump(document(version, **more)).encode(), in_tree(), gates=FeatureGates()
    )


def refusal(version: str, **more: Any) -> str:
    with pytest.raises(ConfigurationError) as caught:
        load_configuration(document(version, **more), gates=FeatureGates())
    return caught.value.message


def lists(version: str, **more: Any) -> dict[str, list[Any]]:
    result = found(version, **more)
    assert result.message is None
    assert result.expanded is not None
    return result.expanded[0]


def test_v1beta1_scores_with_the_plugins_of_its_day() -> None:
    assert lists("v1beta1")["score"] == [
        ["NodeResourcesBalancedAllocation", 1],
        ["ImageLocality", 1],
        ["InterPodAffinity", 1],
        ["NodeResourcesLeastAllocated", 1],
        ["NodeAffinity", 1],
        ["NodePreferAvoidPods", 10000],
        ["PodTopologySpread", 2],
        ["TaintToleration", 1],
    ]


def test_v1beta2_scores_with_node_resources_fit() -> None:
    points = lists("v1beta2")
    assert ["NodeResourcesFit", 1] in points["score"]
    assert points["preEnqueue"] == ["SchedulingGates"]
    assert "EBSLimits" in points["filter"]


def test_v1beta3_has_its_defaults_in_multi_point_and_no_devices() -> None:
    points = lists("v1beta3")
    assert points["score"][0] == ["TaintToleration", 3]
    assert "DynamicResources" not in points["filter"]
    assert points["filter"][7:10] == ["EBSLimits", "GCEPDLimits", "NodeVolumeLimits"]


def test_the_defaults_of_v1beta3_are_those_that_articles_print() -> None:
    """`getDefaultPlugins` of 1.29 and before; PreEnqueue's plugin comes by a feature gate."""
    configuration = load_configuration(document("v1beta3"), gates=FeatureGates())
    enabled = configuration.profiles[0].plugins.multi_point.enabled
    assert [(each.name, each.weight) for each in enabled if each.name != "SchedulingGates"] == [
        ("PrioritySort", 0),
        ("NodeUnschedulable", 0),
        ("NodeName", 0),
        ("TaintToleration", 3),
        ("NodeAffinity", 2),
        ("NodePorts", 0),
        ("NodeResourcesFit", 1),
        ("VolumeRestrictions", 0),
        ("EBSLimits", 0),
        ("GCEPDLimits", 0),
        ("NodeVolumeLimits", 0),
        ("AzureDiskLimits", 0),
        ("VolumeBinding", 0),
        ("VolumeZone", 0),
        ("PodTopologySpread", 2),
        ("InterPodAffinity", 2),
        ("DefaultPreemption", 0),
        ("NodeResourcesBalancedAllocation", 1),
        ("ImageLocality", 1),
        ("DefaultBinder", 0),
    ]


@pytest.mark.parametrize("version", VERSIONS[:2])
def test_filters_and_scores_get_the_companions_they_have_gained(version: str) -> None:
    points = lists(version)
    assert {"VolumeZone", "NodeVolumeLimits", "VolumeRestrictions"} <= set(points["preFilter"])
    assert "NodeResourcesBalancedAllocation" in points["preScore"]


def test_a_companion_that_was_switched_off_stays_off() -> None:
    plugins = {"preFilter": {"disabled": [{"name": "VolumeZone"}]}}
    assert "VolumeZone" not in lists("v1beta2", **profile(plugins=plugins))["preFilter"]


def test_in_v1beta1_a_default_listed_again_is_there_twice() -> None:
    plugins = {"score": {"enabled": [{"name": "ImageLocality", "weight": 5}]}}
    message = found("v1beta1", **profile(plugins=plugins)).message
    assert message is not None
    assert message.endswith('plugin "ImageLocality" already registered as "ScorePlugin"')
    scores = lists("v1beta2", **profile(plugins=plugins))["score"]
    assert scores[1] == ["ImageLocality", 5]


def test_multi_point_is_unknown_ignored_or_honoured_by_version() -> None:
    plugins = {"multiPoint": {"disabled": [{"name": "*"}]}}
    assert refusal("v1beta1", **profile(plugins=plugins)) == (
        'strict decoding error: unknown field "profiles[0].plugins.multiPoint"'
    )
    assert lists("v1beta2", **profile(plugins=plugins)) == lists("v1beta2")
    message = found("v1beta3", **profile(plugins=plugins)).message
    assert message is not None
    assert "only one queue sort plugin required" in message


@pytest.mark.parametrize("version", VERSIONS)
def test_fields_that_came_with_v1_are_unknown(version: str) -> None:
    assert "unknown field" in refusal(version, delayCacheUntilActive=True)
    assert "unknown field" in refusal(version, **profile(percentageOfNodesToScore=5))


def test_a_wrong_type_names_the_version() -> None:
    assert refusal("v1beta2", profiles="x").endswith("of type []v1beta2.KubeSchedulerProfile")


@pytest.mark.parametrize("version", ["v1beta2", "v1beta3"])
def test_plugins_that_v1beta2_dropped_are_refused(version: str) -> None:
    plugins = {"filter": {"enabled": [{"name": "NodeLabel"}]}}
    at = "profiles[0].plugins.filter.enabled"
    message = refusal(version, **profile(plugins=plugins))
    assert message.startswith(at)
    assert (
        '"NodeLabel": was removed in version "kubescheduler.config.k8s.io/v1beta2" '
        f'(KubeSchedulerConfiguration is version "kubescheduler.config.k8s.io/{version}")'
    ) in message


def test_bind_addresses_are_taken_by_v1beta1_and_must_be_closed_in_v1beta2() -> None:
    assert found("v1beta1", healthzBindAddress="0.0.0.0:10251").loads
    assert found("v1beta2", healthzBindAddress="", metricsBindAddress="0.0.0.0:0").loads
    assert refusal("v1beta2", healthzBindAddress="0.0.0.0:10251") == (
        'healthzBindAddress: Invalid value: "0.0.0.0:10251": '
        "must be empty or with an explicit 0 port"
    )
    assert "unknown field" in refusal("v1beta3", healthzBindAddress="")


def test_in_v1beta1_own_constraints_need_no_defaulting_type() -> None:
    constraint = {"maxSkew": 1, "topologyKey": "z", "whenUnsatisfiable": "ScheduleAnyway"}
    config = [{"name": "PodTopologySpread", "args": {"defaultConstraints": [constraint]}}]
    assert found("v1beta1", **profile(pluginConfig=config)).loads
    assert not found("v1beta2", **profile(pluginConfig=config)).loads


def test_v1beta1_refuses_two_ways_of_scoring_allocation() -> None:
    plugins = {"score": {"enabled": [{"name": "NodeResourcesFit"}]}}
    assert 'was conflict with ["NodeResourcesLeastAllocated"]' in refusal(
        "v1beta1", **profile(plugins=plugins)
    )


def test_labels_that_must_be_there_and_not_there_are_refused() -> None:
    config = [{"name": "NodeLabel", "args": {"presentLabels": ["l"], "absentLabels": ["l"]}}]
    at = "profiles[0].pluginConfig[0].args"
    assert refusal("v1beta1", **profile(pluginConfig=config)) == (
        f'{at}.presentLabels[0]: Invalid value: "l": conflict with {at}.absentLabels[0]'
    )


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize(
    "plugins",
    [
        {},
        {"filter": {"disabled": [{"name": "NodeName"}]}},
        {"score": {"disabled": [{"name": "*"}], "enabled": [{"name": "ImageLocality"}]}},
    ],
)
def test_the_effective_configuration_loads_to_itself(version: str, plugins: Any) -> None:
    first = found(version, **profile(plugins=plugins))
    assert first.effective is not None
    again = examine(yaml.safe_dump(first.effective).encode(), in_tree(), gates=FeatureGates())
    assert again.effective == first.effective
    assert again.expanded == first.expanded


@pytest.mark.parametrize("version", VERSIONS)
def test_the_defaults_said_in_v1_run_the_same_plugins(version: str) -> None:
    old = found(version)
    assert old.configuration is not None
    conversion = to_v1(old.configuration)
    new = examine(
        yaml.safe_dump(effective(conversion.configuration)).encode(),
        in_tree(),
        gates=FeatureGates(),
    )
    assert new.message is None
    assert new.expanded is not None
    assert old.expanded is not None
    gone = {"EBSLimits", "GCEPDLimits", "AzureDiskLimits"}
    for point in ("filter", "postFilter", "reserve", "bind", "queueSort"):
        kept = [name for name in old.expanded[0][point] if name not in gone]
        assert new.expanded[0][point] == kept
    assert any("EBSLimits" in text for text in conversion.changed)
    assert [text for text in conversion.lost if "NodePreferAvoidPods" in text] == (
        conversion.lost if version == "v1beta1" else []
    )


def test_a_lone_allocation_score_becomes_a_strategy() -> None:
    plugins = {
        "score": {
            "disabled": [{"name": "*"}],
            "enabled": [{"name": "RequestedToCapacityRatio", "weight": 4}],
        }
    }
    shape = [{"utilization": 0, "score": 0}, {"utilization": 100, "score": 10}]
    config = [{"name": "RequestedToCapacityRatio", "args": {"shape": shape}}]
    old = found("v1beta1", **profile(plugins=plugins, pluginConfig=config))
    assert old.configuration is not None
    conversion = to_v1(old.configuration)
    assert conversion.lost == []
    new = examine(
        yaml.safe_dump(effective(conversion.configuration)).encode(),
        in_tree(),
        gates=FeatureGates(),
    )
    assert new.expanded is not None
    assert new.expanded[0]["score"] == [["NodeResourcesFit", 4]]
    assert new.expanded[0]["preScore"][-1] == "NodeResourcesFit"
