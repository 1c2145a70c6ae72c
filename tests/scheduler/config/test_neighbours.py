"""Files next to the recorded ones: one thing changed, and what kube-scheduler 1.36 says to it."""

import json
from typing import Any

import pytest
from support.scheduler.config.known_plugins import in_tree

from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.scheduler.config.examine import Examination, examine

HEADER = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
IN_STRUCT = "json: cannot unmarshal {} into Go struct field {} of type {}"
AT_ARGS = "profiles[0].pluginConfig[0].args"
DECODING = "decoding .profiles[0].pluginConfig[0]: decoding args for plugin "
BUILDING = "initializing profiles: creating profile for scheduler name default-scheduler: "


def examined(text: str) -> Examination:
    return examine(text.encode(), in_tree(), gates=FeatureGates())


def with_args(plugin: str, args: Any) -> str:
    head = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}
    entry = {"name": plugin, "args": args}
    return json.dumps({**head, "profiles": [{"pluginConfig": [entry]}]})


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ("leaderElection: {leaseDuration: null}", 'time: invalid duration ""'),
        ("extenders: [{httpTimeout: null}]", 'time: invalid duration ""'),
        (
            "parallelism: 18446744073709551616",
            IN_STRUCT.format(
                "number 18446744073709552000", "KubeSchedulerConfiguration.parallelism", "int32"
            ),
        ),
        (
            "podMaxBackoffSeconds: 1e400",
            IN_STRUCT.format("string", "KubeSchedulerConfiguration.podMaxBackoffSeconds", "int64"),
        ),
        (
            "extenders: [{tlsConfig: {caData: [300]}}]",
            IN_STRUCT.format("number 300", "ExtenderTLSConfig.extenders.tlsConfig.caData", "uint8"),
        ),
        ("extenders: [{tlsConfig: {caData: YQ}}]", "illegal base64 data at input byte 0"),
        (
            "extenders: [{tlsConfig: {caFile: x, insecure: true}}]",
            "couldn't build extenders: specifying a root certificates file with the insecure flag "
            "is not allowed",
        ),
        ('a"b: 1', r'strict decoding error: unknown field "a\"b"'),
        (
            "profiles: [{plugins: {multiPoint: {enabled: [{name: EBSLimits}]}}}]",
            BUILDING + 'PreFilterPlugin "EBSLimits" does not exist',
        ),
        (
            "profiles: [{plugins: {placementScore: {enabled: [{name: CinderLimits}]}}}]",
            BUILDING + 'PlacementScorePlugin "CinderLimits" does not exist',
        ),
        (
            "profiles: [{plugins: {multiPoint: {enabled: [{name: TaintToleration, weight: -1}]}}}]",
            BUILDING + "score plugins: total score of Score plugins could overflow",
        ),
        (
            "extenders: [{managedResources: [{name: requests.a/b}]}]",
            'extenders[0].managedResources[0].name: Invalid value: "requests.a/b": is an invalid '
            "extended resource name",
        ),
        (
            "extenders: [{managedResources: [{name: a/b}]}, {managedResources: [{name: a/b}]}]",
            'extenders[1].managedResources[0].name: Invalid value: "a/b": duplicate extender '
            "managed resource name",
        ),
        (
            "extenders: [{bindVerb: b}, {bindVerb: b}]",
            'extenders: Invalid value: "found 2 extenders implementing bind": only one extender '
            "can implement bind",
        ),
    ],
)
def test_a_line_that_is_wrong_is_refused_as_upstream_refuses_it(lines: str, message: str) -> None:
    assert examined(f"{HEADER}{lines}\n").message == message


def of_type(field: str, go_type: str, kind: str = "number") -> str:
    return IN_STRUCT.format(kind, field, go_type)


@pytest.mark.parametrize(
    ("plugin", "args", "message"),
    [
        (
            "NodeResourcesFit",
            {"scoringStrategy": {"type": 1}},
            DECODING
            + "NodeResourcesFit: "
            + of_type("ScoringStrategy.scoringStrategy.type", "v1.ScoringStrategyType"),
        ),
        (
            "PodTopologySpread",
            {"defaultingType": 1},
            DECODING
            + "PodTopologySpread: "
            + of_type(
                "PodTopologySpreadArgs.defaultingType", "v1.PodTopologySpreadConstraintsDefaulting"
            ),
        ),
        (
            "PodTopologySpread",
            {"defaultConstraints": [{"whenUnsatisfiable": 1}]},
            DECODING
            + "PodTopologySpread: "
            + of_type(
                "TopologySpreadConstraint.defaultConstraints.whenUnsatisfiable",
                "v1.UnsatisfiableConstraintAction",
            ),
        ),
        (
            "PodTopologySpread",
            {"defaultConstraints": [{"labelSelector": {"matchLabels": [1]}}]},
            DECODING
            + "PodTopologySpread: "
            + of_type(
                "LabelSelector.defaultConstraints.labelSelector.matchLabels",
                "map[string]string",
                "array",
            ),
        ),
        (
            "PodTopologySpread",
            {"defaultConstraints": [{"labelSelector": {"matchLabels": {"a": 1}}}]},
            DECODING
            + "PodTopologySpread: "
            + of_type("LabelSelector.defaultConstraints.labelSelector.matchLabels", "string"),
        ),
        (
            "DynamicResources",
            {"filterTimeout": "-1ns", "bindingTimeout": "999ms"},
            f'[{AT_ARGS}.filterTimeout: Invalid value: "-1ns": must be zero or positive, '
            f'{AT_ARGS}.bindingTimeout: Invalid value: "999ms": must be at least 1 second]',
        ),
        (
            "VolumeBinding",
            {"shape": []},
            f"{AT_ARGS}.shape: Invalid value: []: unexpected field `shape`, remove it or turn on "
            "the feature gate StorageCapacityScoring",
        ),
        (
            "NodeAffinity",
            {
                "addedAffinity": {
                    "requiredDuringSchedulingIgnoredDuringExecution": {
                        "nodeSelectorTerms": [
                            {"matchFields": [{"key": "metadata.name", "operator": "In"}]}
                        ]
                    }
                }
            },
            f"{AT_ARGS}.addedAffinity.requiredDuringSchedulingIgnoredDuringExecution."
            "nodeSelectorTerms[0].matchFields[0].values: Invalid value: null: must have one "
            "element",
        ),
    ],
)
def test_arguments_that_are_wrong_are_refused_as_upstream_refuses_them(
    plugin: str, args: Any, message: str
) -> None:
    assert examined(with_args(plugin, args)).message == message


def plugin_config(found: Examination) -> dict[str, Any]:
    assert found.effective is not None
    return {e["name"]: e["args"] for e in found.effective["profiles"][0]["pluginConfig"]}


def test_an_entry_without_arguments_leaves_no_trace_unless_the_plugin_has_defaults() -> None:
    assert "NodeName" not in plugin_config(examined(with_args("NodeName", None)))
    assert plugin_config(examined(with_args("NodeName", {})))["NodeName"] == {}
    assert "NodeAffinity" in plugin_config(examined(with_args("NodeAffinity", None)))


def test_empty_lists_of_added_affinity_are_not_written() -> None:
    term = {"matchExpressions": [{"key": "a", "operator": "Exists", "values": []}]}
    required = {"nodeSelectorTerms": [{**term, "matchFields": []}]}
    added = {
        "requiredDuringSchedulingIgnoredDuringExecution": required,
        "preferredDuringSchedulingIgnoredDuringExecution": [],
    }
    found = plugin_config(examined(with_args("NodeAffinity", {"addedAffinity": added})))
    assert found["NodeAffinity"]["addedAffinity"] == {
        "requiredDuringSchedulingIgnoredDuringExecution": {
            "nodeSelectorTerms": [{"matchExpressions": [{"key": "a", "operator": "Exists"}]}]
        }
    }


def test_a_number_that_no_float_can_hold_is_kept_as_it_was_written() -> None:
    head = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}
    text = json.dumps({**head, "profiles": [{"pluginConfig": [{"name": "NodeName", "args": 0}]}]})
    found = examined(text.replace('"args": 0', '"args": {"x": 1e400, "y": 123456789012345678901}'))
    assert plugin_config(found)["NodeName"] == {"x": "1e400", "y": 1.2345678901234568e20}


def test_what_extenders_look_after_replaces_names_that_would_be_refused() -> None:
    extender = {
        "urlPrefix": "x",
        "managedResources": [{"name": "example.com/a", "ignoredByScheduler": True}],
    }
    document = json.loads(with_args("NodeResourcesFit", {"ignoredResources": ["a b"]}))
    assert not examined(json.dumps(document)).loads
    found = examined(json.dumps({**document, "extenders": [extender]}))
    assert plugin_config(found)["NodeResourcesFit"]["ignoredResources"] == ["example.com/a"]


def test_a_gate_that_is_off_leaves_an_empty_timeout() -> None:
    gates = FeatureGates().with_overrides({"DRASchedulerFilterTimeout": False})
    found = examine(HEADER.encode(), in_tree(), gates)
    assert plugin_config(found)["DynamicResources"]["filterTimeout"] is None
    again = examine(json.dumps(found.effective).encode(), in_tree(), gates)
    assert again.effective == found.effective


def test_everything_that_can_be_set_is_written() -> None:
    extender = {"urlPrefix": "x", "tlsConfig": {"certData": "YQ=="}}
    profile = {"percentageOfNodesToScore": 0}
    head = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}
    found = examined(
        json.dumps(
            {
                **head,
                "delayCacheUntilActive": True,
                "clientConnection": {"qps": 3.4028235e38},
                "profiles": [profile],
                "extenders": [extender],
            }
        )
    )
    assert found.effective is not None
    assert found.effective["delayCacheUntilActive"] is True
    assert found.effective["profiles"][0]["percentageOfNodesToScore"] == 0
    assert found.effective["extenders"] == [{**extender, "httpTimeout": "5s"}]
    assert found.effective["clientConnection"]["qps"] == 3.4028235e38
