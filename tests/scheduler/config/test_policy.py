"""Policy files: predicates and priorities become plugins."""

import json
from typing import Any

import pytest
from support.scheduler.config.known_plugins import in_tree

from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.scheduler.config.errors import ConfigurationError
from podium.scheduler.config.examine import examine
from podium.scheduler.config.load import load_configuration, load_written
from podium.scheduler.config.plugin_args import (
    InterPodAffinityArgs,
    PodTopologySpreadArgs,
    ResourceSpec,
)
from podium.scheduler.config.policy_names import DEFAULT_PRIORITIES, PREDICATES, PRIORITIES
from podium.scheduler.config.typed_args import NodeLabelArgs, ServiceAffinityArgs
from podium.scheduler.config.types import Configuration
from podium.scheduler.config.written import read_written

WRAPPER = "couldn't create scheduler from policy: "


def text(**fields: Any) -> bytes:
    return json.dumps({"kind": "Policy", "apiVersion": "v1", **fields}).encode()


def load(**fields: Any) -> Configuration:
    return load_written(read_written(text(**fields)), gates=FeatureGates())


def lists(**fields: Any) -> dict[str, list[Any]]:
    found = examine(text(**fields), in_tree(), gates=FeatureGates())
    assert found.message is None
    assert found.expanded is not None
    return found.expanded[0]


def refusal(**fields: Any) -> str:
    with pytest.raises(ConfigurationError) as caught:
        load(**fields)
    return caught.value.message


def args(configuration: Configuration, plugin: str) -> Any:
    return configuration.profiles[0].plugin_args[plugin]


def named(*names: str) -> list[dict[str, Any]]:
    return [{"name": name} for name in names]


def weighted(*names: str, weight: int = 2) -> list[dict[str, Any]]:
    return [{"name": name, "weight": weight} for name in names]


def test_general_predicates_and_nothing_else() -> None:
    points = lists(predicates=named("GeneralPredicates"), priorities=[])
    assert points["preFilter"] == ["NodeResourcesFit", "NodePorts", "NodeAffinity"]
    assert points["filter"] == [
        "NodeUnschedulable",
        "NodeResourcesFit",
        "NodeName",
        "NodePorts",
        "NodeAffinity",
        "TaintToleration",
    ]
    assert "score" not in points


def test_every_predicate_and_priority_at_once() -> None:
    plain = [n for n in PREDICATES if n not in ("GeneralPredicates", "EvenPodsSpread")]
    custom = ("CheckNodeLabelPresence", "CheckServiceAffinity")
    predicates = [
        *named(*(name for name in plain if name not in custom)),
        {"name": "a", "argument": {"labelsPresence": {"labels": ["l"], "presence": True}}},
        {"name": "b", "argument": {"serviceAffinity": {"labels": ["s"]}}},
    ]
    shape = [{"utilization": 0, "score": 0}, {"utilization": 100, "score": 10}]
    ratio = {"requestedToCapacityRatioArguments": {"shape": shape}}
    left = (
        "EvenPodsSpreadPriority", "NodeLabel", "RequestedToCapacityRatio", "ServiceAffinity",
        "ResourceLimitsPriority",
    )  # fmt: skip
    priorities = weighted(*(name for name in PRIORITIES if name not in left))
    priorities.append({"name": "RequestedToCapacityRatioPriority", "weight": 2, "argument": ratio})
    points = lists(predicates=predicates, priorities=priorities)
    assert points["filter"] == [
        "NodeUnschedulable",
        "NodeName",
        "NodePorts",
        "NodeAffinity",
        "NodeResourcesFit",
        "VolumeRestrictions",
        "TaintToleration",
        "NodeLabel",
        "ServiceAffinity",
        "EBSLimits",
        "GCEPDLimits",
        "NodeVolumeLimits",
        "AzureDiskLimits",
        "CinderLimits",
        "VolumeBinding",
        "VolumeZone",
        "InterPodAffinity",
    ]
    assert points["score"] == [
        [name, 2]
        for name in (
            "NodeResourcesBalancedAllocation",
            "ImageLocality",
            "InterPodAffinity",
            "NodeResourcesLeastAllocated",
            "NodeResourcesMostAllocated",
            "NodeAffinity",
            "NodePreferAvoidPods",
            "RequestedToCapacityRatio",
            "PodTopologySpread",
            "TaintToleration",
        )
    ]
    assert points["preScore"][:4] == [
        "InterPodAffinity",
        "NodeAffinity",
        "PodTopologySpread",
        "TaintToleration",
    ]


def test_absent_lists_stand_for_the_defaults() -> None:
    points = lists()
    assert len(points["score"]) == len(DEFAULT_PRIORITIES) - 1
    assert ["PodTopologySpread", 2] in points["score"]
    assert "PodTopologySpread" in points["filter"]
    assert lists(predicates=None, priorities=None) == points


def test_empty_lists_leave_the_mandatory_predicates() -> None:
    points = lists(predicates=[], priorities=[])
    assert points["filter"] == ["NodeUnschedulable", "TaintToleration"]
    assert points["bind"] == ["DefaultBinder"]
    assert points["queueSort"] == ["PrioritySort"]


def test_aliases_mean_what_they_stand_for() -> None:
    priorities = weighted("ServiceSpreadingPriority", "EqualPriority")
    points = lists(predicates=named("PodFitsPorts"), priorities=priorities)
    assert "NodePorts" in points["filter"]
    assert points["score"] == [["PodTopologySpread", 2]]


def test_names_that_the_taints_of_conditions_replaced_are_noted() -> None:
    configuration = load(predicates=named("CheckNodeMemoryPressure"), priorities=[])
    assert configuration.notes == (
        "predicates: CheckNodeMemoryPressure is covered by the taints of node conditions",
    )


def test_spreading_by_constraints_alone_has_no_defaults() -> None:
    def defaulting(*names: str) -> str:
        found = args(load(priorities=weighted(*names)), "PodTopologySpread")
        assert isinstance(found, PodTopologySpreadArgs)
        return found.defaulting_type

    assert defaulting("EvenPodsSpreadPriority") == "List"
    assert defaulting("SelectorSpreadPriority") == "System"
    assert defaulting("EvenPodsSpreadPriority", "SelectorSpreadPriority") == "System"


def test_custom_priorities_weigh_once_per_label() -> None:
    def preference(label: str, presence: bool) -> dict[str, Any]:
        argument = {"labelPreference": {"label": label, "presence": presence}}
        return {"name": label, "weight": 3, "argument": argument}

    anti = {"name": "z", "weight": 5, "argument": {"serviceAntiAffinity": {"label": "zone"}}}
    configuration = load(priorities=[preference("x", True), preference("y", False), anti])
    assert [(p.name, p.weight) for p in configuration.profiles[0].plugins.score.enabled] == [
        ("NodeLabel", 6),
        ("ServiceAffinity", 5),
    ]
    assert args(configuration, "NodeLabel") == NodeLabelArgs(
        present_labels_preference=("x",), absent_labels_preference=("y",)
    )
    assert args(configuration, "ServiceAffinity") == ServiceAffinityArgs(
        anti_affinity_labels_preference=("zone",)
    )


def test_a_ratio_without_resources_is_about_cpu_and_memory() -> None:
    ratio = {"shape": [{"utilization": 0, "score": 10}], "resources": [{"name": "a", "weight": 0}]}
    argument = {"requestedToCapacityRatioArguments": ratio}
    priority = {"name": "RequestedToCapacityRatio", "weight": 1, "argument": argument}
    found = args(load(priorities=[priority]), "RequestedToCapacityRatio")
    assert found.resources == (ResourceSpec("a", 1),)
    del ratio["resources"]
    found = args(load(priorities=[priority]), "RequestedToCapacityRatio")
    assert [resource.name for resource in found.resources] == ["cpu", "memory"]


def test_the_symmetric_weight_counts_only_with_its_priority() -> None:
    with_it = load(
        hardPodAffinitySymmetricWeight=7, priorities=weighted("InterPodAffinityPriority")
    )
    assert args(with_it, "InterPodAffinity") == InterPodAffinityArgs(hard_pod_affinity_weight=7)
    without = load(hardPodAffinitySymmetricWeight=7, priorities=[])
    assert args(without, "InterPodAffinity") == InterPodAffinityArgs()


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"predicates": [{"name": "X"}]}, WRAPPER + 'predicate type not found for "X"'),
        ({"priorities": weighted("X")}, WRAPPER + 'priority type not found for "X"'),
        (
            {"priorities": weighted("ImageLocalityPriority", weight=0)},
            WRAPPER
            + "priority ImageLocalityPriority should have a positive weight applied to it or it "
            "has overflown",
        ),
        (
            {"hardPodAffinitySymmetricWeight": 101},
            WRAPPER
            + "hardPodAffinitySymmetricWeight: Invalid value: 101: not in valid range [0-100]",
        ),
        (
            {"priorities": [{"name": "p", "weight": 1, "argument": {}}]},
            WRAPPER + "no priority arguments set for priority p",
        ),
        (
            {"predicates": [{"name": "p", "argument": {}}]},
            WRAPPER + "exactly 1 predicate argument is required, numArgs: 0, predicate {p}",
        ),
        (
            {"Predicates": []},
            'invalid policy: strict decoding error: unknown field "Predicates"',
        ),
        (
            {"predicates": "x"},
            "invalid policy: json: cannot unmarshal string into Go struct field "
            "Policy.predicates of type []v1.PredicatePolicy",
        ),
    ],
)
def test_mistakes_are_told_as_upstream_did(fields: dict[str, Any], message: str) -> None:
    assert refusal(**fields) == message


def test_custom_priorities_of_a_kind_must_agree() -> None:
    def preference(name: str, weight: int) -> dict[str, Any]:
        argument = {"labelPreference": {"label": name, "presence": True}}
        return {"name": name, "weight": weight, "argument": argument}

    assert refusal(priorities=[preference("A", 1), preference("B", 2)]) == (
        WRAPPER + 'LabelPreference  priority "B" has a different weight with "A"'
    )


def test_extenders_have_their_old_spelling() -> None:
    extender = {
        "urlPrefix": "http://e",
        "apiVersion": "v1beta1",
        "FilterVerb": "filter",
        "enableHttps": True,
        "httpTimeout": 5_000_000_000,
        "tlsConfig": {"Insecure": True},
    }
    (found,) = load(extenders=[extender]).extenders
    assert found.filter_verb == "filter"
    assert found.enable_https
    assert str(found.http_timeout) == "5s"
    assert found.tls_config is not None
    assert found.tls_config.insecure
    extender["httpTimeout"] = None
    assert str(load(extenders=[extender]).extenders[0].http_timeout) == "0s"
    extender["httpTimeout"] = "5s"
    assert "of type time.Duration" in refusal(extenders=[extender])


def test_the_effective_configuration_of_a_policy_loads_to_itself() -> None:
    first = examine(text(), in_tree(), gates=FeatureGates())
    assert first.effective is not None
    assert first.effective["apiVersion"] == "kubescheduler.config.k8s.io/v1beta1"
    again = examine(json.dumps(first.effective).encode(), in_tree(), gates=FeatureGates())
    assert again.effective == first.effective
    assert again.expanded == first.expanded


def test_checking_all_predicates_is_a_matter_of_the_profile_and_noted() -> None:
    (profile,) = load(alwaysCheckAllPredicates=True).profiles
    assert profile.always_check_all_predicates
    assert load(alwaysCheckAllPredicates=True).notes != ()
    assert not load(alwaysCheckAllPredicates=False).profiles[0].always_check_all_predicates
    assert load().notes == ()


def test_the_priority_for_limits_is_known_although_1_22_had_dropped_it() -> None:
    assert lists(priorities=weighted("ResourceLimitsPriority"))["score"] == [
        ["NodeResourceLimits", 2]
    ]


def test_a_registered_name_does_not_look_at_its_argument() -> None:
    argument = {"labelsPresence": {"labels": ["a"]}}
    points = lists(predicates=[{"name": "HostName", "argument": argument}], priorities=[])
    assert points["filter"] == ["NodeUnschedulable", "NodeName", "TaintToleration"]
    preference = {"labelPreference": {"label": "a"}}
    priority = {"name": "ImageLocalityPriority", "weight": 1, "argument": preference}
    assert lists(priorities=[priority])["score"] == [["ImageLocality", 1]]


def test_the_names_of_custom_plugins_keep_their_arguments() -> None:
    argument = {"labelsPresence": {"labels": ["a"], "presence": True}}
    found = load(predicates=[{"name": "CheckNodeLabelPresence", "argument": argument}])
    assert args(found, "NodeLabel") == NodeLabelArgs(present_labels=("a",))


def test_validation_comes_before_predicates_and_is_told_together() -> None:
    assert refusal(
        predicates=[{"name": "X"}],
        priorities=weighted("ImageLocalityPriority", weight=0),
        extenders=[{"urlPrefix": "x", "prioritizeVerb": "p"}],
        hardPodAffinitySymmetricWeight=-1,
    ) == (
        WRAPPER + "[priority ImageLocalityPriority should have a positive weight applied to it or "
        "it has overflown, extenders[0].weight: Invalid value: 0: must have a positive weight "
        "applied to it, hardPodAffinitySymmetricWeight: Invalid value: -1: not in valid range "
        "[0-100]]"
    )


def test_arguments_that_a_plugin_refuses_are_told_without_a_place() -> None:
    shape = [{"utilization": 50, "score": 11}, {"utilization": 10, "score": 1}]
    argument = {"requestedToCapacityRatioArguments": {"shape": shape}}
    assert refusal(priorities=[{"name": "r", "weight": 1, "argument": argument}]) == (
        WRAPPER + "initializing profiles: creating profile for scheduler name default-scheduler: "
        'initializing plugin "RequestedToCapacityRatio": [shape[1].utilization: Invalid value: 10: '
        "utilization values must be sorted in increasing order, "
        "shape[0].score: Invalid value: 11: not in valid range [0, 10]]"
    )


def test_a_resource_of_an_extender_s_needs_the_predicate_that_leaves_it_out() -> None:
    extender = {
        "urlPrefix": "x",
        "managedResources": [{"name": "example.com/a", "ignoredByScheduler": True}],
    }
    assert refusal(predicates=[], priorities=[], extenders=[extender]) == (
        WRAPPER + "can't find NodeResourcesFitArgs in plugin config"
    )
    found = load(predicates=named("PodFitsResources"), priorities=[], extenders=[extender])
    assert args(found, "NodeResourcesFit").ignored_resources == ("example.com/a",)


def test_both_api_versions_are_taken() -> None:
    assert load_configuration(
        {"kind": "Policy", "apiVersion": "kubescheduler.config.k8s.io/v1"}, gates=FeatureGates()
    ) == load_configuration({"kind": "Policy", "apiVersion": "v1"}, gates=FeatureGates())
