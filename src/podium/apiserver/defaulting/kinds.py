"""Which function sets the defaults of which kind."""

from collections.abc import Callable, Mapping
from typing import Final

from podium.golang.json_values import JsonObject
from podium.apiserver.defaulting import (
    admission_policies,
    admission_webhooks,
    autoscaling,
    cluster,
    devices,
    flow_control,
    networking,
    pods,
    services,
    storage,
    workloads,
)
from podium.kubernetes.resources.resource import Resource

_ADMISSION: Final = "admissionregistration.k8s.io"
_FLOW_CONTROL: Final = "flowcontrol.apiserver.k8s.io"
_BY_KIND: Final[Mapping[tuple[str, str], Callable[[JsonObject], None]]] = {
    ("", "Endpoints"): services.set_endpoints_defaults,
    ("", "LimitRange"): cluster.set_limit_range_defaults,
    ("", "Namespace"): cluster.set_namespace_defaults,
    ("", "Node"): cluster.set_node_defaults,
    ("", "PersistentVolume"): storage.set_volume_object_defaults,
    ("", "PersistentVolumeClaim"): storage.set_claim_defaults,
    ("", "Pod"): pods.set_pod_defaults,
    ("", "PodTemplate"): workloads.set_pod_template_defaults,
    ("", "ReplicationController"): workloads.set_replication_controller_defaults,
    ("", "ResourceQuota"): cluster.set_resource_quota_defaults,
    ("", "Secret"): cluster.set_secret_defaults,
    ("", "Service"): services.set_service_defaults,
    (_ADMISSION, "MutatingAdmissionPolicy"): admission_policies.set_policy_defaults,
    (_ADMISSION, "MutatingAdmissionPolicyBinding"): admission_policies.set_binding_defaults,
    (_ADMISSION, "MutatingWebhookConfiguration"): admission_webhooks.set_mutating_defaults,
    (_ADMISSION, "ValidatingAdmissionPolicy"): admission_policies.set_policy_defaults,
    (_ADMISSION, "ValidatingAdmissionPolicyBinding"): admission_policies.set_binding_defaults,
    (_ADMISSION, "ValidatingWebhookConfiguration"): admission_webhooks.set_validating_defaults,
    ("apiregistration.k8s.io", "APIService"): services.set_api_service_defaults,
    ("apps", "DaemonSet"): workloads.set_daemon_set_defaults,
    ("apps", "Deployment"): workloads.set_deployment_defaults,
    ("apps", "ReplicaSet"): workloads.set_replica_set_defaults,
    ("apps", "StatefulSet"): workloads.set_stateful_set_defaults,
    ("autoscaling", "HorizontalPodAutoscaler"): autoscaling.set_autoscaler_defaults,
    ("batch", "CronJob"): workloads.set_cron_job_defaults,
    ("batch", "Job"): workloads.set_job_defaults,
    ("discovery.k8s.io", "EndpointSlice"): services.set_endpoint_slice_defaults,
    (_FLOW_CONTROL, "FlowSchema"): flow_control.set_flow_schema_defaults,
    (_FLOW_CONTROL, "PriorityLevelConfiguration"): flow_control.set_priority_level_defaults,
    ("networking.k8s.io", "IngressClass"): networking.set_ingress_class_defaults,
    ("networking.k8s.io", "NetworkPolicy"): networking.set_network_policy_defaults,
    ("rbac.authorization.k8s.io", "ClusterRoleBinding"): cluster.set_role_binding_defaults,
    ("rbac.authorization.k8s.io", "RoleBinding"): cluster.set_role_binding_defaults,
    ("resource.k8s.io", "ResourceClaim"): devices.set_claim_defaults,
    ("resource.k8s.io", "ResourceClaimTemplate"): devices.set_claim_template_defaults,
    ("resource.k8s.io", "ResourceSlice"): devices.set_slice_defaults,
    ("scheduling.k8s.io", "PodGroup"): cluster.set_pod_group_defaults,
    ("scheduling.k8s.io", "PriorityClass"): cluster.set_priority_class_defaults,
    ("storage.k8s.io", "CSIDriver"): storage.set_csi_driver_defaults,
    ("storage.k8s.io", "StorageClass"): storage.set_storage_class_defaults,
    ("storage.k8s.io", "VolumeAttachment"): storage.set_volume_attachment_defaults,
}

_BY_VERSION: Final[Mapping[tuple[str, str, str], Callable[[JsonObject], None]]] = {
    ("autoscaling", "v1", "HorizontalPodAutoscaler"): autoscaling.set_v1_autoscaler_defaults,
}


def set_defaults(resource: Resource, obj: JsonObject) -> None:
    """Fill in what the kind's defaults say; objects of custom resources have none here."""
    older = _BY_VERSION.get((resource.group, resource.version, resource.kind))
    setter = older or _BY_KIND.get((resource.group, resource.kind))
    if setter is not None:
        setter(obj)
