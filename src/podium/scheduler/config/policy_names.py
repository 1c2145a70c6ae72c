"""Policy files as written: their types, the names they use, and old spellings of these.

Predicates are evaluated in the order of `PREDICATES`, whatever the order in the file. Sources:
`pkg/scheduler/framework/plugins/legacy_registry.go` at v1.22.

A Policy file as it was written: predicates, priorities and their arguments. Policy was the way to
configure kube-scheduler before profiles, and was read until 1.22. An absent list of predicates or
priorities stands for the default ones, an empty list for none, so these two are None when absent.

A Policy in today's spelling: names that articles print for the registered ones. Old texts name
predicates after Go's constants (`CheckNodeConditionPred`), after Go's functions (`PodFitsHost`) or
by the half of a group. Contract: a name is respelled only without an argument, since with one any
name is a custom predicate or priority.
"""

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any, ClassVar, Final, NamedTuple

import msgspec
from msgspec.structs import replace

from podium.scheduler.config.decode import ConfigDecodeError, Int32, Int64, json_kind
from podium.scheduler.config.errors import ConfigFinding, old_spelling
from podium.scheduler.config.plugin_args import ResourceSpec, UtilizationShapePoint
from podium.scheduler.config.types import Extender, ExtenderManagedResource, ExtenderTLSConfig


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


class _PolicyStruct(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What the parts of a Policy are made of."""


class ServiceAffinityArgument(_PolicyStruct, frozen=True):
    labels: tuple[str, ...] = ()


class LabelsPresenceArgument(_PolicyStruct, frozen=True):
    labels: tuple[str, ...] = ()
    presence: bool = False


class PredicateArgument(_PolicyStruct, frozen=True):
    service_affinity: ServiceAffinityArgument | None = None
    labels_presence: LabelsPresenceArgument | None = None


class PredicatePolicy(_PolicyStruct, frozen=True):
    name: str = ""
    argument: PredicateArgument | None = None


class ServiceAntiAffinityArgument(_PolicyStruct, frozen=True):
    label: str = ""


class LabelPreferenceArgument(_PolicyStruct, frozen=True):
    label: str = ""
    presence: bool = False


class RatioArgument(_PolicyStruct, frozen=True):
    GO_TYPE: ClassVar[str] = "v1.RequestedToCapacityRatioArguments"

    shape: tuple[UtilizationShapePoint, ...] = ()
    resources: tuple[ResourceSpec, ...] = ()


class PriorityArgument(_PolicyStruct, frozen=True):
    service_anti_affinity: ServiceAntiAffinityArgument | None = None
    label_preference: LabelPreferenceArgument | None = None
    requested_to_capacity_ratio_arguments: RatioArgument | None = None


class PriorityPolicy(_PolicyStruct, frozen=True):
    name: str = ""
    weight: Int64 = 0
    argument: PriorityArgument | None = None


class Policy(_PolicyStruct, frozen=True):
    api_version: str = ""
    kind: str = ""
    predicates: tuple[PredicatePolicy, ...] | None = None
    priorities: tuple[PriorityPolicy, ...] | None = None
    extenders: Any = None
    hard_pod_affinity_symmetric_weight: Int32 = 0
    always_check_all_predicates: bool = False


def respell_extender(raw: Any, shape: type[msgspec.Struct] = Extender) -> Any:
    """An extender of a Policy in today's spelling.

    upstream: below `extenders` names are matched without regard to case, members that do not exist
    are passed over, and a timeout is a number of nanoseconds. Raises DecodeError.
    """
    if not isinstance(raw, Mapping):
        return raw
    inner: dict[str, type[msgspec.Struct]] = {
        "tls_config": ExtenderTLSConfig,
        "managed_resources": ExtenderManagedResource,
    }
    known = {info.encode_name.lower(): info for info in msgspec.structs.fields(shape)}
    written: dict[str, Any] = {}
    for name, value in raw.items():
        info = known.get(str(name).lower())
        if info is None or value is None:
            continue
        if info.name == "http_timeout":
            value = _timeout(value)
        elif info.name in inner:
            of = inner[info.name]
            is_list = isinstance(value, list)
            value = (
                [respell_extender(v, of) for v in value] if is_list else respell_extender(value, of)
            )
        written[info.encode_name] = value
    return written


def _timeout(value: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, int):
        raise ConfigDecodeError(
            f"json: cannot unmarshal {json_kind(value)} into Go struct field "
            "LegacyExtender.extenders.httpTimeout of type time.Duration"
        )
    return f"{value}ns"


_RATIO: Final = "RequestedToCapacityRatio"
_SHAPE: Final = (UtilizationShapePoint(0, 10), UtilizationShapePoint(100, 0))


def respell_policy(policy: Policy) -> tuple[Policy, list[ConfigFinding]]:
    """The Policy with the names that 1.22 took, and what was not written so."""
    found: list[ConfigFinding] = []
    predicates, priorities = policy.predicates, policy.priorities
    if predicates is not None:
        predicates = tuple(_predicates(predicates, found))
    if priorities is not None:
        priorities = tuple(_priority(each, i, found) for i, each in enumerate(priorities))
    return replace(policy, predicates=predicates, priorities=priorities), found


def _predicates(
    written: tuple[PredicatePolicy, ...], found: list[ConfigFinding]
) -> Iterator[PredicatePolicy]:
    for i, predicate in enumerate(written):
        today = OLD_PREDICATES.get(predicate.name) if predicate.argument is None else None
        if today is None:
            yield predicate
            continue
        at = f"predicates[{i}].name"
        found.append(old_spelling(at, predicate.name, " and ".join(today)))
        yield from (replace(predicate, name=name) for name in today)


def _priority(priority: PriorityPolicy, index: int, found: list[ConfigFinding]) -> PriorityPolicy:
    if priority.name != RATIO_PRIORITY or priority.argument is not None:
        return priority
    today = f"{_RATIO} with requestedToCapacityRatioArguments"
    found.append(old_spelling(f"priorities[{index}].name", priority.name, today))
    shape = RatioArgument(shape=_SHAPE)
    argument = PriorityArgument(requested_to_capacity_ratio_arguments=shape)
    return replace(priority, name=_RATIO, argument=argument)
