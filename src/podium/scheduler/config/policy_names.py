"""The names that Policy files use, and the plugins that stand for them.

Predicates are evaluated in the order of `PREDICATES`, whatever the order in the file. Sources:
`pkg/scheduler/framework/plugins/legacy_registry.go` at v1.22.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, NamedTuple


class PredicatePlugins(NamedTuple):
    """The plugins that a predicate enables at each point."""

    filter: tuple[str, ...]
    pre_filter: tuple[str, ...] = ()
    reserve: tuple[str, ...] = ()
    pre_bind: tuple[str, ...] = ()


def _both(name: str) -> PredicatePlugins:
    return PredicatePlugins((name,), (name,))


PREDICATES: Final = {
    "CheckNodeUnschedulable": PredicatePlugins(("NodeUnschedulable",)),
    "GeneralPredicates": PredicatePlugins(
        ("NodeResourcesFit", "NodeName", "NodePorts", "NodeAffinity"),
        ("NodeResourcesFit", "NodePorts", "NodeAffinity"),
    ),
    "HostName": PredicatePlugins(("NodeName",)),
    "PodFitsHostPorts": _both("NodePorts"),
    "MatchNodeSelector": _both("NodeAffinity"),
    "PodFitsResources": _both("NodeResourcesFit"),
    "NoDiskConflict": PredicatePlugins(("VolumeRestrictions",)),
    "PodToleratesNodeTaints": PredicatePlugins(("TaintToleration",)),
    "CheckNodeLabelPresence": PredicatePlugins(("NodeLabel",)),
    "CheckServiceAffinity": _both("ServiceAffinity"),
    "MaxEBSVolumeCount": PredicatePlugins(("EBSLimits",)),
    "MaxGCEPDVolumeCount": PredicatePlugins(("GCEPDLimits",)),
    "MaxCSIVolumeCountPred": PredicatePlugins(("NodeVolumeLimits",)),
    "MaxAzureDiskVolumeCount": PredicatePlugins(("AzureDiskLimits",)),
    "MaxCinderVolumeCount": PredicatePlugins(("CinderLimits",)),
    "CheckVolumeBinding": PredicatePlugins(
        ("VolumeBinding",), ("VolumeBinding",), ("VolumeBinding",), ("VolumeBinding",)
    ),
    "NoVolumeZoneConflict": PredicatePlugins(("VolumeZone",)),
    "EvenPodsSpread": _both("PodTopologySpread"),
    "MatchInterPodAffinity": _both("InterPodAffinity"),
}
# Registered names that still take an argument.
_CUSTOM_PREDICATES: Final = ("CheckNodeLabelPresence", "CheckServiceAffinity")
_CUSTOM_PRIORITIES: Final = ("NodeLabel", "RequestedToCapacityRatio", "ServiceAffinity")
MANDATORY_PREDICATES: Final = ("PodToleratesNodeTaints", "CheckNodeUnschedulable")
DEFAULT_PREDICATES: Final = (
    "NoVolumeZoneConflict",
    "MaxEBSVolumeCount",
    "MaxGCEPDVolumeCount",
    "MaxAzureDiskVolumeCount",
    "MaxCSIVolumeCountPred",
    "MatchInterPodAffinity",
    "NoDiskConflict",
    "GeneralPredicates",
    "CheckVolumeBinding",
    "EvenPodsSpread",
)
# A name that releases took for another, and those whose work the taints of node conditions do
# today.
PREDICATE_ALIASES: Final = {"PodFitsPorts": "PodFitsHostPorts"}
MEMORY_PRESSURE_PREDICATE: Final = "CheckNodeMemoryPressure"
COVERED_BY_TAINTS: Final = (
    "CheckNodeCondition",
    MEMORY_PRESSURE_PREDICATE,
    "CheckNodeDiskPressure",
    "CheckNodePIDPressure",
    "PodToleratesNodeNoExecuteTaints",
)

VOLUME_RULES: Final = "Volume Filtering Rules"
HOST_RULES: Final = "Host Filtering Rules"
POD_RULES: Final = "Pod Filtering Rules"
FILTER_GROUPS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "VolumeRestrictions": VOLUME_RULES,
        "VolumeZone": VOLUME_RULES,
        "EBSLimits": VOLUME_RULES,
        "GCEPDLimits": VOLUME_RULES,
        "AzureDiskLimits": VOLUME_RULES,
        "CinderLimits": VOLUME_RULES,
        "NodeVolumeLimits": VOLUME_RULES,
        "VolumeBinding": VOLUME_RULES,
        "TaintToleration": HOST_RULES,
        "NodeUnschedulable": HOST_RULES,
        "NodeLabel": HOST_RULES,
        "NodeName": POD_RULES,
        "NodePorts": POD_RULES,
        "NodeAffinity": POD_RULES,
        "NodeResourcesFit": POD_RULES,
        "InterPodAffinity": POD_RULES,
        "PodTopologySpread": POD_RULES,
        "ServiceAffinity": POD_RULES,
    }
)
"""The plugins behind predicates, in the groups in which texts of the time explain them."""
ESSENTIAL_PREDICATES: Final = ("HostName", "PodFitsHostPorts", "MatchNodeSelector")
NON_CRITICAL_PREDICATES: Final = ("PodFitsResources",)
"""The two halves of GeneralPredicates."""
OLD_PREDICATES: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        # Go's constants for the names.
        **{
            f"{name}Pred": (name,)
            for name in (*PREDICATES, *COVERED_BY_TAINTS)
            if not name.endswith(("Pred", "Predicates"))
        },
        "GeneralPred": ("GeneralPredicates",),
        # Go's functions, as articles print them.
        "EssentialPredicates": ESSENTIAL_PREDICATES,
        "noncriticalPredicates": NON_CRITICAL_PREDICATES,
        "NodeMemoryPressurePredicate": ("CheckNodeMemoryPressure",),
        "PodAffinityPredicate": ("MatchInterPodAffinity",),
        "PodFitsHost": ("HostName",),
        "PodSelectorMatches": ("MatchNodeSelector",),
        # Never registered so, and written down so in the reference of 1.18.
        "MaxCSIVolumeCount": ("MaxCSIVolumeCountPred",),
        # 1.7 to 1.9 had it; since then it is part of binding volumes.
        "NoVolumeNodeConflict": ("CheckVolumeBinding",),
    }
)
"""Names that no longer stand for a predicate, or never did, and what they meant."""

PRIORITIES: Final = {
    "BalancedResourceAllocation": "NodeResourcesBalancedAllocation",
    "EvenPodsSpreadPriority": "PodTopologySpread",
    "ImageLocalityPriority": "ImageLocality",
    "InterPodAffinityPriority": "InterPodAffinity",
    "LeastRequestedPriority": "NodeResourcesLeastAllocated",
    "MostRequestedPriority": "NodeResourcesMostAllocated",
    "NodeAffinityPriority": "NodeAffinity",
    "NodePreferAvoidPodsPriority": "NodePreferAvoidPods",
    # Gone before 1.22, and kept for older files.
    "ResourceLimitsPriority": "NodeResourceLimits",
    "SelectorSpreadPriority": "PodTopologySpread",
    "TaintTolerationPriority": "TaintToleration",
    # Custom priorities go by the names of their plugins.
    "NodeLabel": "NodeLabel",
    "RequestedToCapacityRatio": "RequestedToCapacityRatio",
    "ServiceAffinity": "ServiceAffinity",
}
SERVICE_SPREADING: Final = "ServiceSpreadingPriority"
PRIORITY_ALIASES: Final = {SERVICE_SPREADING: "SelectorSpreadPriority"}
EQUAL_PRIORITY: Final = "EqualPriority"
RATIO_PRIORITY: Final = "RequestedToCapacityRatioPriority"
"""1.11 to 1.17 had it with a shape of its own: the emptier, the better."""
PRE_SCORED: Final = ("InterPodAffinity", "NodeAffinity", "PodTopologySpread", "TaintToleration")
DEFAULT_PRIORITIES: Final = {
    "SelectorSpreadPriority": 1,
    "InterPodAffinityPriority": 1,
    "LeastRequestedPriority": 1,
    "BalancedResourceAllocation": 1,
    "NodePreferAvoidPodsPriority": 10000,
    "NodeAffinityPriority": 1,
    "TaintTolerationPriority": 1,
    "ImageLocalityPriority": 1,
    "EvenPodsSpreadPriority": 2,
}


def is_custom_predicate(name: str) -> bool:
    """Whether a predicate of this name is what its argument makes of it."""
    return name not in PREDICATES or name in _CUSTOM_PREDICATES


def is_custom_priority(name: str) -> bool:
    """Whether a priority of this name is what its argument makes of it."""
    return name not in PRIORITIES or name in _CUSTOM_PRIORITIES
