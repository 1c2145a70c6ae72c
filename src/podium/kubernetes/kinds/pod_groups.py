"""Pods that belong together: PodGroups, and the Workloads that they are made from.

A pod joins a group by `spec.schedulingGroup.podGroupName`, within its namespace. What scheduling
asks of a group is in the PodGroup alone: how many members must be placed together, within which
topology domain, at which priority, and whether they may be disrupted one by one. A Workload only
holds templates for a controller; it is known here so that a file with one in it can be read.
"""

from typing import Literal

from podium.kubernetes.kinds.meta import KubeObject, KubeStruct

PER_GROUP = "PodGroup"
"""The disruption mode of a group that is disrupted as a whole or not at all."""


class BasicSchedulingPolicy(KubeStruct, frozen=True):
    """Members are scheduled on their own, one after the other."""


class GangSchedulingPolicy(KubeStruct, frozen=True):
    """At least so many members are placed, or none is."""

    min_count: int = 0


class PodGroupSchedulingPolicy(KubeStruct, frozen=True):
    """Exactly one of the two is set."""

    basic: BasicSchedulingPolicy | None = None
    gang: GangSchedulingPolicy | None = None


class TopologyConstraint(KubeStruct, frozen=True):
    """All members go to nodes with the same value of a label."""

    key: str = ""


class PodGroupSchedulingConstraints(KubeStruct, frozen=True):
    topology: tuple[TopologyConstraint, ...] | None = None


class PodGroupResourceClaim(KubeStruct, frozen=True):
    name: str = ""
    resource_claim_name: str | None = None
    resource_claim_template_name: str | None = None


class WorkloadPodGroupTemplateReference(KubeStruct, frozen=True):
    workload_name: str = ""
    pod_group_template_name: str = ""


class PodGroupTemplateReference(KubeStruct, frozen=True):
    workload: WorkloadPodGroupTemplateReference | None = None


class PodGroupSpec(KubeStruct, frozen=True):
    """`priority` is filled in by admission; without it the group has priority 0."""

    pod_group_template_ref: PodGroupTemplateReference | None = None
    scheduling_policy: PodGroupSchedulingPolicy = PodGroupSchedulingPolicy()
    scheduling_constraints: PodGroupSchedulingConstraints | None = None
    resource_claims: tuple[PodGroupResourceClaim, ...] | None = None
    disruption_mode: str | None = None
    priority_class_name: str = ""
    priority: int | None = None


class PodGroupCondition(KubeStruct, frozen=True):
    type: str = ""
    status: str = ""
    observed_generation: int = 0
    last_transition_time: str | None = None
    reason: str = ""
    message: str = ""


class PodGroupResourceClaimStatus(KubeStruct, frozen=True):
    name: str = ""
    resource_claim_name: str | None = None


class PodGroupStatus(KubeStruct, frozen=True):
    conditions: tuple[PodGroupCondition, ...] | None = None
    resource_claim_statuses: tuple[PodGroupResourceClaimStatus, ...] | None = None


class PodGroup(KubeObject, frozen=True):
    api_version: Literal["scheduling.k8s.io/v1alpha2"] = "scheduling.k8s.io/v1alpha2"
    kind: Literal["PodGroup"] = "PodGroup"
    spec: PodGroupSpec = PodGroupSpec()
    status: PodGroupStatus = PodGroupStatus()

    @property
    def key(self) -> str:
        return f"{self.metadata.namespace}/{self.metadata.name}"

    @property
    def uid(self) -> str:
        """What tells groups apart: the UID, or the key of a group from a file that has none."""
        return self.metadata.uid or self.key

    @property
    def priority(self) -> int:
        return self.spec.priority or 0

    @property
    def topology_key(self) -> str | None:
        """The label whose value all members' nodes share, if the group asks for one.

        The API allows a single constraint.
        """
        constraints = self.spec.scheduling_constraints
        if constraints is None or not constraints.topology:
            return None
        return constraints.topology[0].key


class TypedLocalObjectReference(KubeStruct, frozen=True):
    api_group: str = ""
    kind: str = ""
    name: str = ""


class PodGroupTemplate(KubeStruct, frozen=True):
    name: str = ""
    scheduling_policy: PodGroupSchedulingPolicy = PodGroupSchedulingPolicy()
    scheduling_constraints: PodGroupSchedulingConstraints | None = None
    resource_claims: tuple[PodGroupResourceClaim, ...] | None = None
    disruption_mode: str | None = None
    priority_class_name: str = ""
    priority: int | None = None


class WorkloadSpec(KubeStruct, frozen=True):
    controller_ref: TypedLocalObjectReference | None = None
    pod_group_templates: tuple[PodGroupTemplate, ...] | None = None


class Workload(KubeObject, frozen=True):
    api_version: Literal["scheduling.k8s.io/v1alpha2"] = "scheduling.k8s.io/v1alpha2"
    kind: Literal["Workload"] = "Workload"
    spec: WorkloadSpec = WorkloadSpec()
