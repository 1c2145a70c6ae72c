"""The metrics by name, labels, buckets and help, as kube-scheduler 1.36 has them.

Dashboards and alerts are written against these, so names, label names, bucket bounds and the
stability in front of the help text are a contract; `docs/metrics.md` says which of upstream's
metrics are missing here and why.

Sources: `pkg/scheduler/metrics/metrics.go`, `pkg/scheduler/metrics/resources/resources.go`,
`staging/src/k8s.io/component-base/metrics/prometheus` (engine spec 15).
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final


class MetricKind(StrEnum):
    COUNTER = "counter"
    GAUGE = "gauge"
    HISTOGRAM = "histogram"


class Stability(StrEnum):
    STABLE = "STABLE"
    BETA = "BETA"
    ALPHA = "ALPHA"


STABLE, BETA, ALPHA = Stability.STABLE, Stability.BETA, Stability.ALPHA


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


def exponential(start: float, factor: float, count: int) -> tuple[float, ...]:
    """`count` bounds, each `factor` times the one before: (0.001, 2, 3) -> 0.001, 0.002, 0.004."""
    bounds = [start]
    while len(bounds) < count:
        bounds.append(bounds[-1] * factor)
    return tuple(bounds)


def _counter(name: str, stability: Stability, words: str, *labels: str) -> Definition:
    return Definition(name, MetricKind.COUNTER, stability, words, labels)


def _gauge(name: str, stability: Stability, words: str, *labels: str) -> Definition:
    return Definition(name, MetricKind.GAUGE, stability, words, labels)


def _histogram(
    name: str, stability: Stability, words: str, bounds: tuple[float, ...], *labels: str
) -> Definition:
    return Definition(name, MetricKind.HISTOGRAM, stability, words, labels, bounds)


_ATTEMPT: Final = exponential(0.001, 2, 15)
_POINT: Final = exponential(0.0001, 2, 12)
_LONG: Final = exponential(0.01, 2, 20)
_REQUEST: Final = (0.005, 0.025, 0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 15.0, 30.0, 60.0)

# --- attempts ---------------------------------------------------------------------------------

SCHEDULE_ATTEMPTS: Final = _counter(
    "scheduler_schedule_attempts_total",
    STABLE,
    "Number of attempts to schedule pods, by the result. 'unschedulable' means a pod could not be "
    "scheduled, while 'error' means an internal scheduler problem.",
    "result",
    "profile",
)
ATTEMPT_DURATION: Final = _histogram(
    "scheduler_scheduling_attempt_duration_seconds",
    STABLE,
    "Scheduling attempt latency in seconds (scheduling algorithm + binding)",
    _ATTEMPT,
    "result",
    "profile",
)
ALGORITHM_DURATION: Final = _histogram(
    "scheduler_scheduling_algorithm_duration_seconds",
    ALPHA,
    "Scheduling algorithm latency in seconds",
    _ATTEMPT,
)
POINT_DURATION: Final = _histogram(
    "scheduler_framework_extension_point_duration_seconds",
    STABLE,
    "Latency for running all plugins of a specific extension point.",
    _POINT,
    "extension_point",
    "status",
    "profile",
)
PLUGIN_EVALUATIONS: Final = _counter(
    "scheduler_plugin_evaluation_total",
    BETA,
    "Number of attempts to schedule pods by each plugin and the extension point (available only "
    "in PreFilter, Filter, PreScore, and Score).",
    "plugin",
    "extension_point",
    "profile",
)
PERMIT_WAIT: Final = _histogram(
    "scheduler_permit_wait_duration_seconds",
    BETA,
    "Duration of waiting on permit.",
    _ATTEMPT,
    "result",
)

# --- pods that were bound ---------------------------------------------------------------------

POD_SLI_DURATION: Final = _histogram(
    "scheduler_pod_scheduling_sli_duration_seconds",
    BETA,
    "E2e latency for a pod being scheduled, from the time the pod enters the scheduling queue and "
    "might involve multiple scheduling attempts.",
    _LONG,
    "attempts",
)
POD_ATTEMPTS: Final = _histogram(
    "scheduler_pod_scheduling_attempts",
    STABLE,
    "Number of attempts to successfully schedule a pod.",
    exponential(1, 2, 5),
)
SCHEDULED_AFTER_FLUSH: Final = _counter(
    "scheduler_pod_scheduled_after_flush_total",
    ALPHA,
    "Number of pods that were successfully scheduled after being flushed from unschedulablePods "
    "due to timeout. This metric helps detect potential queueing hint misconfigurations or event "
    "handling issues.",
)

# --- the queue and the cache ------------------------------------------------------------------

QUEUE_INCOMING: Final = _counter(
    "scheduler_queue_incoming_pods_total",
    STABLE,
    "Number of pods added to scheduling queues by event and queue type.",
    "queue",
    "event",
)
PENDING_PODS: Final = _gauge(
    "scheduler_pending_pods",
    STABLE,
    "Number of pending pods, by the queue type. 'active' means number of pods in activeQ; "
    "'backoff' means number of pods in backoffQ; 'unschedulable' means number of pods in "
    "unschedulablePods that the scheduler attempted to schedule and failed; 'gated' is the number "
    "of unschedulable pods that the scheduler never attempted to schedule because they are gated.",
    "queue",
)
UNSCHEDULABLE_PODS: Final = _gauge(
    "scheduler_unschedulable_pods",
    BETA,
    "The number of unschedulable pods broken down by plugin name. A pod will increment the gauge "
    "for all plugins that caused it to not schedule and so this metric have meaning only when "
    "broken down by plugin.",
    "plugin",
    "profile",
)
INFLIGHT_EVENTS: Final = _gauge(
    "scheduler_inflight_events",
    ALPHA,
    "Number of events currently tracked in the scheduling queue.",
    "event",
)
EVENT_HANDLING: Final = _histogram(
    "scheduler_event_handling_duration_seconds",
    ALPHA,
    "Event handling latency in seconds.",
    _POINT,
    "event",
)
CACHE_SIZE: Final = _gauge(
    "scheduler_cache_size",
    ALPHA,
    "Number of nodes, pods, and assumed (bound) pods in the scheduler cache.",
    "type",
)
GOROUTINES: Final = _gauge(
    "scheduler_goroutines",
    BETA,
    "Number of running goroutines split by the work they do such as binding.",
    "operation",
)

# --- preemption -------------------------------------------------------------------------------

PREEMPTION_ATTEMPTS: Final = _counter(
    "scheduler_preemption_attempts_total",
    STABLE,
    "Total preemption attempts in the cluster till now",
)
PREEMPTION_VICTIMS: Final = _histogram(
    "scheduler_preemption_victims",
    STABLE,
    "Number of selected preemption victims",
    exponential(1, 2, 7),
)
PREEMPTION_DURATION: Final = _histogram(
    "scheduler_preemption_goroutines_duration_seconds",
    ALPHA,
    "Duration in seconds for running goroutines for the preemption.",
    _LONG,
    "result",
)
PREEMPTION_EXECUTIONS: Final = _counter(
    "scheduler_preemption_goroutines_execution_total",
    ALPHA,
    "Number of preemption goroutines executed.",
    "result",
)

# --- API writes -------------------------------------------------------------------------------

API_CALLS: Final = _counter(
    "scheduler_async_api_call_execution_total",
    ALPHA,
    "Total number of API calls executed by the async dispatcher.",
    "call_type",
    "result",
)
API_CALL_DURATION: Final = _histogram(
    "scheduler_async_api_call_execution_duration_seconds",
    ALPHA,
    "Duration in seconds for executing API call in the async dispatcher.",
    _ATTEMPT,
    "call_type",
    "result",
)
CLAIM_CREATES: Final = _counter(
    "scheduler_resourceclaim_creates_total",
    ALPHA,
    "Number of ResourceClaims creation requests within scheduler",
    "status",
)

# --- pod groups -------------------------------------------------------------------------------

GROUP_ATTEMPTS: Final = _counter(
    "scheduler_podgroup_schedule_attempts_total",
    ALPHA,
    "Number of attempts to schedule pod group, by the result. 'unschedulable' means a pod group "
    "could not be scheduled, while 'error' means an internal scheduler problem.",
    "result",
    "profile",
)
GROUP_ATTEMPT_DURATION: Final = _histogram(
    "scheduler_podgroup_scheduling_attempt_duration_seconds",
    ALPHA,
    "Pod group scheduling attempt latency in seconds (scheduling algorithm + binding)",
    _ATTEMPT,
    "result",
    "profile",
)
GROUP_ALGORITHM_DURATION: Final = _histogram(
    "scheduler_podgroup_scheduling_algorithm_duration_seconds",
    ALPHA,
    "Pod group scheduling algorithm latency in seconds",
    _ATTEMPT,
)

# --- what every component of Kubernetes has ---------------------------------------------------

REST_REQUESTS: Final = _counter(
    "rest_client_requests_total",
    ALPHA,
    "Number of HTTP requests, partitioned by status code, method, and host.",
    "code",
    "method",
    "host",
)
REST_DURATION: Final = _histogram(
    "rest_client_request_duration_seconds",
    ALPHA,
    "Request latency in seconds. Broken down by verb, and host.",
    _REQUEST,
    "verb",
    "host",
)
RATE_LIMITER_DURATION: Final = _histogram(
    "rest_client_rate_limiter_duration_seconds",
    ALPHA,
    "Client side rate limiter latency in seconds. Broken down by verb, and host.",
    _REQUEST,
    "verb",
    "host",
)
LEADER: Final = _gauge(
    "leader_election_master_status",
    ALPHA,
    "Gauge of if the reporting system is master of the relevant lease, 0 indicates backup, 1 "
    "indicates master. 'name' is the string used to identify the lease. Please make sure to group "
    "by name.",
    "name",
)
LEADER_SLOW_PATH: Final = _counter(
    "leader_election_slowpath_total",
    ALPHA,
    "Total number of slow path exercised in renewing leader leases. 'name' is the string used to "
    "identify the lease. Please make sure to group by name.",
    "name",
)
FEATURE_ENABLED: Final = _gauge(
    "kubernetes_feature_enabled",
    BETA,
    "This metric records the data about the stage and enablement of a k8s feature.",
    "name",
    "stage",
)
BUILD_INFO: Final = _gauge(
    "kubernetes_build_info",
    BETA,
    "A metric with a constant '1' value labeled by major, minor, git version, git commit, git "
    "tree state, build date, Go version, and compiler from which Kubernetes was built, and "
    "platform on which it is running.",
    *("major", "minor", "git_version", "git_commit", "git_tree_state", "build_date"),
    *("go_version", "compiler", "platform"),
)

# --- health checks ----------------------------------------------------------------------------

HEALTH_CHECK: Final = _gauge(
    "kubernetes_healthcheck",
    STABLE,
    "This metric records the result of a single healthcheck.",
    "name",
    "type",
)
HEALTH_CHECKS: Final = _counter(
    "kubernetes_healthchecks_total",
    STABLE,
    "This metric records the results of all healthcheck.",
    "name",
    "type",
    "status",
)

# --- resources of pods ------------------------------------------------------------------------

_RESOURCE_LABELS: Final = (
    *("namespace", "pod", "node", "scheduler", "priority"),
    *("resource", "unit"),
)
POD_REQUEST: Final = _gauge(
    "kube_pod_resource_request",
    STABLE,
    "Resources requested by workloads on the cluster, broken down by pod. This shows the resource "
    "usage the scheduler and kubelet expect per pod for resources along with the unit for the "
    "resource if any.",
    *_RESOURCE_LABELS,
)
POD_LIMIT: Final = _gauge(
    "kube_pod_resource_limit",
    STABLE,
    "Resources limit for workloads on the cluster, broken down by pod. This shows the resource "
    "usage the scheduler and kubelet expect per pod for resources along with the unit for the "
    "resource if any.",
    *_RESOURCE_LABELS,
)
