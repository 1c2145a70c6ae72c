"""What wins: flags, files, policies, providers."""

import json

import pytest
from support.scheduler.config.fake_host_environment import FakeHostEnvironment

from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.scheduler.config.errors import ConfigurationError
from podium.scheduler.config.flags.client_settings import StartRefused
from podium.scheduler.config.flags.notices import configuration_notices, idle_notes, legacy_warnings
from podium.scheduler.config.flags.options import Options, options_of
from podium.scheduler.config.flags.parser import parse_flags
from podium.scheduler.config.flags.precedence import complete_configuration, read_configuration
from podium.scheduler.config.plugin_args import InterPodAffinityArgs
from podium.scheduler.config.types import Configuration

V1 = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
POLICY = {"apiVersion": "v1", "kind": "Policy", "predicates": [], "priorities": []}
AFFINE = {**POLICY, "priorities": [{"name": "InterPodAffinityPriority", "weight": 1}]}
EXTENDER = {"urlPrefix": "http://127.0.0.1:1", "filterVerb": "filter"}
FILES = {
    "v1.yaml": V1
    + "leaderElection:\n  leaseDuration: 30s\n  resourceName: from-file\n"
    + "clientConnection:\n  kubeconfig: from-file\n"
    + "parallelism: 7\nprofiles:\n- schedulerName: a\n- schedulerName: b\n",
    "v1beta1.yaml": V1.replace("/v1", "/v1beta1"),
    "broken.yaml": V1 + "parallelism: 0\n",
    "policy.json": json.dumps(POLICY),
    "affine.json": json.dumps(AFFINE),
    "weighted.json": json.dumps({**AFFINE, "hardPodAffinitySymmetricWeight": 9}),
    "extended.json": json.dumps({**POLICY, "extenders": [EXTENDER]}),
    "wrong.json": json.dumps({**POLICY, "predicates": [{"name": "Nope"}]}),
    "strict.json": json.dumps({**POLICY, "nope": 1}),
    "list.json": "[]",
    "dir/": "",
}
FAKE = FakeHostEnvironment(FILES)
MAPS = {
    ("kube-system", "affine"): {"policy.cfg": FILES["affine.json"]},
    ("mine", "strict"): {"policy.cfg": FILES["strict.json"]},
    ("mine", "empty"): {},
}


def options(*arguments: str) -> Options:
    return options_of(parse_flags(arguments))


def configuration(*arguments: str) -> Configuration:
    given = options(*arguments)
    found = read_configuration(given, FeatureGates(), FAKE)
    return complete_configuration(found, given, FeatureGates(), FAKE, config_map)


def config_map(namespace: str, name: str) -> dict[str, str]:
    if (namespace, name) not in MAPS:
        raise StartRefused(f'configmaps "{name}" not found')
    return MAPS[namespace, name]


def refusal(*arguments: str) -> str:
    with pytest.raises((StartRefused, ConfigurationError)) as caught:
        configuration(*arguments)
    problem = caught.value
    return problem.message if isinstance(problem, ConfigurationError) else str(problem)


def hard_weight(found: Configuration) -> int:
    args = found.profiles[0].plugin_args["InterPodAffinity"]
    assert isinstance(args, InterPodAffinityArgs)
    return args.hard_pod_affinity_weight


def scores(found: Configuration) -> list[str]:
    return [plugin.name for plugin in found.profiles[0].plugins.score.enabled]


# without a file


def test_deprecated_flags_count_without_a_file() -> None:
    found = configuration(
        "--kubeconfig=k",
        "--kube-api-qps=7.5",
        "--kube-api-burst=8",
        "--kube-api-content-type=application/json",
        "--profiling=false",
        "--contention-profiling=false",
    )
    client = found.client_connection
    assert (client.kubeconfig, client.qps, client.burst) == ("k", 7.5, 8)
    assert client.content_type == "application/json"
    assert not found.enable_profiling
    assert not found.enable_contention_profiling


def test_nothing_is_validated_without_a_file() -> None:
    found = configuration("--leader-elect-lease-duration=0s", "--kube-api-burst=-1")
    assert str(found.leader_election.lease_duration) == "0s"
    assert found.client_connection.burst == -1


# with a file


def test_with_a_file_only_leader_election_flags_count() -> None:
    found = configuration(
        "--config=v1.yaml",
        "--kubeconfig=from-flag",
        "--kube-api-qps=1",
        "--profiling=false",
        "--leader-elect=false",
        "--leader-elect-resource-name=from-flag",
    )
    assert found.client_connection.kubeconfig == "from-file"
    assert found.client_connection.qps == 50
    assert found.enable_profiling
    assert not found.leader_election.leader_elect
    assert found.leader_election.resource_name == "from-flag"
    assert str(found.leader_election.lease_duration) == "30s"


def test_a_flag_with_its_default_value_wins_over_the_file_too() -> None:
    found = configuration("--config=v1.yaml", "--leader-elect-lease-duration=15s")
    assert str(found.leader_election.lease_duration) == "15s"


def test_file_and_flags_are_validated_together() -> None:
    assert refusal("--config=v1.yaml", "--leader-elect-lease-duration=1s") == (
        'leaderElection.leaseDuration: Invalid value: "10s": must be greater than `RenewDeadline`'
    )
    assert refusal("--config=v1.yaml", "--leader-elect-resource-lock=endpoints") == (
        'leaderElection.resourceLock: Invalid value: "endpoints": resourceLock value must be '
        '"leases"'
    )
    empty = [f"--leader-elect-resource-{what}=" for what in ("name", "namespace", "lock")]
    assert refusal("--config=v1.yaml", *empty) == (
        "[leaderElection.resourceLock: Required value, "
        "leaderElection.resourceNamespace: Required value, "
        "leaderElection.resourceName: Required value, "
        'leaderElection.resourceLock: Invalid value: "": resourceLock value must be "leases"]'
    )


def test_flags_do_not_mend_what_is_wrong_elsewhere_in_the_file() -> None:
    assert refusal("--config=broken.yaml") == (
        "parallelism: Invalid value: 0: should be an integer value greater than zero"
    )
    assert refusal("--config=missing") == "open missing: no such file or directory"
    assert refusal("--config=dir") == "read dir: is a directory"


# legacy flags


def test_the_lock_had_other_names_once() -> None:
    found = configuration("--lock-object-name=n", "--lock-object-namespace=ns")
    assert found.leader_election.resource_name == "n"
    assert found.leader_election.resource_namespace == "ns"
    both = configuration("--lock-object-name=old", "--leader-elect-resource-name=new")
    assert both.leader_election.resource_name == "new"
    with_file = configuration("--config=v1.yaml", "--lock-object-name=n")
    assert with_file.leader_election.resource_name == "from-file"


def test_the_only_profile_was_named_and_weighted_by_flags() -> None:
    flags = ("--scheduler-name=mine", "--hard-pod-affinity-symmetric-weight=7")
    found = configuration(*flags)
    assert found.profiles[0].scheduler_name == "mine"
    assert hard_weight(found) == 7
    with_file = configuration("--config=v1.yaml", *flags)
    assert [profile.scheduler_name for profile in with_file.profiles] == ["a", "b"]
    assert hard_weight(with_file) == 1


def test_a_policy_file_takes_the_place_of_profiles_and_extenders() -> None:
    found = configuration("--config=v1.yaml", "--policy-config-file=extended.json")
    assert [profile.scheduler_name for profile in found.profiles] == ["default-scheduler"]
    assert scores(found) == []
    assert len(found.extenders) == 1
    assert found.parallelism == 7
    assert found.client_connection.kubeconfig == "from-file"


def test_a_policy_is_named_and_weighted_by_flags_without_a_file() -> None:
    flags = ("--scheduler-name=mine", "--hard-pod-affinity-symmetric-weight=7")
    found = configuration("--policy-config-file=affine.json", *flags)
    assert found.profiles[0].scheduler_name == "mine"
    assert hard_weight(found) == 7
    assert hard_weight(configuration("--policy-config-file=weighted.json", *flags)) == 9


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["--policy-config-file=missing"], "missing policy config file missing"),
        (["--policy-config-file=dir"], "couldn't read policy config: read dir: is a directory"),
        (
            ["--policy-config-file=wrong.json"],
            'couldn\'t create scheduler from policy: predicate type not found for "Nope"',
        ),
        (
            ["--policy-config-file=v1.yaml"],
            'invalid policy: no kind "KubeSchedulerConfiguration" is registered for version '
            '"kubescheduler.config.k8s.io/v1" in scheme '
            '"pkg/scheduler/apis/config/scheme/scheme.go:29"',
        ),
        (
            ["--algorithm-provider=Nope"],
            'couldn\'t create scheduler using provider "Nope": algorithm provider "Nope" is not '
            "registered",
        ),
    ],
)
def test_what_cannot_be_built_is_refused(arguments: list[str], text: str) -> None:
    assert refusal(*arguments) == text


def test_a_policy_is_read_strictly() -> None:
    assert refusal("--policy-config-file=strict.json").startswith("invalid policy: strict decoding")
    assert refusal("--policy-config-file=list.json").startswith("invalid policy: couldn't get")


def test_a_policy_file_gives_way_to_a_config_map_unless_told_otherwise() -> None:
    both = ("--policy-config-file=policy.json", "--policy-configmap=p")
    assert refusal(*both).startswith("couldn't get policy config map kube-system/p: ")
    assert scores(configuration(*both, "--use-legacy-policy-config")) == []
    namespace = "--policy-configmap-namespace=ns"
    assert "config map ns/p: " in refusal("--policy-configmap=p", namespace)


def test_a_policy_is_read_from_a_config_map() -> None:
    assert scores(configuration("--policy-configmap=affine")) == ["InterPodAffinity"]
    mine = "--policy-configmap-namespace=mine"
    assert refusal("--policy-configmap=empty", mine) == (
        'missing policy config map value at key "policy.cfg"'
    )
    assert refusal("--policy-configmap=strict", mine).startswith("invalid policy: strict decoding")
    assert refusal("--policy-configmap=gone") == (
        'couldn\'t get policy config map kube-system/gone: configmaps "gone" not found'
    )


def test_a_policy_goes_before_a_provider() -> None:
    found = configuration("--policy-config-file=policy.json", "--algorithm-provider=Nope")
    assert scores(found) == []


def test_a_provider_is_the_default_plugins_of_v1beta1() -> None:
    spread = scores(configuration("--algorithm-provider=DefaultProvider"))
    packed = scores(configuration("--algorithm-provider=ClusterAutoscalerProvider"))
    assert "NodeResourcesLeastAllocated" in spread
    assert packed == [name.replace("LeastAllocated", "MostAllocated") for name in spread]
    with_file = configuration(
        "--config=v1beta1.yaml", "--algorithm-provider=ClusterAutoscalerProvider"
    )
    assert scores(with_file) == packed


# notices


def test_a_legacy_flag_is_warned_about() -> None:
    parsed = parse_flags(["--port=0", "--scheduler-name=a", "--v=2"])
    assert list(legacy_warnings(parsed.given, options_of(parsed))) == [
        "Flag --port has been deprecated, kube-scheduler had it until 1.23; it has no effect: "
        "Podium serves HTTPS only; see --bind-address and --secure-port",
        "Flag --scheduler-name has been deprecated, kube-scheduler had it until 1.21; "
        "use --config with a profile",
    ]
    parsed = parse_flags(["--scheduler-name=a", "--config=f"])
    (warning,) = legacy_warnings(parsed.given, options_of(parsed))
    assert warning.endswith("it is ignored with --config")


def test_a_flag_without_effect_says_so_once() -> None:
    given = parse_flags(["--vmodule=a=1", "--vmodule=b=2", "--port=0", "--config=f"]).given
    assert list(idle_notes(given)) == [
        "--vmodule has no effect in Podium: there are no Go source files to choose from"
    ]


def test_an_older_format_is_warned_about() -> None:
    given = options("--config=v1beta1.yaml")
    assert list(configuration_notices(read_configuration(given, FeatureGates(), FAKE), given)) == [
        "KubeSchedulerConfiguration v1beta1 and Policy were removed in v1.23"
    ]
    given = options("--config=v1.yaml", "--algorithm-provider=DefaultProvider")
    assert list(configuration_notices(read_configuration(given, FeatureGates(), FAKE), given)) == [
        "--algorithm-provider is ignored: KubeSchedulerConfiguration v1 has its own default plugins"
    ]
