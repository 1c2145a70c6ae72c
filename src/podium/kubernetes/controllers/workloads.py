"""Controllers' objects: how many pods of which template, and how far they have come.

The engine reads some of these kinds for their selectors only (`kinds.workloads`); here they
have beside that what their controllers need. A template stays JSON: it is passed on to pods as it
is, with fields that nobody here knows.
"""

from typing import Literal

import msgspec

from podium.golang.json_values import JsonObject
from podium.kubernetes.controllers.job_policies import PodFailurePolicy, SuccessPolicy
from podium.kubernetes.kinds import workloads as read_by_engine
from podium.kubernetes.kinds.meta import Condition, KubeObject, KubeStruct, LabelSelector
from podium.kubernetes.kinds.workloads import APPS_V1, AppsV1

IntOrPercent = int | str


class PodTemplate(KubeStruct, frozen=True):
    metadata: JsonObject = msgspec.field(default_factory=dict)
    spec: JsonObject = msgspec.field(default_factory=dict)


class ReplicasSpec(read_by_engine.ReplicaSetSpec, frozen=True):
    UNREAD = frozenset()

    min_ready_seconds: int = 0
    template: PodTemplate = PodTemplate()


class Replicated(KubeObject, frozen=True):
    """What all kinds that ask for a number of pods have in common."""

    spec: ReplicasSpec = ReplicasSpec()

    @property
    def wanted(self) -> int:
        return 1 if self.spec.replicas is None else max(self.spec.replicas, 0)


# --- replica sets and deployments -------------------------------------------------------------


class ReplicasStatus(KubeStruct, frozen=True):
    replicas: int = 0
    fully_labeled_replicas: int = 0
    ready_replicas: int = 0
    available_replicas: int = 0
    observed_generation: int = 0
    conditions: tuple[Condition, ...] | None = None


class ReplicaSet(Replicated, frozen=True):
    api_version: AppsV1 = APPS_V1
    kind: Literal["ReplicaSet"] = "ReplicaSet"
    status: ReplicasStatus = ReplicasStatus()


class ReplicationControllerSpec(read_by_engine.ReplicationControllerSpec, frozen=True):
    UNREAD = frozenset()

    min_ready_seconds: int = 0
    template: PodTemplate = PodTemplate()


class ReplicationController(KubeObject, frozen=True):
    api_version: Literal["v1"] = "v1"
    kind: Literal["ReplicationController"] = "ReplicationController"
    spec: ReplicationControllerSpec = ReplicationControllerSpec()
    status: ReplicasStatus = ReplicasStatus()

    def as_replica_set(self) -> ReplicaSet:
        """The same in the newer form, in which it is looked after."""
        spec = self.spec
        labels = spec.selector or spec.template.metadata.get("labels")
        return ReplicaSet(
            metadata=self.metadata,
            spec=ReplicasSpec(
                replicas=spec.replicas,
                min_ready_seconds=spec.min_ready_seconds,
                selector=LabelSelector(match_labels=labels),
                template=spec.template,
            ),
            status=self.status,
        )


class RollingUpdate(KubeStruct, frozen=True):
    max_unavailable: IntOrPercent | None = None
    max_surge: IntOrPercent | None = None
    partition: int | None = None


class Strategy(KubeStruct, frozen=True):
    type: str = "RollingUpdate"
    rolling_update: RollingUpdate | None = None


class DeploymentSpec(ReplicasSpec, frozen=True):
    paused: bool = False
    progress_deadline_seconds: int | None = None
    revision_history_limit: int | None = None
    strategy: Strategy = Strategy()


class DeploymentStatus(KubeStruct, frozen=True):
    replicas: int = 0
    updated_replicas: int = 0
    ready_replicas: int = 0
    available_replicas: int = 0
    unavailable_replicas: int = 0
    observed_generation: int = 0
    conditions: tuple[Condition, ...] | None = None


class Deployment(Replicated, frozen=True):
    api_version: AppsV1 = APPS_V1
    kind: Literal["Deployment"] = "Deployment"
    spec: DeploymentSpec = DeploymentSpec()
    status: DeploymentStatus = DeploymentStatus()


# --- stateful sets and daemon sets ------------------------------------------------------------


class Ordinals(KubeStruct, frozen=True):
    start: int = 0


class ClaimRetentionPolicy(KubeStruct, frozen=True):
    when_deleted: str = "Retain"
    when_scaled: str = "Retain"


class StatefulSetSpec(ReplicasSpec, frozen=True):
    pod_management_policy: str = "OrderedReady"
    revision_history_limit: int | None = None
    service_name: str = ""
    ordinals: Ordinals = Ordinals()
    update_strategy: Strategy = Strategy()
    volume_claim_templates: tuple[JsonObject, ...] | None = None
    persistent_volume_claim_retention_policy: ClaimRetentionPolicy | None = None


class StatefulSetStatus(KubeStruct, frozen=True):
    replicas: int = 0
    ready_replicas: int = 0
    available_replicas: int = 0
    current_replicas: int = 0
    updated_replicas: int = 0
    current_revision: str = ""
    update_revision: str = ""
    observed_generation: int = 0


class StatefulSet(Replicated, frozen=True):
    api_version: AppsV1 = APPS_V1
    kind: Literal["StatefulSet"] = "StatefulSet"
    spec: StatefulSetSpec = StatefulSetSpec()
    status: StatefulSetStatus = StatefulSetStatus()

    @property
    def ordinals(self) -> range:
        start = self.spec.ordinals.start
        return range(start, start + self.wanted)


class DaemonSetSpec(KubeStruct, frozen=True):
    UNREAD = frozenset({"templateGeneration"})

    min_ready_seconds: int = 0
    revision_history_limit: int | None = None
    selector: LabelSelector | None = None
    template: PodTemplate = PodTemplate()
    update_strategy: Strategy = Strategy()


class DaemonSetStatus(KubeStruct, frozen=True):
    current_number_scheduled: int = 0
    number_misscheduled: int = 0
    desired_number_scheduled: int = 0
    number_ready: int = 0
    updated_number_scheduled: int = 0
    number_available: int = 0
    number_unavailable: int = 0
    observed_generation: int = 0


class DaemonSet(KubeObject, frozen=True):
    api_version: AppsV1 = APPS_V1
    kind: Literal["DaemonSet"] = "DaemonSet"
    spec: DaemonSetSpec = DaemonSetSpec()
    status: DaemonSetStatus = DaemonSetStatus()


class ControllerRevision(KubeObject, frozen=True):
    revision: int = 0
    data: JsonObject | None = None


# --- jobs -------------------------------------------------------------------------------------


class JobSpec(KubeStruct, frozen=True):
    UNREAD = frozenset({"manualSelector"})

    parallelism: int | None = None
    completions: int | None = None
    completion_mode: str = "NonIndexed"
    backoff_limit: int | None = None
    backoff_limit_per_index: int | None = None
    max_failed_indexes: int | None = None
    pod_failure_policy: PodFailurePolicy | None = None
    pod_replacement_policy: str | None = None
    success_policy: SuccessPolicy | None = None
    active_deadline_seconds: int | None = None
    ttl_seconds_after_finished: int | None = None
    suspend: bool = False
    managed_by: str | None = None
    selector: LabelSelector | None = None
    template: PodTemplate = PodTemplate()


class Uncounted(KubeStruct, frozen=True):
    succeeded: tuple[str, ...] | None = None
    failed: tuple[str, ...] | None = None


class JobStatus(KubeStruct, frozen=True):
    active: int = 0
    ready: int | None = None
    terminating: int | None = None
    succeeded: int = 0
    failed: int = 0
    start_time: str | None = None
    completion_time: str | None = None
    completed_indexes: str = ""
    failed_indexes: str | None = None
    uncounted_terminated_pods: Uncounted | None = None
    conditions: tuple[Condition, ...] | None = None


ANNOUNCEMENTS = ("SuccessCriteriaMet", "FailureTarget")


class Job(KubeObject, frozen=True):
    api_version: Literal["batch/v1"] = "batch/v1"
    kind: Literal["Job"] = "Job"
    spec: JobSpec = JobSpec()
    status: JobStatus = JobStatus()

    @property
    def is_indexed(self) -> bool:
        return self.spec.completion_mode == "Indexed"

    @property
    def replaces_only_failed(self) -> bool:
        """Whether a pod on its way out is replaced, and counted, only once it has failed."""
        return self.spec.pod_replacement_policy == "Failed" or bool(self.spec.pod_failure_policy)

    @property
    def announcement(self) -> Condition | None:
        """The condition that says that it is about to be over."""
        for condition in self.status.conditions or ():
            if condition.type in ANNOUNCEMENTS and condition.status == "True":
                return condition
        return None

    @property
    def end(self) -> Condition | None:
        """The condition that says that it is over, for good or ill."""
        for condition in self.status.conditions or ():
            if condition.type in ("Complete", "Failed") and condition.status == "True":
                return condition
        return None


# --- cron jobs ------------------------------------------------------------------------------


class JobTemplate(KubeStruct, frozen=True):
    metadata: JsonObject = msgspec.field(default_factory=dict)
    spec: JsonObject = msgspec.field(default_factory=dict)


class CronJobSpec(KubeStruct, frozen=True):
    schedule: str = ""
    time_zone: str | None = None
    starting_deadline_seconds: int | None = None
    concurrency_policy: str = "Allow"
    suspend: bool = False
    successful_jobs_history_limit: int | None = None
    failed_jobs_history_limit: int | None = None
    job_template: JobTemplate = JobTemplate()


class JobReference(KubeStruct, frozen=True):
    api_version: str = ""
    kind: str = ""
    name: str = ""
    namespace: str = ""
    uid: str = ""


class CronJobStatus(KubeStruct, frozen=True):
    active: tuple[JobReference, ...] | None = None
    last_schedule_time: str | None = None
    last_successful_time: str | None = None


class CronJob(KubeObject, frozen=True):
    api_version: Literal["batch/v1"] = "batch/v1"
    kind: Literal["CronJob"] = "CronJob"
    spec: CronJobSpec = CronJobSpec()
    status: CronJobStatus = CronJobStatus()


# --- what namespaces hold ---------------------------------------------------------------------


class ConfigMap(KubeObject, frozen=True):
    data: dict[str, str] | None = None


Workload = Deployment | ReplicaSet | ReplicationController | StatefulSet | DaemonSet | Job

WORKLOAD_KINDS: dict[tuple[str, str], type[Workload]] = {
    ("apps/v1", "Deployment"): Deployment,
    ("apps/v1", "ReplicaSet"): ReplicaSet,
    ("apps/v1", "StatefulSet"): StatefulSet,
    ("apps/v1", "DaemonSet"): DaemonSet,
    ("batch/v1", "Job"): Job,
    ("v1", "ReplicationController"): ReplicationController,
}
