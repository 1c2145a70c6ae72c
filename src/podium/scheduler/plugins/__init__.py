"""The in-tree plugins, a file or a folder each, and the registry that knows them by name.

A plugin of several files is a folder: the plugin itself is in its `plugin.py`. What several plugins
ask stands by topic: `resources`, `topology`, `volumes`. Scorers that only old configurations name
share `legacy_scorers.py`.

`IN_TREE` are the plugins of 1.36, `LEGACY` the names of those that kube-scheduler has given up and
that old configurations and Policy files still name; these are loaded when one of them is named.
"""

from typing import Final

from podium.scheduler.framework.points import Plugin
from podium.scheduler.framework.registry import LatePlugins, PluginRegistry
from podium.scheduler.plugins.default_binder import DefaultBinder
from podium.scheduler.plugins.default_preemption import DefaultPreemption
from podium.scheduler.plugins.dynamic_resources import DynamicResources
from podium.scheduler.plugins.gang_scheduling import GangScheduling
from podium.scheduler.plugins.image_locality import ImageLocality
from podium.scheduler.plugins.inter_pod_affinity import InterPodAffinity
from podium.scheduler.plugins.node_affinity import NodeAffinity
from podium.scheduler.plugins.node_declared_features import NodeDeclaredFeatures
from podium.scheduler.plugins.node_name import NodeName
from podium.scheduler.plugins.node_ports import NodePorts
from podium.scheduler.plugins.node_resources_balanced_allocation import (
    NodeResourcesBalancedAllocation,
)
from podium.scheduler.plugins.node_resources_fit import NodeResourcesFit
from podium.scheduler.plugins.node_unschedulable import NodeUnschedulable
from podium.scheduler.plugins.node_volume_limits import NodeVolumeLimits
from podium.scheduler.plugins.pod_group_pods_count import PodGroupPodsCount
from podium.scheduler.plugins.pod_topology_spread import PodTopologySpread
from podium.scheduler.plugins.priority_sort import PrioritySort
from podium.scheduler.plugins.scheduling_gates import SchedulingGates
from podium.scheduler.plugins.taint_toleration import TaintToleration
from podium.scheduler.plugins.topology_placement_generator import TopologyPlacementGenerator
from podium.scheduler.plugins.volume_binding import VolumeBinding
from podium.scheduler.plugins.volume_restrictions import VolumeRestrictions
from podium.scheduler.plugins.volume_zone import VolumeZone

IN_TREE = (
    SchedulingGates,
    PrioritySort,
    NodeUnschedulable,
    NodeName,
    TaintToleration,
    NodeAffinity,
    NodePorts,
    NodeResourcesFit,
    VolumeRestrictions,
    NodeVolumeLimits,
    VolumeBinding,
    VolumeZone,
    PodTopologySpread,
    InterPodAffinity,
    DynamicResources,
    DefaultPreemption,
    NodeResourcesBalancedAllocation,
    ImageLocality,
    DefaultBinder,
    NodeDeclaredFeatures,
    GangScheduling,
    TopologyPlacementGenerator,
    PodGroupPodsCount,
)

LEGACY: Final = (
    "NodeResourcesLeastAllocated",
    "NodeResourcesMostAllocated",
    "RequestedToCapacityRatio",
    "NodePreferAvoidPods",
    "NodeResourceLimits",
    "SelectorSpread",
    "NodeLabel",
    "ServiceAffinity",
    "EBSLimits",
    "GCEPDLimits",
    "AzureDiskLimits",
    "CinderLimits",
)


def in_tree_registry() -> PluginRegistry:
    return PluginRegistry(IN_TREE, LatePlugins(LEGACY, _load_legacy))


def _load_legacy() -> tuple[type[Plugin], ...]:
    from podium.scheduler.plugins.legacy_scorers import (
        NodePreferAvoidPods,
        NodeResourceLimits,
        NodeResourcesLeastAllocated,
        NodeResourcesMostAllocated,
        RequestedToCapacityRatio,
        SelectorSpread,
    )
    from podium.scheduler.plugins.legacy_volume_limits import (
        AzureDiskLimits,
        CinderLimits,
        EBSLimits,
        GCEPDLimits,
    )
    from podium.scheduler.plugins.node_label import NodeLabel
    from podium.scheduler.plugins.service_affinity import ServiceAffinity

    return (
        NodeResourcesLeastAllocated,
        NodeResourcesMostAllocated,
        RequestedToCapacityRatio,
        NodePreferAvoidPods,
        NodeResourceLimits,
        SelectorSpread,
        NodeLabel,
        ServiceAffinity,
        EBSLimits,
        GCEPDLimits,
        AzureDiskLimits,
        CinderLimits,
    )
