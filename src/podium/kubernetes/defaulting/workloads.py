"""Defaults of the kinds that make pods, and of autoscalers.

Deployments, sets, jobs and replication controllers bring a pod template, whose defaults are those
of a pod spec.

Autoscalers get the use of CPU to aim at, and how fast to scale.
"""

from typing import Final

from podium.golang.json_values import JsonObject, copy_json
from podium.kubernetes.defaulting.pods import set_template_defaults
from podium.kubernetes.defaulting.storage import set_claim_defaults

_MAX_INT32: Final = 2**31 - 1
_TEMPLATE_GENERATION: Final = "deprecated.daemonset.template.generation"
_KEPT_REVISIONS: Final = 10
_PROGRESS_DEADLINE_S: Final = 600
_RETRIES: Final = 6


def set_deployment_defaults(deployment: JsonObject) -> None:
    spec = _spec(deployment)
    _fill(spec, "replicas", 1)
    strategy = _below(spec, "strategy")
    if not strategy.get("type"):
        strategy["type"] = "RollingUpdate"
    if strategy["type"] == "RollingUpdate":
        rolling = _below(strategy, "rollingUpdate")
        _fill(rolling, "maxUnavailable", "25%")
        _fill(rolling, "maxSurge", "25%")
    _fill(spec, "revisionHistoryLimit", _KEPT_REVISIONS)
    _fill(spec, "progressDeadlineSeconds", _PROGRESS_DEADLINE_S)
    set_template_defaults(_below(spec, "template"))


def set_replica_set_defaults(replica_set: JsonObject) -> None:
    spec = _spec(replica_set)
    _fill(spec, "replicas", 1)
    set_template_defaults(_below(spec, "template"))


def set_stateful_set_defaults(stateful_set: JsonObject) -> None:
    spec = _spec(stateful_set)
    if not spec.get("podManagementPolicy"):
        spec["podManagementPolicy"] = "OrderedReady"
    update = _below(spec, "updateStrategy")
    if not update.get("type"):
        update["type"] = "RollingUpdate"
        _below(update, "rollingUpdate")
    if update["type"] == "RollingUpdate" and update.get("rollingUpdate") is not None:
        _fill(update["rollingUpdate"], "partition", 0)
    retention = _below(spec, "persistentVolumeClaimRetentionPolicy")
    for moment in ("whenDeleted", "whenScaled"):
        if not retention.get(moment):
            retention[moment] = "Retain"
    _fill(spec, "replicas", 1)
    _fill(spec, "revisionHistoryLimit", _KEPT_REVISIONS)
    set_template_defaults(_below(spec, "template"))
    for claim in spec.get("volumeClaimTemplates") or ():
        claim["apiVersion"], claim["kind"] = "v1", "PersistentVolumeClaim"
        if claim.get("metadata") is None:
            claim["metadata"] = {}
        set_claim_defaults(claim)


def set_daemon_set_defaults(daemon_set: JsonObject) -> None:
    spec = _spec(daemon_set)
    metadata = _below(daemon_set, "metadata")
    # upstream: a field of old that became an annotation; it counts as written by the client
    annotations = metadata.get("annotations") or {}
    metadata["annotations"] = {_TEMPLATE_GENERATION: "0", **annotations}
    update = _below(spec, "updateStrategy")
    if not update.get("type"):
        update["type"] = "RollingUpdate"
    if update["type"] == "RollingUpdate":
        rolling = _below(update, "rollingUpdate")
        _fill(rolling, "maxUnavailable", 1)
        _fill(rolling, "maxSurge", 0)
    _fill(spec, "revisionHistoryLimit", _KEPT_REVISIONS)
    set_template_defaults(_below(spec, "template"))


def set_replication_controller_defaults(controller: JsonObject) -> None:
    spec = _spec(controller)
    _fill(spec, "replicas", 1)
    template = spec.get("template")
    if template is not None:
        labels = (template.get("metadata") or {}).get("labels")
        if labels:
            if not spec.get("selector"):
                spec["selector"] = dict(labels)
            metadata = _below(controller, "metadata")
            if not metadata.get("labels"):
                metadata["labels"] = dict(labels)
        set_template_defaults(template)


def set_job_defaults(job: JsonObject) -> None:
    spec = _spec(job)
    if spec.get("parallelism") is None:
        spec["parallelism"] = 1
        _fill(spec, "completions", 1)
    limited_per_index = spec.get("backoffLimitPerIndex") is not None
    _fill(spec, "backoffLimit", _MAX_INT32 if limited_per_index else _RETRIES)
    labels = ((spec.get("template") or {}).get("metadata") or {}).get("labels")
    metadata = _below(job, "metadata")
    if labels and not metadata.get("labels"):
        metadata["labels"] = labels  # upstream: one and the same map until the job is stored
    _fill(spec, "completionMode", "NonIndexed")
    _fill(spec, "suspend", False)
    with_failure_policy = spec.get("podFailurePolicy") is not None
    _fill(spec, "podReplacementPolicy", "Failed" if with_failure_policy else "TerminatingOrFailed")
    _fill(spec, "manualSelector", False)
    _set_job_template_parts(spec)


def set_cron_job_defaults(cron_job: JsonObject) -> None:
    spec = _spec(cron_job)
    if not spec.get("concurrencyPolicy"):
        spec["concurrencyPolicy"] = "Allow"
    _fill(spec, "suspend", False)
    _fill(spec, "successfulJobsHistoryLimit", 3)
    _fill(spec, "failedJobsHistoryLimit", 1)
    template = _below(spec, "jobTemplate")
    _below(template, "metadata")
    # upstream: a job template gets the defaults of its pods, not those of a job.
    _set_job_template_parts(_below(template, "spec"))


def set_pod_template_defaults(template: JsonObject) -> None:
    set_template_defaults(_below(template, "template"))


def _set_job_template_parts(spec: JsonObject) -> None:
    for rule in (spec.get("podFailurePolicy") or {}).get("rules") or ():
        for pattern in rule.get("onPodConditions") or ():
            if not pattern.get("status"):
                pattern["status"] = "True"
    set_template_defaults(_below(spec, "template"))


def _spec(obj: JsonObject) -> JsonObject:
    _below(obj, "status")
    return _below(obj, "spec")


def _below(parent: JsonObject, name: str) -> JsonObject:
    child = parent.get(name)
    if child is None:
        child = parent[name] = {}
    return child


def _fill(parent: JsonObject, name: str, value: object) -> None:
    if parent.get(name) is None:
        parent[name] = value


_CPU_PERCENT: Final = 80
DEFAULT_METRIC: Final[JsonObject] = {
    "type": "Resource",
    "resource": {
        "name": "cpu",
        "target": {"type": "Utilization", "averageUtilization": _CPU_PERCENT},
    },
}
"""By what is scaled if nothing else is said. Not to be changed."""

_PERIOD_S: Final = 15
_ALL_AT_ONCE: Final[JsonObject] = {"type": "Percent", "value": 100, "periodSeconds": _PERIOD_S}
_SCALE_UP: Final[JsonObject] = {
    "stabilizationWindowSeconds": 0,
    "selectPolicy": "Max",
    "policies": [{"type": "Pods", "value": 4, "periodSeconds": _PERIOD_S}, _ALL_AT_ONCE],
}
_SCALE_DOWN: Final[JsonObject] = {"selectPolicy": "Max", "policies": [_ALL_AT_ONCE]}


def set_v1_autoscaler_defaults(autoscaler: JsonObject) -> None:
    spec = autoscaler.get("spec")
    if spec is None:
        spec = autoscaler["spec"] = {}
    if spec.get("minReplicas") is None:
        spec["minReplicas"] = 1


def set_autoscaler_defaults(autoscaler: JsonObject) -> None:
    """Of an autoscaler in the form of v2."""
    set_v1_autoscaler_defaults(autoscaler)
    spec = autoscaler["spec"]
    if not spec.get("metrics"):
        spec["metrics"] = [copy_json(DEFAULT_METRIC)]
    behavior = spec.get("behavior")
    if behavior is not None:
        for name, defaults in (("scaleUp", _SCALE_UP), ("scaleDown", _SCALE_DOWN)):
            behavior[name] = {**copy_json(defaults), **(behavior.get(name) or {})}
