"""The metrics of kube-scheduler that are served here, by name and with their help texts.

Dashboards and alerts are written against these, so names, types, label names, bucket bounds and the
stability in front of the help text are a contract: they are data of the release. `docs/metrics.md`
says which of upstream's metrics are missing here and why.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from podium.kubernetes.releases.release import release


class MetricKind(StrEnum):
    COUNTER = "counter"
    GAUGE = "gauge"
    HISTOGRAM = "histogram"


class Stability(StrEnum):
    STABLE = "STABLE"
    BETA = "BETA"
    ALPHA = "ALPHA"


@dataclass(frozen=True, slots=True)
class Definition:
    """One metric; `bounds` are a histogram's, without the last one that is infinite."""

    name: str
    kind: MetricKind
    stability: Stability
    words: str
    labels: tuple[str, ...] = ()
    bounds: tuple[float, ...] = ()

    @property
    def help(self) -> str:
        return f"[{self.stability}] {self.words}"


def _find_definition(name: str, words: str) -> Definition:
    metric = release().metrics[name]
    return Definition(
        name,
        MetricKind(metric.type),
        Stability(metric.stability),
        words,
        metric.labels,
        metric.buckets,
    )


# --- attempts ---------------------------------------------------------------------------------

SCHEDULE_ATTEMPTS: Final = _find_definition(
    "scheduler_schedule_attempts_total",
    "Number of attempts to schedule pods, by the result. 'unschedulable' means a pod could not be "
    "scheduled, while 'error' means an internal scheduler problem.",
)
ATTEMPT_DURATION: Final = _find_definition(
    "scheduler_scheduling_attempt_duration_seconds",
    "Scheduling attempt latency in seconds (scheduling algorithm + binding)",
)
ALGORITHM_DURATION: Final = _find_definition(
    "scheduler_scheduling_algorithm_duration_seconds",
    "Scheduling algorithm latency in seconds",
)
POINT_DURATION: Final = _find_definition(
    "scheduler_framework_extension_point_duration_seconds",
    "Latency for running all plugins of a specific extension point.",
)
PLUGIN_EVALUATIONS: Final = _find_definition(
    "scheduler_plugin_evaluation_total",
    "Number of attempts to schedule pods by each plugin and the extension point (available only "
    "in PreFilter, Filter, PreScore, and Score).",
)
PERMIT_WAIT: Final = _find_definition(
    "scheduler_permit_wait_duration_seconds",
    "Duration of waiting on permit.",
)

# --- pods that were bound ---------------------------------------------------------------------

POD_SLI_DURATION: Final = _find_definition(
    "scheduler_pod_scheduling_sli_duration_seconds",
    "E2e latency for a pod being scheduled, from the time the pod enters the scheduling queue and "
    "might involve multiple scheduling attempts.",
)
POD_ATTEMPTS: Final = _find_definition(
    "scheduler_pod_scheduling_attempts",
    "Number of attempts to successfully schedule a pod.",
)
SCHEDULED_AFTER_FLUSH: Final = _find_definition(
    "scheduler_pod_scheduled_after_flush_total",
    "Number of pods that were successfully scheduled after being flushed from unschedulablePods "
    "due to timeout. This metric helps detect potential queueing hint misconfigurations or event "
    "handling issues.",
)

# --- the queue and the cache ------------------------------------------------------------------

QUEUE_INCOMING: Final = _find_definition(
    "scheduler_queue_incoming_pods_total",
    "Number of pods added to scheduling queues by event and queue type.",
)
PENDING_PODS: Final = _find_definition(
    "scheduler_pending_pods",
    "Number of pending pods, by the queue type. 'active' means number of pods in activeQ; "
    "'backoff' means number of pods in backoffQ; 'unschedulable' means number of pods in "
    "unschedulablePods that the scheduler attempted to schedule and failed; 'gated' is the number "
    "of unschedulable pods that the scheduler never attempted to schedule because they are gated.",
)
UNSCHEDULABLE_PODS: Final = _find_definition(
    "scheduler_unschedulable_pods",
    "The number of unschedulable pods broken down by plugin name. A pod will increment the gauge "
    "for all plugins that caused it to not schedule and so this metric have meaning only when "
    "broken down by plugin.",
)
INFLIGHT_EVENTS: Final = _find_definition(
    "scheduler_inflight_events",
    "Number of events currently tracked in the scheduling queue.",
)
EVENT_HANDLING: Final = _find_definition(
    "scheduler_event_handling_duration_seconds",
    "Event handling latency in seconds.",
)
CACHE_SIZE: Final = _find_definition(
    "scheduler_cache_size",
    "Number of nodes, pods, and assumed (bound) pods in the scheduler cache.",
)
GOROUTINES: Final = _find_definition(
    "scheduler_goroutines",
    "Number of running goroutines split by the work they do such as binding.",
)

# --- preemption -------------------------------------------------------------------------------

PREEMPTION_ATTEMPTS: Final = _find_definition(
    "scheduler_preemption_attempts_total",
    "Total preemption attempts in the cluster till now",
)
PREEMPTION_VICTIMS: Final = _find_definition(
    "scheduler_preemption_victims",
    "Number of selected preemption victims",
)
PREEMPTION_DURATION: Final = _find_definition(
    "scheduler_preemption_goroutines_duration_seconds",
    "Duration in seconds for running goroutines for the preemption.",
)
PREEMPTION_EXECUTIONS: Final = _find_definition(
    "scheduler_preemption_goroutines_execution_total",
    "Number of preemption goroutines executed.",
)

# --- API writes -------------------------------------------------------------------------------

API_CALLS: Final = _find_definition(
    "scheduler_async_api_call_execution_total",
    "Total number of API calls executed by the async dispatcher.",
)
API_CALL_DURATION: Final = _find_definition(
    "scheduler_async_api_call_execution_duration_seconds",
    "Duration in seconds for executing API call in the async dispatcher.",
)
CLAIM_CREATES: Final = _find_definition(
    "scheduler_resourceclaim_creates_total",
    "Number of ResourceClaims creation requests within scheduler",
)

# --- pod groups -------------------------------------------------------------------------------

GROUP_ATTEMPTS: Final = _find_definition(
    "scheduler_podgroup_schedule_attempts_total",
    "Number of attempts to schedule pod group, by the result. 'unschedulable' means a pod group "
    "could not be scheduled, while 'error' means an internal scheduler problem.",
)
GROUP_ATTEMPT_DURATION: Final = _find_definition(
    "scheduler_podgroup_scheduling_attempt_duration_seconds",
    "Pod group scheduling attempt latency in seconds (scheduling algorithm + binding)",
)
GROUP_ALGORITHM_DURATION: Final = _find_definition(
    "scheduler_podgroup_scheduling_algorithm_duration_seconds",
    "Pod group scheduling algorithm latency in seconds",
)

# --- what every component of Kubernetes has ---------------------------------------------------

REST_REQUESTS: Final = _find_definition(
    "rest_client_requests_total",
    "Number of HTTP requests, partitioned by status code, method, and host.",
)
REST_DURATION: Final = _find_definition(
    "rest_client_request_duration_seconds",
    "Request latency in seconds. Broken down by verb, and host.",
)
RATE_LIMITER_DURATION: Final = _find_definition(
    "rest_client_rate_limiter_duration_seconds",
    "Client side rate limiter latency in seconds. Broken down by verb, and host.",
)
LEADER: Final = _find_definition(
    "leader_election_master_status",
    "Gauge of if the reporting system is master of the relevant lease, 0 indicates backup, 1 "
    "indicates master. 'name' is the string used to identify the lease. Please make sure to group "
    "by name.",
)
LEADER_SLOW_PATH: Final = _find_definition(
    "leader_election_slowpath_total",
    "Total number of slow path exercised in renewing leader leases. 'name' is the string used to "
    "identify the lease. Please make sure to group by name.",
)
FEATURE_ENABLED: Final = _find_definition(
    "kubernetes_feature_enabled",
    "This metric records the data about the stage and enablement of a k8s feature.",
)
BUILD_INFO: Final = _find_definition(
    "kubernetes_build_info",
    "A metric with a constant '1' value labeled by major, minor, git version, git commit, git "
    "tree state, build date, Go version, and compiler from which Kubernetes was built, and "
    "platform on which it is running.",
)

# --- health checks ----------------------------------------------------------------------------

HEALTH_CHECK: Final = _find_definition(
    "kubernetes_healthcheck",
    "This metric records the result of a single healthcheck.",
)
HEALTH_CHECKS: Final = _find_definition(
    "kubernetes_healthchecks_total",
    "This metric records the results of all healthcheck.",
)

# --- resources of pods ------------------------------------------------------------------------

POD_REQUEST: Final = _find_definition(
    "kube_pod_resource_request",
    "Resources requested by workloads on the cluster, broken down by pod. This shows the resource "
    "usage the scheduler and kubelet expect per pod for resources along with the unit for the "
    "resource if any.",
)
POD_LIMIT: Final = _find_definition(
    "kube_pod_resource_limit",
    "Resources limit for workloads on the cluster, broken down by pod. This shows the resource "
    "usage the scheduler and kubelet expect per pod for resources along with the unit for the "
    "resource if any.",
)
