"""Every setting of a configuration file changes something that a test shows, or is documented as
having no effect.

A new field of the configuration's types fails here until it stands in `SHOWN_BY` with the test that
shows what it does, or among the settings without effect in the documentation.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from types import NoneType
from typing import Any, Final, get_args, get_origin

import msgspec
import pytest

import podium
from podium.golang.durations import Duration
from podium.kubernetes.kinds.meta import KubeStruct
from podium.scheduler.config.plugin_args import ARGS_KINDS
from podium.scheduler.config.types import ExtensionPoint, KubeSchedulerConfiguration, PluginConfig

ROOT: Final = Path(podium.__file__).parents[2]
CONFIGURATION: Final = ROOT / "docs" / "configuration.md"

POINT_ON: Final = (
    "scheduler/engine/test_settings_at_work.py"
    "::test_a_plugin_that_is_enabled_at_a_point_runs_there_alone"
)
POINT_OFF: Final = (
    "scheduler/engine/test_settings_at_work.py"
    "::test_a_plugin_of_all_points_does_not_run_where_it_is_disabled"
)
PERCENTAGE: Final = (
    "scheduler/engine/test_settings_at_work.py"
    "::test_a_search_ends_at_the_percentage_of_its_profile_or_else_of_the_file"
)
BACKOFF: Final = (
    "scheduler/engine/test_settings_at_work.py::test_backoff_begins_and_ends_where_the_file_says"
)
NAMED_LEASE: Final = (
    "e2e/test_settings_process.py::test_the_server_and_the_lease_are_those_that_the_file_names"
)
HEADER: Final = "scheduler/config/test_load.py::test_another_kind_of_document_is_refused"
RATE: Final = "client/test_rate_limit.py::test_a_burst_goes_at_once_and_the_rest_at_the_rate"
CLIENT_CERTIFICATE: Final = (
    "client/extenders/test_tls.py::test_a_client_certificate_is_presented_from_data_or_files"
)
ROOT_CERTIFICATES: Final = "client/extenders/test_tls.py::test_a_ca_comes_from_a_file_and_data_wins"
EXAMPLE_SCORES: Final = (
    "scheduler/plugins/test_resource_allocation.py::test_the_worked_examples_come_out"
)
CANDIDATES: Final = (
    "scheduler/engine/test_preemption_ranking.py::test_enough_candidates_end_the_search"
)
CAPACITY: Final = (
    "scheduler/plugins/volume_binding/test_capacity_scoring.py"
    "::test_columns_score_as_the_plan_of_each_node_does"
)

SHOWN_BY: Final[dict[str, str]] = {
    "apiVersion": HEADER,
    "kind": HEADER,
    "leaderElection.leaderElect": (
        "e2e/test_settings_process.py::test_no_lease_is_taken_where_nobody_is_to_be_elected"
    ),
    "leaderElection.leaseDuration": NAMED_LEASE,
    "leaderElection.renewDeadline": (
        "live/test_leader_election.py"
        "::test_requests_tell_the_server_half_the_renew_deadline_as_their_time"
    ),
    "leaderElection.retryPeriod": (
        "live/test_leader_election_renewals.py"
        "::test_a_leader_renews_with_one_request_every_retry_period"
    ),
    "leaderElection.resourceLock": (
        "scheduler/config/flags/test_client_settings.py::test_only_leases_are_locks"
    ),
    "leaderElection.resourceName": NAMED_LEASE,
    "leaderElection.resourceNamespace": NAMED_LEASE,
    "clientConnection.kubeconfig": NAMED_LEASE,
    "clientConnection.qps": RATE,
    "clientConnection.burst": RATE,
    "enableProfiling": (
        "e2e/test_settings_process.py::test_verbosity_can_be_set_only_where_profiling_is_on"
    ),
    "percentageOfNodesToScore": PERCENTAGE,
    "podInitialBackoffSeconds": BACKOFF,
    "podMaxBackoffSeconds": BACKOFF,
    "delayCacheUntilActive": (
        "e2e/test_settings_process.py"
        "::test_a_standby_follows_the_cluster_unless_its_cache_is_delayed"
    ),
    "profiles[].schedulerName": (
        "scheduler/engine/test_scheduler.py::test_each_pod_is_tried_by_the_profile_it_names"
    ),
    "profiles[].percentageOfNodesToScore": PERCENTAGE,
    "profiles[].pluginConfig[].name": (
        "testing/test_fake_cluster.py::test_arguments_reach_in_tree_plugins_too"
    ),
    "profiles[].pluginConfig[].args": (
        "testing/test_fake_cluster.py::test_arguments_reach_in_tree_plugins_too"
    ),
    **{f"profiles[].plugins.{point}.enabled[].name": POINT_ON for point in ExtensionPoint},
    **{f"profiles[].plugins.{point}.disabled[].name": POINT_OFF for point in ExtensionPoint},
    "profiles[].plugins.multiPoint.enabled[].name": POINT_OFF,
    "profiles[].plugins.multiPoint.disabled[].name": (
        "scheduler/engine/test_settings_at_work.py::test_a_plugin_that_is_disabled_at_all_points_runs_nowhere"
    ),
    "profiles[].plugins.multiPoint.enabled[].weight": (
        "testing/test_fake_cluster.py::test_weights_are_those_that_are_given"
    ),
    "profiles[].plugins.score.enabled[].weight": (
        "scheduler/framework/test_profile.py::test_a_missing_weight_is_one"
    ),
    "profiles[].plugins.placementScore.enabled[].weight": (
        "scheduler/framework/test_placements.py::test_scores_are_weighted_and_added_up"
    ),
    "extenders[].urlPrefix": "client/extenders/test_client.py::test_the_verb_follows_the_prefix",
    "extenders[].filterVerb": (
        "scheduler/engine/test_extenders_filter.py"
        "::test_an_extender_without_a_filter_verb_is_not_asked_to_filter"
    ),
    "extenders[].preemptVerb": (
        "scheduler/engine/test_extenders_preempt.py"
        "::test_only_interested_extenders_with_a_verb_are_asked_and_in_order"
    ),
    "extenders[].prioritizeVerb": (
        "scheduler/engine/test_extenders_prioritize.py"
        "::test_without_a_verb_an_interested_extender_adds_nothing_and_is_not_asked"
    ),
    "extenders[].bindVerb": (
        "scheduler/engine/test_extenders_bind.py::test_only_an_interested_extender_with_a_verb_binds"
    ),
    "extenders[].weight": (
        "scheduler/engine/test_extenders_prioritize.py::test_scores_count_ten_times_and_by_weight"
    ),
    "extenders[].enableHTTPS": (
        "client/extenders/test_tls.py::test_without_a_ca_https_is_not_verified_if_it_is_enabled"
    ),
    "extenders[].httpTimeout": (
        "faults/test_extender_cycles.py::test_a_fault_fails_the_attempt_and_no_other_pod"
    ),
    "extenders[].nodeCacheCapable": (
        "client/extenders/test_client.py::test_names_only_requests_have_no_objects"
    ),
    "extenders[].ignorable": (
        "scheduler/engine/test_extenders_filter.py"
        "::test_an_error_that_may_be_ignored_leaves_the_list_as_it_is"
    ),
    "extenders[].managedResources[].name": (
        "scheduler/engine/test_extenders_filter.py"
        "::test_managed_resources_say_which_pods_an_extender_hears_of"
    ),
    "extenders[].managedResources[].ignoredByScheduler": (
        "scheduler/engine/test_settings_at_work.py"
        "::test_a_resource_that_an_extender_accounts_for_is_not_looked_for_on_nodes"
    ),
    "extenders[].tlsConfig.insecure": "client/extenders/test_tls.py::test_insecure_trusts_anyone",
    "extenders[].tlsConfig.serverName": (
        "client/extenders/test_tls.py::test_the_server_name_is_asked_for_and_verified"
    ),
    "extenders[].tlsConfig.certFile": CLIENT_CERTIFICATE,
    "extenders[].tlsConfig.keyFile": CLIENT_CERTIFICATE,
    "extenders[].tlsConfig.certData": CLIENT_CERTIFICATE,
    "extenders[].tlsConfig.keyData": CLIENT_CERTIFICATE,
    "extenders[].tlsConfig.caFile": ROOT_CERTIFICATES,
    "extenders[].tlsConfig.caData": ROOT_CERTIFICATES,
    "DefaultPreemptionArgs.minCandidateNodesPercentage": CANDIDATES,
    "DefaultPreemptionArgs.minCandidateNodesAbsolute": CANDIDATES,
    "DynamicResourcesArgs.filterTimeout": (
        "scheduler/engine/test_settings_at_work.py::test_a_search_for_devices_ends_with_its_timeout"
    ),
    "DynamicResourcesArgs.bindingTimeout": (
        "scheduler/plugins/dynamic_resources/test_claim_writing.py"
        "::test_devices_that_take_too_long_fail_the_binding"
    ),
    "DynamicResourcesArgs.scoringStrategy.type": (
        "scheduler/plugins/dynamic_resources/test_device_strategy.py"
        "::test_nodes_are_told_apart_by_how_many_devices_are_left"
    ),
    "DynamicResourcesArgs.scoringStrategy.locality[].attribute": (
        "scheduler/plugins/dynamic_resources/test_device_strategy.py"
        "::test_nodes_are_told_apart_by_how_many_pairs_of_devices_lie_together"
    ),
    "DynamicResourcesArgs.scoringStrategy.locality[].nodeLabel": (
        "scheduler/plugins/dynamic_resources/test_device_strategy.py"
        "::test_pods_of_a_workload_go_near_those_that_have_devices_already"
    ),
    "DynamicResourcesArgs.scoringStrategy.locality[].weight": (
        "scheduler/plugins/dynamic_resources/test_device_strategy.py"
        "::test_places_and_a_type_count_by_their_weights"
    ),
    "InterPodAffinityArgs.hardPodAffinityWeight": (
        "scheduler/plugins/test_affinity_scoring.py"
        "::test_required_affinity_of_others_draws_the_pod_with_the_configured_weight"
    ),
    "InterPodAffinityArgs.ignorePreferredTermsOfExistingPods": (
        "scheduler/plugins/test_affinity_scoring.py"
        "::test_preferences_of_others_are_ignored_only_for_pods_without_their_own"
    ),
    "NodeAffinityArgs.addedAffinity": (
        "scheduler/plugins/test_node_affinity.py::test_what_a_profile_adds_is_never_skipped"
    ),
    "NodeResourcesBalancedAllocationArgs.resources[].name": (
        "scheduler/plugins/test_node_resources_balanced_allocation.py"
        "::test_columns_score_as_node_by_node_books_do"
    ),
    "NodeResourcesBalancedAllocationArgs.resources[].weight": (
        "scheduler/config/test_plugin_args.py::test_values_out_of_bounds_are_refused"
    ),
    "NodeResourcesFitArgs.ignoredResources[]": (
        "scheduler/plugins/test_node_resources_fit.py::test_only_extended_resources_can_be_ignored"
    ),
    "NodeResourcesFitArgs.ignoredResourceGroups[]": (
        "scheduler/plugins/test_node_resources_fit.py::test_only_extended_resources_can_be_ignored"
    ),
    "NodeResourcesFitArgs.scoringStrategy.type": EXAMPLE_SCORES,
    "NodeResourcesFitArgs.scoringStrategy.resources[].name": EXAMPLE_SCORES,
    "NodeResourcesFitArgs.scoringStrategy.resources[].weight": EXAMPLE_SCORES,
    "NodeResourcesFitArgs.scoringStrategy.requestedToCapacityRatio.shape[].utilization": (
        EXAMPLE_SCORES
    ),
    "NodeResourcesFitArgs.scoringStrategy.requestedToCapacityRatio.shape[].score": EXAMPLE_SCORES,
    "PodTopologySpreadArgs.defaultConstraints[]": (
        "scheduler/plugins/test_pod_topology_spread.py"
        "::test_own_constraints_shut_out_defaults_of_another_action"
    ),
    "PodTopologySpreadArgs.defaultingType": (
        "scheduler/plugins/test_pod_topology_spread.py"
        "::test_listed_defaults_leave_out_nodes_without_a_key_unlike_system_defaults"
    ),
    "VolumeBindingArgs.bindTimeoutSeconds": (
        "scheduler/plugins/volume_binding/test_volume_writing.py::test_prebind_gives_up_when_the_time_is_over"
    ),
    "VolumeBindingArgs.shape[].utilization": CAPACITY,
    "VolumeBindingArgs.shape[].score": CAPACITY,
}
"""The setting, as a path of the file, and under `tests` the test that shows what it changes."""


def settings() -> list[str]:
    """The path of every value that a file may have; what the API has types for is one value."""
    found = list(_paths(KubeSchedulerConfiguration, ""))
    for kind in ARGS_KINDS.values():
        found += _paths(kind, f"{kind.__name__}")
    return found


def _paths(kind: Any, path: str) -> Iterator[str]:
    if get_origin(kind) is tuple:
        yield from _paths(get_args(kind)[0], f"{path}[]")
    elif parts := [part for part in get_args(kind) if part is not NoneType and _nested(part)]:
        yield from _paths(parts[0], path)
    elif _nested(kind):
        for field in msgspec.structs.fields(kind):
            at = f"{path}.{field.encode_name}" if path else field.encode_name
            yield from [at] if kind is PluginConfig else _paths(field.type, at)
    else:
        yield path


def _nested(kind: Any) -> bool:
    """Whether it has settings of its own."""
    if get_origin(kind) is tuple:
        return True
    of_file = isinstance(kind, type) and issubclass(kind, msgspec.Struct)
    return of_file and not issubclass(kind, KubeStruct) and kind is not Duration


def without_effect() -> set[str]:
    """What the documentation lists as such; `POINT` stands for any extension point."""
    text = CONFIGURATION.read_text()
    section = text.split("## Settings without effect", 1)[1].split("\n## ", 1)[0]
    return {
        name
        for row in section.splitlines()
        if row.startswith("| `")
        for name in re.findall(r"`([^`]+)`", row.split("|")[1])
    }


def test_there_are_settings_to_look_at() -> None:
    assert len(settings()) > 100


@pytest.mark.parametrize("setting", settings())
def test_a_setting_is_shown_at_work_or_documented_as_having_no_effect(setting: str) -> None:
    written = re.sub(r"plugins\.\w+\.", "plugins.POINT.", setting)
    assert setting in SHOWN_BY or written in without_effect()


@pytest.mark.parametrize("test", sorted(set(SHOWN_BY.values())))
def test_what_shows_a_setting_is_a_test(test: str) -> None:
    file, _, name = test.partition("::")
    assert re.search(rf"^def {name}\(", (ROOT / "tests" / file).read_text(), re.MULTILINE)


def test_nothing_is_shown_that_is_no_setting() -> None:
    assert set(SHOWN_BY) <= set(settings())


def test_nothing_is_documented_as_having_no_effect_that_has_one() -> None:
    assert not without_effect() & set(SHOWN_BY)
