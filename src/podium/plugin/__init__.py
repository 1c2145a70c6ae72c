"""Everything that plugins are written with, under one name.

A plugin imports from here and from nowhere else in Podium; what is listed stays where it is from
release to release (`tests/test_plugin_surface.py` pins it). Podium's own plugins (`podium.addons`)
are held to that by an import contract, so whatever they need is here; `podium.plugin.preemption`
has what plugins that change preemption build on. How to write one: docs/plugins.md.

    from podium.plugin import NodeFilterPlugin, NodeView, Pod

    class NoTestPods(NodeFilterPlugin):
        name = "NoTestPods"

        def filter_node(self, pod: Pod, node: NodeView) -> str | None:
            is_test = pod.metadata.name.startswith("test-")
            return "node(s) were for production" if is_test and "prod" in node.labels else None
"""

from podium.kubernetes.kinds.meta import KubeObject, KubeStruct, ObjectMeta
from podium.kubernetes.kinds.node import Node, NodeSpec, NodeStatus
from podium.kubernetes.kinds.pod import Container, Pod, PodSpec, PodStatus
from podium.kubernetes.kinds.pod_groups import PodGroup
from podium.kubernetes.rules.nodes import canonical_image
from podium.scheduler.cluster.catalog import PodIndex
from podium.scheduler.cluster.growth import (
    ChangeLog,
    Interner,
    Ints,
    Mask,
    Rows,
    count_of,
    indices,
)
from podium.scheduler.cluster.nodes import CPU, MEMORY, LabelColumn, NodeTable
from podium.scheduler.cluster.pod_info import PodInfo, PodShape, uid_of
from podium.scheduler.cluster.state import Cluster
from podium.scheduler.cluster.usage import Usage
from podium.scheduler.config.flags.client_settings import ClientSettings
from podium.scheduler.config.kubeconfig import ClusterEntry
from podium.scheduler.config.plugin_args import NodeResourcesFitArgs
from podium.scheduler.framework.cycle import Assignments, Cycle, Placement, PodGroupCycle
from podium.scheduler.framework.dependence import Demand, Dependence, PlacementLimits, SpreadLimit
from podium.scheduler.framework.diagnosis import Diagnosis, Verdict, choosing, per_row, rejecting
from podium.scheduler.framework.events import Action, Registration, Resource, WatchedKind
from podium.scheduler.framework.explanations.finding import (
    Finding,
    Narrowing,
    NodeRequirement,
    Relaxation,
    Restated,
)
from podium.scheduler.framework.explanations.situation import AttemptView, Situation
from podium.scheduler.framework.faults import WrongAnswer
from podium.scheduler.framework.filtering import tell_extensions
from podium.scheduler.framework.handle import (
    ApiCallFailed,
    ApiHandle,
    CounterMetric,
    DeferredWrite,
    GaugeMetric,
    Handle,
    ObjectConflict,
    ObjectExists,
    ObjectNotFound,
    PluginMetric,
)
from podium.scheduler.framework.log import Log, ObjectRef, pod_ref
from podium.scheduler.framework.node_form import NodeFilterPlugin, NodeScorePlugin, NodeView
from podium.scheduler.framework.plugin import ChangeKind, ProposedChange, RefusalCause
from podium.scheduler.framework.points import (
    Arguments,
    BindPlugin,
    FilterPlugin,
    GroupTrial,
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
from podium.scheduler.framework.queued import QueuedPod, WaitingPod
from podium.scheduler.framework.registry import ArgumentsError
from podium.scheduler.framework.scoring import default_normalize
from podium.scheduler.framework.sources import Floats, Source, SourceColumn, Sources, ValueSource
from podium.scheduler.framework.status import (
    SKIP,
    Code,
    Status,
    error,
    unresolvable,
    unschedulable,
)

__all__ = [
    "CPU",
    "MEMORY",
    "SKIP",
    "Action",
    "ApiCallFailed",
    "ApiHandle",
    "Arguments",
    "ArgumentsError",
    "Assignments",
    "AttemptView",
    "BindPlugin",
    "ChangeKind",
    "ChangeLog",
    "ClientSettings",
    "Cluster",
    "ClusterEntry",
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
    "GroupTrial",
    "Handle",
    "Interner",
    "Ints",
    "KubeObject",
    "KubeStruct",
    "LabelColumn",
    "Log",
    "Mask",
    "Narrowing",
    "Node",
    "NodeFilterPlugin",
    "NodeRequirement",
    "NodeResourcesFitArgs",
    "NodeScorePlugin",
    "NodeSpec",
    "NodeStatus",
    "NodeTable",
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
    "PodShape",
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
    "Usage",
    "ValueSource",
    "Verdict",
    "WaitingPod",
    "WatchedKind",
    "WrongAnswer",
    "canonical_image",
    "choosing",
    "count_of",
    "default_normalize",
    "error",
    "indices",
    "per_row",
    "pod_ref",
    "rejecting",
    "tell_extensions",
    "uid_of",
    "unresolvable",
    "unschedulable",
]
