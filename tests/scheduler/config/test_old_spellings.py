"""Names of earlier times in configurations and Policies."""

import json
from typing import Any

import pytest

from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.scheduler.config.errors import ConfigurationError
from podium.scheduler.config.load import load_file
from podium.scheduler.config.policy_names import (
    COVERED_BY_TAINTS,
    ESSENTIAL_PREDICATES,
    NON_CRITICAL_PREDICATES,
    OLD_PREDICATES,
    PREDICATES,
)
from podium.scheduler.config.types import Configuration

HEADER = "apiVersion: kubescheduler.config.k8s.io/{}\nkind: KubeSchedulerConfiguration\n"
GO_NAMES = """\
leaderElection:
  LeaderElect: true
  LeaseDuration: 30s
  RenewDeadline: 20s
  RetryPeriod: 3s
  ResourceLock: leases
  ResourceName: mine
  ResourceNamespace: default
"""


def policy(*names: str, **fields: Any) -> bytes:
    predicates = [{"name": name} for name in names]
    whole = {"kind": "Policy", "apiVersion": "v1", "predicates": predicates, "priorities": []}
    return json.dumps({**whole, **fields}).encode()


def filters(configuration: Configuration) -> list[str]:
    return [plugin.name for plugin in configuration.profiles[0].plugins.filter.enabled]


@pytest.mark.parametrize("version", ["v1", "v1beta3", "v1beta2", "v1beta1"])
def test_the_leader_election_may_be_written_with_the_names_of_go(version: str) -> None:
    old = load_file((HEADER.format(version) + GO_NAMES).encode(), gates=FeatureGates())
    names = ["LeaderElect", "LeaseDuration", "RenewDeadline", "RetryPeriod", "ResourceLock",
             "ResourceName", "ResourceNamespace"]  # fmt: skip
    today = GO_NAMES
    for name in names:
        today = today.replace(f"  {name}:", f"  {name[0].lower()}{name[1:]}:")
    new = load_file((HEADER.format(version) + today).encode(), gates=FeatureGates())
    assert old.leader_election == new.leader_election
    assert [finding.line for finding in old.findings] == list(range(4, 11))
    assert old.findings[1].warning("scheduler.yaml") == (
        "scheduler.yaml:5: leaderElection.LeaseDuration: LeaseDuration is an old spelling; "
        "write leaseDuration"
    )
    assert not new.findings


@pytest.mark.parametrize(
    ("text", "field"),
    [
        ("leaderElection: {leaseduration: 10s}", "leaderElection.leaseduration"),
        ("leaderElection: {LeaseDurations: 10s}", "leaderElection.LeaseDurations"),
        (
            "leaderElection: {leaseDuration: 30s, LeaseDuration: 10s}",
            "leaderElection.LeaseDuration",
        ),
        ("clientConnection: {Kubeconfig: x}", "clientConnection.Kubeconfig"),
        ("LeaderElection: {}", "LeaderElection"),
        ("extenders: [{urlPrefix: 'http://x/', enableHttps: true}]", "extenders[0].enableHttps"),
    ],
)
def test_no_other_field_may_be_written_differently(text: str, field: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        load_file((HEADER.format("v1") + text).encode(), gates=FeatureGates())
    assert caught.value.message == f'strict decoding error: unknown field "{field}"'


def test_a_mistake_behind_an_old_name_is_told_under_the_one_of_today() -> None:
    text = HEADER.format("v1") + "leaderElection: {LeaseDuration: 10s, renewDeadline: 10s}"
    with pytest.raises(ConfigurationError) as caught:
        load_file(text.encode(), gates=FeatureGates())
    assert caught.value.message == (
        'leaderElection.leaseDuration: Invalid value: "10s": must be greater than `RenewDeadline`'
    )


@pytest.mark.parametrize(
    ("old", "today"),
    [
        ("PodFitsHost", ["HostName"]),
        ("PodSelectorMatches", ["MatchNodeSelector"]),
        ("MaxCSIVolumeCount", ["MaxCSIVolumeCountPred"]),
        ("PodAffinityPredicate", ["MatchInterPodAffinity"]),
        ("NoVolumeNodeConflict", ["CheckVolumeBinding"]),
        ("NodeMemoryPressurePredicate", ["CheckNodeMemoryPressure"]),
        ("CheckNodeConditionPred", ["CheckNodeCondition"]),
        ("CheckNodePIDPressurePred", ["CheckNodePIDPressure"]),
        ("CheckNodeDiskPressurePred", ["CheckNodeDiskPressure"]),
        ("CheckNodeMemoryPressurePred", ["CheckNodeMemoryPressure"]),
        ("GeneralPred", ["GeneralPredicates"]),
        ("EssentialPredicates", ["HostName", "PodFitsHostPorts", "MatchNodeSelector"]),
        ("noncriticalPredicates", ["PodFitsResources"]),
    ],
)
def test_a_predicate_may_have_the_name_that_articles_print(old: str, today: list[str]) -> None:
    found = load_file(policy(old), gates=FeatureGates())
    assert filters(found) == filters(load_file(policy(*today), gates=FeatureGates()))
    (finding,) = found.findings
    assert (finding.path, finding.remedy) == (
        "predicates[0].name",
        f"write {' and '.join(today)}",
    )
    with pytest.raises(ConfigurationError, match=f'predicate type not found for "{old}"'):
        load_file(policy(old), takes_old=False, gates=FeatureGates())


def test_the_two_halves_of_the_general_predicates_are_all_of_them() -> None:
    halves = load_file(
        policy(*ESSENTIAL_PREDICATES, *NON_CRITICAL_PREDICATES), gates=FeatureGates()
    )
    assert set(filters(halves)) == set(
        filters(load_file(policy("GeneralPredicates"), gates=FeatureGates()))
    )


def test_every_old_predicate_stands_for_one_that_exists() -> None:
    assert {name for names in OLD_PREDICATES.values() for name in names} <= {
        *PREDICATES,
        *COVERED_BY_TAINTS,
    }
    assert not OLD_PREDICATES.keys() & {*PREDICATES, *COVERED_BY_TAINTS}


def test_with_an_argument_any_name_is_a_custom_predicate() -> None:
    argument = {"labelsPresence": {"labels": ["zone"], "presence": True}}
    found = load_file(
        policy(predicates=[{"name": "PodFitsHost", "argument": argument}]), gates=FeatureGates()
    )
    assert not found.findings
    assert "NodeLabel" in filters(found)
    assert "NodeName" not in filters(found)


def test_a_ratio_without_an_argument_has_the_shape_that_it_had() -> None:
    found = load_file(
        policy(priorities=[{"name": "RequestedToCapacityRatioPriority", "weight": 2}]),
        gates=FeatureGates(),
    )
    args: Any = found.profiles[0].plugin_args["RequestedToCapacityRatio"]
    assert [(point.utilization, point.score) for point in args.shape] == [(0, 10), (100, 0)]
    assert found.findings[0].path == "priorities[0].name"


def test_a_slip_of_the_pen_is_refused() -> None:
    with pytest.raises(ConfigurationError, match='predicate type not found for "PodFitHost"'):
        load_file(policy("PodFitHost"), gates=FeatureGates())
