"""Controllers with their pod templates, as far as it takes to make their pods.

The engine reads controllers for their selectors only (`podium.api.workloads`). The simulator also
stands in for the controllers themselves, so here the same kinds keep their templates, and the
kinds that the engine never sees (Deployment, DaemonSet, Job) are here as well.
"""

from typing import ClassVar, Literal

from podium.api.meta import KubeStruct, LabelSelector, ObjectMeta
from podium.api.pod import PodSpec
from podium.api.volumes import PersistentVolumeClaimSpec


class PodTemplate(KubeStruct, frozen=True):
    metadata: ObjectMeta = ObjectMeta()
    spec: PodSpec = PodSpec()


class DeploymentSpec(KubeStruct, frozen=True):
    UNREAD = frozenset(
        {"minReadySeconds", "paused", "progressDeadlineSeconds", "revisionHistoryLimit", "strategy"}
    )

    replicas: int | None = None
    selector: LabelSelector | None = None
    template: PodTemplate = PodTemplate()


class Deployment(KubeStruct, frozen=True):
    UNREAD = frozenset({"status"})

    api_version: Literal["apps/v1"] = "apps/v1"
    kind: Literal["Deployment"] = "Deployment"
    metadata: ObjectMeta = ObjectMeta()
    spec: DeploymentSpec = DeploymentSpec()


class ReplicaSetSpec(KubeStruct, frozen=True):
    UNREAD = frozenset({"minReadySeconds"})

    replicas: int | None = None
    selector: LabelSelector | None = None
    template: PodTemplate = PodTemplate()


class ReplicaSet(KubeStruct, frozen=True):
    UNREAD = frozenset({"status"})

    api_version: Literal["apps/v1"] = "apps/v1"
    kind: Literal["ReplicaSet"] = "ReplicaSet"
    metadata: ObjectMeta = ObjectMeta()
    spec: ReplicaSetSpec = ReplicaSetSpec()


class ReplicationControllerSpec(KubeStruct, frozen=True):
    UNREAD = frozenset({"minReadySeconds"})

    replicas: int | None = None
    selector: dict[str, str] | None = None
    template: PodTemplate = PodTemplate()


class ReplicationController(KubeStruct, frozen=True):
    UNREAD = frozenset({"status"})

    api_version: Literal["v1"] = "v1"
    kind: Literal["ReplicationController"] = "ReplicationController"
    metadata: ObjectMeta = ObjectMeta()
    spec: ReplicationControllerSpec = ReplicationControllerSpec()


class VolumeClaimTemplate(KubeStruct, frozen=True):
    UNREAD = frozenset({"apiVersion", "kind", "status"})

    metadata: ObjectMeta = ObjectMeta()
    spec: PersistentVolumeClaimSpec = PersistentVolumeClaimSpec()


class Ordinals(KubeStruct, frozen=True):
    start: int = 0


class StatefulSetSpec(KubeStruct, frozen=True):
    UNREAD = frozenset(
        {
            "minReadySeconds",
            "persistentVolumeClaimRetentionPolicy",
            "podManagementPolicy",
            "revisionHistoryLimit",
            "serviceName",
            "updateStrategy",
        }
    )

    replicas: int | None = None
    selector: LabelSelector | None = None
    template: PodTemplate = PodTemplate()
    ordinals: Ordinals = Ordinals()
    volume_claim_templates: tuple[VolumeClaimTemplate, ...] | None = None


class StatefulSet(KubeStruct, frozen=True):
    UNREAD = frozenset({"status"})

    api_version: Literal["apps/v1"] = "apps/v1"
    kind: Literal["StatefulSet"] = "StatefulSet"
    metadata: ObjectMeta = ObjectMeta()
    spec: StatefulSetSpec = StatefulSetSpec()


class DaemonSetSpec(KubeStruct, frozen=True):
    UNREAD = frozenset(
        {"minReadySeconds", "revisionHistoryLimit", "templateGeneration", "updateStrategy"}
    )

    selector: LabelSelector | None = None
    template: PodTemplate = PodTemplate()


class DaemonSet(KubeStruct, frozen=True):
    UNREAD = frozenset({"status"})

    api_version: Literal["apps/v1"] = "apps/v1"
    kind: Literal["DaemonSet"] = "DaemonSet"
    metadata: ObjectMeta = ObjectMeta()
    spec: DaemonSetSpec = DaemonSetSpec()


class JobSpec(KubeStruct, frozen=True):
    UNREAD = frozenset(
        {
            "activeDeadlineSeconds",
            "backoffLimit",
            "backoffLimitPerIndex",
            "managedBy",
            "manualSelector",
            "maxFailedIndexes",
            "podFailurePolicy",
            "podReplacementPolicy",
            "selector",
            "successPolicy",
            "ttlSecondsAfterFinished",
        }
    )

    completion_mode: str = ""
    completions: int | None = None
    parallelism: int | None = None
    suspend: bool = False
    template: PodTemplate = PodTemplate()


class JobCondition(KubeStruct, frozen=True):
    type: str = ""
    status: str = ""


class JobStatus(KubeStruct, frozen=True):
    succeeded: int = 0
    conditions: tuple[JobCondition, ...] | None = None

    _FINAL: ClassVar = frozenset({"Complete", "Failed"})

    @property
    def finished(self) -> bool:
        return any(c.type in self._FINAL and c.status == "True" for c in self.conditions or ())


class Job(KubeStruct, frozen=True):
    api_version: Literal["batch/v1"] = "batch/v1"
    kind: Literal["Job"] = "Job"
    metadata: ObjectMeta = ObjectMeta()
    spec: JobSpec = JobSpec()
    status: JobStatus = JobStatus()


Workload = Deployment | ReplicaSet | ReplicationController | StatefulSet | DaemonSet | Job

WORKLOAD_KINDS: dict[tuple[str, str], type[Workload]] = {
    ("apps/v1", "Deployment"): Deployment,
    ("apps/v1", "ReplicaSet"): ReplicaSet,
    ("apps/v1", "StatefulSet"): StatefulSet,
    ("apps/v1", "DaemonSet"): DaemonSet,
    ("batch/v1", "Job"): Job,
    ("v1", "ReplicationController"): ReplicationController,
}
