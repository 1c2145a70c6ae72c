"""From a document to a configuration: defaults, strict decoding, wrong types."""

from typing import Any

import pytest

from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.scheduler.config.errors import ConfigurationError
from podium.scheduler.config.load import load_configuration
from podium.scheduler.config.plugin_args import RawArgs
from podium.scheduler.config.types import PluginRef

HEADER = {
    "apiVersion": "kubescheduler.config.k8s.io/v1",
    "kind": "KubeSchedulerConfiguration",
}


def refused(raw: Any, **options: Any) -> ConfigurationError:
    with pytest.raises(ConfigurationError) as error:
        load_configuration(raw, gates=FeatureGates(), **options)
    return error.value


def test_no_file_gives_the_defaults() -> None:
    configuration = load_configuration(None, gates=FeatureGates())
    assert configuration == load_configuration(HEADER, gates=FeatureGates())
    assert configuration.parallelism == 16
    assert configuration.percentage_of_nodes_to_score == 0
    assert configuration.pod_initial_backoff_seconds == 1
    assert configuration.pod_max_backoff_seconds == 10
    assert configuration.enable_profiling
    assert configuration.enable_contention_profiling
    assert not configuration.delay_cache_until_active
    election = configuration.leader_election
    assert election.leader_elect
    assert [str(election.lease_duration), str(election.renew_deadline)] == ["15s", "10s"]
    assert str(election.retry_period) == "2s"
    assert election.resource_lock == "leases"
    assert (election.resource_namespace, election.resource_name) == (
        "kube-system",
        "kube-scheduler",
    )
    connection = configuration.client_connection
    assert (connection.qps, connection.burst) == (50.0, 100)
    assert connection.content_type == "application/vnd.kubernetes.protobuf"

    (profile,) = configuration.profiles
    assert profile.scheduler_name == "default-scheduler"
    assert profile.percentage_of_nodes_to_score is None
    assert len(profile.plugins.multi_point.enabled) == 20
    assert list(profile.plugin_args) == [
        "DefaultPreemption",
        "DynamicResources",
        "InterPodAffinity",
        "NodeAffinity",
        "NodeResourcesBalancedAllocation",
        "NodeResourcesFit",
        "PodTopologySpread",
        "VolumeBinding",
    ]


def test_what_is_written_is_kept() -> None:
    configuration = load_configuration(
        HEADER
        | {
            "parallelism": 4,
            "percentageOfNodesToScore": 70,
            "podInitialBackoffSeconds": 2,
            "podMaxBackoffSeconds": 20,
            "enableProfiling": False,
            "clientConnection": {"qps": 0.1, "burst": 7},
            "profiles": [
                {"schedulerName": "a", "percentageOfNodesToScore": 0},
                {
                    "schedulerName": "b",
                    "pluginConfig": [{"name": "Mine", "args": {"x": 1}}],
                    "plugins": {"multiPoint": {"enabled": [{"name": "Mine", "weight": 5}]}},
                },
            ],
        },
        gates=FeatureGates(),
    )
    assert configuration.parallelism == 4
    assert configuration.percentage_of_nodes_to_score == 70
    assert configuration.client_connection.qps == pytest.approx(0.1)
    assert configuration.client_connection.qps != 0.1, "a 32-bit number on the wire"
    assert not configuration.enable_contention_profiling, "follows enableProfiling"
    first, second = configuration.profiles
    assert first.percentage_of_nodes_to_score == 0
    assert second.plugins.multi_point.enabled[-1] == PluginRef("Mine", 5)
    assert next(iter(second.plugin_args.items())) == ("Mine", RawArgs({"x": 1}))
    assert configuration.profile("b") is second
    assert configuration.profile("c") is None


def test_a_null_is_the_same_as_an_absent_field() -> None:
    nulls = {
        "parallelism": None,
        "leaderElection": None,
        "extenders": None,
        "profiles": [
            {"schedulerName": None, "plugins": None, "pluginConfig": None},
        ],
    }
    assert load_configuration(HEADER | nulls, gates=FeatureGates()) == load_configuration(
        None, gates=FeatureGates()
    )


def test_a_null_in_a_list_is_an_empty_entry() -> None:
    assert load_configuration(
        HEADER | {"profiles": [None]}, gates=FeatureGates()
    ) == load_configuration(None, gates=FeatureGates())


def test_all_unknown_fields_are_named_at_once() -> None:
    profile = {
        "schedulerNam": "a",
        "pluginConfig": [{"name": "NodeAffinity", "args": {"foo": 1}}],
    }
    error = refused(HEADER | {"Parallelism": 1, "profiles": [profile]}, source="config.yaml")
    assert error.message == (
        'strict decoding error: unknown field "Parallelism", '
        'unknown field "profiles[0].schedulerNam", '
        "decoding .profiles[0].pluginConfig[0]: strict decoding error: decoding args for plugin "
        'NodeAffinity: strict decoding error: unknown field "foo"'
    )
    assert [problem.path for problem in error.problems] == [
        "Parallelism",
        "profiles[0].schedulerNam",
        "profiles[0].pluginConfig[0].args.foo",
    ]
    assert str(error).startswith("config.yaml: strict decoding error: ")
    assert str(error).endswith("; did you mean parallelism?")


ROOT = "KubeSchedulerConfiguration"
PLUGIN_SCORE = {"score": {"enabled": [{"name": "A", "weight": "1"}]}}
PLUGIN_FILTER = {"filter": {"enabled": ["NodeName"]}}


@pytest.mark.parametrize(
    ("fields", "found", "go_field", "go_type"),
    [
        ({"parallelism": "4"}, "string", f"{ROOT}.parallelism", "int32"),
        ({"parallelism": 4.5}, "number 4.5", f"{ROOT}.parallelism", "int32"),
        ({"parallelism": 2**31}, "number 2147483648", f"{ROOT}.parallelism", "int32"),
        ({"parallelism": True}, "bool", f"{ROOT}.parallelism", "int32"),
        ({"delayCacheUntilActive": 1}, "number", f"{ROOT}.delayCacheUntilActive", "bool"),
        (
            {"enableProfiling": "y"},
            "string",
            f"{ROOT}.DebuggingConfiguration.enableProfiling",
            "bool",
        ),
        ({"profiles": {}}, "object", f"{ROOT}.profiles", "[]v1.KubeSchedulerProfile"),
        (
            {"leaderElection": []},
            "array",
            f"{ROOT}.leaderElection",
            "v1alpha1.LeaderElectionConfiguration",
        ),
        (
            {"leaderElection": {"leaseDuration": 15}},
            "number",
            "LeaderElectionConfiguration.leaderElection.leaseDuration",
            "string",
        ),
        (
            {"clientConnection": {"qps": 1e39}},
            "number 1e+39",
            "ClientConnectionConfiguration.clientConnection.qps",
            "float32",
        ),
        (
            {"profiles": [{"plugins": PLUGIN_SCORE}]},
            "string",
            "Plugin.profiles.plugins.score.enabled.weight",
            "int32",
        ),
        (
            {"profiles": [{"plugins": PLUGIN_FILTER}]},
            "string",
            "PluginSet.profiles.plugins.filter.enabled",
            "v1.Plugin",
        ),
    ],
)
def test_a_wrong_type_is_named_as_go_names_it(
    fields: dict[str, Any], found: str, go_field: str, go_type: str
) -> None:
    assert refused(HEADER | fields).message == (
        f"json: cannot unmarshal {found} into Go struct field {go_field} of type {go_type}"
    )


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"leaderElection": {"retryPeriod": "1d"}}, 'time: unknown unit "d" in duration "1d"'),
        ({"clientConnection": {"qps": float("nan")}}, "json: unsupported value: NaN"),
        ({"clientConnection": {"qps": float("-inf")}}, "json: unsupported value: -Inf"),
        (
            {"extenders": [{"tlsConfig": {"caData": "%%"}}]},
            "illegal base64 data at input byte 0",
        ),
    ],
)
def test_a_malformed_value_is_refused(fields: dict[str, Any], text: str) -> None:
    assert refused(HEADER | fields).message == text


def test_a_whole_number_written_with_a_fraction_is_accepted() -> None:
    assert load_configuration(HEADER | {"parallelism": 4.0}, gates=FeatureGates()).parallelism == 4


@pytest.mark.parametrize(
    ("header", "text"),
    [
        ({}, "Object 'Kind' is missing in the configuration"),
        (
            {"kind": "KubeSchedulerConfiguration"},
            "Object 'apiVersion' is missing in the configuration",
        ),
        (
            HEADER | {"apiVersion": "kubescheduler.config.k8s.io/v1alpha2"},
            'no kind "KubeSchedulerConfiguration" is registered for version '
            '"kubescheduler.config.k8s.io/v1alpha2" in scheme '
            '"pkg/scheduler/apis/config/scheme/scheme.go:29"',
        ),
        (HEADER | {"apiVersion": "a/b/c"}, "unexpected GroupVersion string: a/b/c"),
        (
            HEADER | {"kind": "NodeAffinityArgs"},
            "couldn't decode as KubeSchedulerConfiguration, got kubescheduler.config.k8s.io/v1, "
            "Kind=NodeAffinityArgs: ",
        ),
        (
            HEADER | {"apiVersion": 1},
            "couldn't get version/kind; json parse error: json: cannot unmarshal number into Go "
            "struct field .apiVersion of type string",
        ),
        (
            "text",
            "couldn't get version/kind; json parse error: json: cannot unmarshal string into Go "
            'value of type struct { APIVersion string "json:\\"apiVersion,omitempty\\""; '
            'Kind string "json:\\"kind,omitempty\\"" }',
        ),
    ],
)
def test_another_kind_of_document_is_refused(header: Any, text: str) -> None:
    assert refused(header).message == text


def test_the_error_for_a_wrong_version_says_what_would_be_right() -> None:
    error = refused(HEADER | {"apiVersion": "v1"}, source="config.yaml")
    assert str(error).startswith("config.yaml: no kind ")
    assert str(error).endswith(
        "must be a KubeSchedulerConfiguration of kubescheduler.config.k8s.io/v1"
    )
