"""Kinds of `kubernetes-sigs/scheduler-plugins`: PodGroup and ElasticQuota.

PodGroups are gangs by a custom resource and a pod label.

A pod joins a group of its namespace by a label. The group was first written as two labels, then as
a custom resource of `scheduling.sigs.k8s.io` (releases 0.19 to 0.24), and is one of
`scheduling.x-k8s.io` today. Kubernetes' own PodGroups are another kind (`pod_groups.py`).

An ElasticQuota says what a namespace is
guaranteed and what it may have at most.
"""

from collections.abc import Mapping
from typing import Final, Literal

from podium.kubernetes.kinds.meta import KubeObject, KubeStruct, ResourceList

POD_GROUP_LABEL: Final = "scheduling.x-k8s.io/pod-group"
OLDER_POD_GROUP_LABEL: Final = "pod-group.scheduling.sigs.k8s.io"
NAME_LABEL: Final = "pod-group.scheduling.sigs.k8s.io/name"
MIN_AVAILABLE_LABEL: Final = "pod-group.scheduling.sigs.k8s.io/min-available"
"""With the name, a whole group without any object: so many members are placed, or none is."""


class CoschedulingPodGroupSpec(KubeStruct, frozen=True):
    """`min_resources` is what must be free before any member is tried, `schedule_timeout_seconds`
    how long members wait for each other."""

    min_member: int = 0
    min_resources: ResourceList | None = None
    schedule_timeout_seconds: int | None = None


class CoschedulingPodGroupStatus(KubeStruct, frozen=True):
    """`schedule_start_time` and `scheduled` are of older releases."""

    phase: str = ""
    occupied_by: str = ""
    running: int = 0
    succeeded: int = 0
    failed: int = 0
    schedule_start_time: str | None = None
    scheduled: int = 0


class CoschedulingPodGroup(KubeObject, frozen=True):
    """What both API groups have."""

    spec: CoschedulingPodGroupSpec = CoschedulingPodGroupSpec()
    status: CoschedulingPodGroupStatus = CoschedulingPodGroupStatus()


class SchedulingXPodGroup(CoschedulingPodGroup, frozen=True):
    api_version: Literal["scheduling.x-k8s.io/v1alpha1"] = "scheduling.x-k8s.io/v1alpha1"
    kind: Literal["PodGroup"] = "PodGroup"


class SchedulingSigsPodGroup(CoschedulingPodGroup, frozen=True):
    api_version: Literal["scheduling.sigs.k8s.io/v1alpha1"] = "scheduling.sigs.k8s.io/v1alpha1"
    kind: Literal["PodGroup"] = "PodGroup"


def pod_group_name(labels: Mapping[str, str] | None) -> str:
    """The group that a pod's labels put it into, "" if they put it into none."""
    if not labels:
        return ""
    name = labels.get(POD_GROUP_LABEL) or labels.get(OLDER_POD_GROUP_LABEL)
    if name:
        return name
    name = labels.get(NAME_LABEL)
    return name if name and min_available(labels) else ""


def min_available(labels: Mapping[str, str] | None) -> int:
    """The quorum of a group that only labels tell of; 0 if they do not, or make no sense."""
    text = (labels or {}).get(MIN_AVAILABLE_LABEL, "")
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 10 else 0


class ElasticQuotaSpec(KubeStruct, frozen=True):
    min: ResourceList | None = None
    max: ResourceList | None = None


class ElasticQuotaStatus(KubeStruct, frozen=True):
    """`used` is what running pods of the namespace request."""

    used: ResourceList | None = None


class ElasticQuota(KubeObject, frozen=True):
    api_version: Literal["scheduling.x-k8s.io/v1alpha1"] = "scheduling.x-k8s.io/v1alpha1"
    kind: Literal["ElasticQuota"] = "ElasticQuota"
    spec: ElasticQuotaSpec = ElasticQuotaSpec()
    status: ElasticQuotaStatus = ElasticQuotaStatus()
