"""What plugin authors import: a promise from release to release."""

import inspect

import podium.plugin
import podium.plugin.preemption
from podium.scheduler.framework.points import POINTS

SURFACE = {
    "Action", "ApiCallFailed", "ApiHandle", "Assignments", "BindPlugin", "ChangeKind",
    "ClientSettings", "Cluster", "Code", "Container", "CounterMetric", "Cycle", "DeferredWrite",
    "Demand", "Dependence",
    "Diagnosis", "FilterPlugin", "Floats", "GaugeMetric", "Handle", "Ints", "KubeObject",
    "KubeStruct", "Log",
    "Node", "NodeFilterPlugin", "NodeScorePlugin", "NodeSpec", "NodeStatus", "NodeView",
    "ObjectConflict", "ObjectExists", "ObjectMeta", "ObjectNotFound", "ObjectRef", "PermitPlugin",
    "PermitResult", "Placement", "PlacementGeneratePlugin", "PlacementLimits",
    "PlacementScorePlugin", "Plugin",
    "PluginMetric", "Pod", "PodGroup",
    "PodGroupCycle", "PodIndex", "PodInfo", "PodSpec", "PodStatus", "PostBindPlugin",
    "PostFilterPlugin", "PostFilterResult", "PreBindPlugin", "PreEnqueuePlugin",
    "PreFilterExtensions", "PreFilterPlugin", "PreFlight", "PreScorePlugin", "QueueSortPlugin",
    "ProposedChange", "QueuedPod", "RefusalCause", "Registration", "ReservePlugin", "Resource",
    "Rows", "SKIP", "ScorePlugin", "Source", "SourceColumn", "Sources", "SpreadLimit", "Status",
    "ValueSource",
    "AttemptView", "Finding", "Narrowing", "NodeRequirement", "Relaxation", "Restated",
    "Situation",
    "Verdict", "WaitingPod", "WatchedKind", "choosing", "error", "indices", "per_row", "pod_ref",
    "rejecting", "unresolvable", "unschedulable",
    "Arguments", "ArgumentsError", "CPU", "ChangeLog", "ClusterEntry", "GroupTrial", "Interner",
    "LabelColumn", "MEMORY", "Mask", "NodeResourcesFitArgs", "NodeTable", "PodShape", "Usage",
    "WrongAnswer", "canonical_image", "count_of", "default_normalize", "tell_extensions", "uid_of",
}  # fmt: skip

PREEMPTION = {
    "Candidate", "DefaultPreemption", "DefaultPreemptionArgs", "Unit", "VictimRules",
    "args_problems", "importance", "rank", "select_victims", "split_by_budget", "weaker_than",
}  # fmt: skip


def test_what_plugins_import_is_there_and_stays() -> None:
    assert set(podium.plugin.__all__) == SURFACE
    assert all(hasattr(podium.plugin, name) for name in SURFACE)


def test_what_plugins_of_preemption_import_is_there_and_stays() -> None:
    assert set(podium.plugin.preemption.__all__) == PREEMPTION
    assert all(hasattr(podium.plugin.preemption, name) for name in PREEMPTION)


def test_every_extension_point_of_configuration_files_is_among_it() -> None:
    shown = {value for _, value in inspect.getmembers(podium.plugin, inspect.isclass)}

    assert set(POINTS.values()) <= shown
