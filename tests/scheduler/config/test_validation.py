"""Rules on a configuration as a whole: profiles, leader election, queue sorting, extenders."""

from typing import Any

import pytest

from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.scheduler.config.errors import ConfigurationError, FieldProblem
from podium.scheduler.config.load import load_configuration
from podium.scheduler.config.plugin_args import NodeResourcesFitArgs
from podium.scheduler.config.types import PluginRef

HEADER = {
    "apiVersion": "kubescheduler.config.k8s.io/v1",
    "kind": "KubeSchedulerConfiguration",
}


def refused(raw: Any, **options: Any) -> ConfigurationError:
    with pytest.raises(ConfigurationError) as error:
        load_configuration(raw, gates=FeatureGates(), **options)
    return error.value


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
    load_configuration(HEADER | {"leaderElection": election}, gates=FeatureGates())
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
    (extender,) = load_configuration(raw, gates=FeatureGates()).extenders
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
        },
        gates=FeatureGates(),
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
    configuration = load_configuration(
        HEADER | {"profiles": [{"plugins": plugins}]}, gates=FeatureGates()
    )
    assert configuration.profiles[0].plugins.score.disabled == (PluginRef("Nope"),)
