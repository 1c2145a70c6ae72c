"""Controllers' objects: how many pods of which template, and how far they have come."""

import msgspec

from podium.api.meta import LabelSelector
from podium.population.objects.meta import Condition, JsonObject, Meta, Part, Thing

IntOrPercent = int | str


class PodTemplate(Part, frozen=True):
    """A template; its spec is passed on to pods as it is."""

    metadata: JsonObject = msgspec.field(default_factory=dict)
    spec: JsonObject = msgspec.field(default_factory=dict)


# --- replica sets and deployments -------------------------------------------------------------


class ReplicasSpec(Part, frozen=True):
    replicas: int | None = None
    min_ready_seconds: int = 0
    selector: LabelSelector | None = None
    template: PodTemplate = PodTemplate()


class ReplicasStatus(Part, frozen=True):
    replicas: int = 0
    fully_labeled_replicas: int = 0
    ready_replicas: int = 0
    available_replicas: int = 0
    observed_generation: int = 0


class ReplicaSet(Thing, frozen=True):
    metadata: Meta = Meta()
    spec: ReplicasSpec = ReplicasSpec()
    status: ReplicasStatus = ReplicasStatus()

    @property
    def wanted(self) -> int:
        return 1 if self.spec.replicas is None else self.spec.replicas


class ReplicationControllerSpec(Part, frozen=True):
    replicas: int | None = None
    min_ready_seconds: int = 0
    selector: dict[str, str] | None = None
    template: PodTemplate = PodTemplate()


class ReplicationController(Thing, frozen=True):
    metadata: Meta = Meta()
    spec: ReplicationControllerSpec = ReplicationControllerSpec()
    status: ReplicasStatus = ReplicasStatus()

    def as_replica_set(self) -> ReplicaSet:
        """The same in the newer form, in which it is looked after."""
        spec = self.spec
        return ReplicaSet(
            metadata=self.metadata,
            spec=ReplicasSpec(
                replicas=spec.replicas,
                min_ready_seconds=spec.min_ready_seconds,
                selector=LabelSelector(match_labels=spec.selector),
                template=spec.template,
            ),
            status=self.status,
        )


class RollingUpdate(Part, frozen=True):
    max_unavailable: IntOrPercent | None = None
    max_surge: IntOrPercent | None = None
    partition: int | None = None


class Strategy(Part, frozen=True):
    type: str = "RollingUpdate"
    rolling_update: RollingUpdate | None = None


class DeploymentSpec(Part, frozen=True):
    replicas: int | None = None
    min_ready_seconds: int = 0
    paused: bool = False
    progress_deadline_seconds: int | None = None
    revision_history_limit: int | None = None
    selector: LabelSelector | None = None
    strategy: Strategy = Strategy()
    template: PodTemplate = PodTemplate()


class DeploymentStatus(Part, frozen=True):
    replicas: int = 0
    updated_replicas: int = 0
    ready_replicas: int = 0
    available_replicas: int = 0
    unavailable_replicas: int = 0
    observed_generation: int = 0
    conditions: tuple[Condition, ...] | None = None


class Deployment(Thing, frozen=True):
    metadata: Meta = Meta()
    spec: DeploymentSpec = DeploymentSpec()
    status: DeploymentStatus = DeploymentStatus()

    @property
    def wanted(self) -> int:
        return 1 if self.spec.replicas is None else self.spec.replicas


# --- stateful sets and daemon sets ------------------------------------------------------------


class Ordinals(Part, frozen=True):
    start: int = 0


class StatefulSetSpec(Part, frozen=True):
    replicas: int | None = None
    min_ready_seconds: int = 0
    pod_management_policy: str = "OrderedReady"
    revision_history_limit: int | None = None
    selector: LabelSelector | None = None
    template: PodTemplate = PodTemplate()
    ordinals: Ordinals | None = None
    update_strategy: Strategy = Strategy()
    volume_claim_templates: tuple[JsonObject, ...] | None = None


class StatefulSetStatus(Part, frozen=True):
    replicas: int = 0
    ready_replicas: int = 0
    available_replicas: int = 0
    current_replicas: int = 0
    updated_replicas: int = 0
    current_revision: str = ""
    update_revision: str = ""
    observed_generation: int = 0


class StatefulSet(Thing, frozen=True):
    metadata: Meta = Meta()
    spec: StatefulSetSpec = StatefulSetSpec()
    status: StatefulSetStatus = StatefulSetStatus()

    @property
    def wanted(self) -> int:
        return 1 if self.spec.replicas is None else self.spec.replicas


class DaemonSetSpec(Part, frozen=True):
    min_ready_seconds: int = 0
    revision_history_limit: int | None = None
    selector: LabelSelector | None = None
    template: PodTemplate = PodTemplate()
    update_strategy: Strategy = Strategy()


class DaemonSetStatus(Part, frozen=True):
    current_number_scheduled: int = 0
    number_misscheduled: int = 0
    desired_number_scheduled: int = 0
    number_ready: int = 0
    updated_number_scheduled: int = 0
    number_available: int = 0
    number_unavailable: int = 0
    observed_generation: int = 0


class DaemonSet(Thing, frozen=True):
    metadata: Meta = Meta()
    spec: DaemonSetSpec = DaemonSetSpec()
    status: DaemonSetStatus = DaemonSetStatus()


class ControllerRevision(Thing, frozen=True):
    metadata: Meta = Meta()
    revision: int = 0
    data: JsonObject | None = None


# --- jobs -------------------------------------------------------------------------------------


class JobSpec(Part, frozen=True):
    parallelism: int | None = None
    completions: int | None = None
    completion_mode: str = "NonIndexed"
    backoff_limit: int | None = None
    active_deadline_seconds: int | None = None
    ttl_seconds_after_finished: int | None = None
    suspend: bool = False
    managed_by: str | None = None
    template: PodTemplate = PodTemplate()


class Uncounted(Part, frozen=True):
    succeeded: tuple[str, ...] | None = None
    failed: tuple[str, ...] | None = None


class JobStatus(Part, frozen=True):
    active: int = 0
    ready: int | None = None
    terminating: int | None = None
    succeeded: int = 0
    failed: int = 0
    start_time: str | None = None
    completion_time: str | None = None
    completed_indexes: str = ""
    uncounted_terminated_pods: Uncounted | None = None
    conditions: tuple[Condition, ...] | None = None


class Job(Thing, frozen=True):
    metadata: Meta = Meta()
    spec: JobSpec = JobSpec()
    status: JobStatus = JobStatus()

    @property
    def finished_at(self) -> str | None:
        """When it was over, for good or ill; None if it is not."""
        for condition in self.status.conditions or ():
            if condition.type in ("Complete", "Failed") and condition.status == "True":
                return condition.last_transition_time
        return None


# --- disruption budgets -----------------------------------------------------------------------


class BudgetSpec(Part, frozen=True):
    min_available: IntOrPercent | None = None
    max_unavailable: IntOrPercent | None = None
    selector: LabelSelector | None = None


class BudgetStatus(Part, frozen=True):
    observed_generation: int = 0
    disruptions_allowed: int = 0
    current_healthy: int = 0
    desired_healthy: int = 0
    expected_pods: int = 0
    disrupted_pods: dict[str, str | None] | None = None
    conditions: tuple[Condition, ...] | None = None


class DisruptionBudget(Thing, frozen=True):
    metadata: Meta = Meta()
    spec: BudgetSpec = BudgetSpec()
    status: BudgetStatus = BudgetStatus()


def canonical(value: object) -> bytes:
    """Bytes that are equal exactly when the JSON is, whatever the order of its keys."""
    return msgspec.json.encode(value, order="sorted")
