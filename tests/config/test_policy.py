"""Policy files: predicates and priorities become plugins."""

import json
from typing import Any

import pytest
from known_plugins import in_tree

from podium.config import Configuration, ConfigurationError, load_configuration
from podium.config.examine import examine
from podium.config.legacy_args import NodeLabelArgs, ServiceAffinityArgs
from podium.config.load import load_written
from podium.config.plugin_args import InterPodAffinityArgs, PodTopologySpreadArgs, ResourceSpec
from podium.config.policy_names import DEFAULT_PRIORITIES, PREDICATES, PRIORITIES
from podium.config.written import read_written

WRAPPER = "couldn't create scheduler from policy: "


def text(**fields: Any) -> bytes:
    return json.dumps({"kind": "Policy", "apiVersion": "v1", **fields}).encode()


def load(**fields: Any) -> Configuration:
    return load_written(read_written(text(**fields)))


def lists(**fields: Any) -> dict[str, list[Any]]:
    found = examine(text(**fields), in_tree())
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
    left = ("EvenPodsSpreadPriority", "NodeLabel", "RequestedToCapacityRatio", "ServiceAffinity")
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
    extender["httpTimeout"] = "5s"
    assert "of type time.Duration" in refusal(extenders=[extender])


def test_the_effective_configuration_of_a_policy_loads_to_itself() -> None:
    first = examine(text(), in_tree())
    assert first.effective is not None
    assert first.effective["apiVersion"] == "kubescheduler.config.k8s.io/v1beta1"
    again = examine(json.dumps(first.effective).encode(), in_tree())
    assert again.effective == first.effective
    assert again.expanded == first.expanded


def test_all_predicates_cannot_be_checked_and_that_is_noted() -> None:
    assert load(alwaysCheckAllPredicates=True).notes != ()


def test_both_api_versions_are_taken() -> None:
    assert load_configuration(
        {"kind": "Policy", "apiVersion": "kubescheduler.config.k8s.io/v1"}
    ) == load_configuration({"kind": "Policy", "apiVersion": "v1"})
