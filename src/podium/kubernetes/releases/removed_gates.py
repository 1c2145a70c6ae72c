"""Feature gates that earlier releases of Kubernetes had.

kube-scheduler refuses a gate that it does not know, be it a slip of the pen or a switch of long
ago. Command lines and articles outlive gates, so Podium tells the two apart: a gate that is gone is
taken with a warning, which says since when and, where it was about scheduling, what does its work
today. `--strict` refuses it as kube-scheduler does.

Contract: `REPLACED_BY` are gates under another name, and set what they were renamed to; all others
change nothing.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, NamedTuple

from podium.kubernetes.releases.release import Release

OLD_CAPACITY_GATE: Final = "VolumeCapacityPriority"

REPLACED_BY: Final[Mapping[str, str]] = MappingProxyType(
    {OLD_CAPACITY_GATE: "StorageCapacityScoring"}
)
_ALWAYS: Final = "without a switch"
_DONE_BY: Final = {
    "AffinityInAnnotations": "affinity is a field of pods",
    "AttachVolumeLimit": f"NodeVolumeLimits counts volumes {_ALWAYS}",
    "BalanceAttachedNodeVolumes": "nothing balances volumes over nodes",
    "CSIStorageCapacity": f"VolumeBinding looks at CSIStorageCapacity objects {_ALWAYS}",
    "DRAControlPlaneController": "devices are allocated by DynamicResources, from ResourceSlices",
    "DefaultPodTopologySpread": f"PodTopologySpread has default constraints {_ALWAYS}",
    "DynamicProvisioningScheduling": f"VolumeBinding provisions where a pod goes {_ALWAYS}",
    "EnableEquivalenceClassCache": "similar pods share work without a switch",
    "EvenPodsSpread": f"PodTopologySpread reads topologySpreadConstraints {_ALWAYS}",
    "ExperimentalCriticalPodAnnotation": "pods are critical by their priorityClassName",
    "JobMutableNodeSchedulingDirectives": "suspended Jobs may change where their pods go",
    "LocalStorageCapacityIsolation": f"NodeResourcesFit counts ephemeral-storage {_ALWAYS}",
    "MinDomainsInPodTopologySpread": f"PodTopologySpread reads minDomains {_ALWAYS}",
    "NonPreemptingPriority": f"preemptionPolicy is read {_ALWAYS}",
    "PersistentLocalVolumes": f"VolumeBinding knows local volumes {_ALWAYS}",
    "PodAffinityNamespaceSelector": f"InterPodAffinity reads namespaceSelector {_ALWAYS}",
    "PodDisruptionBudget": f"preemption heeds budgets {_ALWAYS}",
    "PodDisruptionConditions": f"victims get the condition DisruptionTarget {_ALWAYS}",
    "PodOverhead": f"NodeResourcesFit adds overhead {_ALWAYS}",
    "PodPriority": f"pods have priorities and preempt by them {_ALWAYS}",
    "PreferNominatedNode": f"a nominated node is tried first {_ALWAYS}",
    "ReadWriteOncePod": f"VolumeRestrictions knows ReadWriteOncePod {_ALWAYS}",
    "ResourceLimitsPriorityFunction": "the plugin NodeResourceLimits scores by limits",
    "ScheduleDaemonSetPods": f"the scheduler places the pods of DaemonSets {_ALWAYS}",
    "TaintBasedEvictions": f"NoExecute taints evict {_ALWAYS}",
    "TaintNodesByCondition": f"conditions of nodes become taints {_ALWAYS}",
    "VolumeScheduling": f"VolumeBinding binds where a pod goes {_ALWAYS}",
}


_DIFFERS: Final = {
    OLD_CAPACITY_GATE: "; without a shape of one's own the fullest volume wins, as it did then"
}


class RemovedGate(NamedTuple):
    """A gate of the past: the first release without it, and what does its work, or ""."""

    name: str
    since: str
    done_by: str = ""
    replaced_by: str = ""

    def warning(self, on: bool) -> str:
        text = f"feature gate {self.name} is gone since Kubernetes {self.since}"
        if self.replaced_by:
            value = "true" if on else "false"
            differs = _DIFFERS.get(self.name, "") if on else ""
            return f"{text}; {self.replaced_by}={value} is set in its place, so write that{differs}"
        why = f" ({self.done_by})" if self.done_by else ""
        return f"{text} and has no effect{why}; leave it out"


def find_removed(name: str, known: Release) -> RemovedGate | None:
    """The gate of that name if a release before the known one had it."""
    since = known.removed_gates.get(name)
    if since is None:
        return None
    return RemovedGate(name, since, _DONE_BY.get(name, ""), REPLACED_BY.get(name, ""))


def without_removed(
    overrides: Mapping[str, bool], known: Release
) -> tuple[dict[str, bool], list[str]]:
    """The settings of gates that exist, and a warning for each that does not exist any more.

    A gate that is set under both its names has the value of the new one.
    """
    kept: dict[str, bool] = {}
    warnings: list[str] = []
    for name, on in overrides.items():
        gone = find_removed(name, known)
        if gone is None:
            kept[name] = on
            continue
        warnings.append(gone.warning(on))
        if gone.replaced_by and gone.replaced_by not in overrides:
            kept[gone.replaced_by] = on
    return kept, warnings


def old_names_in_force(overrides: Mapping[str, bool]) -> frozenset[str]:
    """Gates of the past that switch on one of today which is not named itself."""
    return frozenset(
        name
        for name, on in overrides.items()
        if on and name in REPLACED_BY and REPLACED_BY[name] not in overrides
    )
