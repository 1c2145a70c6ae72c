from typing import Any

import pytest

from podium.config import (
    ConfigurationError,
    FieldProblem,
    PluginRef,
    load_configuration,
)
from podium.config.plugin_args import NodeResourcesFitArgs, RawArgs

HEADER = {
    "apiVersion": "kubescheduler.config.k8s.io/v1",
    "kind": "KubeSchedulerConfiguration",
}


def refused(raw: Any, **options: Any) -> ConfigurationError:
    with pytest.raises(ConfigurationError) as error:
        load_configuration(raw, **options)
    return error.value


def test_no_file_gives_the_defaults() -> None:
    configuration = load_configuration(None)
    assert configuration == load_configuration(HEADER)
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
        }
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
    assert load_configuration(HEADER | nulls) == load_configuration(None)


def test_a_null_in_a_list_is_an_empty_entry() -> None:
    assert load_configuration(HEADER | {"profiles": [None]}) == load_configuration(None)


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
    assert load_configuration(HEADER | {"parallelism": 4.0}).parallelism == 4


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


def test_every_mistake_is_reported_in_upstreams_order() -> None:
    error = refused(
        HEADER
        | {
            "clientConnection": {"burst": -5},
            "leaderElection": {"leaseDuration": "5s", "resourceLock": "configmaps"},
            "parallelism": -1,
            "percentageOfNodesToScore": 250,
            "podInitialBackoffSeconds": 0,
            "podMaxBackoffSeconds": -1,
            "profiles": [
                {
                    "schedulerName": "a",
                    "plugins": {"score": {"enabled": [{"name": "EBSLimits"}]}},
                    "pluginConfig": [
                        {"name": "InterPodAffinity", "args": {"hardPodAffinityWeight": 101}},
                        {"name": "InterPodAffinity"},
                        {"name": "CinderLimits"},
                    ],
                },
                {"schedulerName": "a", "percentageOfNodesToScore": -7},
                {},
            ],
        }
    )
    removed = (
        'was invalid in version "v1" (KubeSchedulerConfiguration is version '
        '"kubescheduler.config.k8s.io/v1")'
    )
    expected = [
        "clientConnection.burst: Invalid value: -5: must be non-negative",
        'leaderElection.leaseDuration: Invalid value: "10s": must be greater than `RenewDeadline`',
        'leaderElection.resourceLock: Invalid value: "configmaps": resourceLock value must be '
        '"leases"',
        "parallelism: Invalid value: -1: should be an integer value greater than zero",
        f'profiles[0].plugins.score.enabled[0]: Invalid value: "EBSLimits": {removed}',
        "profiles[0].pluginConfig[0].args.hardPodAffinityWeight: Invalid value: 101: not in valid "
        "range [0, 100]",
        'profiles[0].pluginConfig[1]: Duplicate value: "InterPodAffinity"',
        f'profiles[0].pluginConfig[2]: Invalid value: "CinderLimits": {removed}',
        "profiles[1].percentageOfNodesToScore: Invalid value: -7: not in valid range [0-100]",
        "profiles[1].schedulerName: Duplicate value: {}",
        "profiles[2].schedulerName: Required value",
        "percentageOfNodesToScore: Invalid value: 250: not in valid range [0-100]",
        "podInitialBackoffSeconds: Invalid value: 0: must be greater than 0",
        "podMaxBackoffSeconds: Invalid value: -1: must be greater than or equal to "
        "PodInitialBackoffSeconds",
    ]
    assert [str(problem) for problem in error.problems] == expected
    assert error.message == f"[{', '.join(expected)}]"


def test_a_single_mistake_stands_without_brackets() -> None:
    error = refused(HEADER | {"parallelism": 0})
    assert error.message == (
        "parallelism: Invalid value: 0: should be an integer value greater than zero"
    )
    assert error.problems == (
        FieldProblem(
            "parallelism", "Invalid value: 0: should be an integer value greater than zero"
        ),
    )


def test_leader_election_is_not_checked_when_it_is_off() -> None:
    election = {"leaderElect": False, "leaseDuration": "-5s", "resourceLock": "odd"}
    load_configuration(HEADER | {"leaderElection": election})
    error = refused(HEADER | {"leaderElection": election | {"leaderElect": True}})
    assert error.problems[0] == FieldProblem(
        "leaderElection.leaseDuration", 'Invalid value: "-5s": must be greater than zero'
    )


def test_an_explicit_empty_scheduler_name_is_refused() -> None:
    error = refused(HEADER | {"profiles": [{"schedulerName": ""}]})
    assert error.message == "profiles[0].schedulerName: Required value"


def test_queue_sort_must_be_the_same_for_all_profiles() -> None:
    def profile(name: str, *sorters: str) -> dict[str, Any]:
        enabled = [{"name": sorter, "weight": 2} for sorter in sorters]
        args = [{"name": "Sort", "args": {"of": name}}]
        return {
            "schedulerName": name,
            "plugins": {"queueSort": {"enabled": enabled, "disabled": [{"name": "*"}]}},
            "pluginConfig": args,
        }

    profiles = [profile("a", "Sort", "Other"), profile("b", "Other")]
    error = refused(HEADER | {"profiles": profiles})
    assert error.message == (
        "[profiles[0].plugins.queueSort.Enabled: Invalid value: 2: only one queue sort plugin can "
        "be enabled, profiles[1].plugins.queueSort: Invalid value: "
        '{"Enabled":[{"Name":"Other","Weight":2}],"Disabled":[{"Name":"*","Weight":0}]}: must be '
        "the same for all profiles, profiles[1].pluginConfig.args: Invalid value: "
        '{"of":"b"}: queueSort must be the same for all profiles]'
    )


def test_extenders_are_part_of_the_configuration() -> None:
    raw = HEADER | {"extenders": [{"urlPrefix": "http://a", "httpTimeout": "5s"}]}
    (extender,) = load_configuration(raw).extenders
    assert (extender.url_prefix, extender.http_timeout.seconds) == ("http://a", 5)


def test_resources_that_the_scheduler_ignores_replace_the_list_of_every_profile() -> None:
    managed = [
        {"name": "a.com/x", "ignoredByScheduler": True},
        {"name": "a.com/y"},
        {"name": "a.com/z", "ignoredByScheduler": True},
    ]
    written = {"name": "NodeResourcesFit", "args": {"ignoredResources": ["b.com/mine"]}}
    configuration = load_configuration(
        HEADER
        | {
            "extenders": [{"urlPrefix": "http://a", "managedResources": managed}],
            "profiles": [
                {"schedulerName": "one", "pluginConfig": [written]},
                {"schedulerName": "two"},
            ],
        }
    )
    for profile in configuration.profiles:
        args = profile.plugin_args["NodeResourcesFit"]
        assert isinstance(args, NodeResourcesFitArgs)
        assert args.ignored_resources == ("a.com/x", "a.com/z")


def test_ignored_resources_need_a_place_to_be_written_to() -> None:
    managed = [{"name": "a.com/x", "ignoredByScheduler": True}]
    raw = HEADER | {
        "extenders": [{"urlPrefix": "http://a", "managedResources": managed}],
        "profiles": [
            {"plugins": {"multiPoint": {"disabled": [{"name": "NodeResourcesFit"}]}}},
        ],
    }
    assert refused(raw).message == (
        "couldn't build extenders: can't find NodeResourcesFitArgs in plugin config"
    )


def test_mistakes_in_extenders_are_told_all_at_once() -> None:
    extenders = [
        {"prioritizeVerb": "p", "bindVerb": "b", "managedResources": [{"name": "cpu"}]},
        {"bindVerb": "b", "managedResources": [{"name": "a.com/x"}, {"name": "a.com/x"}]},
    ]
    assert refused(HEADER | {"extenders": extenders}).message == (
        "[extenders[0].weight: Invalid value: 0: must have a positive weight applied to it, "
        'extenders[0].managedResources[0].name: Invalid value: "cpu": is an invalid extended '
        "resource name, extenders[1].managedResources[1].name: Invalid value: "
        '"a.com/x": duplicate extender managed resource name, extenders: Invalid value: '
        '"found 2 extenders implementing bind": only one extender can implement bind]'
    )


def test_an_unknown_name_among_the_disabled_is_accepted() -> None:
    plugins = {"score": {"disabled": [{"name": "Nope"}]}}
    configuration = load_configuration(HEADER | {"profiles": [{"plugins": plugins}]})
    assert configuration.profiles[0].plugins.score.disabled == (PluginRef("Nope"),)
