from typing import Any

import pytest

from podium.golang.durations import Duration
from podium.kubernetes.kinds.pod import NodeAffinity, NodeSelector, NodeSelectorTerm
from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.scheduler.config.errors import ConfigurationError
from podium.scheduler.config.load import load_configuration
from podium.scheduler.config.plugin_args import (
    DEFAULT_RESOURCES,
    SYSTEM_SPREAD_CONSTRAINTS,
    DefaultPreemptionArgs,
    DynamicResourcesArgs,
    InterPodAffinityArgs,
    NodeAffinityArgs,
    NodeResourcesBalancedAllocationArgs,
    NodeResourcesFitArgs,
    PluginArgs,
    PodTopologySpreadArgs,
    RawArgs,
    ResourceSpec,
    ScoringStrategy,
    UtilizationShapePoint,
    VolumeBindingArgs,
)


def loaded(plugin: str, args: Any, gates: FeatureGates | None = None) -> PluginArgs | RawArgs:
    configuration = load_configuration(
        {
            "apiVersion": "kubescheduler.config.k8s.io/v1",
            "kind": "KubeSchedulerConfiguration",
            "profiles": [{"pluginConfig": [{"name": plugin, "args": args}]}],
        },
        gates=gates or FeatureGates(),
    )
    return configuration.profiles[0].plugin_args[plugin]


def refusal(plugin: str, args: Any, gates: FeatureGates | None = None) -> str:
    """What is said about the arguments, without the way to them."""
    with pytest.raises(ConfigurationError) as refused:
        loaded(plugin, args, gates)
    return (
        refused.value.message.replace("profiles[0].pluginConfig[0].args.", "")
        .replace("decoding .profiles[0].pluginConfig[0]: ", "")
        .replace(
            "initializing profiles: creating profile for scheduler name default-scheduler: "
            f'initializing plugin "{plugin}": ',
            "",
        )
    )


@pytest.mark.parametrize("args", [None, {}, {"kind": "NodeResourcesFitArgs"}])
def test_arguments_that_say_nothing_are_the_defaults(args: Any) -> None:
    assert loaded("NodeResourcesFit", args) == NodeResourcesFitArgs(
        scoring_strategy=ScoringStrategy(type="LeastAllocated", resources=DEFAULT_RESOURCES)
    )


def test_defaults_of_the_other_plugins() -> None:
    assert loaded("DefaultPreemption", {}) == DefaultPreemptionArgs(
        min_candidate_nodes_percentage=10, min_candidate_nodes_absolute=100
    )
    assert loaded("InterPodAffinity", {}) == InterPodAffinityArgs(
        hard_pod_affinity_weight=1, ignore_preferred_terms_of_existing_pods=False
    )
    assert loaded("NodeAffinity", {}) == NodeAffinityArgs(added_affinity=None)
    assert loaded("NodeResourcesBalancedAllocation", {}) == NodeResourcesBalancedAllocationArgs(
        resources=(ResourceSpec("cpu", 1), ResourceSpec("memory", 1))
    )
    assert loaded("PodTopologySpread", {"defaultingType": ""}) == PodTopologySpreadArgs(
        defaulting_type="System"
    )
    assert loaded("VolumeBinding", {}) == VolumeBindingArgs(bind_timeout_seconds=600, shape=None)
    assert loaded("DynamicResources", {}) == DynamicResourcesArgs(
        filter_timeout=Duration.parse("10s"), binding_timeout=Duration.parse("10m")
    )


def test_defaults_that_depend_on_gates() -> None:
    scoring = FeatureGates({"StorageCapacityScoring": True})
    assert loaded("VolumeBinding", {}, scoring) == VolumeBindingArgs(
        shape=(UtilizationShapePoint(0, 10), UtilizationShapePoint(100, 0))
    )
    without_timeouts = FeatureGates(
        {"DRASchedulerFilterTimeout": False, "DRADeviceBindingConditions": False}
    )
    assert loaded("DynamicResources", {}, without_timeouts) == DynamicResourcesArgs()


def test_a_weight_of_zero_becomes_one_and_an_empty_list_the_default() -> None:
    strategy = {"type": "MostAllocated", "resources": [{"name": "cpu", "weight": 0}]}
    fit = loaded("NodeResourcesFit", {"scoringStrategy": strategy})
    assert isinstance(fit, NodeResourcesFitArgs)
    assert fit.scoring_strategy.resources == (ResourceSpec("cpu", 1),)
    balanced = loaded("NodeResourcesBalancedAllocation", {"resources": []})
    assert balanced == NodeResourcesBalancedAllocationArgs(resources=DEFAULT_RESOURCES)


def test_constraints_for_plain_pods_follow_the_defaulting_type() -> None:
    assert PodTopologySpreadArgs().constraints_for_plain_pods == SYSTEM_SPREAD_CONSTRAINTS
    listed = loaded("PodTopologySpread", {"defaultingType": "List", "defaultConstraints": []})
    assert isinstance(listed, PodTopologySpreadArgs)
    assert listed.constraints_for_plain_pods == ()


def test_an_added_affinity_is_read_as_an_api_object() -> None:
    required = {"nodeSelectorTerms": [None]}
    affinity = {"requiredDuringSchedulingIgnoredDuringExecution": required}
    assert loaded("NodeAffinity", {"addedAffinity": affinity}) == NodeAffinityArgs(
        added_affinity=NodeAffinity(
            required_during_scheduling_ignored_during_execution=NodeSelector(
                node_selector_terms=(NodeSelectorTerm(),)
            )
        )
    )


def test_arguments_of_an_unknown_plugin_stay_as_written() -> None:
    assert loaded("Coscheduling", {"permitWaitingTimeSeconds": [1]}) == RawArgs(
        {"permitWaitingTimeSeconds": [1]}
    )


def test_arguments_of_another_plugin_are_refused() -> None:
    assert refusal("NodeAffinity", {"kind": "InterPodAffinityArgs"}) == (
        "args for plugin NodeAffinity were not of type "
        "NodeAffinityArgs.kubescheduler.config.k8s.io, got "
        "InterPodAffinityArgs.kubescheduler.config.k8s.io"
    )
    old = {"apiVersion": "kubescheduler.config.k8s.io/v1beta3"}
    assert refusal("NodeAffinity", old).startswith(
        'decoding args for plugin NodeAffinity: no kind "NodeAffinityArgs" is registered for '
        'version "kubescheduler.config.k8s.io/v1beta3" in scheme '
    )
    assert refusal("NodeAffinity", [1]).startswith(
        "decoding args for plugin NodeAffinity: couldn't get version/kind; json parse error: "
        "json: cannot unmarshal array into Go value of type struct"
    )
    assert refusal("InterPodAffinity", {"hardPodAffinityWeight": "5"}) == (
        "decoding args for plugin InterPodAffinity: json: cannot unmarshal string into Go struct "
        "field InterPodAffinityArgs.hardPodAffinityWeight of type int32"
    )


NAME_RULE = (
    "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end "
    "with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for "
    "validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
)
IN_RANGE = "not in valid range"


@pytest.mark.parametrize(
    ("plugin", "args", "text"),
    [
        (
            "DefaultPreemption",
            {"minCandidateNodesPercentage": 101, "minCandidateNodesAbsolute": -1},
            f"[minCandidateNodesPercentage: Invalid value: 101: {IN_RANGE} [0, 100], "
            f"minCandidateNodesAbsolute: Invalid value: -1: {IN_RANGE} [0, inf)]",
        ),
        (
            "DefaultPreemption",
            {"minCandidateNodesPercentage": 0, "minCandidateNodesAbsolute": 0},
            "[minCandidateNodesPercentage: Invalid value: 0: cannot be zero at the same time as "
            "minCandidateNodesAbsolute, minCandidateNodesAbsolute: Invalid value: 0: cannot be "
            "zero at the same time as minCandidateNodesPercentage]",
        ),
        (
            "InterPodAffinity",
            {"hardPodAffinityWeight": 101},
            f"hardPodAffinityWeight: Invalid value: 101: {IN_RANGE} [0, 100]",
        ),
        (
            "NodeResourcesBalancedAllocation",
            {"resources": [{"name": "cpu", "weight": 2}, {"name": "cpu"}]},
            "[resources[0].weight: Invalid value: 2: must be 1, "
            'resources[1].name: Duplicate value: "cpu"]',
        ),
        (
            "NodeResourcesFit",
            {
                "ignoredResources": ["a b"],
                "ignoredResourceGroups": ["a/b"],
                "scoringStrategy": {"resources": [{"name": "cpu", "weight": 101}]},
            },
            f'[ignoredResources[0]: Invalid value: "a b": {NAME_RULE}, '
            'ignoredResourceGroups[0]: Invalid value: "a/b": resource group name can\'t contain '
            "'/', scoringStrategy.type: Unsupported value: \"\": supported values: "
            '"LeastAllocated", "MostAllocated", "RequestedToCapacityRatio", '
            "scoringStrategy.resources[0].weight: Invalid value: 101: resource weight of cpu "
            f"{IN_RANGE} (0, 100]]",
        ),
        (
            "NodeResourcesFit",
            {"scoringStrategy": {"type": "RequestedToCapacityRatio"}},
            "scoringStrategy.requestedToCapacityRatio: Required value: must be specified when "
            "type is RequestedToCapacityRatio",
        ),
        (
            "NodeResourcesFit",
            {
                "scoringStrategy": {
                    "type": "LeastAllocated",
                    "requestedToCapacityRatio": {"shape": []},
                }
            },
            "scoringStrategy.requestedToCapacityRatio: Forbidden: must be nil when type is not "
            "RequestedToCapacityRatio",
        ),
        (
            "NodeResourcesFit",
            {
                "scoringStrategy": {
                    "type": "RequestedToCapacityRatio",
                    "requestedToCapacityRatio": {
                        "shape": [
                            {"utilization": 50, "score": 0},
                            {"utilization": 50, "score": 11},
                            {"utilization": 101, "score": 0},
                        ]
                    },
                }
            },
            "[scoringStrategy.requestedToCapacityRatio.shape[1].utilization: Invalid value: 50: "
            "values must be sorted in increasing order, "
            "scoringStrategy.requestedToCapacityRatio.shape[1].score: Invalid value: 11: "
            f"{IN_RANGE} [0, 10], "
            "scoringStrategy.requestedToCapacityRatio.shape[2].utilization: Invalid value: 101: "
            f"{IN_RANGE} [0, 100]]",
        ),
        (
            "PodTopologySpread",
            {
                "defaultConstraints": [
                    {"maxSkew": 0, "topologyKey": "", "whenUnsatisfiable": "Never"},
                    {
                        "maxSkew": 1,
                        "topologyKey": "z",
                        "whenUnsatisfiable": "ScheduleAnyway",
                        "labelSelector": {},
                    },
                    {"maxSkew": 1, "topologyKey": "z", "whenUnsatisfiable": "ScheduleAnyway"},
                ]
            },
            '[defaultingType: Invalid value: "System": when .defaultConstraints are not empty, '
            f"defaultConstraints[0].maxSkew: Invalid value: 0: {IN_RANGE} (0, inf), "
            "defaultConstraints[0].topologyKey: Required value: can not be empty, "
            'defaultConstraints[0].whenUnsatisfiable: Unsupported value: "Never": supported '
            'values: "DoNotSchedule", "ScheduleAnyway", '
            "defaultConstraints[1].labelSelector: Forbidden: constraint must not define a "
            "selector, as they deduced for each pod, "
            'defaultConstraints[2]: Duplicate value: "{z, ScheduleAnyway}"]',
        ),
        (
            "PodTopologySpread",
            {"defaultingType": "Odd"},
            'defaultingType: Unsupported value: "Odd": supported values: "System", "List"',
        ),
        (
            "VolumeBinding",
            {"bindTimeoutSeconds": -1, "shape": [{"utilization": 0, "score": 1}]},
            "[bindTimeoutSeconds: Invalid value: -1: invalid BindTimeoutSeconds, should not be a "
            'negative value, shape: Invalid value: [{"Utilization":0,"Score":1}]: unexpected '
            "field `shape`, remove it or turn on the feature gate StorageCapacityScoring]",
        ),
        (
            "VolumeBinding",
            {"shape": []},
            "shape: Invalid value: []: unexpected field `shape`, remove it or turn on the feature "
            "gate StorageCapacityScoring",
        ),
        (
            "DynamicResources",
            {"filterTimeout": "-1s", "bindingTimeout": "500ms"},
            '[filterTimeout: Invalid value: "-1s": must be zero or positive, '
            'bindingTimeout: Invalid value: "500ms": must be at least 1 second]',
        ),
    ],
)
def test_values_out_of_bounds_are_refused(plugin: str, args: Any, text: str) -> None:
    assert refusal(plugin, args) == text


def test_timeouts_are_forbidden_while_their_gates_are_off() -> None:
    gates = FeatureGates({"DRASchedulerFilterTimeout": False, "DRADeviceBindingConditions": False})
    args = {"filterTimeout": "1s", "bindingTimeout": "1s"}
    assert refusal("DynamicResources", args, gates) == (
        "[filterTimeout: Forbidden: DRASchedulingFilterTimeout feature gate is disabled, "
        "bindingTimeout: Forbidden: DRADeviceBindingConditions or DRAResourceClaimDeviceStatus "
        "feature gate is disabled]"
    )


def test_an_added_affinity_must_parse_without_any_error() -> None:
    preferred = [
        {"weight": 0, "preference": {"matchExpressions": [{"key": "a", "operator": "Odd"}]}},
        {
            "weight": 1,
            "preference": {
                "matchExpressions": [{"key": "a", "operator": "In", "values": []}],
                "matchFields": [
                    {"key": "metadata.name", "operator": "Exists"},
                    {"key": "metadata.name", "operator": "In", "values": ["a", "b"]},
                ],
            },
        },
    ]
    affinity = {"preferredDuringSchedulingIgnoredDuringExecution": preferred}
    term = "addedAffinity.preferredDuringSchedulingIgnoredDuringExecution[1]"
    assert refusal("NodeAffinity", {"addedAffinity": affinity}) == (
        f"[{term}.matchExpressions[0].values: Invalid value: []: for 'in', 'notin' operators, "
        f"values set can't be empty, {term}.matchFields[0].operator: Unsupported value: "
        f'"Exists": supported values: "In", "NotIn", {term}.matchFields[1].values: '
        'Invalid value: ["a","b"]: must have one element]'
    )


def test_bad_arguments_of_fit_are_forgiven_while_the_plugin_is_off() -> None:
    args = {"scoringStrategy": {"type": "Odd"}}
    profile = {
        "plugins": {"multiPoint": {"disabled": [{"name": "NodeResourcesFit"}]}},
        "pluginConfig": [{"name": "NodeResourcesFit", "args": args}],
    }
    load_configuration(
        {
            "apiVersion": "kubescheduler.config.k8s.io/v1",
            "kind": "KubeSchedulerConfiguration",
            "profiles": [profile],
        },
        gates=FeatureGates(),
    )
