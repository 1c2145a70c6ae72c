"""The arguments of the in-tree plugins that take any.

A Struct without arguments is what a user who writes nothing gets, except where a feature gate has a
say; `fill_defaults` fills in the rest. `ARGS_KINDS` is the whole list: a plugin outside it keeps
its arguments as `RawArgs`, to be typed by the plugin itself. Rules on values live in
`args_validation.py`.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, ClassVar, Final

import msgspec

from podium.golang.durations import Duration
from podium.kubernetes.kinds.pod import NodeAffinity, TopologySpreadConstraint
from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.kubernetes.releases.removed_gates import OLD_CAPACITY_GATE
from podium.scheduler.config.decode import Int32, Int64

LEAST_ALLOCATED: Final = "LeastAllocated"
MOST_ALLOCATED: Final = "MostAllocated"
REQUESTED_TO_CAPACITY_RATIO: Final = "RequestedToCapacityRatio"

SYSTEM_DEFAULTING: Final = "System"
LIST_DEFAULTING: Final = "List"

SYSTEM_SPREAD_CONSTRAINTS: Final = (
    TopologySpreadConstraint(
        max_skew=3, topology_key="kubernetes.io/hostname", when_unsatisfiable="ScheduleAnyway"
    ),
    TopologySpreadConstraint(
        max_skew=5, topology_key="topology.kubernetes.io/zone", when_unsatisfiable="ScheduleAnyway"
    ),
)


class RawArgs(msgspec.Struct, frozen=True):
    """Arguments of a plugin that is not in-tree, exactly as written (None if there are none)."""

    value: Any = None


NO_ARGS: Final = RawArgs()


class PluginArgs(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """What the typed arguments of in-tree plugins are made of."""


class DefaultPreemptionArgs(PluginArgs, frozen=True):
    min_candidate_nodes_percentage: Int32 = 10
    min_candidate_nodes_absolute: Int32 = 100


class InterPodAffinityArgs(PluginArgs, frozen=True):
    hard_pod_affinity_weight: Int32 = 1
    ignore_preferred_terms_of_existing_pods: bool = False


class NodeAffinityArgs(PluginArgs, frozen=True):
    added_affinity: NodeAffinity | None = None


class ResourceSpec(msgspec.Struct, frozen=True, rename="camel"):
    """A resource that counts in a score, and how much."""

    name: str = ""
    weight: Int64 = 1


class UtilizationShapePoint(msgspec.Struct, frozen=True, rename="camel"):
    """At this utilization (0..100) a node gets this score (0..10)."""

    utilization: Int32 = 0
    score: Int32 = 0


DEFAULT_RESOURCES: Final = (ResourceSpec("cpu", 1), ResourceSpec("memory", 1))
STORAGE_CAPACITY_SHAPE: Final = (UtilizationShapePoint(0, 10), UtilizationShapePoint(100, 0))
OLD_STORAGE_CAPACITY_SHAPE: Final = (UtilizationShapePoint(0, 0), UtilizationShapePoint(100, 10))
"""Up to 1.32, by the gate VolumeCapacityPriority: the smallest volume that fits wins."""


class NodeResourcesBalancedAllocationArgs(PluginArgs, frozen=True):
    resources: tuple[ResourceSpec, ...] = DEFAULT_RESOURCES


class RequestedToCapacityRatioParam(PluginArgs, frozen=True):
    shape: tuple[UtilizationShapePoint, ...] = ()


class ScoringStrategy(PluginArgs, frozen=True):
    """How a node's fullness becomes a score.

    upstream: a strategy that is given without a type is an error, only an absent one has a default.
    """

    type: str = ""
    resources: tuple[ResourceSpec, ...] = DEFAULT_RESOURCES
    requested_to_capacity_ratio: RequestedToCapacityRatioParam | None = None


class NodeResourcesFitArgs(PluginArgs, frozen=True):
    ignored_resources: tuple[str, ...] = ()
    ignored_resource_groups: tuple[str, ...] = ()
    scoring_strategy: ScoringStrategy = ScoringStrategy(type=LEAST_ALLOCATED)


class PodTopologySpreadArgs(PluginArgs, frozen=True):
    default_constraints: tuple[TopologySpreadConstraint, ...] = ()
    defaulting_type: str = SYSTEM_DEFAULTING

    services_only: ClassVar[bool] = False

    @property
    def constraints_for_plain_pods(self) -> tuple[TopologySpreadConstraint, ...]:
        """What a pod without constraints of its own gets."""
        if self.defaulting_type == SYSTEM_DEFAULTING:
            return SYSTEM_SPREAD_CONSTRAINTS
        return self.default_constraints


class ServiceSpreadArgs(PodTopologySpreadArgs, frozen=True):
    """The same for a Policy's ServiceSpreadingPriority: a pod without constraints of its own is
    spread among the pods of its services, whoever else its controller has made."""

    services_only: ClassVar[bool] = True


class VolumeBindingArgs(PluginArgs, frozen=True):
    """`shape` is None unless storage capacity is scored (gate StorageCapacityScoring)."""

    bind_timeout_seconds: Int64 = 600
    shape: tuple[UtilizationShapePoint, ...] | None = None


class DeviceLocality(PluginArgs, frozen=True):
    """An attribute by which the devices of a pod lie together, or a node label by which the pods of
    a workload lie near each other."""

    attribute: str | None = None
    node_label: str | None = None
    weight: Int32 = 1


class DeviceScoringStrategy(PluginArgs, frozen=True):
    """Which devices and nodes are preferred for claims; kube-scheduler has no such thing."""

    type: str | None = None
    locality: tuple[DeviceLocality, ...] = ()


class DynamicResourcesArgs(PluginArgs, frozen=True):
    """Either timeout is None while its gates are off; a filter timeout of zero means none. Without
    a strategy devices are taken as they are listed."""

    filter_timeout: Duration | None = None
    binding_timeout: Duration | None = None
    scoring_strategy: DeviceScoringStrategy | None = None

    DEFAULT_FILTER_TIMEOUT: ClassVar[Duration] = Duration.of_seconds(10)
    DEFAULT_BINDING_TIMEOUT: ClassVar[Duration] = Duration.of_seconds(600)


ARGS_KINDS: Final[Mapping[str, type[PluginArgs]]] = MappingProxyType(
    {
        "DefaultPreemption": DefaultPreemptionArgs,
        "DynamicResources": DynamicResourcesArgs,
        "InterPodAffinity": InterPodAffinityArgs,
        "NodeAffinity": NodeAffinityArgs,
        "NodeResourcesBalancedAllocation": NodeResourcesBalancedAllocationArgs,
        "NodeResourcesFit": NodeResourcesFitArgs,
        "PodTopologySpread": PodTopologySpreadArgs,
        "VolumeBinding": VolumeBindingArgs,
    }
)


def default_args(plugin: str, gates: Mapping[str, bool]) -> PluginArgs | None:
    """The arguments of a plugin that was given none; None if it takes none."""
    kind = ARGS_KINDS.get(plugin)
    return fill_defaults(kind(), gates) if kind is not None else None


def fill_defaults(args: PluginArgs, gates: Mapping[str, bool]) -> PluginArgs:
    """Decoded arguments with everything filled in that depends on gates or on other fields."""
    replace = msgspec.structs.replace
    match args:
        case NodeResourcesFitArgs():
            strategy = args.scoring_strategy
            resources = _weigh_resources(strategy.resources)
            return replace(args, scoring_strategy=replace(strategy, resources=resources))
        case NodeResourcesBalancedAllocationArgs():
            return replace(args, resources=_weigh_resources(args.resources))
        case PodTopologySpreadArgs():
            return replace(args, defaulting_type=args.defaulting_type or SYSTEM_DEFAULTING)
        case VolumeBindingArgs():
            if gates["StorageCapacityScoring"]:
                return replace(args, shape=args.shape or _storage_capacity_shape(gates))
            return args
        case DynamicResourcesArgs():
            filter_timeout, binding_timeout = args.filter_timeout, args.binding_timeout
            if filter_timeout is None and gates["DRASchedulerFilterTimeout"]:
                filter_timeout = args.DEFAULT_FILTER_TIMEOUT
            if binding_timeout is None and waits_for_binding_conditions(gates):
                binding_timeout = args.DEFAULT_BINDING_TIMEOUT
            return replace(args, filter_timeout=filter_timeout, binding_timeout=binding_timeout)
        case _:
            return args


def _storage_capacity_shape(gates: Mapping[str, bool]) -> tuple[UtilizationShapePoint, ...]:
    by_old_gate = isinstance(gates, FeatureGates) and gates.is_on_by_old_name(OLD_CAPACITY_GATE)
    return OLD_STORAGE_CAPACITY_SHAPE if by_old_gate else STORAGE_CAPACITY_SHAPE


def waits_for_binding_conditions(gates: Mapping[str, bool]) -> bool:
    """Whether a binding may wait for devices, which takes two gates."""
    return gates["DRADeviceBindingConditions"] and gates["DRAResourceClaimDeviceStatus"]


def _weigh_resources(resources: tuple[ResourceSpec, ...]) -> tuple[ResourceSpec, ...]:
    return tuple(ResourceSpec(r.name, r.weight or 1) for r in resources) or DEFAULT_RESOURCES
