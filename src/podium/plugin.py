"""Everything that plugins are written with, under one name.

A plugin imports from here and from nowhere else in Podium; what is listed stays where it is from
release to release (`tests/test_plugin_surface.py` pins it). How to write one: docs/plugins.md.

    from podium.plugin import NodeFilterPlugin, NodeView, Pod

    class NoTestPods(NodeFilterPlugin):
        name = "NoTestPods"

        def filter_node(self, pod: Pod, node: NodeView) -> str | None:
            is_test = pod.metadata.name.startswith("test-")
            return "node(s) were for production" if is_test and "prod" in node.labels else None
"""

from podium.cluster.growth import Ints, Rows, indices
from podium.cluster.known_pods import PodIndex
from podium.cluster.pod_info import PodInfo
from podium.cluster.state import Cluster
from podium.config.flags.client_settings import ClientSettings
from podium.framework.api_handle import (
    ApiCallFailed,
    ApiHandle,
    DeferredWrite,
    ObjectConflict,
    ObjectExists,
    ObjectNotFound,
)
from podium.framework.cycle import Cycle
from podium.framework.dependence import Dependence
from podium.framework.diagnosis import Diagnosis
from podium.framework.events import Action, Registration, Resource
from podium.framework.explanations.attempt_view import AttemptView
from podium.framework.explanations.finding import (
    Finding,
    Narrowing,
    NodeRequirement,
    Relaxation,
    Restated,
)
from podium.framework.explanations.situation import Situation
from podium.framework.handle import Handle
from podium.framework.log import Log, ObjectRef, pod_ref
from podium.framework.node_form import NodeFilterPlugin, NodeScorePlugin, NodeView
from podium.framework.placement_limits import Demand, PlacementLimits, SpreadLimit
from podium.framework.plugin_metrics import CounterMetric, GaugeMetric, PluginMetric
from podium.framework.pod_group_cycle import Assignments, Placement, PodGroupCycle
from podium.framework.points import (
    BindPlugin,
    FilterPlugin,
    PermitPlugin,
    PermitResult,
    PlacementGeneratePlugin,
    PlacementScorePlugin,
    Plugin,
    PostBindPlugin,
    PostFilterPlugin,
    PostFilterResult,
    PreBindPlugin,
    PreEnqueuePlugin,
    PreFilterExtensions,
    PreFilterPlugin,
    PreFlight,
    PreScorePlugin,
    QueueSortPlugin,
    ReservePlugin,
    ScorePlugin,
)
from podium.framework.proposed_change import ChangeKind, ProposedChange
from podium.framework.queued import QueuedPod
from podium.framework.refusal_cause import RefusalCause
from podium.framework.sources import Floats, Source, SourceColumn, Sources, ValueSource
from podium.framework.status import (
    SKIP,
    Code,
    Status,
    error,
    unresolvable,
    unschedulable,
)
from podium.framework.verdict import Verdict, choosing, per_row, rejecting
from podium.framework.waiting import WaitingPod
from podium.framework.watched_kind import WatchedKind
from podium.kubernetes.kinds.meta import KubeObject, KubeStruct, ObjectMeta
from podium.kubernetes.kinds.node import Node, NodeSpec, NodeStatus
from podium.kubernetes.kinds.pod import Container, Pod, PodSpec, PodStatus
from podium.kubernetes.kinds.pod_groups import PodGroup

__all__ = [
    "SKIP",
    "Action",
    "ApiCallFailed",
    "ApiHandle",
    "Assignments",
    "AttemptView",
    "BindPlugin",
    "ChangeKind",
    "ClientSettings",
    "Cluster",
    "Code",
    "Container",
    "CounterMetric",
    "Cycle",
    "DeferredWrite",
    "Demand",
    "Dependence",
    "Diagnosis",
    "FilterPlugin",
    "Finding",
    "Floats",
    "GaugeMetric",
    "Handle",
    "Ints",
    "KubeObject",
    "KubeStruct",
    "Log",
    "Narrowing",
    "Node",
    "NodeFilterPlugin",
    "NodeRequirement",
    "NodeScorePlugin",
    "NodeSpec",
    "NodeStatus",
    "NodeView",
    "ObjectConflict",
    "ObjectExists",
    "ObjectMeta",
    "ObjectNotFound",
    "ObjectRef",
    "PermitPlugin",
    "PermitResult",
    "Placement",
    "PlacementGeneratePlugin",
    "PlacementLimits",
    "PlacementScorePlugin",
    "Plugin",
    "PluginMetric",
    "Pod",
    "PodGroup",
    "PodGroupCycle",
    "PodIndex",
    "PodInfo",
    "PodSpec",
    "PodStatus",
    "PostBindPlugin",
    "PostFilterPlugin",
    "PostFilterResult",
    "PreBindPlugin",
    "PreEnqueuePlugin",
    "PreFilterExtensions",
    "PreFilterPlugin",
    "PreFlight",
    "PreScorePlugin",
    "ProposedChange",
    "QueueSortPlugin",
    "QueuedPod",
    "RefusalCause",
    "Registration",
    "Relaxation",
    "ReservePlugin",
    "Resource",
    "Restated",
    "Rows",
    "ScorePlugin",
    "Situation",
    "Source",
    "SourceColumn",
    "Sources",
    "SpreadLimit",
    "Status",
    "ValueSource",
    "Verdict",
    "WaitingPod",
    "WatchedKind",
    "choosing",
    "error",
    "indices",
    "per_row",
    "pod_ref",
    "rejecting",
    "unresolvable",
    "unschedulable",
]
