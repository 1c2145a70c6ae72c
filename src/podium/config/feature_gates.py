"""Feature gates: the switches that decide which of 1.36's behaviours are in force.

Only the gates that a scheduler can notice are known here. A name outside the table is refused
rather than ignored, because a mistyped gate would otherwise silently leave a behaviour as it was.
`FeatureGates` never changes: overriding makes a new value, so a running engine can hold one
without fear.
"""

from collections.abc import Iterator, Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Final, NamedTuple


class Stage(StrEnum):
    """How far a feature has come; the group gates `AllAlpha` and `AllBeta` go by it."""

    ALPHA = "ALPHA"
    BETA = "BETA"
    GA = ""


class Gate(NamedTuple):
    """What 1.36 says about one gate."""

    default: bool
    stage: Stage
    locked: bool = False


class FeatureGateError(ValueError):
    """A gate that does not exist, must not change, or lacks another gate it builds on."""


_GA_LOCKED: Final = Gate(default=True, stage=Stage.GA, locked=True)
_GA: Final = Gate(default=True, stage=Stage.GA)
_BETA: Final = Gate(default=True, stage=Stage.BETA)
_BETA_OFF: Final = Gate(default=False, stage=Stage.BETA)
_ALPHA: Final = Gate(default=False, stage=Stage.ALPHA)

KNOWN_GATES: Final[Mapping[str, Gate]] = MappingProxyType(
    {
        # queue, cycle and binding
        "SchedulerQueueingHints": _GA_LOCKED,
        "SchedulerPopFromBackoffQ": _BETA,
        "SchedulerAsyncPreemption": _BETA,
        "SchedulerAsyncAPICalls": _BETA_OFF,
        "OpportunisticBatching": _BETA,
        "NominatedNodeNameForExpectation": _BETA,
        "ClearingNominatedNodeNameAfterBinding": _BETA,
        "PodObservedGenerationTracking": _GA_LOCKED,
        "PodSchedulingReadiness": _GA_LOCKED,
        # resource accounting
        "InPlacePodVerticalScaling": _GA_LOCKED,
        "InPlacePodLevelResourcesVerticalScaling": _BETA,
        "PodLevelResources": _BETA,
        "SidecarContainers": _GA_LOCKED,
        # node plugins
        "NodeDeclaredFeatures": _BETA,
        "TaintTolerationComparisonOperators": _ALPHA,
        "NodeInclusionPolicyInPodTopologySpread": _GA_LOCKED,
        "MatchLabelKeysInPodAffinity": _GA_LOCKED,
        "MatchLabelKeysInPodTopologySpread": _BETA,
        "MatchLabelKeysInPodTopologySpreadSelectorMerge": _BETA,
        # volumes
        "VolumeAttributesClass": _GA_LOCKED,
        "StorageCapacityScoring": _ALPHA,
        "VolumeLimitScaling": _ALPHA,
        # devices
        "DynamicResourceAllocation": _GA_LOCKED,
        "DRAAdminAccess": _GA_LOCKED,
        "DRAPrioritizedList": _GA,
        "DRADeviceTaints": _BETA,
        "DRADeviceTaintRules": _BETA_OFF,
        "DRAPartitionableDevices": _BETA,
        "DRAConsumableCapacity": _BETA,
        "DRAResourceClaimDeviceStatus": _BETA,
        "DRADeviceBindingConditions": _BETA,
        "DRAExtendedResource": _BETA,
        "DRASchedulerFilterTimeout": _BETA,
        "DRAListTypeAttributes": _ALPHA,
        "DRANodeAllocatableResources": _ALPHA,
        "DRAWorkloadResourceClaims": _ALPHA,
        # groups of pods
        "GenericWorkload": _ALPHA,
        "GangScheduling": _ALPHA,
        "TopologyAwareWorkloadScheduling": _ALPHA,
        "WorkloadAwarePreemption": _ALPHA,
        "WorkloadWithJob": _ALPHA,
        # clients, endpoints, leader election
        "CoordinatedLeaderElection": _BETA_OFF,
        "ComponentFlagz": _BETA,
        "ComponentStatusz": _BETA,
        "WatchListClient": _BETA,
        "AtomicFIFO": _BETA,
        "UnlockWhileProcessingFIFO": _BETA,
        "InOrderInformers": _GA_LOCKED,
        "InOrderInformersBatchProcess": _BETA,
        # the kubelet's; they stand here because NodeDeclaredFeatures cannot go off without them
        "ExtendWebSocketsToKubelet": _BETA,
        "InPlacePodVerticalScalingInitContainers": _BETA,
        "RestartAllContainersOnContainerExits": _BETA,
    }
)

_BUILDS_ON: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "GangScheduling": ("GenericWorkload",),
        "TopologyAwareWorkloadScheduling": ("GenericWorkload",),
        "WorkloadAwarePreemption": ("GangScheduling",),
        "WorkloadWithJob": ("GenericWorkload",),
        "DRADeviceBindingConditions": ("DRAResourceClaimDeviceStatus",),
        "DRADeviceTaintRules": ("DRADeviceTaints",),
        "InPlacePodLevelResourcesVerticalScaling": ("NodeDeclaredFeatures",),
        "ExtendWebSocketsToKubelet": ("NodeDeclaredFeatures",),
        "InPlacePodVerticalScalingInitContainers": ("NodeDeclaredFeatures",),
        "RestartAllContainersOnContainerExits": ("NodeDeclaredFeatures",),
    }
)

_GROUPS: Final[Mapping[str, Stage]] = MappingProxyType(
    {"AllAlpha": Stage.ALPHA, "AllBeta": Stage.BETA}
)


class FeatureGates(Mapping[str, bool]):
    """Every known gate and whether it is on; reading an unknown name is a KeyError.

    >>> FeatureGates()["GangScheduling"]
    False
    >>> FeatureGates({"GenericWorkload": True, "GangScheduling": True})["GangScheduling"]
    True
    """

    __slots__ = ("_enabled",)

    def __init__(self, overrides: Mapping[str, bool] | None = None) -> None:
        defaults = {name: gate.default for name, gate in KNOWN_GATES.items()}
        self._enabled: Mapping[str, bool] = MappingProxyType(_overridden(defaults, overrides or {}))

    def with_overrides(self, overrides: Mapping[str, bool]) -> "FeatureGates":
        """These gates with some set differently; a group gate sets what is not named itself."""
        changed = FeatureGates()
        changed._enabled = MappingProxyType(_overridden(self._enabled, overrides))
        return changed

    def __getitem__(self, name: str) -> bool:
        return self._enabled[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._enabled)

    def __len__(self) -> int:
        return len(self._enabled)

    def __hash__(self) -> int:
        return hash(frozenset(self._enabled.items()))

    def __repr__(self) -> str:
        changed = {n: on for n, on in self._enabled.items() if on != KNOWN_GATES[n].default}
        return f"FeatureGates({changed})"


def _overridden(enabled: Mapping[str, bool], overrides: Mapping[str, bool]) -> dict[str, bool]:
    result = dict(enabled)
    for group, stage in _GROUPS.items():
        if group in overrides:
            members = (name for name, gate in KNOWN_GATES.items() if gate.stage is stage)
            result.update(dict.fromkeys(members, overrides[group]))
    for name, wanted in overrides.items():
        if name in _GROUPS:
            continue
        gate = KNOWN_GATES.get(name)
        if gate is None:
            raise FeatureGateError(f"unrecognized feature gate: {name}")
        if gate.locked and wanted != gate.default:
            raise FeatureGateError(
                f"cannot set feature gate {name} to {_word(wanted)}, "
                f"feature is locked to {_word(gate.default)}"
            )
        result[name] = wanted
    for name, foundations in _BUILDS_ON.items():
        missing = [foundation for foundation in foundations if not result[foundation]]
        if result[name] and missing:
            raise FeatureGateError(
                f"{name} is enabled, but depends on features that are disabled: "
                f"[{' '.join(missing)}]"
            )
    return result


def _word(on: bool) -> str:
    return "true" if on else "false"


DEFAULT_GATES: Final = FeatureGates()
