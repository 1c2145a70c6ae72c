"""Which rules hold for which kind, and those that hold for all.

For a new object the rules of its kind come first, and only if they find nothing the general ones
for metadata; for a changed object the general ones come first and both are told. Kinds without
rules of their own have names like most objects.
"""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Final, NamedTuple

from podium.kubernetes.rules.field_errors import invalid, not_supported, required
from podium.golang.json_values import JsonObject
from podium.kubernetes.resources.resource import Resource
from podium.apiserver.validation import (
    access,
    admission_policies,
    admission_webhooks,
    api_services,
    autoscaling,
    certificate_requests,
    claim_statuses,
    configuration,
    csi,
    device_slices,
    device_taint_rules,
    devices,
    endpoints,
    events,
    flow_control,
    ingresses,
    jobs,
    mutating_policies,
    network_policies,
    nodes,
    pod_groups,
    pod_statuses,
    pod_subresources,
    pod_updates,
    pods,
    policies,
    quotas,
    runtime_classes,
    service_ranges,
    services,
    storage,
    workloads,
)
from podium.kubernetes.validation.names import path_segment_problems, subdomain_problems
from podium.kubernetes.validation.object_meta import (
    NOT_NEGATIVE,
    Errors,
    TooManyErrors,
    built_in_meta_errors,
    built_in_meta_update_errors,
    meta_errors,
    meta_of,
    meta_update_errors,
)

Create = Callable[[JsonObject], Errors]
Update = Callable[[JsonObject, JsonObject], Errors]


def _only_metadata(new: JsonObject, old: JsonObject) -> Errors:
    return built_in_meta_update_errors(meta_of(new), meta_of(old))


def _nothing(_new: JsonObject, _old: JsonObject) -> Errors:
    return []


class Checks(NamedTuple):
    """How a kind is checked when it is created, changed, and when its status changes."""

    create: Create
    update: Update = _only_metadata
    status: Update = _only_metadata


def _plain(*, namespaced: bool) -> Checks:
    """Kinds of which only the metadata is looked at."""

    def create(obj: JsonObject) -> Errors:
        return built_in_meta_errors(meta_of(obj), namespaced, subdomain_problems)

    return Checks(create)


_PLAIN: Final = {namespaced: _plain(namespaced=namespaced) for namespaced in (False, True)}


def _namespace_update(new: JsonObject, old: JsonObject) -> Errors:
    return [*nodes.namespace_create_errors(new), *nodes.namespace_update_errors(new, old)]


def _role(*, namespaced: bool) -> Checks:
    create = partial(access.role_create_errors, namespaced=namespaced)

    def update(new: JsonObject, old: JsonObject) -> Errors:
        return [*create(new), *_only_metadata(new, old)]

    return Checks(create, update)


def _role_binding(*, namespaced: bool) -> Checks:
    return Checks(
        partial(access.binding_create_errors, namespaced=namespaced),
        partial(access.binding_update_errors, namespaced=namespaced),
    )


_ADMISSION: Final = "admissionregistration.k8s.io"
_RBAC: Final = "rbac.authorization.k8s.io"
_FLOW_CONTROL: Final = "flowcontrol.apiserver.k8s.io"
_NETWORKING: Final = "networking.k8s.io"
_SCHEDULING: Final = "scheduling.k8s.io"
_STORAGE: Final = "storage.k8s.io"
_DEVICES: Final = "resource.k8s.io"

_BY_KIND: Final[Mapping[tuple[str, str], Checks]] = {
    (_ADMISSION, "MutatingAdmissionPolicy"): Checks(
        mutating_policies.policy_create_errors, mutating_policies.policy_update_errors
    ),
    (_ADMISSION, "MutatingAdmissionPolicyBinding"): Checks(
        mutating_policies.binding_create_errors, mutating_policies.binding_update_errors
    ),
    (_ADMISSION, "MutatingWebhookConfiguration"): Checks(
        admission_webhooks.create_errors, admission_webhooks.update_errors
    ),
    (_ADMISSION, "ValidatingAdmissionPolicy"): Checks(
        admission_policies.policy_create_errors,
        admission_policies.policy_update_errors,
        admission_policies.policy_status_errors,
    ),
    (_ADMISSION, "ValidatingAdmissionPolicyBinding"): Checks(
        admission_policies.binding_create_errors, admission_policies.binding_update_errors
    ),
    (_ADMISSION, "ValidatingWebhookConfiguration"): Checks(
        admission_webhooks.create_errors, admission_webhooks.update_errors
    ),
    ("", "ConfigMap"): Checks(
        configuration.config_map_create_errors, configuration.config_map_update_errors
    ),
    ("", "Endpoints"): Checks(endpoints.create_errors, endpoints.update_errors),
    ("", "Event"): Checks(events.old_create_errors, events.old_update_errors),
    ("", "LimitRange"): Checks(quotas.range_errors, quotas.range_update_errors),
    ("", "Namespace"): Checks(
        nodes.namespace_create_errors, _namespace_update, nodes.namespace_status_errors
    ),
    ("", "Node"): Checks(nodes.create_errors, nodes.update_errors, nodes.status_errors),
    ("", "PersistentVolume"): Checks(
        storage.volume_create_errors, storage.volume_update_errors, storage.volume_status_errors
    ),
    ("", "PersistentVolumeClaim"): Checks(
        storage.claim_create_errors, storage.claim_update_errors, storage.claim_status_errors
    ),
    ("", "Pod"): Checks(
        pods.create_errors, pod_updates.update_errors, pod_statuses.status_update_errors
    ),
    ("", "PodTemplate"): Checks(
        configuration.pod_template_create_errors, configuration.pod_template_update_errors
    ),
    ("", "ReplicationController"): Checks(
        workloads.controller_create_errors,
        workloads.controller_update_errors,
        workloads.replicas_status_errors,
    ),
    ("", "ResourceQuota"): Checks(
        quotas.quota_create_errors, quotas.quota_update_errors, quotas.quota_status_errors
    ),
    ("", "Secret"): Checks(configuration.secret_create_errors, configuration.secret_update_errors),
    ("", "Service"): Checks(services.create_errors, services.update_errors, services.status_errors),
    ("apiregistration.k8s.io", "APIService"): Checks(
        api_services.create_errors, api_services.update_errors, api_services.status_errors
    ),
    ("certificates.k8s.io", "CertificateSigningRequest"): Checks(
        certificate_requests.create_errors,
        certificate_requests.update_errors,
        certificate_requests.status_errors,
    ),
    ("apps", "ControllerRevision"): Checks(
        configuration.revision_create_errors, configuration.revision_update_errors
    ),
    ("apps", "DaemonSet"): Checks(
        workloads.daemon_set_create_errors, workloads.daemon_set_update_errors
    ),
    ("apps", "Deployment"): Checks(
        workloads.deployment_create_errors,
        workloads.deployment_update_errors,
        workloads.replicas_status_errors,
    ),
    ("apps", "ReplicaSet"): Checks(
        workloads.replica_set_create_errors,
        workloads.replica_set_update_errors,
        workloads.replicas_status_errors,
    ),
    ("apps", "StatefulSet"): Checks(
        workloads.stateful_set_create_errors,
        workloads.stateful_set_update_errors,
        workloads.replicas_status_errors,
    ),
    ("autoscaling", "HorizontalPodAutoscaler"): Checks(
        autoscaling.create_errors, autoscaling.update_errors, autoscaling.status_errors
    ),
    ("batch", "CronJob"): Checks(jobs.cron_create_errors, jobs.cron_update_errors, _nothing),
    ("batch", "Job"): Checks(jobs.create_errors, jobs.update_errors, jobs.status_errors),
    ("coordination.k8s.io", "Lease"): Checks(
        policies.lease_create_errors, policies.lease_update_errors
    ),
    ("discovery.k8s.io", "EndpointSlice"): Checks(
        endpoints.slice_create_errors, endpoints.slice_update_errors
    ),
    ("events.k8s.io", "Event"): Checks(events.create_errors, events.update_errors),
    (_FLOW_CONTROL, "FlowSchema"): Checks(
        flow_control.schema_create_errors,
        flow_control.schema_update_errors,
        flow_control.status_errors,
    ),
    (_FLOW_CONTROL, "PriorityLevelConfiguration"): Checks(
        flow_control.level_create_errors,
        flow_control.level_update_errors,
        flow_control.status_errors,
    ),
    (_NETWORKING, "IPAddress"): Checks(
        service_ranges.address_create_errors, service_ranges.address_update_errors
    ),
    (_NETWORKING, "Ingress"): Checks(
        ingresses.create_errors, ingresses.update_errors, ingresses.status_errors
    ),
    (_NETWORKING, "IngressClass"): Checks(
        ingresses.class_create_errors, ingresses.class_update_errors
    ),
    (_NETWORKING, "NetworkPolicy"): Checks(
        network_policies.create_errors, network_policies.update_errors
    ),
    (_NETWORKING, "ServiceCIDR"): Checks(
        service_ranges.range_create_errors, service_ranges.range_update_errors
    ),
    ("node.k8s.io", "RuntimeClass"): Checks(
        runtime_classes.create_errors, runtime_classes.update_errors
    ),
    ("policy", "PodDisruptionBudget"): Checks(
        policies.budget_errors, policies.budget_update_errors, policies.budget_status_errors
    ),
    (_RBAC, "ClusterRole"): _role(namespaced=False),
    (_RBAC, "ClusterRoleBinding"): _role_binding(namespaced=False),
    (_RBAC, "Role"): _role(namespaced=True),
    (_RBAC, "RoleBinding"): _role_binding(namespaced=True),
    (_DEVICES, "DeviceClass"): Checks(devices.class_create_errors, devices.class_update_errors),
    (_DEVICES, "DeviceTaintRule"): Checks(
        device_taint_rules.create_errors,
        device_taint_rules.update_errors,
        device_taint_rules.status_errors,
    ),
    (_DEVICES, "ResourceClaim"): Checks(
        devices.claim_create_errors, devices.claim_update_errors, claim_statuses.claim_status_errors
    ),
    (_DEVICES, "ResourceClaimTemplate"): Checks(
        devices.template_create_errors, devices.template_update_errors
    ),
    (_DEVICES, "ResourceSlice"): Checks(device_slices.create_errors, device_slices.update_errors),
    (_SCHEDULING, "PodGroup"): Checks(
        pod_groups.group_create_errors,
        pod_groups.group_update_errors,
        pod_groups.group_status_errors,
    ),
    (_SCHEDULING, "PriorityClass"): Checks(
        policies.priority_class_create_errors, policies.priority_class_update_errors
    ),
    (_SCHEDULING, "Workload"): Checks(
        pod_groups.workload_create_errors, pod_groups.workload_update_errors
    ),
    (_STORAGE, "CSIDriver"): Checks(csi.driver_create_errors, csi.driver_update_errors),
    (_STORAGE, "CSINode"): Checks(csi.node_create_errors, csi.node_update_errors),
    (_STORAGE, "CSIStorageCapacity"): Checks(
        csi.capacity_create_errors, csi.capacity_update_errors
    ),
    (_STORAGE, "StorageClass"): Checks(storage.class_create_errors, storage.class_update_errors),
    (_STORAGE, "VolumeAttachment"): Checks(
        csi.attachment_create_errors, csi.attachment_update_errors
    ),
    (_STORAGE, "VolumeAttributesClass"): Checks(
        storage.attributes_create_errors, storage.attributes_update_errors
    ),
}


def _rules(resource: Resource) -> Checks:
    return _BY_KIND.get((resource.group, resource.kind)) or _PLAIN[resource.namespaced]


def validate_create(resource: Resource, obj: JsonObject) -> Errors:
    try:
        errors = _rules(resource).create(obj)
        if errors:
            return errors
        return meta_errors(meta_of(obj), resource.namespaced, path_segment_problems)
    except TooManyErrors as found:
        return found.errors


def validate_update(resource: Resource, new: JsonObject, old: JsonObject) -> Errors:
    return _update_errors(resource, new, old, _rules(resource).update)


def validate_status_update(resource: Resource, new: JsonObject, old: JsonObject) -> Errors:
    return _update_errors(resource, new, old, _rules(resource).status)


def _update_errors(resource: Resource, new: JsonObject, old: JsonObject, rule: Update) -> Errors:
    try:
        return [*_general_errors(resource, new, old), *rule(new, old)]
    except TooManyErrors as found:
        return found.errors


_SUBRESOURCES: Final[Mapping[tuple[str, str], Update]] = {
    ("Pod", "resize"): pod_subresources.resize_errors,
    ("Pod", "ephemeralcontainers"): pod_subresources.ephemeral_containers_errors,
    ("CertificateSigningRequest", "approval"): certificate_requests.approval_errors,
    ("Namespace", "finalize"): nodes.namespace_finalize_errors,
}


def validate_subresource_update(
    resource: Resource, subresource: str, new: JsonObject, old: JsonObject
) -> Errors:
    rule = _SUBRESOURCES.get((resource.kind, subresource), _only_metadata)
    return _update_errors(resource, new, old, rule)


def _general_errors(resource: Resource, new: JsonObject, old: JsonObject) -> Errors:
    metadata = meta_of(new)
    errors = meta_errors(metadata, resource.namespaced, path_segment_problems)
    errors.extend(meta_update_errors(metadata, meta_of(old)))
    return errors


def validate_binding(binding: JsonObject) -> Errors:
    """Of a pod to a node; the node need not exist."""
    target: JsonObject = binding.get("target") or {}
    errors: Errors = []
    kind = target.get("kind") or ""
    if kind not in ("", "Node"):
        errors.append(not_supported("target.kind", kind, ("Node", "<empty>")))
    if not target.get("name"):
        errors.append(required("target.name"))
    return errors


def validate_scale(scale: JsonObject) -> Errors:
    errors = meta_errors(meta_of(scale), True, subdomain_problems)
    replicas = (scale.get("spec") or {}).get("replicas") or 0
    if replicas < 0:
        errors.append(invalid("spec.replicas", replicas, NOT_NEGATIVE))
    return errors
