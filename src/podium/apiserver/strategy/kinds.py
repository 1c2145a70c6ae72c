"""What the server does with each kind before it is validated.

Most kinds differ in three things only: what an empty status looks like, whether they count
generations, and of which part. The rest have functions of their own.
"""

from collections.abc import Callable, Mapping
from typing import Final

from podium.golang.json_values import JsonObject, copied
from podium.kubernetes.rules.api_service_availability import LOCAL
from podium.kubernetes.resources.resource import Resource
from podium.apiserver.strategy import certificate_requests, pods, services, storage, workloads
from podium.kubernetes.strategy.gated_fields import drop_gated_fields
from podium.kubernetes.validation.claim_statuses import drop_reports_of_released_devices

Key = tuple[str, str]

_EMPTY_STATUSES: Final[Mapping[Key, JsonObject]] = {
    ("", "ReplicationController"): {"replicas": 0},
    ("", "ResourceQuota"): {},
    ("", "Service"): {"loadBalancer": {}},
    ("apps", "DaemonSet"): {
        "currentNumberScheduled": 0,
        "numberMisscheduled": 0,
        "desiredNumberScheduled": 0,
        "numberReady": 0,
    },
    ("apps", "Deployment"): {},
    ("apps", "ReplicaSet"): {"replicas": 0},
    ("apps", "StatefulSet"): {"replicas": 0, "availableReplicas": 0},
    ("autoscaling", "HorizontalPodAutoscaler"): {"desiredReplicas": 0, "currentMetrics": None},
    ("apiregistration.k8s.io", "APIService"): {},
    ("batch", "CronJob"): {},
    ("batch", "Job"): {},
    ("certificates.k8s.io", "CertificateSigningRequest"): {},
    ("flowcontrol.apiserver.k8s.io", "FlowSchema"): {},
    ("flowcontrol.apiserver.k8s.io", "PriorityLevelConfiguration"): {},
    ("networking.k8s.io", "Ingress"): {"loadBalancer": {}},
    ("networking.k8s.io", "ServiceCIDR"): {},
    ("resource.k8s.io", "DeviceTaintRule"): {},
    ("policy", "PodDisruptionBudget"): {
        "disruptionsAllowed": 0,
        "currentHealthy": 0,
        "desiredHealthy": 0,
        "expectedPods": 0,
    },
    ("admissionregistration.k8s.io", "ValidatingAdmissionPolicy"): {},
    ("resource.k8s.io", "ResourceClaim"): {},
    ("scheduling.k8s.io", "PodGroup"): {},
    ("storage.k8s.io", "VolumeAttachment"): {"attached": False},
}
"""Statuses that clients cannot set when they create an object, as the server writes empty ones."""

_COUNTED: Final[Mapping[Key, tuple[str, ...]]] = {
    ("", "Pod"): ("spec",),
    ("", "PodTemplate"): ("template",),
    ("admissionregistration.k8s.io", "MutatingAdmissionPolicy"): ("spec",),
    ("admissionregistration.k8s.io", "MutatingAdmissionPolicyBinding"): ("spec",),
    ("admissionregistration.k8s.io", "MutatingWebhookConfiguration"): ("webhooks",),
    ("admissionregistration.k8s.io", "ValidatingAdmissionPolicy"): ("spec",),
    ("admissionregistration.k8s.io", "ValidatingAdmissionPolicyBinding"): ("spec",),
    ("admissionregistration.k8s.io", "ValidatingWebhookConfiguration"): ("webhooks",),
    ("", "ReplicationController"): ("spec",),
    ("apiextensions.k8s.io", "CustomResourceDefinition"): ("spec",),
    ("apps", "DaemonSet"): ("spec",),
    ("apps", "Deployment"): ("spec", "annotations"),
    ("apps", "ReplicaSet"): ("spec",),
    ("apps", "StatefulSet"): ("spec",),
    ("batch", "CronJob"): ("spec",),
    ("batch", "Job"): ("spec",),
    ("discovery.k8s.io", "EndpointSlice"): ("addressType", "endpoints", "ports", "labels"),
    ("flowcontrol.apiserver.k8s.io", "FlowSchema"): ("spec",),
    ("flowcontrol.apiserver.k8s.io", "PriorityLevelConfiguration"): ("spec",),
    ("networking.k8s.io", "Ingress"): ("spec",),
    ("networking.k8s.io", "IngressClass"): ("spec",),
    ("networking.k8s.io", "NetworkPolicy"): ("spec",),
    ("policy", "PodDisruptionBudget"): ("spec",),
    ("resource.k8s.io", "DeviceClass"): ("spec",),
    ("resource.k8s.io", "DeviceTaintRule"): ("spec",),
    ("resource.k8s.io", "ResourceSlice"): ("spec",),
    ("scheduling.k8s.io", "PriorityClass"): (),
    ("storage.k8s.io", "CSIDriver"): ("spec",),
}
"""Kinds that start with generation 1, and the parts whose changes count it up."""

_COUNTED_LATER: Final = frozenset({("storage.k8s.io", "CSIDriver")})
"""Of these, kinds whose first generation has no number."""
_CERTIFICATE_REQUEST: Final = ("certificates.k8s.io", "CertificateSigningRequest")
_NODE: Final = ("", "Node")
_NAME_LABEL: Final = "kubernetes.io/metadata.name"
_METADATA_PARTS: Final = ("annotations", "labels")
_KEPT_FOR_STATUS: Final = (
    "labels",
    "annotations",
    "finalizers",
    "ownerReferences",
    "deletionTimestamp",
    "generation",
)
_STATUS_ONLY: Final = frozenset(
    {
        ("apiregistration.k8s.io", "APIService"),
        ("flowcontrol.apiserver.k8s.io", "FlowSchema"),
        ("flowcontrol.apiserver.k8s.io", "PriorityLevelConfiguration"),
        ("networking.k8s.io", "ServiceCIDR"),
        ("resource.k8s.io", "DeviceTaintRule"),
        ("resource.k8s.io", "ResourceClaim"),
        ("scheduling.k8s.io", "PodGroup"),
        ("storage.k8s.io", "VolumeAttachment"),
    }
)
"""Kinds whose metadata does not change with their status."""


def _prepare_namespace(namespace: JsonObject, _now: str) -> None:
    namespace["status"] = {"phase": "Active"}
    metadata = namespace["metadata"]
    if metadata.get("name"):  # also where the name was made from a prefix
        labels = metadata.get("labels") or {}
        metadata["labels"] = {**labels, _NAME_LABEL: metadata["name"]}
    spec = namespace.setdefault("spec", {})
    finalizers = spec.get("finalizers") or []
    if "kubernetes" not in finalizers:
        spec["finalizers"] = [*finalizers, "kubernetes"]


def _date_taints(resource_slice: JsonObject, now: str) -> None:
    for device in (resource_slice.get("spec") or {}).get("devices") or ():
        for taint in device.get("taints") or ():
            if taint.get("timeAdded") is None:
                taint["timeAdded"] = now


def _date_rule(rule: JsonObject, now: str) -> None:
    rule["spec"].setdefault("taint", {}).setdefault("timeAdded", now)


def _date_changed_rule(new: JsonObject, old: JsonObject, now: str) -> None:
    """A taint that has another effect counts from now, unless its time was changed too."""
    _date_rule(new, now)
    taint, before = new["spec"]["taint"], old["spec"]["taint"]
    is_other = taint.get("effect") != before.get("effect")
    if is_other and taint["timeAdded"] == before.get("timeAdded"):
        taint["timeAdded"] = now


def _prepare_pod_group(group: JsonObject, _now: str) -> None:
    # upstream: what is dropped while its gate is closed gets its default when it is stored
    group["spec"].setdefault("disruptionMode", "Pod")


def _note_local(api_service: JsonObject, now: str) -> None:
    """What the server serves itself is available at once."""
    if api_service["spec"].get("service") is None:
        api_service["status"]["conditions"] = [LOCAL.condition(now)]


_CREATE: Final[Mapping[Key, Callable[[JsonObject, str], None]]] = {
    ("", "Namespace"): _prepare_namespace,
    ("", "PersistentVolume"): storage.prepare_volume,
    ("", "PersistentVolumeClaim"): storage.prepare_claim,
    ("", "Pod"): pods.prepare_create,
    ("", "Service"): services.prepare_create,
    ("apiregistration.k8s.io", "APIService"): _note_local,
    ("apps", "DaemonSet"): workloads.prepare_daemon_set,
    ("batch", "Job"): workloads.prepare_job,
    ("resource.k8s.io", "DeviceTaintRule"): _date_rule,
    ("resource.k8s.io", "ResourceSlice"): _date_taints,
    ("scheduling.k8s.io", "PodGroup"): _prepare_pod_group,
}


_NULLED: Final[Mapping[Key, tuple[str, ...]]] = {
    ("batch", "Job"): ("spec", "podFailurePolicy", "rules"),
    ("discovery.k8s.io", "EndpointSlice"): ("endpoints",),
    ("rbac.authorization.k8s.io", "ClusterRole"): ("rules",),
    ("rbac.authorization.k8s.io", "Role"): ("rules",),
    ("resource.k8s.io", "ResourceClaim"): ("spec", "devices", "requests"),
    ("storage.k8s.io", "CSINode"): ("spec", "drivers"),
}
"""Lists that are written even when they are empty, and then as null: storing drops empty ones."""


def _drop_config_source(node: JsonObject) -> None:
    """The field of a feature that is no more."""
    (node.get("spec") or {}).pop("configSource", None)


def _null_empty_list(key: Key, obj: JsonObject) -> None:
    *parents, last = _NULLED[key]
    holder: JsonObject | None = obj
    for name in parents:
        holder = (holder or {}).get(name)
    if holder is not None and holder.get(last) == []:
        holder[last] = None


def prepare_create(resource: Resource, obj: JsonObject, now: str) -> None:
    """Start a new object: its status, its generation, what the server adds."""
    if resource.is_custom:
        obj["metadata"]["generation"] = 1
        if resource.has_status:
            obj.pop("status", None)
        return
    key = (resource.group, resource.kind)
    status = _EMPTY_STATUSES.get(key)
    if status is not None:
        obj["status"] = copied(status)
    if key in _COUNTED and key not in _COUNTED_LATER:
        obj["metadata"]["generation"] = 1
    if key in _NULLED:
        _null_empty_list(key, obj)
    if key == _NODE:
        _drop_config_source(obj)
    if resource.gated_fields:
        drop_gated_fields(resource, obj, {})
    prepare = _CREATE.get(key)
    if prepare is not None:
        prepare(obj, now)


def prepare_update(resource: Resource, new: JsonObject, old: JsonObject, now: str) -> None:
    """Keep what an update cannot change, and count the generation."""
    key = (resource.group, resource.kind)
    keeps_status = resource.has_status
    if keeps_status:
        _keep(new, old, "status")
    if key == ("", "Namespace"):
        _keep_finalizers(new, old)
    elif key == ("", "Service"):
        services.prepare_update(new, old)
    elif key == ("", "PersistentVolumeClaim"):
        storage.prepare_claim_update(new, old)
    elif key == ("apps", "DaemonSet"):
        workloads.keep_template_generation(new, old)
    elif key == _CERTIFICATE_REQUEST:
        _keep(new, old, "spec")
    elif key == ("resource.k8s.io", "ResourceSlice"):
        _date_taints(new, now)
    elif key == ("resource.k8s.io", "DeviceTaintRule"):
        _date_changed_rule(new, old, now)
    if key in _NULLED:
        _null_empty_list(key, new)
    if key == _NODE:
        _drop_config_source(new)
    if resource.gated_fields:
        drop_gated_fields(resource, new, old)
    _keep(new["metadata"], old["metadata"], "generation")
    if _is_changed(resource, new, old):
        new["metadata"]["generation"] = (old["metadata"].get("generation") or 0) + 1


def _is_changed(resource: Resource, new: JsonObject, old: JsonObject) -> bool:
    if resource.is_custom:
        apart = {"metadata", "status"} if resource.has_status else {"metadata"}
        parts = {name for name in (*new, *old) if name not in apart}
        return any(new.get(part) != old.get(part) for part in parts)
    for part in _COUNTED.get((resource.group, resource.kind), ()):
        holders = (new["metadata"], old["metadata"]) if part in _METADATA_PARTS else (new, old)
        if (holders[0].get(part) or None) != (holders[1].get(part) or None):
            return True
    return False


def prepare_status_update(resource: Resource, new: JsonObject, old: JsonObject, now: str) -> None:
    """Keep everything but the status and, for most kinds, the metadata."""
    key = (resource.group, resource.kind)
    for name in {*new, *old} - {"metadata", "status", "kind", "apiVersion"}:
        _keep(new, old, name)
    _keep(new["metadata"], old["metadata"], "generation")
    if resource.is_custom or key in _STATUS_ONLY:
        for name in _KEPT_FOR_STATUS:
            _keep(new["metadata"], old["metadata"], name)
    elif key == ("", "Pod"):
        pods.prepare_status_update(new, old)
    elif key == ("", "PersistentVolume"):
        storage.prepare_volume_status(new, old, now)
    elif key == _CERTIFICATE_REQUEST:
        certificate_requests.keep_decisions(new, old, now)
    elif key == ("apps", "Deployment"):
        _keep(new["metadata"], old["metadata"], "labels")
    if key == ("resource.k8s.io", "ResourceClaim"):
        drop_reports_of_released_devices(new, old)
    if resource.gated_fields:
        drop_gated_fields(resource, new, old)


def prepare_subresource_update(
    resource: Resource, subresource: str, new: JsonObject, old: JsonObject, now: str
) -> None:
    """The same for a namespace's `finalize`, a pod's `resize` and `ephemeralcontainers`, and the
    `approval` of a request for a certificate."""
    if subresource == "approval":
        _keep(new, old, "spec")
        certificate_requests.keep_all_but_conditions(new, old, now)
        return
    _keep(new, old, "status")
    _keep(new["metadata"], old["metadata"], "generation")
    if resource.kind != "Pod":
        return
    for name in _KEPT_FOR_STATUS:
        _keep(new["metadata"], old["metadata"], name)
    if subresource == "resize":
        pods.prepare_resize(new, old)
    elif subresource == "ephemeralcontainers":
        pods.prepare_ephemeral_containers(new, old)
    drop_gated_fields(resource, new, old)
    if new["spec"] != old["spec"]:
        new["metadata"]["generation"] = (old["metadata"].get("generation") or 0) + 1


def _keep(new: JsonObject, old: JsonObject, name: str) -> None:
    if name in old:
        new[name] = old[name]
    else:
        new.pop(name, None)


def _keep_finalizers(new: JsonObject, old: JsonObject) -> None:
    spec = new.setdefault("spec", {})
    _keep(spec, old.get("spec") or {}, "finalizers")
