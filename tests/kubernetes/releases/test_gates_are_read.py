"""Every gate that kube-scheduler reads means something here, or is a documented difference."""

import re
from pathlib import Path

import pytest

import podium
from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.kubernetes.releases.release import NEWEST, Version, release

READ_BY_THE_REFERENCE = [
    "CBORServingAndStorage",
    "ComponentFlagz",
    "ComponentStatusz",
    "CoordinatedLeaderElection",
    "DRAAdminAccess",
    "DRAConsumableCapacity",
    "DRADeviceBindingConditions",
    "DRADeviceTaintRules",
    "DRADeviceTaints",
    "DRAExtendedResource",
    "DRAListTypeAttributes",
    "DRANodeAllocatableResources",
    "DRAPartitionableDevices",
    "DRAPrioritizedList",
    "DRAResourceClaimDeviceStatus",
    "DRASchedulerFilterTimeout",
    "DRAWorkloadResourceClaims",
    "DynamicResourceAllocation",
    "GangScheduling",
    "GenericWorkload",
    "InPlacePodLevelResourcesVerticalScaling",
    "InPlacePodVerticalScaling",
    "MatchLabelKeysInPodTopologySpread",
    "NodeDeclaredFeatures",
    "NodeInclusionPolicyInPodTopologySpread",
    "NominatedNodeNameForExpectation",
    "OpportunisticBatching",
    "PodLevelResources",
    "PodObservedGenerationTracking",
    "SchedulerAsyncAPICalls",
    "SchedulerAsyncPreemption",
    "SchedulerPopFromBackoffQ",
    "SchedulerQueueingHints",
    "SidecarContainers",
    "StorageCapacityScoring",
    "TaintTolerationComparisonOperators",
    "TopologyAwareWorkloadScheduling",
    "VolumeAttributesClass",
    "VolumeLimitScaling",
    "WorkloadAwarePreemption",
]
"""Read at v1.36.4 by `pkg/scheduler`, `cmd/kube-scheduler`, and the parts of component-helpers,
dynamic-resource-allocation and `pkg/api/v1/pod` that they call."""

SOURCE = Path(podium.__file__).parent
DIFFERENCES = SOURCE.parents[1] / "docs" / "differences.md"
EMULABLE = [Version(1, minor) for minor in range(NEWEST.minor - 3, NEWEST.minor + 1)]
_READING = re.compile(r'gates(?:\[|\.get\()\s*"(\w+)"')


def read_here() -> set[str]:
    texts = (path.read_text() for path in SOURCE.rglob("*.py"))
    in_code = {name for text in texts for name in _READING.findall(text)}
    return in_code | {plugin.gate for plugin in release().plugins if plugin.gate}


def is_always_on(gate: str) -> bool:
    """Whether no release that can be emulated lets the gate be off."""
    return all(FeatureGates(emulated=each).known[gate].locked for each in EMULABLE)


def named_as_different() -> set[str]:
    return set(re.findall(r"`(\w+)`", DIFFERENCES.read_text()))


@pytest.mark.parametrize("gate", READ_BY_THE_REFERENCE)
def test_a_gate_that_kube_scheduler_reads_is_read_or_documented(gate: str) -> None:
    assert gate in FeatureGates()
    assert is_always_on(gate) or gate in read_here() or gate in named_as_different()


def test_a_gate_that_is_read_is_not_said_to_be_ignored() -> None:
    assert read_here() & set(READ_BY_THE_REFERENCE) & named_as_different() == set()
    assert read_here() <= set(FeatureGates())


def test_the_gates_that_can_not_be_off_are_these() -> None:
    assert [gate for gate in READ_BY_THE_REFERENCE if is_always_on(gate)] == [
        "NodeInclusionPolicyInPodTopologySpread",
        "SidecarContainers",
    ]
