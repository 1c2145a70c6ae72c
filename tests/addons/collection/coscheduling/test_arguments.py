"""Arguments of all versions, and the promises that the plugin makes to the framework."""

from pathlib import Path

import pytest
import yaml
from support.addons.collection.gang_cluster import member

from podium.addons.collection.coscheduling.gangs import (
    POD_GROUPS,
    CoschedulingArgs,
    pod_group_definition,
)
from podium.addons.collection.coscheduling.plugin import Coscheduling
from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.scheduler.config.errors import ConfigurationError
from podium.scheduler.config.load import load_configuration
from podium.scheduler.config.plugin_args import RawArgs
from podium.scheduler.framework.registry import ArgumentsError, arguments_of
from podium.testing import assert_promises

GROUP = "kubescheduler.config.k8s.io"


@pytest.mark.parametrize("version", ["v1beta1", "v1beta2", "v1beta3", "v1"])
def test_arguments_of_every_version_are_taken(version: str) -> None:
    written = {
        "apiVersion": f"{GROUP}/{version}",
        "kind": "CoschedulingArgs",
        "permitWaitingTimeSeconds": 10,
        "deniedPGExpirationTimeSeconds": 3,
        "kubeMaster": "",
        "kubeConfigPath": "/etc/kubernetes/scheduler.conf",
        "podGroupBackoffSeconds": 5,
        "podGroupRejectPercentage": 20,
    }
    args: CoschedulingArgs = arguments_of(Coscheduling, RawArgs(written))
    assert (args.wait_s, args.denied_pg_expiration_time_seconds) == (10, 3)
    assert (args.pod_group_backoff_seconds, args.pod_group_reject_percentage) == (5, 20)


def test_without_arguments_there_are_defaults_and_a_wait_of_zero_is_a_minute() -> None:
    args: CoschedulingArgs = arguments_of(Coscheduling, None)
    assert args == CoschedulingArgs(60, 0, 10, None)
    assert CoschedulingArgs(permit_waiting_time_seconds=0).wait_s == 60


@pytest.mark.parametrize(
    ("written", "path"),
    [
        ({"permitWaitingTimeSeconds": -1}, "args.permitWaitingTimeSeconds"),
        ({"podGroupBackoffSeconds": -1}, "args.podGroupBackoffSeconds"),
        ({"podGroupRejectPercentage": 101}, "args.podGroupRejectPercentage"),
        ({"deniedPGExpirationTimeSeconds": "3s"}, "args.deniedPGExpirationTimeSeconds"),
        ({"permitWaitingTime": 1}, "args.permitWaitingTime"),
        ({"kind": "OtherArgs"}, "args"),
        ({"apiVersion": f"{GROUP}/v2"}, "args"),
    ],
)
def test_arguments_that_make_no_sense_are_refused_with_their_place(
    written: dict[str, object], path: str
) -> None:
    with pytest.raises(ArgumentsError) as refused:
        arguments_of(Coscheduling, RawArgs(written))
    assert refused.value.path == path


def test_two_profiles_with_other_queue_orders_are_refused() -> None:
    own = {"queueSort": {"enabled": [{"name": "Coscheduling"}], "disabled": [{"name": "*"}]}}
    with pytest.raises(ConfigurationError, match="must be the same for all profiles"):
        load_configuration(
            {
                "apiVersion": f"{GROUP}/v1",
                "kind": "KubeSchedulerConfiguration",
                "profiles": [
                    {"schedulerName": "a", "plugins": own},
                    {"schedulerName": "b"},
                ],
            },
            gates=FeatureGates(),
        )


def test_the_plugin_keeps_its_promises() -> None:
    assert_promises(Coscheduling, pods=[member("g-0"), member("g-1")])


def test_the_definition_for_clusters_of_others_is_the_one_that_podium_installs() -> None:
    path = Path(__file__).parents[4] / "examples" / "coscheduling" / "crd.yaml"
    assert yaml.safe_load(path.read_text()) == pod_group_definition()
    assert POD_GROUPS.event_resource == "podgroups.v1alpha1.scheduling.x-k8s.io"
